/* SPDX-License-Identifier: BSD-2-Clause */
/* The derivatives of the step, written by hand: each statement of solver.c, differentiated, in the
 * tangent; the same statements in reverse order, transposed, in the adjoint. A prefix d marks a
 * tangent, a prefix a an adjoint quantity (dL/dU is aU). */
#include "solver.h"

#include <string.h>

/* What the corner (j, i) has of q: potential vorticity, depth, mean fluxes. */
typedef struct Corner {
  double P, depth, V, U;
} Corner;

static Corner CornerAt(const Solver* s, const double* q, ptrdiff_t c) {
  const Grid* g = s->grid;
  const double *u = q, *v = q + g->plane, *h = q + 2 * g->plane;
  const double *U = s->fluxes[0], *V = s->fluxes[1];
  const ptrdiff_t w = g->width;
  Corner k;

  k.depth = (h[c] + h[c - 1] + h[c - w] + h[c - w - 1]) / 4;
  k.P = (kCoriolis + (v[c] - v[c - 1] - u[c] + u[c - w]) / g->spacing) / k.depth;
  k.V = (V[c] + V[c - 1]) / 2;
  k.U = (U[c] + U[c - w]) / 2;
  return k;
}

/* s->changes <- the tangents of the fluxes at q in the direction dq. */
static void FluxesTangent(const Solver* s, const double* q, const double* dq) {
  const Grid* g = s->grid;
  const double *u = q, *v = q + g->plane, *h = q + 2 * g->plane;
  const double *du = dq, *dv = dq + g->plane, *dh = dq + 2 * g->plane;
  double *dU = s->changes[0], *dV = s->changes[1], *dB = s->changes[2];
  double *dPV = s->changes[3], *dPU = s->changes[4];
  const ptrdiff_t w = g->width;
  ptrdiff_t c;
  int j, i;

  for (j = -1; j <= g->ny; ++j)
    for (i = 0; i <= g->nx; ++i) {
      c = GridIndex(g, j, i);
      dU[c] = (du[c] * (h[c] + h[c - 1]) + u[c] * (dh[c] + dh[c - 1])) / 2;
    }
  for (j = 0; j <= g->ny; ++j)
    for (i = -1; i <= g->nx; ++i) {
      c = GridIndex(g, j, i);
      dV[c] = (dv[c] * (h[c] + h[c - w]) + v[c] * (dh[c] + dh[c - w])) / 2;
    }
  for (j = -1; j < g->ny; ++j)
    for (i = -1; i < g->nx; ++i) {
      c = GridIndex(g, j, i);
      dB[c] = kGravity * dh[c] +
              (u[c] * du[c] + u[c + 1] * du[c + 1] + v[c] * dv[c] + v[c + w] * dv[c + w]) / 2;
    }
  for (j = 0; j <= g->ny; ++j)
    for (i = 0; i <= g->nx; ++i) {
      c = GridIndex(g, j, i);
      const Corner k = CornerAt(s, q, c);
      const double dVorticity = (dv[c] - dv[c - 1] - du[c] + du[c - w]) / g->spacing;
      const double dDepth = (dh[c] + dh[c - 1] + dh[c - w] + dh[c - w - 1]) / 4;
      const double dP = (dVorticity - k.P * dDepth) / k.depth;

      dPV[c] = dP * k.V + k.P * (dV[c] + dV[c - 1]) / 2;
      dPU[c] = dP * k.U + k.P * (dU[c] + dU[c - w]) / 2;
    }
}

/* s->rate <- F'(q) dq. Fills the ghost cells of dq. */
static TenonErrorCode RateTangent(Solver* s, const double* q, double* dq) {
  TenonCall(GridExchange(s->grid, dq));
  SolverFluxes(s, q);
  FluxesTangent(s, q, dq);
  SolverRate(s, s->changes, dq, s->rate);
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

/* The transpose of SolverRate(): from w = dL/drate to s->changes, and to the viscous part of z. */
static void DivergencesAdjoint(const Solver* s, const double* w3, double* z) {
  const Grid* g = s->grid;
  const double *adu = w3, *adv = w3 + g->plane, *adh = w3 + 2 * g->plane;
  double *aU = s->changes[0], *aV = s->changes[1], *aB = s->changes[2];
  double *aPV = s->changes[3], *aPU = s->changes[4];
  const double dx = g->spacing, viscous = kViscosity / (dx * dx);
  const ptrdiff_t w = g->width;
  int j, i, k;

  for (j = 0; j < g->ny; ++j)
    for (i = 0; i < g->nx; ++i) {
      const ptrdiff_t c = GridIndex(g, j, i);

      aPV[c] += adu[c] / 2;
      aPV[c + w] += adu[c] / 2;
      aPU[c] -= adv[c] / 2;
      aPU[c + 1] -= adv[c] / 2;
      aB[c] -= (adu[c] + adv[c]) / dx;
      aB[c - 1] += adu[c] / dx;
      aB[c - w] += adv[c] / dx;
      aU[c] += adh[c] / dx;
      aU[c + 1] -= adh[c] / dx;
      aV[c] += adh[c] / dx;
      aV[c + w] -= adh[c] / dx;
      for (k = 0; k < 2; ++k) { /* u and v */
        const double a = viscous * w3[k * g->plane + c];
        double* az = z + k * g->plane + c;

        az[-1] += a;
        az[1] += a;
        az[-w] += a;
        az[w] += a;
        az[0] -= 4 * a;
      }
    }
}

/* The transpose of the corners of FluxesTangent(). */
static void CornersAdjoint(const Solver* s, const double* q, double* z) {
  const Grid* g = s->grid;
  double *au = z, *av = z + g->plane, *ah = z + 2 * g->plane;
  double *aU = s->changes[0], *aV = s->changes[1];
  const double *aPV = s->changes[3], *aPU = s->changes[4];
  const ptrdiff_t w = g->width;
  int j, i;

  for (j = 0; j <= g->ny; ++j)
    for (i = 0; i <= g->nx; ++i) {
      const ptrdiff_t c = GridIndex(g, j, i);
      const Corner k = CornerAt(s, q, c);
      const double aP = aPV[c] * k.V + aPU[c] * k.U;
      const double aVorticity = aP / k.depth / g->spacing, aDepth = -aP * k.P / k.depth / 4;

      aV[c] += aPV[c] * k.P / 2;
      aV[c - 1] += aPV[c] * k.P / 2;
      aU[c] += aPU[c] * k.P / 2;
      aU[c - w] += aPU[c] * k.P / 2;
      av[c] += aVorticity;
      av[c - 1] -= aVorticity;
      au[c] -= aVorticity;
      au[c - w] += aVorticity;
      ah[c] += aDepth;
      ah[c - 1] += aDepth;
      ah[c - w] += aDepth;
      ah[c - w - 1] += aDepth;
    }
}

/* The transpose of the rest of FluxesTangent(). */
static void FluxesAdjoint(const Solver* s, const double* q, double* z) {
  const Grid* g = s->grid;
  const double *u = q, *v = q + g->plane, *h = q + 2 * g->plane;
  double *au = z, *av = z + g->plane, *ah = z + 2 * g->plane;
  const double *aU = s->changes[0], *aV = s->changes[1], *aB = s->changes[2];
  const ptrdiff_t w = g->width;
  ptrdiff_t c;
  int j, i;

  for (j = -1; j < g->ny; ++j)
    for (i = -1; i < g->nx; ++i) {
      c = GridIndex(g, j, i);
      ah[c] += kGravity * aB[c];
      au[c] += u[c] * aB[c] / 2;
      au[c + 1] += u[c + 1] * aB[c] / 2;
      av[c] += v[c] * aB[c] / 2;
      av[c + w] += v[c + w] * aB[c] / 2;
    }
  for (j = 0; j <= g->ny; ++j)
    for (i = -1; i <= g->nx; ++i) {
      c = GridIndex(g, j, i);
      av[c] += aV[c] * (h[c] + h[c - w]) / 2;
      ah[c] += aV[c] * v[c] / 2;
      ah[c - w] += aV[c] * v[c] / 2;
    }
  for (j = -1; j <= g->ny; ++j)
    for (i = 0; i <= g->nx; ++i) {
      c = GridIndex(g, j, i);
      au[c] += aU[c] * (h[c] + h[c - 1]) / 2;
      ah[c] += aU[c] * u[c] / 2;
      ah[c - 1] += aU[c] * u[c] / 2;
    }
}

/* s->rate <- F'(q)* w: what reached ghost cells goes back to their owners at the end. */
static TenonErrorCode RateAdjoint(Solver* s, const double* q, const double* w) {
  const Grid* g = s->grid;
  int k;

  for (k = 0; k < kFluxes; ++k)
    memset(s->changes[k], 0, (size_t)g->plane * sizeof(double));
  memset(s->rate, 0, (size_t)g->size * sizeof(double));
  SolverFluxes(s, q);
  DivergencesAdjoint(s, w, s->rate);
  CornersAdjoint(s, q, s->rate);
  FluxesAdjoint(s, q, s->rate);
  TenonCall(GridExchangeAdjoint(g, s->rate));
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
