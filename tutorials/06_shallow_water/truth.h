/* SPDX-License-Identifier: BSD-2-Clause */
/* The truth: the same solver on a finer grid with shorter steps, averaged to the coarse grid.
 *
 * A coarse cell has refinement^2 fine cells on the same process. Its h is their mean, its u and v
 * are the means over the fine sides on its left and lower side, so that the coarse field has the
 * same mass. */
#ifndef TUTORIAL_TRUTH_H
#define TUTORIAL_TRUTH_H

#include "solver.h"

extern const double kLength; /* of the domain's side, in radii of deformation */

typedef struct Truth {
  const Grid* coarse;
  Grid grid; /* the fine one */
  Solver solver;
  int refinement;
  double* q;
} Truth;

/* The time step of a grid, in which gravity waves cross about a quarter of a cell. */
double TruthTimeStep(const Grid* grid);

TenonErrorCode TruthCreate(const Grid* coarse, int refinement, Truth* truth);
TenonErrorCode TruthDestroy(Truth* truth);

/* Starts from a random flow in geostrophic balance, its velocity of root mean square 0.25, and runs
 * it for `spinup` coarse steps. Collective. */
TenonErrorCode TruthStart(Truth* truth, int seed, int spinup);
/* Runs one coarse step: `refinement` fine ones. Collective. */
TenonErrorCode TruthStep(Truth* truth);
/* sample <- the flow on the coarse grid. */
void TruthSample(const Truth* truth, double* sample);

#endif
