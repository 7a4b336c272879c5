/* SPDX-License-Identifier: BSD-2-Clause */
/* The closure: a step of message passing that computes from the flow q a field p. Additional fluxes
 * on the coarse mesh are along the gradient of p, downward, so they conserve mass for every p.
 *
 *   q[n+1] = S(q[n]) + dt D N(q[n]),       N = kUnit * network((q - rest) / kScale)
 *
 * The network: a message from each cell to each of its neighbours, f(q there, q here, normal of the
 * side); their sum at each cell; and p = g(q, sum). f and g have a hidden layer each. */
#ifndef TUTORIAL_CLOSURE_H
#define TUTORIAL_CLOSURE_H

#include "solver.h"

typedef struct Closure {
  const Solver* solver;
  TenonLayer network;
  TenonOptimizer optimizer;
  TenonDTensor* x; /* [depth] inputs of the evaluations that wait for their adjoints */
  TenonDTensor normals, y, dy, dx;
  int depth, next;
  double* work; /* a field */
} Closure;

/* `depth` evaluations can wait for their adjoints. Collective. */
TenonErrorCode ClosureCreate(const Solver* solver, int depth, Closure* closure);
TenonErrorCode ClosureDestroy(Closure* closure);

/* next <- next + dt D N(q). With `training` the network saves what its adjoint needs.
 * Collective. */
TenonErrorCode ClosureApply(Closure* closure, TenonBool training, const double* q, double* next);
/* gradient <- gradient + (dt D N')* w, and adds to the gradients of the weights. Collective. */
TenonErrorCode ClosureAdjoint(Closure* closure, const double* w, double* gradient);

#endif
