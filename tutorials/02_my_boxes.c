/* SPDX-License-Identifier: BSD-2-Clause */
/* 02 My boxes: use the decomposition and the arrays that a solver already has.
 *
 * What you learn: how to create a layout from the boxes that the processes own, in any order and of
 * any sizes; how a tensor uses the solver's array in place, with ghost cells and in column-major
 * order; how to handle an error and continue; how to convert a tensor to another layout.
 *
 *   mpiexec -n 4 02_my_boxes
 */
#include <tenon.h>

#include <stdio.h>
#include <stdlib.h>

enum { kX = 12, kY = 7, kGhost = 1 };

/* A solver's data: its box in the global grid, and an array with ghost cells in Fortran order. */
typedef struct Solver {
  TenonInt low[2], high[2];
  TenonInt strides[2], length;
  double* memory;
  double* firstOwned;
} Solver;

/* Ranks are numbered along x first, as in many Fortran codes, and the first column is narrower. */
static void SolverCreate(MPI_Comm comm, Solver* s) {
  int rank, size, px, py;
  TenonInt i, j;

  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  px = size % 2 == 0 ? 2 : 1;
  py = size / px;
  s->low[0] = px == 1 || rank % px == 0 ? 0 : 5;
  s->high[0] = px == 1 || rank % px == 1 ? kX : 5;
  s->low[1] = (TenonInt)kY * (rank / px) / py;
  s->high[1] = (TenonInt)kY * (rank / px + 1) / py;
  s->strides[0] = 1;
  s->strides[1] = s->high[0] - s->low[0] + 2 * kGhost;
  s->length = s->strides[1] * (s->high[1] - s->low[1] + 2 * kGhost);
  s->memory = (double*)calloc((size_t)s->length, sizeof(double));
  s->firstOwned = s->memory + kGhost * (s->strides[0] + s->strides[1]);
  for (j = s->low[1]; j < s->high[1]; ++j)
    for (i = s->low[0]; i < s->high[0]; ++i)
      s->firstOwned[(i - s->low[0]) + (j - s->low[1]) * s->strides[1]] = (double)(i + 100 * j);
}

/* A halo that is wider than the solver's ghost cells: the error is caught and printed. */
static TenonErrorCode AskTooMuch(TenonLayout layout, Solver* s, int rank) {
  const TenonInt ghosts[2] = {kGhost, kGhost};
  TenonLayout wide = NULL;
  TenonDTensor x = NULL;
  char message[512];

  TenonCall(TenonLayoutCreateLike(layout, &wide));
  TenonCall(TenonLayoutSetHalo(wide, 0, 2, 2, TENON_BOUNDARY_ZERO, TENON_BOUNDARY_ZERO));
  TenonCall(TenonLayoutSetUp(wide));
  TenonCall(TenonDTensorCreate(wide, TENON_FLOAT64, &x));
  TenonCall(TenonPushErrorHandler(TenonReturnErrorHandler, NULL));
  if (TenonDTensorPlaceArray(x, s->firstOwned, s->strides, ghosts, ghosts, s->length) ==
      TENON_ERR_SHAPE) {
    TenonCall(TenonGetLastError(NULL, message, sizeof message, NULL));
    if (rank == 0)
      printf("error, as expected: %s\n", message);
  }
  TenonCall(TenonPopErrorHandler());
  TenonCall(TenonDTensorDestroy(&x));
  TenonCall(TenonLayoutDestroy(&wide));
  return TENON_SUCCESS;
}

/* Redistributes the tensor into whole rows of x, as an FFT along x needs them. The adjoint of the
 * operator, which is its inverse here, moves the values back. */
static TenonErrorCode MoveToRows(TenonLayout layout, TenonDTensor x, MPI_Comm comm) {
  const TenonInt shape[2] = {kX, kY};
  TenonPartition line = NULL;
  TenonLayout rows = NULL;
  TenonLinearOp move = NULL;
  TenonDTensor y = NULL;
  double before, after;
  int size, rank;

  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  TenonCall(TenonPartitionCreate(comm, 1, &size, &line));
  TenonCall(TenonLayoutCreateSharded(line, 2, shape, "S1", &rows));
  TenonCall(TenonLinearOpCreateRepartition(layout, rows, TENON_FLOAT64, &move));
  TenonCall(TenonDTensorCreate(rows, TENON_FLOAT64, &y));
  TenonCall(TenonLinearOpApply(move, x, y));
  TenonCall(TenonDTensorNorm(x, &before));
  TenonCall(TenonDTensorNorm(y, &after));
  if (rank == 0)
    printf("norm in my boxes %.6f, in whole rows %.6f\n", before, after);
  TenonCall(TenonDTensorDestroy(&y));
  TenonCall(TenonLinearOpDestroy(&move));
  TenonCall(TenonLayoutDestroy(&rows));
  TenonCall(TenonPartitionDestroy(&line));
  return TENON_SUCCESS;
}

static TenonErrorCode MyBoxes(MPI_Comm comm) {
  const TenonInt shape[2] = {kX, kY}, ghosts[2] = {kGhost, kGhost};
  TenonLayout layout = NULL;
  TenonDTensor x = NULL;
  Solver solver;
  double largest;
  int rank;

  MPI_Comm_rank(comm, &rank);
  SolverCreate(comm, &solver);
  TenonCall(TenonLayoutCreateFromBoxes(comm, 2, shape, solver.low, solver.high, &layout));
  TenonCall(TenonObjectView((TenonObject)layout));

  /* No copy: the tensor is the solver's array from now on. */
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT64, &x));
  TenonCall(
      TenonDTensorPlaceArray(x, solver.firstOwned, solver.strides, ghosts, ghosts, solver.length));
  TenonCall(TenonDTensorMaxAbs(x, &largest));
  if (rank == 0)
    printf("largest value %.0f, expected %d\n", largest, kX - 1 + 100 * (kY - 1));

  TenonCall(AskTooMuch(layout, &solver, rank));
  TenonCall(MoveToRows(layout, x, comm));
  TenonCall(TenonDTensorDestroy(&x));
  TenonCall(TenonLayoutDestroy(&layout));
  free(solver.memory);
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  TenonCallAbort(TenonOptionsOwnCommandLine());
  TenonCallAbort(
      TenonInitialize(&argc, &argv, "02 My boxes: a solver's decomposition and arrays\n"));
  TenonCallAbort(MyBoxes(MPI_COMM_WORLD));
  TenonCallAbort(TenonFinalize());
  return 0;
}
