/* SPDX-License-Identifier: BSD-2-Clause */
/* A window: eight steps of the solver, each with the closure, from a sample of the truth; the loss
 * L of these steps, and its gradient:
 *
 *   z[n+1] = S(z[n]) + dt N(z[n]),    L = mean over steps of |z[n] - truth[n]|^2 / kLossUnit^2
 *
 * Backward in time, from w = dL/dz[8], the closure's adjoint, which also accumulates the gradients
 * of the weights, is added to that of the solver:
 *
 *   w <- S'(z[n])* w + (dt N'(z[n]))* w + dL/d(z[n] - truth[n]) */
#ifndef TUTORIAL_WINDOW_H
#define TUTORIAL_WINDOW_H

#include "closure.h"

enum { kWindow = 8 };

typedef struct Window {
  Solver* solver;
  TenonDTensor z, w, work;
  TenonDTensor stages[kWindow][kStages], errors[kWindow];
} Window;

TenonErrorCode WindowCreate(Solver* solver, Window* window);
TenonErrorCode WindowDestroy(Window* window);

/* Runs kWindow steps from truth[0]; truth[n] is the truth after n steps. Collective. */
TenonErrorCode WindowForward(Window* window, Closure* closure, const TenonDTensor truth[],
                             double* loss);
/* Adds to the gradients of the weights, and sets window->w to dL/dtruth[0]. Collective. */
TenonErrorCode WindowBackward(Window* window, Closure* closure);

/* Checks the gradient with respect to truth[0] in a direction: prints how the remainder of the
 * linear approximation of the loss falls. Collective. */
TenonErrorCode WindowCheck(Window* window, Closure* closure, const TenonDTensor truth[],
                           TenonDTensor direction);

#endif
