/* SPDX-License-Identifier: BSD-2-Clause */
/* A small convolutional network beside the solver: from the solver's field u to the radiation
 * that its small model misses. Everything that Tenon adds to the program is here. */
#ifndef TUTORIAL_CLOSURE_H
#define TUTORIAL_CLOSURE_H

#include "heat.h"

#include <tenon.h>

typedef struct Closure {
  const Heat* heat;
  TenonLayout layout; /* [1, 1, rows, columns] in the solver's boxes */
  TenonLayer network;
  TenonOptimizer optimizer;
  TenonDTensor u, tendency, cotangent;
} Closure;

/* Collective. The solver's communicator and boxes become those of the network. */
TenonErrorCode ClosureCreate(const Heat* heat, Closure* closure);
TenonErrorCode ClosureDestroy(Closure* closure);

/* Makes a tensor of the network's input or output use a field from now on: no copy. */
TenonErrorCode ClosureWrap(const Closure* closure, TenonDTensor tensor, double* field);
/* r <- the network's answer to u, both arrays of the solver. Collective. */
TenonErrorCode ClosureApply(Closure* closure, double* u, double* r);
/* One step of descent that brings the answer to u closer to `wanted`; `work` is a field to compute in.
 * Gives the root mean square of what was missing before the step. Collective. */
TenonErrorCode ClosureTrain(Closure* closure, double* u, double* wanted, double* work,
                            double* error);

#endif
