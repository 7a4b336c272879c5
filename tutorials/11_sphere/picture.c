/* SPDX-License-Identifier: BSD-2-Clause */
/* Coefficients give a field at any points, here of a grid of cells, all of it on process 0: the
 * layout of the layer's output says so, and the layer moves the data. */
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRows = 90, kColumns = 180, kFields = 3, kLine = 60, kPath = 1100 };

/* From coefficients to all points on process 0. */
static TenonErrorCode CreateSynthesis(const Solver* s, TenonLayer* layer, TenonDTensor* points) {
  const TenonInt size[2] = {kRows, kColumns};
  TenonObject settings;

  TenonCall(TenonLayerCreateType(s->comm, "inversesht", layer));
  settings = (TenonObject)*layer;
  TenonCall(TenonObjectSetIntegers(settings, "degrees", 1, &s->degrees));
  TenonCall(TenonObjectSetIntegers(settings, "size", 2, size));
  TenonCall(TenonObjectSetText(settings, "grid", "cells"));
  TenonCall(TenonLayerSetDataType(*layer, TENON_FLOAT64));
  TenonCall(TenonLayerSetSignature(*layer, "R"));
  TenonCall(TenonLayerSetUp(*layer, s->spectral));
  TenonCall(TenonLayerSetTraining(*layer, TENON_FALSE));
  TenonCall(TenonLayerCreateOutput(*layer, 0, points));
  return TENON_SUCCESS;
}

/* values[field][point], on process 0. */
static TenonErrorCode Evaluate(const Solver* s, TenonDTensor const z[kFields], double* values) {
  TenonLayer layer;
  TenonDTensor points;
  const void* array;
  TenonInt count;
  int n;

  TenonCall(CreateSynthesis(s, &layer, &points));
  TenonCall(TenonDTensorGetLocalSize(points, &count)); /* 0 on other processes */
  for (n = 0; n < kFields; ++n) {
    TenonCall(TenonLayerApply(layer, z[n], points));
    TenonCall(TenonDTensorGetArrayRead(points, TENON_FLOAT64, &array));
    memcpy(values + n * kRows * kColumns, array, (size_t)count * sizeof *values);
    TenonCall(TenonDTensorRestoreArrayRead(points, &array));
  }
  TenonCall(TenonDTensorDestroy(&points));
  TenonCall(TenonLayerDestroy(&layer));
  return TENON_SUCCESS;
}

TenonErrorCode PictureWrite(const Solver* s, TenonDTensor truth, TenonDTensor bare,
                            TenonDTensor closed, const char* name) {
  const TenonDTensor z[kFields] = {truth, bare, closed};
  const int points = kRows * kColumns;
  double* const values = (double*)calloc((size_t)(kFields * points), sizeof *values);
  char *const text = (char*)malloc((size_t)(points + 1) * kLine), path[kPath];
  int rank, point, length;

  TenonCall(Evaluate(s, z, values));
  MPI_Comm_rank(s->comm, &rank);
  length = snprintf(text, kLine, "# %d rows, %d columns: truth, bare, closed\n", kRows, kColumns);
  for (point = 0; point < points; ++point)
    length += snprintf(text + length, kLine, "%.5g %.5g %.5g\n", values[point],
                       values[points + point], values[2 * points + point]);
  snprintf(path, sizeof path, "%s.txt", name);
  if (rank == 0)
    TenonCall(TenonWriteFile(path, text, length));
  free(text);
  free(values);
  return TENON_SUCCESS;
}
