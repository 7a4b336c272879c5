/* SPDX-License-Identifier: BSD-2-Clause */
/* The grid of grid.h: the parts of the domain that processes have, the exchange of ghost cells by
 * an operator of Tenon whose tensors are placed on the fields, and sums over all processes. */
#include "grid.h"

#include <math.h>
#include <stdlib.h>

/* The processes form a grid of rows and columns; their boxes may differ by a cell. */
static void Decompose(MPI_Comm comm, int cells, int refinement, Grid* g) {
  int rank, processes, dims[2] = {0, 0}, place[2], d, high[2];

  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &processes);
  MPI_Dims_create(processes, 2, dims);
  place[0] = rank / dims[1];
  place[1] = rank % dims[1];
  for (d = 0; d < 2; ++d) {
    g->low[d] = refinement * (cells * place[d] / dims[d]);
    high[d] = refinement * (cells * (place[d] + 1) / dims[d]);
  }
  g->ny = high[0] - g->low[0];
  g->nx = high[1] - g->low[1];
  g->width = g->nx + 2 * kGhost;
  g->plane = (g->ny + 2 * kGhost) * g->width;
  g->size = kFields * g->plane;
}

TenonErrorCode GridCreateHalo(const Grid* g, int width, TenonLinearOp* halo,
                              TenonDTensor* ghosted) {
  const TenonBoundary ring = TENON_BOUNDARY_PERIODIC;
  TenonLayout wide = NULL;
  int d;

  TenonCall(TenonLayoutCreateLike(g->plain, &wide));
  for (d = 2; d < 4; ++d)
    TenonCall(TenonLayoutSetHalo(wide, d, width, width, ring, ring));
  TenonCall(TenonLayoutSetUp(wide));
  TenonCall(TenonLinearOpCreateHalo(g->plain, wide, TENON_FLOAT64, halo));
  TenonCall(TenonDTensorCreate(wide, TENON_FLOAT64, ghosted));
  TenonCall(TenonLayoutDestroy(&wide));
  return TENON_SUCCESS;
}

TenonErrorCode GridCreate(MPI_Comm comm, int cells, int refinement, double length, Grid* g) {
  TenonInt shape[4] = {1, kFields, 0, 0}, low[4] = {0, 0, 0, 0}, high[4] = {1, kFields, 0, 0};

  g->comm = comm;
  g->cells = cells * refinement;
  g->spacing = length / g->cells;
  Decompose(comm, cells, refinement, g);
  shape[2] = shape[3] = g->cells;
  low[2] = g->low[0];
  low[3] = g->low[1];
  high[2] = g->low[0] + g->ny;
  high[3] = g->low[1] + g->nx;
  TenonCall(TenonLayoutCreateFromBoxes(comm, 4, shape, low, high, &g->plain));
  TenonCall(TenonDTensorCreate(g->plain, TENON_FLOAT64, &g->owned));
  TenonCall(GridCreateHalo(g, 1, &g->halo, &g->ghosted));
  return TENON_SUCCESS;
}

TenonErrorCode GridDestroy(Grid* g) {
  TenonCall(TenonDTensorDestroy(&g->ghosted));
  TenonCall(TenonDTensorDestroy(&g->owned));
  TenonCall(TenonLinearOpDestroy(&g->halo));
  TenonCall(TenonLayoutDestroy(&g->plain));
  return TENON_SUCCESS;
}

double* GridCreateFields(const Grid* g, int count) {
  return (double*)calloc((size_t)(count * g->size), sizeof(double));
}

TenonErrorCode GridPlace(const Grid* g, TenonDTensor tensor, double* q) {
  const TenonInt strides[4] = {g->size, g->plane, g->width, 1};
  const TenonInt ghosts[4] = {0, 0, kGhost, kGhost};

  TenonCall(TenonDTensorPlaceArray(tensor, q + GridIndex(g, 0, 0), strides, ghosts, ghosts, 0));
  return TENON_SUCCESS;
}

TenonErrorCode GridFill(const Grid* g, TenonLinearOp halo, TenonDTensor ghosted, double* q) {
  TenonCall(GridPlace(g, g->owned, q));
  TenonCall(GridPlace(g, ghosted, q));
  TenonCall(TenonLinearOpApply(halo, g->owned, ghosted));
  return TENON_SUCCESS;
}

TenonErrorCode GridExchange(const Grid* g, double* q) {
  TenonCall(GridFill(g, g->halo, g->ghosted, q));
  return TENON_SUCCESS;
}

void GridAdd(const Grid* g, double a, const double* x, double b, double* y) {
  ptrdiff_t n;

  for (n = 0; n < g->size; ++n)
    y[n] = b == 0 ? a * x[n] : a * x[n] + b * y[n];
}

static double SumOverProcesses(const Grid* g, double local) {
  double sum;

  MPI_Allreduce(&local, &sum, 1, MPI_DOUBLE, MPI_SUM, g->comm);
  return sum;
}

static double Dot(const Grid* g, int components, const double* x, const double* y) {
  double local = 0;
  int k, j, i;

  for (k = 0; k < components; ++k)
    for (j = 0; j < g->ny; ++j)
      for (i = 0; i < g->nx; ++i) {
        const ptrdiff_t c = k * g->plane + GridIndex(g, j, i);

        local += x[c] * y[c];
      }
  return SumOverProcesses(g, local);
}

double GridDot(const Grid* g, const double* x, const double* y) {
  return Dot(g, kFields, x, y);
}

double GridVelocity(const Grid* g, const double* q) {
  return sqrt(Dot(g, 2, q, q) / ((double)g->cells * g->cells));
}

double GridMass(const Grid* g, const double* q) {
  const double* h = q + 2 * g->plane;
  double local = 0;
  int j, i;

  for (j = 0; j < g->ny; ++j)
    for (i = 0; i < g->nx; ++i)
      local += h[GridIndex(g, j, i)];
  return SumOverProcesses(g, local) / ((double)g->cells * g->cells);
}
