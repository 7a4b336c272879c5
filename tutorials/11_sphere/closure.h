/* SPDX-License-Identifier: BSD-2-Clause */
/* The closure: a spherical Fourier neural operator that adds to the solver's step what the degrees
 * that it does not have would do to those that it has,
 *
 *   z[n+1] = S(z[n]) + dt kUnit N(z[n] / kScale).
 *
 * N reads and returns coefficients. On the points between, each of two blocks is a spherical
 * convolution, whose weights depend on the degree, and gelu; products with matrices at each point
 * before and after them have kChannels channels. What is between the transforms of z and of the
 * output can also be a network from PyTorch (train.py). */
#ifndef TUTORIAL_CLOSURE_H
#define TUTORIAL_CLOSURE_H

#include "solver.h"

typedef struct Closure {
  double dt;
  TenonLayer network;
  TenonOptimizer optimizer;
  TenonDTensor* x; /* [depth] inputs of the evaluations that wait for their adjoints */
  TenonDTensor y, dy, dx;
  int depth, next;
} Closure;

/* `depth` evaluations can wait for their adjoints. `model` is the file of a network from PyTorch,
 * or empty for one with random weights. Collective. */
TenonErrorCode ClosureCreate(const Solver* solver, const char* model, int depth, Closure* closure);
TenonErrorCode ClosureDestroy(Closure* closure);

/* next <- next + dt kUnit N(z / kScale). With `training` the network saves what its adjoint needs.
 * Collective. */
TenonErrorCode ClosureApply(Closure* closure, TenonBool training, TenonDTensor z,
                            TenonDTensor next);
/* gradient <- gradient + its adjoint of w, which adds to the gradients of the weights.
 * Collective. */
TenonErrorCode ClosureAdjoint(Closure* closure, TenonDTensor w, TenonDTensor gradient);

#endif
