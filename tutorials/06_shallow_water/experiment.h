/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the program share: sizes, models, and the samples of the truth. */
#ifndef TUTORIAL_EXPERIMENT_H
#define TUTORIAL_EXPERIMENT_H

#include "regression.h"
#include "truth.h"
#include "window.h"

enum { kText = 256, kTrainingSeed = 1 };

/* The ways to make a coarse step. */
typedef enum Model { kBare, kOffline, kOneStep, kInLoop, kModels } Model;

typedef struct Settings {
  TenonInt cells, refinement; /* of the coarse grid; of the fine one */
  TenonInt spinup;            /* coarse steps before samples are taken */
  TenonInt online, inLoop;    /* training steps */
  TenonInt start;             /* number of the unseen start */
  TenonInt use, stable;       /* steps of the comparison; of the search for a blow-up */
  TenonInt every, stop;
  TenonBool measure;
  char checkpoint[kText], fields[kText];
} Settings;

typedef struct Experiment {
  Settings settings;
  MPI_Comm comm;
  int rank;
  Grid grid; /* coarse */
  Solver solver;
  Truth truth;
  Window window;
  Regression regression;
  Closure oneStep, inLoop;
  double* samples; /* online + 1 fields of the training run, one after another */
  double* unseen;  /* use + 1 fields of the other run */
} Experiment;

#endif
