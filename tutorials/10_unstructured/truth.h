/* SPDX-License-Identifier: BSD-2-Clause */
/* The truth: the same solver on a finer mesh, whose flow is averaged over the coarse cells. */
#ifndef TUTORIAL_TRUTH_H
#define TUTORIAL_TRUTH_H

#include "solver.h"

typedef struct Truth {
  const Mesh* coarse;
  int refinement; /* levels above the coarse one */
  Mesh mesh;
  Solver solver;
  double* q;
} Truth;

/* `dt` is the time step of the coarse mesh. Collective. */
TenonErrorCode TruthCreate(const Mesh* coarse, const int owner[], int refinement, double dt,
                           Truth* truth);
TenonErrorCode TruthDestroy(Truth* truth);

/* Starts with a current around the axis, which is in balance, and hills of water in places that
 * depend on `number`. */
void TruthStart(Truth* truth, int number);
/* A time step of the coarse mesh. Collective. */
TenonErrorCode TruthStep(Truth* truth);
/* q <- the flow averaged over the coarse cells. */
void TruthSample(const Truth* truth, double* q);

#endif
