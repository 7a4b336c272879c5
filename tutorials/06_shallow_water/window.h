/* SPDX-License-Identifier: BSD-2-Clause */
/* A window: several steps of the coarse solver, each with the closure, from a sample of the truth;
 * the loss L of these steps, and its gradient:
 *
 *   q[n+1] = S(q[n]) + dt N(q[n]),      L = mean over steps, cells and fields of ((q[n] - truth[n])
 *   / kLossUnit)^2
 *
 * For the gradient the steps are visited backward in time, from w = dL/dq[K]. Each uses the
 * adjoints of the solver and of the closure, which also accumulates the gradients of the weights:
 *
 *   w <- S'(q[n])* w + (dt N'(q[n]))* w + dL/d(q[n] - truth[n]) */
#ifndef TUTORIAL_WINDOW_H
#define TUTORIAL_WINDOW_H

#include "closure.h"
#include "solver.h"

enum { kWindow = 8 }; /* maximum number of steps */

typedef struct Window {
  Solver* solver;
  double *q, *w, *change;
  double* stages; /* of kWindow steps */
  double* errors; /* after each step */
} Window;

TenonErrorCode WindowCreate(Solver* solver, Window* window);
void WindowDestroy(Window* window);

/* Runs `steps` steps from the field `start`. `truth` is an array of the fields after each step.
 * Collective. */
TenonErrorCode WindowForward(Window* window, Closure* closure, int steps, const double* start,
                             const double* truth, double* loss);
/* Adds to the gradients of the weights. If `toStart`, also sets window->w to dL/dstart. Collective.
 */
TenonErrorCode WindowBackward(Window* window, Closure* closure, int steps, int toStart);
/* Root mean square of the velocity's error after the last step. Collective. */
double WindowError(const Window* window, int steps);

#endif
