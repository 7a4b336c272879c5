/* SPDX-License-Identifier: BSD-2-Clause */
/* The derivatives of the solver's step (solver.h). The Jacobian F'(q) of the right-hand side comes
 * from the network of equations.h; its point q is moved from stage to stage. The lines of the
 * Runge-Kutta method are differentiated by hand: in their order for the tangent, and in reverse
 * order for the adjoint. */
#include "equations.h"
#include "solver.h"

/* s->jacobian <- F'(q). */
static TenonErrorCode MoveTo(Solver* s, const double* q) {
  TenonCall(GridPlace(s->grid, s->from, (double*)q)); /* q is only read */
  if (s->jacobian) {
    TenonCall(TenonLinearOpJacobianSetPoint(s->jacobian, s->from));
    return TENON_SUCCESS;
  }
  TenonCall(EquationsCreate(s->grid, &s->equations));
  TenonCall(TenonLinearOpCreateJacobian(s->equations, s->from, &s->jacobian));
  return TENON_SUCCESS;
}

/* s->rate <- F'(q) dq. */
static TenonErrorCode RateTangent(Solver* s, const double* q, double* dq) {
  TenonCall(MoveTo(s, q));
  TenonCall(GridPlace(s->grid, s->from, dq));
  TenonCall(GridPlace(s->grid, s->to, s->rate));
  TenonCall(TenonLinearOpApply(s->jacobian, s->from, s->to));
  return TENON_SUCCESS;
}

/* s->rate <- F'(q)* w. */
static TenonErrorCode RateAdjoint(Solver* s, const double* q, double* w) {
  TenonCall(MoveTo(s, q));
  TenonCall(GridPlace(s->grid, s->from, w));
  TenonCall(GridPlace(s->grid, s->to, s->rate));
  TenonCall(TenonLinearOpApplyAdjoint(s->jacobian, s->from, s->to));
  return TENON_SUCCESS;
}

TenonErrorCode SolverTangent(Solver* s, const double* q, double* dq) {
  const Grid* g = s->grid;
  double *d0 = s->stages, *d1 = d0 + g->size, *d2 = d1 + g->size;

  GridAdd(g, 1, dq, 0, d0);
  TenonCall(RateTangent(s, q, d0));
  GridAdd(g, 1, d0, 0, d1);
  GridAdd(g, s->dt, s->rate, 1, d1);
  TenonCall(RateTangent(s, q + g->size, d1));
  GridAdd(g, 0.75, d0, 0, d2);
  GridAdd(g, 0.25, d1, 1, d2);
  GridAdd(g, 0.25 * s->dt, s->rate, 1, d2);
  TenonCall(RateTangent(s, q + 2 * g->size, d2));
  GridAdd(g, 1.0 / 3, d0, 0, dq);
  GridAdd(g, 2.0 / 3, d2, 1, dq);
  GridAdd(g, 2.0 / 3 * s->dt, s->rate, 1, dq);
  return TENON_SUCCESS;
}

/* From the last stage to the first: a2 = 2/3 (w + dt F'(q2)* w), and so on. */
TenonErrorCode SolverAdjoint(Solver* s, const double* q, double* w) {
  const Grid* g = s->grid;
  double *a1 = s->stages, *a2 = a1 + g->size;

  TenonCall(RateAdjoint(s, q + 2 * g->size, w));
  GridAdd(g, 2.0 / 3, w, 0, a2);
  GridAdd(g, 2.0 / 3 * s->dt, s->rate, 1, a2);
  TenonCall(RateAdjoint(s, q + g->size, a2));
  GridAdd(g, 0.25, a2, 0, a1);
  GridAdd(g, 0.25 * s->dt, s->rate, 1, a1);
  TenonCall(RateAdjoint(s, q, a1));
  GridAdd(g, 0.75, a2, 1.0 / 3, w);
  GridAdd(g, 1, a1, 1, w);
  GridAdd(g, s->dt, s->rate, 1, w);
  return TENON_SUCCESS;
}
