/* SPDX-License-Identifier: BSD-2-Clause */
/* Four steps of the coarse solver with the closure in each, from a sample of the truth, and the
 * gradient of their error:
 *
 *   q[n+1] = S(q[n]) + dt D N(q[n]),    L = mean over steps, cells and fields of ((q[n] - truth[n]) / kLossUnit)^2
 *
 * Backward in time, from w = dL/dq[4], the closure's adjoint, which also accumulates the gradients
 * of the weights, goes beside that of the solver:
 *
 *   w <- S'(q[n])* w + (dt D N'(q[n]))* w + dL/d(q[n] - truth[n]) */
#ifndef TUTORIAL_WINDOW_H
#define TUTORIAL_WINDOW_H

#include "closure.h"

enum { kWindow = 4 };

typedef struct Window {
  Solver* solver;
  double *q, *w, *work;
  double* stages; /* of kWindow steps */
  double* errors; /* after each step */
} Window;

void WindowCreate(Solver* solver, Window* window);
void WindowDestroy(Window* window);

/* `truth` are kWindow fields, one after another. Collective. */
TenonErrorCode WindowForward(Window* window, Closure* closure, const double* start,
                             const double* truth, double* loss);
/* Accumulates the gradients of the weights; window->w <- dL/dstart. Collective. */
TenonErrorCode WindowBackward(Window* window, Closure* closure);

/* Prints how the remainder of the loss falls in a direction of weights and start. Collective. */
TenonErrorCode WindowCheck(Window* window, Closure* closure, const double* start,
                           const double* truth);

#endif
