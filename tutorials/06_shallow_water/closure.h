/* SPDX-License-Identifier: BSD-2-Clause */
/* The closure: a convolutional network that computes from the coarse flow q the change that the
 * coarse time step S lacks. It changes u and v only, so mass is still conserved.
 *
 *   q[n+1] = S(q[n]) + dt N(q[n]),   N = kTendency * network(q)
 *
 * The network: scaled u, v, h; 3 x 3 convolution to 12 channels, tanh; 3 x 3 convolution to 12
 * channels, tanh; 3 x 3 convolution to 2 channels. All three are periodic. */
#ifndef TUTORIAL_CLOSURE_H
#define TUTORIAL_CLOSURE_H

#include "grid.h"

typedef struct Closure {
  const Grid* grid;
  double dt;
  TenonLayer network;
  TenonOptimizer optimizer;
  TenonDTensor q, output, cotangent, gradient; /* placed on the field of the call */
  double* work;
} Closure;

/* `depth` evaluations can wait for their adjoints. Collective. */
TenonErrorCode ClosureCreate(const Grid* grid, double dt, int depth, Closure* closure);
TenonErrorCode ClosureDestroy(Closure* closure);
/* Copies the weights of one closure to another. */
TenonErrorCode ClosureCopy(const Closure* from, Closure* to);

/* change <- dt N(q). With `training` the network saves what its adjoint needs. Collective. */
TenonErrorCode ClosureApply(Closure* closure, TenonBool training, double* q, double* change);
/* gradient <- (dt N')* w, and adds to the gradients of the weights. Collective. */
TenonErrorCode ClosureAdjoint(Closure* closure, const double* w, double* gradient);

#endif
