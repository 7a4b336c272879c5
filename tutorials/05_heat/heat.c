/* SPDX-License-Identifier: BSD-2-Clause */
/* The solver of heat.h: its process grid, the exchange of ghost cells by MPI, and the terms of the
 * equation. Loops run over the cells of this process by their global indices (i, j). */
#include "heat.h"

#include <math.h>
#include <stdlib.h>

static const double kConductivity = 0.5, kEmission = 0.05;

void HeatCreate(MPI_Comm comm, Heat* heat) {
  int size, dims[2] = {0, 0}, place[2], d;
  const int periods[2] = {0, 0}, cells[2] = {kRows, kColumns};

  MPI_Comm_size(comm, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(comm, 2, dims, periods, 0, &heat->comm);
  MPI_Cart_get(heat->comm, 2, dims, (int[2]){0, 0}, place);
  MPI_Cart_shift(heat->comm, 0, 1, &heat->below, &heat->above);
  MPI_Cart_shift(heat->comm, 1, 1, &heat->left, &heat->right);
  for (d = 0; d < 2; ++d) {
    heat->low[d] = cells[d] * place[d] / dims[d];
    heat->high[d] = cells[d] * (place[d] + 1) / dims[d];
  }
  heat->width = heat->high[1] - heat->low[1] + 2 * kGhost;
  MPI_Type_vector(heat->high[0] - heat->low[0], 1, heat->width, MPI_DOUBLE, &heat->column);
  MPI_Type_commit(&heat->column);
}

void HeatDestroy(Heat* heat) {
  MPI_Type_free(&heat->column);
  MPI_Comm_free(&heat->comm);
}

double* HeatCreateField(const Heat* heat) {
  const int rows = heat->high[0] - heat->low[0] + 2 * kGhost;

  return (double*)calloc((size_t)(rows * heat->width), sizeof(double));
}

double* HeatAt(const Heat* heat, double* field, int i, int j) {
  return field + (i - heat->low[0] + kGhost) * heat->width + (j - heat->low[1] + kGhost);
}

/* Sends `count` elements at `from` to one neighbour and receives as many from another. */
static void Shift(const Heat* heat, double* from, int to, double* into, int source,
                  MPI_Datatype type, int count) {
  MPI_Sendrecv(from, count, type, to, 0, into, count, type, source, 0, heat->comm,
               MPI_STATUS_IGNORE);
}

/* Columns are exchanged first; the rows that are then exchanged include the corners. */
void HeatExchange(const Heat* heat, double* u) {
  const int top = heat->high[0], end = heat->high[1], i0 = heat->low[0], j0 = heat->low[1];

  Shift(heat, HeatAt(heat, u, i0, end - 1), heat->right, HeatAt(heat, u, i0, j0 - 1), heat->left,
        heat->column, 1);
  Shift(heat, HeatAt(heat, u, i0, j0), heat->left, HeatAt(heat, u, i0, end), heat->right,
        heat->column, 1);
  Shift(heat, HeatAt(heat, u, top - 1, j0 - 1), heat->above, HeatAt(heat, u, i0 - 1, j0 - 1),
        heat->below, MPI_DOUBLE, heat->width);
  Shift(heat, HeatAt(heat, u, i0, j0 - 1), heat->below, HeatAt(heat, u, top, j0 - 1), heat->above,
        MPI_DOUBLE, heat->width);
}

/* The hot spot f at the given time. */
static double Source(double time, int i, int j) {
  const double angle = 0.11 * time;
  const double y = i - kRows * (0.5 + 0.25 * sin(angle));
  const double x = j - kColumns * (0.5 + 0.25 * cos(angle));

  return 0.25 * exp(-(x * x + y * y) / 18);
}

void HeatConduction(const Heat* heat, double* u, double time, double* r) {
  int i, j;

  for (i = heat->low[0]; i < heat->high[0]; ++i)
    for (j = heat->low[1]; j < heat->high[1]; ++j) {
      const double* c = HeatAt(heat, u, i, j);
      const double laplacian = c[-1] + c[1] + c[-heat->width] + c[heat->width] - 4 * c[0];

      *HeatAt(heat, r, i, j) = kConductivity * laplacian + Source(time, i, j);
    }
}

static double MeanAround(const double* c, int width) {
  double sum = 0;
  int di, dj;

  for (di = -1; di <= 1; ++di)
    for (dj = -1; dj <= 1; ++dj)
      sum += c[di * width + dj];
  return sum / 9;
}

void HeatRadiation(const Heat* heat, double* u, double* r) {
  int i, j;

  for (i = heat->low[0]; i < heat->high[0]; ++i)
    for (j = heat->low[1]; j < heat->high[1]; ++j) {
      const double s = MeanAround(HeatAt(heat, u, i, j), heat->width);

      *HeatAt(heat, r, i, j) = -kEmission * s * s * s * s;
    }
}

void HeatAdd(const Heat* heat, double* u, double step, double* r) {
  int i, j;

  for (i = heat->low[0]; i < heat->high[0]; ++i)
    for (j = heat->low[1]; j < heat->high[1]; ++j)
      *HeatAt(heat, u, i, j) += step * *HeatAt(heat, r, i, j);
}

double HeatDistance(const Heat* heat, double* u, double* v) {
  double local = 0, sum, difference;
  int i, j;

  for (i = heat->low[0]; i < heat->high[0]; ++i)
    for (j = heat->low[1]; j < heat->high[1]; ++j) {
      difference = *HeatAt(heat, u, i, j) - *HeatAt(heat, v, i, j);
      local += difference * difference;
    }
  MPI_Allreduce(&local, &sum, 1, MPI_DOUBLE, MPI_SUM, heat->comm);
  return sqrt(sum / (kRows * kColumns));
}
