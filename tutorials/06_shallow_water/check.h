/* SPDX-License-Identifier: BSD-2-Clause */
/* Are the derivatives right? Printed before they are used. */
#ifndef TUTORIAL_CHECK_H
#define TUTORIAL_CHECK_H

#include "window.h"

/* The solver alone, at the flow q: mass, <S' e, w> = <e, S'* w>, and the order of
 * |S(q + h e) - S(q) - h S' e| in h, which is 2 for the right tangent. Collective. */
TenonErrorCode CheckSolver(Solver* solver, const double* q);

/* The loss of a window of kWindow steps, in a direction of the weights and of its start: the order
 * of
 * |L(h) - L(0) - h L'| in h. Collective. */
TenonErrorCode CheckWindow(Window* window, Closure* closure, const double* start,
                           const double* truth);

#endif
