/* SPDX-License-Identifier: BSD-2-Clause */
/* The rotating shallow-water equations in a doubly periodic square,
 *
 *   du/dt =  P V - dB/dx + nu Laplacian(u),    P = (f + dv/dx - du/dy) / h   potential vorticity
 *   dv/dt = -P U - dB/dy + nu Laplacian(v),    B = g h + (u^2 + v^2) / 2     Bernoulli function
 *   dh/dt = -dU/dx - dV/dy,                    U = u h, V = v h              mass fluxes
 *
 * on the C grid of grid.h by the energy-conserving scheme of Sadourny (1975), and in time by the
 * Runge-Kutta method of third order of Shu and Osher (1988):
 *
 *   q1 = q + dt F(q),   q2 = 3/4 q + 1/4 (q1 + dt F(q1)),   S(q) = 1/3 q + 2/3 (q2 + dt F(q2)).
 *
 * Mass is conserved to rounding. Units: depth at rest H = 1, g = 1, f = 1, so that velocities are
 * fractions of the wave speed, lengths multiples of the radius of deformation, times of 1/f. */
#ifndef TUTORIAL_SOLVER_H
#define TUTORIAL_SOLVER_H

#include "grid.h"

enum { kFluxes = 5, kStages = 3 };

extern const double kCoriolis, kGravity, kDepth, kViscosity;

typedef struct Solver {
  const Grid* grid;
  double dt;
  double* stages;          /* kStages fields */
  double* rate;            /* one field */
  double* fluxes[kFluxes]; /* arrays of one component; see solver.c */
  /* For the derivatives (adjoint.c); created at the first call of one. */
  TenonLayer equations;
  TenonLinearOp jacobian;
  TenonDTensor from, to; /* placed on the field of the call */
} Solver;

TenonErrorCode SolverCreate(const Grid* grid, double dt, Solver* solver);
TenonErrorCode SolverDestroy(Solver* solver);

/* q <- S(q). `stages` (kStages fields) receives the arguments of F, with their ghost cells, which
 * the derivatives of the step need. If it is NULL, the solver's own array is used. Collective. */
TenonErrorCode SolverStep(Solver* solver, double* q, double* stages);

/* dq <- S'(q) dq, the tangent of the step. Collective. */
TenonErrorCode SolverTangent(Solver* solver, const double* stages, double* dq);
/* w <- S'(q)* w, its adjoint: from dL/dS(q) to dL/dq. Collective. */
TenonErrorCode SolverAdjoint(Solver* solver, const double* stages, double* w);

#endif
