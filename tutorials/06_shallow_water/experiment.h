/* SPDX-License-Identifier: BSD-2-Clause */
/* Data that the parts of the program share: settings, models, and samples of the truth. */
#ifndef TUTORIAL_EXPERIMENT_H
#define TUTORIAL_EXPERIMENT_H

#include "regression.h"
#include "truth.h"
#include "window.h"

enum { kText = 256, kTrainingSeed = 1 };

/* The models of a coarse step: without closure; with the regression; and with the closure that was
 * trained on single steps, or through the solver. kModels is their number. */
typedef enum Model { kBare, kOffline, kOneStep, kInLoop, kModels } Model;

typedef struct Settings {
  TenonInt cells, refinement; /* coarse cells per side; fine cells per side of a coarse cell */
  TenonInt spinup;            /* coarse steps before samples are taken */
  TenonInt online, inLoop;    /* training steps */
  TenonInt start;             /* number of the unseen start */
  TenonInt use, stable;       /* steps of the comparison; of the search for a blow-up */
  TenonInt every, stop;       /* steps between checkpoints; step after which training ends */
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
