/* SPDX-License-Identifier: BSD-2-Clause */
/* For comparison, a closure that is fitted offline. The errors of u and v in one step,
 * (truth - S(q)) / dt, are approximated by a linear combination of u, v and h - H in 5 x 5 cells
 * and of their products with u and v of the cell. The coefficients minimise the sum of squares over
 * samples of the truth. The fit therefore never includes a flow that the closure has changed. */
#ifndef TUTORIAL_REGRESSION_H
#define TUTORIAL_REGRESSION_H

#include "solver.h"

enum { kStencil = 5, kFeatures = kStencil * kStencil * kFields * 3, kTargets = 2 };

typedef struct Regression {
  Solver* solver;
  TenonLinearOp halo;   /* exchange of two layers of ghost cells */
  TenonDTensor ghosted; /* tensor with these ghost cells, placed on the field of the call */
  double coefficients[kTargets][kFeatures];
  double explained; /* explained part of the targets' variance in the samples (R^2) */
} Regression;

TenonErrorCode RegressionCreate(Solver* solver, Regression* regression);
TenonErrorCode RegressionDestroy(Regression* regression);
/* Fits the coefficients to the steps between samples. There are count + 1 samples, of which every
 * `stride`-th and its successor are used. Collective. */
TenonErrorCode RegressionFit(Regression* regression, double* samples, int count, int stride);
/* change <- dt times the fitted tendency. Fills ghost cells of q. Collective. */
TenonErrorCode RegressionApply(Regression* regression, double* q, double* change);

#endif
