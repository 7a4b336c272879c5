/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: write_fields FOLDER STEP...
 * Writes two series of fields at these steps, time being a quarter of the step, with values that
 * check_fields.py computes: "plane", u and v in an array with ghost cells and p, and "volume", T at grid points. */
#include <tenon.h>

#include <stdio.h>
#include <stdlib.h>

enum { kNy = 5, kNx = 7, kNz = 4, kGhosts = 2 };

static double Value(TenonInt step, TenonInt component, TenonInt z, TenonInt y, TenonInt x) {
  return (double)(1000 * component + step + 100 * z + 10 * y) + 0.5 * (double)x;
}

static TenonErrorCode WritePlane(const char* folder, int count, char** steps) {
  const TenonInt shape[4] = {1, 2, kNy, kNx}, ghosts[4] = {0, 0, kGhosts, kGhosts};
  const double origin[2] = {-1, 2.5}, spacing[2] = {0.5, 0.25};
  TenonInt low[4], high[4], strides[4], c, y, x;
  TenonPartition line;
  TenonLayout layout, flat;
  TenonDTensor velocity, pressure;
  TenonFieldSeries series;
  double* u;
  char path[512];
  int ranks, i;

  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  TenonCall(TenonPartitionCreate(MPI_COMM_WORLD, 1, &ranks, &line));
  TenonCall(TenonLayoutCreateSharded(line, 4, shape, "S3", &layout));
  TenonCall(TenonLayoutCreateSharded(line, 2, shape + 2, "R", &flat));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT64, &velocity));
  TenonCall(TenonDTensorCreate(flat, TENON_FLOAT32, &pressure));
  TenonCall(TenonLayoutGetOwnedBox(layout, low, high));
  /* Columns one after the other, as Fortran has u(-1:ny+2, -1:nx+2, 2). */
  strides[2] = 1;
  strides[3] = kNy + 2 * kGhosts;
  strides[1] = strides[0] = strides[3] * (high[3] - low[3] + 2 * kGhosts);
  u = malloc(sizeof(double) * (size_t)(2 * strides[1]));
  TenonCall(TenonDTensorPlaceArray(velocity, u + kGhosts * (strides[2] + strides[3]), strides,
                                   ghosts, ghosts, 2 * strides[1]));
  snprintf(path, sizeof path, "%s/plane", folder);
  TenonCall(TenonFieldSeriesCreate(MPI_COMM_WORLD, path, 2, &series));
  TenonCall(TenonFieldSeriesSetGrid(series, 2, origin, spacing));
  TenonCall(TenonFieldSeriesAddTensor(series, velocity, "velocity", "u,v"));
  TenonCall(TenonFieldSeriesAddTensor(series, pressure, "p", NULL));
  for (i = 0; i < count; ++i) {
    const TenonInt step = atoll(steps[i]);

    for (c = 0; c < 2 * strides[1]; ++c)
      u[c] = -1; /* the ghost cells, which are not written */
    for (c = 0; c < 2; ++c)
      for (y = 0; y < kNy; ++y)
        for (x = low[3]; x < high[3]; ++x)
          u[c * strides[1] + y + kGhosts + (x - low[3] + kGhosts) * strides[3]] =
              Value(step, c, 0, y, x);
    TenonCall(TenonDTensorFillConstant(pressure, (double)step));
    TenonCall(TenonFieldSeriesWrite(series, step, 0.25 * (double)step));
  }
  TenonCall(TenonObjectView((TenonObject)series));
  TenonCall(TenonFieldSeriesDestroy(&series));
  TenonCall(TenonDTensorDestroy(&pressure));
  TenonCall(TenonDTensorDestroy(&velocity));
  TenonCall(TenonLayoutDestroy(&flat));
  TenonCall(TenonLayoutDestroy(&layout));
  TenonCall(TenonPartitionDestroy(&line));
  free(u);
  return TENON_SUCCESS;
}

static TenonErrorCode WriteVolume(const char* folder, int count, char** steps) {
  const TenonInt shape[3] = {kNz, kNy, kNx};
  TenonInt low[3], high[3], z, y, x;
  TenonPartition line;
  TenonLayout layout;
  TenonDTensor temperature;
  TenonFieldSeries series;
  void* values;
  char path[512];
  int ranks, i;

  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  TenonCall(TenonPartitionCreate(MPI_COMM_WORLD, 1, &ranks, &line));
  TenonCall(TenonLayoutCreateSharded(line, 3, shape, "S1", &layout));
  TenonCall(TenonLayoutGetOwnedBox(layout, low, high));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT32, &temperature));
  snprintf(path, sizeof path, "%s/volume", folder);
  TenonCall(TenonFieldSeriesCreate(MPI_COMM_WORLD, path, 3, &series));
  TenonCall(TenonObjectSetOptionsPrefix((TenonObject)series, "volume"));
  TenonCall(TenonObjectSetFromOptions((TenonObject)series));
  TenonCall(TenonFieldSeriesAddTensor(series, temperature, "T", NULL));
  for (i = 0; i < count; ++i) {
    const TenonInt step = atoll(steps[i]);
    float* t;

    TenonCall(TenonDTensorGetArray(temperature, TENON_FLOAT32, &values));
    t = values;
    for (z = 0; z < kNz; ++z)
      for (y = low[1]; y < high[1]; ++y)
        for (x = 0; x < kNx; ++x)
          *t++ = (float)Value(step, 0, z, y, x);
    TenonCall(TenonDTensorRestoreArray(temperature, &values));
    TenonCall(TenonFieldSeriesWrite(series, step, 0.25 * (double)step));
  }
  TenonCall(TenonFieldSeriesDestroy(&series));
  TenonCall(TenonDTensorDestroy(&temperature));
  TenonCall(TenonLayoutDestroy(&layout));
  TenonCall(TenonPartitionDestroy(&line));
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  TenonCallAbort(TenonInitialize(NULL, NULL, NULL));
  TenonCallAbort(TenonOptionsSet("-tenon_volume_field_center", "node"));
  if (argc > 2) {
    TenonCallAbort(WritePlane(argv[1], argc - 2, argv + 2));
    TenonCallAbort(WriteVolume(argv[1], argc - 2, argv + 2));
  }
  TenonCallAbort(TenonFinalize());
  return 0;
}
