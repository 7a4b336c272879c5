/* SPDX-License-Identifier: BSD-2-Clause */
/* A whole program in C99, in which Tenon initializes MPI: a 13 x 4 tensor with its rows split among
 * all ranks, a halo exchange from the program's own column-major array with ghosts, a test of its
 * adjoint, and an error that the program handles. The expected values are valueAt(row, column). */
#include "support/check.h"

#include <tenon.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 13, COLUMNS = 4, WIDTH = 2 };

/* The value of a cell; rows are periodic. */
static double valueAt(TenonInt row, TenonInt column) {
  return (double)((row + ROWS) % ROWS * COLUMNS + column);
}

/* `plain` has no halo, `wide` WIDTH rows of halo on both sides of each rank's rows. */
static TenonErrorCode createLayouts(TenonLayout* plain, TenonLayout* wide) {
  const TenonInt shape[2] = {ROWS, COLUMNS};
  int size = 0;
  TenonPartition partition = NULL;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  TenonCall(TenonPartitionCreate(MPI_COMM_WORLD, 1, &size, &partition));
  TenonCall(TenonLayoutCreateSharded(partition, 2, shape, "S0", plain));
  TenonCall(TenonLayoutCreate(partition, wide));
  TenonCall(TenonLayoutSetShape(*wide, 2, shape));
  TenonCall(TenonLayoutSetProperties(*wide, "S0"));
  TenonCall(
      TenonLayoutSetHalo(*wide, 0, WIDTH, WIDTH, TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC));
  TenonCall(TenonLayoutSetUp(*wide));
  TenonCall(TenonPartitionDestroy(&partition));
  return TENON_SUCCESS;
}

/* The input x is a column-major array of the program, as in Fortran, with WIDTH ghost rows before
 * and after the rows of this rank:
 *
 *   field[row - low[0] + WIDTH + column * strides[1]]
 *
 * The output y is memory of the library, row-major, with the halo. */
static TenonErrorCode exchange(TenonLayout plain, TenonLayout wide) {
  TenonInt low[2], high[2], row, column, strides[2] = {1, 0};
  const TenonInt ghosts[2] = {WIDTH, 0};
  TenonDTensor x = NULL, y = NULL;
  TenonLinearOp halo = NULL;
  double *field, forward = 0, adjoint = 1;
  TenonCall(TenonLayoutGetBox(plain, low, high));
  strides[1] = high[0] - low[0] + 2 * WIDTH;
  field = (double*)calloc((size_t)(strides[1] * COLUMNS), sizeof *field);
  for (row = low[0]; row < high[0]; ++row)
    for (column = 0; column < COLUMNS; ++column)
      field[row - low[0] + WIDTH + column * strides[1]] = valueAt(row, column);

  TenonCall(TenonDTensorCreate(plain, TENON_FLOAT64, &x));
  TenonCall(
      TenonDTensorPlaceArrayRead(x, field + WIDTH, strides, ghosts, ghosts, strides[1] * COLUMNS));
  TenonCall(TenonDTensorCreate(wide, TENON_FLOAT64, &y));
  TenonCall(TenonLinearOpCreateHalo(plain, wide, TENON_FLOAT64, &halo));
  TenonCall(TenonLinearOpApply(halo, x, y));
  {
    void* array = NULL;
    const double* cells;
    TenonCall(TenonDTensorGetArray(y, TENON_FLOAT64, &array));
    cells = (const double*)array;
    TenonCall(TenonLayoutGetBox(wide, low, high));
    for (row = low[0]; row < high[0]; ++row)
      for (column = 0; column < COLUMNS; ++column)
        CHECK(cells[(row - low[0]) * COLUMNS + column] == valueAt(row, column));
    TenonCall(TenonDTensorRestoreArray(y, &array));
  }
  TenonCall(TenonLinearOpTestAdjoint(halo, 3, TENON_TRUE, &forward, &adjoint, NULL));
  CHECK(forward == adjoint);
  TenonCall(TenonLinearOpDestroy(&halo));
  TenonCall(TenonDTensorDestroy(&y));
  TenonCall(TenonDTensorDestroy(&x));
  free(field);
  return TENON_SUCCESS;
}

/* A conversion between different shapes returns an error, and the program continues. */
static TenonErrorCode recover(TenonLayout plain) {
  const TenonInt shape[2] = {ROWS, COLUMNS + 1};
  TenonPartition partition = NULL;
  TenonLayout other = NULL;
  TenonLinearOp op = NULL;
  TenonErrorCode code = TENON_SUCCESS;
  char message[512] = "";
  TenonCall(TenonLayoutGetPartition(plain, &partition));
  TenonCall(TenonLayoutCreateSharded(partition, 2, shape, "B", &other));
  TenonCall(TenonPushErrorHandler(TenonReturnErrorHandler, NULL));
  CHECK(TenonLinearOpCreateConversion(plain, other, TENON_FLOAT32, &op) == TENON_ERR_SHAPE);
  CHECK(op == NULL);
  TenonCall(TenonGetLastError(&code, message, sizeof message, NULL));
  CHECK(code == TENON_ERR_SHAPE && strstr(message, "13,4") && strstr(message, "13,5"));
  TenonCall(TenonPopErrorHandler());
  TenonCall(TenonLayoutDestroy(&other));
  TenonCall(TenonPartitionDestroy(&partition));
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  TenonLayout plain = NULL, wide = NULL;
  TenonBool on = TENON_FALSE;
  int finished = 0;
  TenonCallAbort(TenonInitialize(&argc, &argv, "first steps"));
  TenonCallAbort(TenonInitialized(&on));
  CHECK(on == TENON_TRUE);
  TenonCallAbort(createLayouts(&plain, &wide));
  TenonCallAbort(exchange(plain, wide));
  TenonCallAbort(recover(plain));
  TenonCallAbort(TenonLayoutDestroy(&wide));
  TenonCallAbort(TenonLayoutDestroy(&plain));
  TenonCallAbort(TenonFinalize());
  MPI_Finalized(&finished);
  CHECK(finished); /* Tenon started MPI, so Tenon ended it */
  TenonCallAbort(TenonPushErrorHandler(TenonReturnErrorHandler, NULL));
  CHECK(TenonInitialize(&argc, &argv, NULL) == TENON_ERR_STATE);
  return 0;
}
