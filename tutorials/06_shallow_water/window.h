/* SPDX-License-Identifier: BSD-2-Clause */
/* Some steps of the coarse solver with the closure in each, from a sample of the truth, and the
 * gradient of their error:
 *
 *   q[n+1] = S(q[n]) + dt N(q[n]),      L = mean over steps, cells and fields of ((q[n] - truth[n]) / kLossUnit)^2
 *
 * Backward in time, from w = dL/dq[K], the closure's adjoint (which also accumulates the gradients
 * of the weights) alternates with that of the solver:
 *
 *   w <- S'(q[n])* w + (dt N'(q[n]))* w + dL/d(q[n] - truth[n]) */
#ifndef TUTORIAL_WINDOW_H
#define TUTORIAL_WINDOW_H

#include "closure.h"
#include "solver.h"

enum { kWindow = 8 }; /* steps at most */

typedef struct Window {
  Solver* solver;
  double *q, *w, *change;
  double* stages; /* of kWindow steps */
  double* errors; /* after each step */
} Window;

TenonErrorCode WindowCreate(Solver* solver, Window* window);
void WindowDestroy(Window* window);

/* Runs `steps` steps from the field `start`; `truth` are as many fields, one after another.
 * Collective. */
TenonErrorCode WindowForward(Window* window, Closure* closure, int steps, const double* start,
                             const double* truth, double* loss);
/* Accumulates the gradients of the weights; window->w <- dL/dstart if `toStart`. Collective. */
TenonErrorCode WindowBackward(Window* window, Closure* closure, int steps, int toStart);
/* Root mean square of the velocity's error after the last step. Collective. */
double WindowError(const Window* window, int steps);

#endif
