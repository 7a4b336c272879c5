/* SPDX-License-Identifier: BSD-2-Clause */
/* The README's example as a complete program: an array of the program with ghost cells, placed in a
 * tensor without a copy, is the input of a convolution and of its adjoint, in float64, with the
 * rows split among all ranks. tests/config/check_readme.sh compares the lines with the README's.
 *
 * Afterwards the same with weights and input of 1: then each output is the number of points in a
 * window, and each gradient the number of windows that contain a point, times the filters. */
#include <tenon.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 18, COLUMNS = 9, FILTERS = 8 };

static void expect(int isSo, const char* what) {
  if (isSo)
    return;
  fprintf(stderr, "not so: %s\n", what);
  TenonAbort(TENON_ERR_INTERNAL);
}

/* In one dimension: the number of windows of 3 points, one centred on each point, that contain
 * `point`: 3, but 2 at both ends. */
static double windows(TenonInt point, TenonInt extent) {
  return 1 + (point > 0 ? 1 : 0) + (point < extent - 1 ? 1 : 0);
}

static TenonErrorCode fillWeights(TenonLayer conv) {
  TenonDTensor weight = NULL;
  TenonCall(TenonLayerGetParameter(conv, 0, &weight));
  TenonCall(TenonDTensorFillConstant(weight, 1));
  TenonCall(TenonDTensorDestroy(&weight));
  return TENON_SUCCESS;
}

/* Checks dx for weights of 1 and dy = 1. */
static TenonErrorCode checkCotangent(TenonDTensor dx) {
  TenonInt low[4], high[4], i, j;
  const void* array = NULL;
  const double* value;
  TenonCall(TenonDTensorGetBox(dx, low, high));
  TenonCall(TenonDTensorGetArrayRead(dx, TENON_FLOAT64, &array));
  value = (const double*)array;
  for (i = low[2]; i < high[2]; ++i)
    for (j = 0; j < COLUMNS; ++j)
      expect(*value++ == (double)FILTERS * windows(i, ROWS) * windows(j, COLUMNS),
             "dx counts the windows around a point");
  TenonCall(TenonDTensorRestoreArrayRead(dx, &array));
  return TENON_SUCCESS;
}

static TenonErrorCode checkWeightsOfOne(TenonLayer conv, TenonDTensor x, TenonDTensor y,
                                        TenonDTensor dy, TenonDTensor dx) {
  double largest = 0;
  TenonCall(fillWeights(conv));
  TenonCall(TenonLayerApply(conv, x, y));
  TenonCall(TenonDTensorMaxAbs(y, &largest));
  expect(largest == 9, "an output of weights of 1 is the number of points in a window");
  TenonCall(TenonLayerApplyAdjoint(conv, dy, dx));
  TenonCall(checkCotangent(dx));
  return TENON_SUCCESS;
}

/* The solver's array: 1 in its cells, NaN in the ghost cells, which no layer reads. */
static double* createField(TenonInt rows, TenonInt length) {
  const TenonInt width = COLUMNS + 2;
  double* field = (double*)malloc((size_t)length * sizeof *field);
  TenonInt i, j;
  for (i = 0; i < length; ++i)
    field[i] = NAN;
  for (i = 1; i <= rows; ++i)
    for (j = 1; j <= COLUMNS; ++j)
      field[i * width + j] = 1;
  return field;
}

static TenonErrorCode example(MPI_Comm comm, TenonInt rank, TenonInt size) {
  const TenonInt ny = ROWS, nx = COLUMNS, x0 = 0, x1 = nx;
  const TenonInt y0 = ny * rank / size, y1 = ny * (rank + 1) / size;
  const TenonInt length = (y1 - y0 + 2) * (nx + 2);
  double* field = createField(y1 - y0, length);
  double* first_owned = field + (nx + 2) + 1;
  TenonLayout layout = NULL;
  TenonLayer conv = NULL;
  TenonDTensor x = NULL, y = NULL, dx = NULL, dy = NULL;

  /* The README's lines; a test compares them. */
  const TenonInt shape[4] = {1, 1, ny, nx};                         /* batch, channel, y, x */
  const TenonInt low[4] = {0, 0, y0, x0}, high[4] = {1, 1, y1, x1}; /* this rank: y0 <= y < y1 */
  const TenonInt ghosts[4] = {0, 0, 1, 1}, kernel[2] = {3, 3}, padding[2] = {1, 1};

  /* Your decomposition, your array (no copy), and a convolution with 1 input and 8 output channels.
   */
  TenonCall(TenonLayoutCreateFromBoxes(comm, 4, shape, low, high, &layout));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT64, &x));
  TenonCall(TenonDTensorPlaceArray(x, first_owned, NULL, ghosts, ghosts, length));
  TenonCall(TenonLayerCreateConv(comm, 2, 1, 8, kernel, &conv));
  TenonCall(TenonLayerSetPadding(conv, padding, NULL));
  TenonCall(TenonLayerSetDataType(conv, TENON_FLOAT64));
  TenonCall(TenonLayerSetUp(conv, layout));
  TenonCall(TenonLayerInitialize(conv, 1)); /* random weights, seed 1 */
  TenonCall(TenonLayerCreateOutput(conv, 0, &y));
  TenonCall(TenonLayerApply(conv, x, y)); /* forward */

  /* Backward: dy = dL/dy gives dx = dL/dx; weight gradients accumulate in the layer. */
  TenonCall(TenonLayerCreateOutputCotangent(conv, 0, &dy));
  TenonCall(TenonLayerCreateInputCotangent(conv, 0, &dx));
  TenonCall(TenonDTensorFillConstant(dy, 1)); /* here L is the sum of y */
  TenonCall(TenonLayerApplyAdjoint(conv, dy, dx));

  TenonCall(checkWeightsOfOne(conv, x, y, dy, dx));
  TenonCall(TenonDTensorDestroy(&x));
  TenonCall(TenonDTensorDestroy(&dx));
  TenonCall(TenonDTensorDestroy(&dy));
  TenonCall(TenonDTensorDestroy(&y));
  TenonCall(TenonLayerDestroy(&conv));
  TenonCall(TenonLayoutDestroy(&layout));
  free(field);
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  int rank = 0, size = 1;
  TenonCallAbort(TenonInitialize(&argc, &argv, "the README's example"));
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  TenonCallAbort(example(MPI_COMM_WORLD, rank, size));
  TenonCallAbort(TenonFinalize());
  return 0;
}
