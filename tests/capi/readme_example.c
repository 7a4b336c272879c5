/* SPDX-License-Identifier: BSD-2-Clause */
/* The README's ten lines made a program: the ghosted array of a solver, wrapped where it lies, goes
 * through a convolution and back, in float64, on rows split over all ranks. The weights are ones,
 * so that every output and cotangent is a count of cells. */
#include "support/check.h"

#include <tenon.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 1, CHANNELS = 3, FILTERS = 16, ROWS = 18, COLUMNS = 9, GHOST = 2, K = 3 };

/* How many of the windows, one around each cell of an extent, contain a cell. */
static double windows(TenonInt cell, TenonInt extent) {
  const TenonInt first = cell - K / 2 > 0 ? cell - K / 2 : 0;
  const TenonInt last = cell + K / 2 < extent - 1 ? cell + K / 2 : extent - 1;
  return (double)(last - first + 1);
}

static TenonErrorCode fillWeights(TenonLayer conv) {
  TenonDTensor weight = NULL;
  TenonCall(TenonLayerGetParameter(conv, 0, &weight));
  TenonCall(TenonDTensorFillConstant(weight, 1));
  TenonCall(TenonDTensorDestroy(&weight));
  return TENON_SUCCESS;
}

static TenonErrorCode checkCotangent(TenonDTensor dx) {
  TenonInt low[4], high[4], c, i, j;
  const void* array = NULL;
  const double* value;
  TenonCall(TenonDTensorGetBox(dx, low, high));
  TenonCall(TenonDTensorGetArrayRead(dx, TENON_FLOAT64, &array));
  value = (const double*)array;
  for (c = 0; c < CHANNELS; ++c)
    for (i = low[2]; i < high[2]; ++i)
      for (j = 0; j < COLUMNS; ++j)
        CHECK(*value++ == FILTERS * windows(i, ROWS) * windows(j, COLUMNS));
  TenonCall(TenonDTensorRestoreArrayRead(dx, &array));
  return TENON_SUCCESS;
}

static TenonErrorCode example(MPI_Comm comm) {
  int rank = 0, size = 1;
  TenonLayout lx = NULL;
  TenonLayer conv = NULL;
  TenonDTensor x = NULL, y = NULL, dx = NULL, dy = NULL;
  double most = 0;
  TenonInt rows, i;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  {
    const TenonInt shape[4] = {BATCH, CHANNELS, ROWS, COLUMNS};
    const TenonInt my_low[4] = {0, 0, (TenonInt)ROWS * rank / size, 0};
    const TenonInt my_high[4] = {BATCH, CHANNELS, (TenonInt)ROWS * (rank + 1) / size, COLUMNS};
    const TenonInt ghosts[4] = {0, 0, GHOST, GHOST};
    const TenonInt width = COLUMNS + 2 * GHOST;
    double* field;
    TenonInt strides[4] = {0, 0, 0, 1}, ghost, length;
    rows = my_high[2] - my_low[2];
    strides[2] = width;
    strides[1] = (rows + 2 * GHOST) * width;
    strides[0] = CHANNELS * strides[1];
    ghost = GHOST * width + GHOST;
    length = BATCH * strides[0];
    field = (double*)malloc((size_t)length * sizeof *field);
    for (i = 0; i < length; ++i)
      field[i] = NAN; /* what lies in the ghosts must not matter */
    for (i = 0; i < CHANNELS * rows * COLUMNS; ++i)
      field[ghost + i / (rows * COLUMNS) * strides[1] + i / COLUMNS % rows * width + i % COLUMNS] =
          1;

    TenonCall(TenonLayoutCreateFromBoxes(comm, 4, shape, my_low, my_high, &lx));
    TenonCall(TenonDTensorCreate(lx, TENON_FLOAT64, &x));
    TenonCall(TenonDTensorPlaceArray(x, &field[ghost], strides, ghosts, ghosts, length));
    TenonCall(TenonLayerCreateConv(comm, 2, CHANNELS, FILTERS, (TenonInt[]){K, K}, &conv));
    TenonCall(TenonLayerSetPadding(conv, (TenonInt[]){1, 1}, NULL));
    TenonCall(TenonLayerSetDataType(conv, TENON_FLOAT64));
    TenonCall(TenonLayerSetUp(conv, lx));
    TenonCall(TenonLayerInitialize(conv, 1));
    TenonCall(TenonLayerCreateOutput(conv, &y));
    TenonCall(fillWeights(conv));
    TenonCall(TenonLayerApply(conv, x, y));
    TenonCall(TenonDTensorMaxAbs(y, &most));
    CHECK(most == CHANNELS * K * K);
    TenonCall(TenonLayerCreateCotangent(conv, &dy));
    TenonCall(TenonLayerCreateInputCotangent(conv, &dx));
    TenonCall(TenonDTensorFillConstant(dy, 1));
    TenonCall(TenonLayerApplyAdjoint(conv, dy, dx));
    TenonCall(checkCotangent(dx));
    TenonCall(TenonDTensorDestroy(&x));
    free(field);
  }
  TenonCall(TenonDTensorDestroy(&dx));
  TenonCall(TenonDTensorDestroy(&dy));
  TenonCall(TenonDTensorDestroy(&y));
  TenonCall(TenonLayerDestroy(&conv));
  TenonCall(TenonLayoutDestroy(&lx));
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  TenonCallAbort(TenonInitialize(&argc, &argv, "the README's example"));
  TenonCallAbort(example(MPI_COMM_WORLD));
  TenonCallAbort(TenonFinalize());
  return 0;
}
