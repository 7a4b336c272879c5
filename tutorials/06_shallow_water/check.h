/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of the derivatives of solver and window, whose results are printed before training. */
#ifndef TUTORIAL_CHECK_H
#define TUTORIAL_CHECK_H

#include "window.h"

/* Checks the solver alone, at the flow q: that it conserves mass; that <S' e, w> = <e, S'* w>; and
 * the order of |S(q + h e) - S(q) - h S' e| in h, which is 2 if the tangent is right.
 * Collective. */
TenonErrorCode CheckSolver(Solver* solver, const double* q);

/* Checks the gradient of the loss L of kWindow steps, in a random direction of the weights and of
 * the start: the order of |L(h) - L(0) - h L'| in h is 2 if it is right. Collective. */
TenonErrorCode CheckWindow(Window* window, Closure* closure, const double* start,
                           const double* truth);

#endif
