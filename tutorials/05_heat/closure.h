/* SPDX-License-Identifier: BSD-2-Clause */
/* A small convolutional network beside the solver. It computes from the solver's field u the
 * radiation, which the reduced model lacks. All calls of Tenon are in this part of the program. */
#ifndef TUTORIAL_CLOSURE_H
#define TUTORIAL_CLOSURE_H

#include "heat.h"

#include <tenon.h>

typedef struct Closure {
  const Heat* heat;
  TenonLayout layout; /* [1, 1, rows, columns], the solver's decomposition */
  TenonLayer network;
  TenonOptimizer optimizer;
  TenonDTensor u, tendency, cotangent;
} Closure;

/* Creates the network on the solver's communicator and decomposition. Collective. */
TenonErrorCode ClosureCreate(const Heat* heat, Closure* closure);
TenonErrorCode ClosureDestroy(Closure* closure);

/* Places a tensor of the network's input or output on a field of the solver, without a copy. */
TenonErrorCode ClosureWrap(const Closure* closure, TenonDTensor tensor, double* field);
/* r <- network(u); u and r are arrays of the solver. Collective. */
TenonErrorCode ClosureApply(Closure* closure, double* u, double* r);
/* One training step towards network(u) = `wanted`; `work` is a scratch field. `error` is the root
 * mean square of the difference before the step. Collective. */
TenonErrorCode ClosureTrain(Closure* closure, double* u, double* wanted, double* work,
                            double* error);

#endif
