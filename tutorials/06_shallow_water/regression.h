/* SPDX-License-Identifier: BSD-2-Clause */
/* For comparison, a closure as it is fitted offline: the error of one step, (truth - S(q)) / dt, of
 * u and v, is a linear combination of the u, v, h - H in 5 x 5 cells and of their products with u
 * and v of the cell, with coefficients of least squares over samples of the truth. It never sees
 * its own effect. */
#ifndef TUTORIAL_REGRESSION_H
#define TUTORIAL_REGRESSION_H

#include "solver.h"

enum { kStencil = 5, kFeatures = kStencil * kStencil * kFields * 3, kTargets = 2 };

typedef struct Regression {
  Solver* solver;
  TenonLinearOp halo;   /* of two layers */
  TenonDTensor ghosted; /* with these */
  double coefficients[kTargets][kFeatures];
  double explained; /* part of the targets' variance, R^2, in the samples */
} Regression;

TenonErrorCode RegressionCreate(Solver* solver, Regression* regression);
TenonErrorCode RegressionDestroy(Regression* regression);
/* Fits to every `stride`-th of `count` steps between samples, count + 1 fields. Collective. */
TenonErrorCode RegressionFit(Regression* regression, double* samples, int count, int stride);
/* change <- dt times the fitted tendency. Fills ghost cells of q. Collective. */
TenonErrorCode RegressionApply(Regression* regression, double* q, double* change);

#endif
