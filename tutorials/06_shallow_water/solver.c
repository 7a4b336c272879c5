/* SPDX-License-Identifier: BSD-2-Clause */
/* A time step of the solver (solver.h). For each stage of the Runge-Kutta method, Rate() fills the
 * ghost cells, computes the fluxes at the sides, centres and corners of cells, and from them the
 * right-hand side F. */
#include "solver.h"

#include <stdlib.h>
#include <string.h>

const double kCoriolis = 1, kGravity = 1, kDepth = 1, kViscosity = 2e-4;

TenonErrorCode SolverCreate(const Grid* grid, double dt, Solver* s) {
  int k;

  s->grid = grid;
  s->dt = dt;
  s->stages = GridCreateFields(grid, kStages);
  s->rate = GridCreateFields(grid, 1);
  for (k = 0; k < kFluxes; ++k)
    s->fluxes[k] = (double*)calloc((size_t)grid->plane, sizeof(double));
  s->equations = NULL;
  s->jacobian = NULL;
  TenonCall(TenonDTensorCreate(grid->plain, TENON_FLOAT64, &s->from));
  TenonCall(TenonDTensorCreate(grid->plain, TENON_FLOAT64, &s->to));
  return TENON_SUCCESS;
}

TenonErrorCode SolverDestroy(Solver* s) {
  int k;

  TenonCall(TenonDTensorDestroy(&s->to));
  TenonCall(TenonDTensorDestroy(&s->from));
  TenonCall(TenonLinearOpDestroy(&s->jacobian));
  TenonCall(TenonLayerDestroy(&s->equations));
  for (k = 0; k < kFluxes; ++k)
    free(s->fluxes[k]);
  free(s->rate);
  free(s->stages);
  return TENON_SUCCESS;
}

/* The fluxes of cell (j, i): U and V on its left and lower sides; B at its centre; P V and P U at
 * its lower left corner. Those at ghost cells are computed where a neighbour's would be needed. */
static void Fluxes(const Solver* s, const double* q) {
  const Grid* g = s->grid;
  const double *u = q, *v = q + g->plane, *h = q + 2 * g->plane;
  double *U = s->fluxes[0], *V = s->fluxes[1], *B = s->fluxes[2];
  double *PV = s->fluxes[3], *PU = s->fluxes[4];
  const ptrdiff_t w = g->width;
  ptrdiff_t c;
  int j, i;

  for (j = -1; j <= g->ny; ++j)
    for (i = 0; i <= g->nx; ++i) {
      c = GridIndex(g, j, i);
      U[c] = u[c] * (h[c] + h[c - 1]) / 2;
    }
  for (j = 0; j <= g->ny; ++j)
    for (i = -1; i <= g->nx; ++i) {
      c = GridIndex(g, j, i);
      V[c] = v[c] * (h[c] + h[c - w]) / 2;
    }
  for (j = -1; j < g->ny; ++j)
    for (i = -1; i < g->nx; ++i) {
      c = GridIndex(g, j, i);
      B[c] = kGravity * h[c] +
             (u[c] * u[c] + u[c + 1] * u[c + 1] + v[c] * v[c] + v[c + w] * v[c + w]) / 4;
    }
  for (j = 0; j <= g->ny; ++j)
    for (i = 0; i <= g->nx; ++i) {
      c = GridIndex(g, j, i);
      const double vorticity = (v[c] - v[c - 1] - u[c] + u[c - w]) / g->spacing;
      const double depth = (h[c] + h[c - 1] + h[c - w] + h[c - w - 1]) / 4;
      const double P = (kCoriolis + vorticity) / depth;

      PV[c] = P * (V[c] + V[c - 1]) / 2;
      PU[c] = P * (U[c] + U[c - w]) / 2;
    }
}

/* s->rate <- the divergences of the fluxes, and the viscous terms of q. */
static void Divergences(const Solver* s, const double* q) {
  const Grid* g = s->grid;
  const double *u = q, *v = q + g->plane;
  const double *U = s->fluxes[0], *V = s->fluxes[1], *B = s->fluxes[2];
  const double *PV = s->fluxes[3], *PU = s->fluxes[4];
  double *du = s->rate, *dv = du + g->plane, *dh = dv + g->plane;
  const double dx = g->spacing, viscous = kViscosity / (dx * dx);
  const ptrdiff_t w = g->width;
  int j, i;

  for (j = 0; j < g->ny; ++j)
    for (i = 0; i < g->nx; ++i) {
      const ptrdiff_t c = GridIndex(g, j, i);

      du[c] = (PV[c] + PV[c + w]) / 2 - (B[c] - B[c - 1]) / dx +
              viscous * (u[c - 1] + u[c + 1] + u[c - w] + u[c + w] - 4 * u[c]);
      dv[c] = -(PU[c] + PU[c + 1]) / 2 - (B[c] - B[c - w]) / dx +
              viscous * (v[c - 1] + v[c + 1] + v[c - w] + v[c + w] - 4 * v[c]);
      dh[c] = -(U[c + 1] - U[c] + V[c + w] - V[c]) / dx;
    }
}

/* s->rate <- F(q). Fills the ghost cells of q. */
static TenonErrorCode Rate(Solver* s, double* q) {
  TenonCall(GridExchange(s->grid, q));
  Fluxes(s, q);
  Divergences(s, q);
  return TENON_SUCCESS;
}

TenonErrorCode SolverStep(Solver* s, double* q, double* stages) {
  const Grid* g = s->grid;
  double* q0 = stages ? stages : s->stages;
  double *q1 = q0 + g->size, *q2 = q1 + g->size;

  GridAdd(g, 1, q, 0, q0);
  TenonCall(Rate(s, q0));
  GridAdd(g, 1, q0, 0, q1);
  GridAdd(g, s->dt, s->rate, 1, q1);
  TenonCall(Rate(s, q1));
  GridAdd(g, 0.75, q0, 0, q2);
  GridAdd(g, 0.25, q1, 1, q2);
  GridAdd(g, 0.25 * s->dt, s->rate, 1, q2);
  TenonCall(Rate(s, q2));
  GridAdd(g, 1.0 / 3, q0, 0, q);
  GridAdd(g, 2.0 / 3, q2, 1, q);
  GridAdd(g, 2.0 / 3 * s->dt, s->rate, 1, q);
  return TENON_SUCCESS;
}
