/* SPDX-License-Identifier: BSD-2-Clause */
/* Finite differences on a globe, with halos across its poles. Rows are at colatitudes
 * t = pi (y + 1/2) / rows, columns at longitudes 2 pi x / columns, both in blocks. Two rows beyond
 * a pole are the rows before it, from the opposite meridian, which another rank has; components of
 * a vector change their sign there. So differences along a meridian are of fourth order everywhere:
 * the largest error, that of rows beside the poles included, is compared with that of half as many
 * rows. */
#include <tenon.h>

#include <math.h>
#include <stdio.h>

enum { WIDTH = 2 };

static const double kPi = 3.14159265358979323846;

/* A globe in blocks: without halos, and with those of a scalar and of a component of a vector. */
typedef struct Globe {
  TenonInt shape[2]; /* rows, columns */
  TenonLayout plain, wide[2];
  TenonLinearOp halo[2];
} Globe;

/* The derivative along a meridian, of that order, of the smooth field x y + exp(z) on the sphere.
 * The field is a scalar, and its first derivative the component of a vector, the gradient. */
static double DerivativeAt(int order, double t, double p) {
  const double c = cos(t), s = sin(t), around = sin(p) * cos(p);

  switch (order) {
  case 0:
    return s * s * around + exp(c);
  case 1:
    return 2 * s * c * around - s * exp(c);
  default:
    return 2 * (c * c - s * s) * around + (s * s - c) * exp(c);
  }
}

static TenonErrorCode GlobeCreate(MPI_Comm comm, TenonInt rows, Globe* g) {
  const TenonBoundary modes[2] = {TENON_BOUNDARY_POLE, TENON_BOUNDARY_POLE_VECTOR};
  TenonPartition partition = NULL;
  int size, grid[2] = {0, 0}, i;

  g->shape[0] = rows;
  g->shape[1] = 2 * rows; /* an even number of longitudes */
  MPI_Comm_size(comm, &size);
  MPI_Dims_create(size, 2, grid);
  TenonCall(TenonPartitionCreate(comm, 2, grid, &partition));
  TenonCall(TenonLayoutCreateSharded(partition, 2, g->shape, "S0,S1", &g->plain));
  for (i = 0; i < 2; ++i) {
    TenonCall(TenonLayoutCreateLike(g->plain, &g->wide[i]));
    TenonCall(TenonLayoutSetHalo(g->wide[i], 0, WIDTH, WIDTH, modes[i], modes[i]));
    TenonCall(TenonLayoutSetUp(g->wide[i]));
    TenonCall(TenonLinearOpCreateHalo(g->plain, g->wide[i], TENON_FLOAT64, &g->halo[i]));
  }
  TenonCall(TenonPartitionDestroy(&partition));
  return TENON_SUCCESS;
}

static TenonErrorCode GlobeDestroy(Globe* g) {
  int i;

  for (i = 0; i < 2; ++i) {
    TenonCall(TenonLinearOpDestroy(&g->halo[i]));
    TenonCall(TenonLayoutDestroy(&g->wide[i]));
  }
  TenonCall(TenonLayoutDestroy(&g->plain));
  return TENON_SUCCESS;
}

/* The colatitude and the longitude of an element, which can be beyond a pole. */
static void PlaceOf(const Globe* g, TenonInt row, TenonInt column, double* t, double* p) {
  *t = kPi * ((double)row + 0.5) / (double)g->shape[0];
  *p = 2 * kPi * (double)column / (double)g->shape[1];
}

static TenonErrorCode Fill(const Globe* g, int isVector, TenonDTensor u) {
  TenonInt low[2], high[2], y, x;
  double t, p, *cell;
  void* array;

  TenonCall(TenonDTensorGetBox(u, low, high));
  TenonCall(TenonDTensorGetArray(u, TENON_FLOAT64, &array));
  cell = (double*)array;
  for (y = low[0]; y < high[0]; ++y)
    for (x = low[1]; x < high[1]; ++x) {
      PlaceOf(g, y, x, &t, &p);
      *cell++ = DerivativeAt(isVector, t, p);
    }
  TenonCall(TenonDTensorRestoreArray(u, &array));
  return TENON_SUCCESS;
}

/* The largest errors on this rank: of the halo, and of differences along meridians. */
static TenonErrorCode Errors(const Globe* g, int isVector, TenonDTensor wide, double errors[2]) {
  const double step = kPi / (double)g->shape[0];
  TenonInt low[2], high[2], columns, y, x;
  const void* array;
  const double* cell;
  double t, p, slope;

  TenonCall(TenonDTensorGetBox(wide, low, high));
  TenonCall(TenonDTensorGetArrayRead(wide, TENON_FLOAT64, &array));
  columns = high[1] - low[1];
  cell = (const double*)array;
  for (y = low[0]; y < high[0]; ++y)
    for (x = low[1]; x < high[1]; ++x, ++cell) {
      PlaceOf(g, y, x, &t, &p);
      errors[0] = fmax(errors[0], fabs(*cell - DerivativeAt(isVector, t, p)));
      if (y < low[0] + WIDTH || y >= high[0] - WIDTH)
        continue;
      slope = (8 * (cell[columns] - cell[-columns]) - (cell[2 * columns] - cell[-2 * columns])) /
              (12 * step);
      errors[1] = fmax(errors[1], fabs(slope - DerivativeAt(isVector + 1, t, p)));
    }
  TenonCall(TenonDTensorRestoreArrayRead(wide, &array));
  return TENON_SUCCESS;
}

/* Fills the halos of both fields. Returns the largest error of the differences on all ranks. */
static TenonErrorCode Differences(MPI_Comm comm, TenonInt rows, double* largest, int* isGood) {
  Globe g;
  TenonDTensor u = NULL, wide = NULL;
  double errors[2] = {0, 0}, all[2], forward, adjoint;
  int i;

  TenonCall(GlobeCreate(comm, rows, &g));
  for (i = 0; i < 2; ++i) {
    TenonCall(TenonDTensorCreate(g.plain, TENON_FLOAT64, &u));
    TenonCall(TenonDTensorCreate(g.wide[i], TENON_FLOAT64, &wide));
    TenonCall(Fill(&g, i, u));
    TenonCall(TenonLinearOpApply(g.halo[i], u, wide));
    TenonCall(Errors(&g, i, wide, errors));
    TenonCall(TenonDTensorDestroy(&u));
    TenonCall(TenonDTensorDestroy(&wide));
    TenonCall(TenonLinearOpTestAdjoint(g.halo[i], 1, TENON_TRUE, &forward, &adjoint, NULL));
    *isGood = *isGood && forward == adjoint;
  }
  MPI_Allreduce(errors, all, 2, MPI_DOUBLE, MPI_MAX, comm);
  *isGood = *isGood && all[0] < 1e-13;
  *largest = all[1];
  TenonCall(GlobeDestroy(&g));
  return TENON_SUCCESS;
}

static TenonErrorCode Poles(MPI_Comm comm) {
  double coarse, fine, order;
  int isGood = 1, rank;

  MPI_Comm_rank(comm, &rank);
  TenonCall(Differences(comm, 24, &coarse, &isGood));
  TenonCall(Differences(comm, 48, &fine, &isGood));
  order = log(coarse / fine) / log(2.0);
  if (rank == 0)
    printf("errors of differences %.3e and %.3e, order %.2f\n", coarse, fine, order);
  if (!isGood || !(order > 3.9 && order < 4.1)) {
    fprintf(stderr, "not so: the fields continue smoothly across the poles\n");
    TenonAbort(TENON_ERR_INTERNAL);
  }
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  TenonCallAbort(TenonInitialize(&argc, &argv, "Finite differences across the poles of a globe\n"));
  TenonCallAbort(Poles(MPI_COMM_WORLD));
  TenonCallAbort(TenonFinalize());
  return 0;
}
