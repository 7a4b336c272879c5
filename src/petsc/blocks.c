/* SPDX-License-Identifier: BSD-2-Clause */
/* TenonPetscMatAssembleBlocks(J, &B): the Jacobian J of a pointwise network as a matrix B with
 * entries, for preconditioners. In such a network (only kernels of width 1) the outputs of a point
 * depend on the inputs of the same point only, so the Jacobian has one dense block over the
 * channels for each point: with n channels, n x n entries per point, and otherwise zeros. The
 * function is declared in include/tenon_petsc.h.
 *
 * J is a matrix of mat.c, which can only be multiplied. The product of J and the vector that is 1
 * in channel c of every point and 0 elsewhere is column c of all blocks at once, so n products give
 * all entries. A last product with a random vector verifies that J and B agree, that is, that the
 * Jacobian has no other entries. Collective. */
#include "shim.h"

/* y <- column `column` of all blocks: J times the vector that is 1 in this channel of every point.
 * x is work space. */
static PetscErrorCode GetColumn(Mat J, PetscInt block, PetscInt column, Vec x, Vec y) {
  PetscScalar* values;
  PetscInt size, i;

  PetscFunctionBegin;
  PetscCall(VecSet(x, 0));
  PetscCall(VecGetLocalSize(x, &size));
  PetscCall(VecGetArray(x, &values));
  for (i = column; i < size; i += block)
    values[i] = 1;
  PetscCall(VecRestoreArray(x, &values));
  PetscCall(MatMult(J, x, y));
  PetscFunctionReturn(0);
}

/* Stores a column of all blocks in B. Row and column numbers of B are global; the channels of a
 * point are consecutive. */
static PetscErrorCode SetColumn(Mat B, PetscInt block, PetscInt column, Vec y) {
  const PetscScalar* values;
  PetscInt first, last, i, k, row, at;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(y, &first, &last));
  PetscCall(VecGetArrayRead(y, &values));
  for (i = first; i < last; i += block)
    for (k = 0; k < block; ++k) {
      row = i + k;
      at = i + column;
      PetscCall(MatSetValues(B, 1, &row, 1, &at, &values[row - first], INSERT_VALUES));
    }
  PetscCall(VecRestoreArrayRead(y, &values));
  PetscFunctionReturn(0);
}

/* Checks that J and B have the same product with a random vector. The tolerance of 1000 units is
 * for the rounding errors of all layers of the network; an entry that B lacks makes a difference of
 * its own size. x and y are work space. */
static PetscErrorCode CheckBlocksAreAll(Mat J, Mat B, Vec x, Vec y) {
  Vec z;
  PetscReal norm, difference;

  PetscFunctionBegin;
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(MatMult(J, x, y));
  PetscCall(MatMult(B, x, z));
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(VecAXPY(z, -1, y));
  PetscCall(VecNorm(z, NORM_2, &difference));
  PetscCall(VecDestroy(&z));
  PetscCheck(difference <= 1000 * PETSC_MACHINE_EPSILON * norm, PetscObjectComm((PetscObject)J),
             PETSC_ERR_ARG_INCOMP,
             "the network does not act at each point for itself: its Jacobian differs from its "
             "blocks by %g of its norm; only networks of kernels of 1 have such a matrix",
             (double)(difference / norm));
  PetscFunctionReturn(0);
}

/* An error is in `code` until the work space is destroyed; PetscCall() would return at once. */
static PetscErrorCode Fill(Mat J, Mat B, PetscInt block) {
  Vec x, y;
  PetscInt column;
  PetscErrorCode code = 0;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(J, &x, &y));
  for (column = 0; column < block && !code; ++column) {
    code = GetColumn(J, block, column, x, y);
    if (!code)
      code = SetColumn(B, block, column, y);
  }
  if (!code)
    code = MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY);
  if (!code)
    code = MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY);
  if (!code)
    code = CheckBlocksAreAll(J, B, x, y);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(code);
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscMatAssembleBlocks(Mat J, Mat* B) {
  PetscInt m, n, rows, columns;
  PetscErrorCode code;

  PetscFunctionBegin;
  NEED_OBJECT(J, MAT_CLASSID);
  NEED_ADDRESS(B);
  PetscCall(BlockSizes(J, &rows, &columns));
  PetscCheck(rows == columns, PetscObjectComm((PetscObject)J), PETSC_ERR_ARG_INCOMP,
             "the grids of rows and columns have %lld and %lld degrees of freedom; blocks on the "
             "diagonal need as many",
             (long long)rows, (long long)columns);
  PetscCall(MatGetLocalSize(J, &m, &n));
  /* One block in each row of blocks, that of the diagonal; none in columns of other ranks. */
  PetscCall(MatCreateBAIJ(PetscObjectComm((PetscObject)J), rows, m, n, PETSC_DETERMINE,
                          PETSC_DETERMINE, 1, NULL, 0, NULL, B));
  code = Fill(J, *B, rows);
  if (code)
    PetscCall(MatDestroy(B));
  PetscCall(code);
  PetscFunctionReturn(0);
}
