/* SPDX-License-Identifier: BSD-2-Clause */
/* A window: four steps of the coarse solver, each with the closure, from a sample of the truth; the
 * loss L of these steps, and its gradient:
 *
 *   q[n+1] = S(q[n]) + dt D N(q[n]),    L = mean over steps, cells and fields of ((q[n] - truth[n])
 *   / kLossUnit)^2
 *
 * For the gradient the steps are visited backward in time, from w = dL/dq[4]. Each uses the
 * adjoints of the solver and of the closure, which also accumulates the gradients of the weights:
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

/* Runs kWindow steps from the field `start`. `truth` is an array of the fields after each step.
 * Collective. */
TenonErrorCode WindowForward(Window* window, Closure* closure, const double* start,
                             const double* truth, double* loss);
/* Adds to the gradients of the weights, and sets window->w to dL/dstart. Collective. */
TenonErrorCode WindowBackward(Window* window, Closure* closure);

/* Checks the gradient in a random direction of weights and start: prints how the remainder of the
 * linear approximation of the loss falls. Collective. */
TenonErrorCode WindowCheck(Window* window, Closure* closure, const double* start,
                           const double* truth);

#endif
