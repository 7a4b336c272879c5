/* SPDX-License-Identifier: BSD-2-Clause */
/* The rotating shallow-water equations on a sphere, for the depth h and the momentum m = h u, a
 * vector along the sphere in three coordinates,
 *
 *   dh/dt = -div m,     dm/dt = -div (m u + h^2 / 2) - f up x m,     f = 2 kRotation up[2],
 *
 * by finite volumes of first order: through the side with normal n between cells i and j goes
 *
 *   (F(q[i]) n + F(q[j]) n) / 2 - kSpeed |n| (q[j] - q[i]) / 2,
 *
 * and in time by Heun's method, q1 = q + dt R(q), S(q) = (q + q1 + dt R(q1)) / 2. Forces are
 * projected onto the cells, along which momentum stays. Mass is conserved to rounding. Units:
 * radius 1, depth at rest 1, gravity 1, so that waves have the speed 1. */
#ifndef TUTORIAL_SOLVER_H
#define TUTORIAL_SOLVER_H

#include "mesh.h"

enum { kStages = 2 };

typedef struct Solver {
  const Mesh* mesh;
  double dt;
  double *stages, *rate, *work;
} Solver;

void SolverCreate(const Mesh* mesh, double dt, Solver* solver);
void SolverDestroy(Solver* solver);

/* q <- S(q). `stages` (kStages fields) receives the arguments of R, with their ghosts, which the
 * adjoint needs. If it is NULL, the solver's own array is used. Collective. */
TenonErrorCode SolverStep(Solver* solver, double* q, double* stages);
/* w <- S'(q)* w: from dL/dS(q) to dL/dq. Collective. */
TenonErrorCode SolverAdjoint(Solver* solver, const double* stages, double* w);

/* q <- q + a D p, D p = sum over the sides of |n| (p[j] - p[i]) / area: fluxes down the gradient of
 * p, which conserve mass whatever p is. The ghosts of p are filled. Collective. */
TenonErrorCode SolverDiffuse(const Solver* solver, double a, double* p, double* q);
/* p <- a D* w. Collective. */
TenonErrorCode SolverDiffuseAdjoint(const Solver* solver, double a, const double* w, double* p);

#endif
