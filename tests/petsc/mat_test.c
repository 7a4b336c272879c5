/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators and Jacobians as matrices: linear, transposed by their adjoints, as good for KSP as
 * PETSc's own matrix of the same stencil. */
#include "run.h"

#include <petsc/private/petscimpl.h> /* PetscObjectStateGet() */
#include <petscksp.h>

/* 13 x 9 points: 2 or 4 processes have unequal parts. */
static PetscErrorCode CreateGrid(PetscInt dof, DMBoundaryType boundary, DM* dm) {
  PetscFunctionBegin;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, boundary, boundary, DMDA_STENCIL_BOX, 13, 9,
                         PETSC_DECIDE, PETSC_DECIDE, dof, 1, NULL, NULL, dm));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(0);
}

/* Linear, <A x, y> = <x, A' y>, and the matrix that its columns give is the transpose of that of
 * A'. */
static PetscErrorCode CheckMatrix(Mat A, PetscReal tolerance) {
  Mat forward, adjoint, transposed;
  Vec x, y, Ax, Aty;
  PetscScalar left, right;
  PetscReal norm, difference;
  PetscBool isLinear;

  PetscFunctionBegin;
  PetscCall(MatIsLinear(A, 3, &isLinear));
  CHECK(isLinear || tolerance > 1e-10); /* float32 rounds more than MatIsLinear() allows */
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &Aty));
  PetscCall(VecDuplicate(y, &Ax));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecSetRandom(y, NULL));
  PetscCall(MatMult(A, x, Ax));
  PetscCall(MatMultTranspose(A, y, Aty));
  PetscCall(VecDot(Ax, y, &left));
  PetscCall(VecDot(x, Aty, &right));
  CHECK(left != 0 && PetscAbs(left - right) <= tolerance * PetscAbs(left));

  PetscCall(MatComputeOperator(A, MATDENSE, &forward));
  PetscCall(MatComputeOperatorTranspose(A, MATDENSE, &adjoint));
  PetscCall(MatTranspose(adjoint, MAT_INITIAL_MATRIX, &transposed));
  PetscCall(MatNorm(forward, NORM_FROBENIUS, &norm));
  PetscCall(MatAXPY(transposed, -1, forward, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(transposed, NORM_FROBENIUS, &difference));
  CHECK(norm > 0 && difference <= tolerance * norm);
  PetscCall(MatDestroy(&forward));
  PetscCall(MatDestroy(&adjoint));
  PetscCall(MatDestroy(&transposed));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&Ax));
  PetscCall(VecDestroy(&Aty));
  PetscFunctionReturn(0);
}

/* | (f(x + h v) - f(x - h v)) / 2 h - J v |, relative; f by the layer on the vectors' arrays. */
static PetscErrorCode CheckDifference(TenonLayer layer, DM rows, DM columns, Vec x, Mat J) {
  const PetscReal h = 1e-5; /* errors of the difference: h^2 = 1e-10, and rounding / h = 1e-11 */
  TenonLayout layout = NULL;
  TenonDTensor from = NULL, to = NULL;
  Vec v, at, Jv, f[2];
  PetscReal norm, difference;
  int side;

  PetscFunctionBegin;
  PetscCall(TenonPetscLayoutFromDM(columns, &layout));
  TenonPetscCall(TenonDTensorCreate(layout, TENON_PETSC_SCALAR, &from));
  TenonPetscCall(TenonLayerCreateOutput(layer, 0, &to));
  PetscCall(MatCreateVecs(J, &v, &Jv));
  PetscCall(VecDuplicate(v, &at));
  PetscCall(VecSetRandom(v, NULL));
  PetscCall(MatMult(J, v, Jv));
  for (side = 0; side < 2; ++side) {
    PetscCall(VecDuplicate(Jv, &f[side]));
    PetscCall(VecWAXPY(at, side == 0 ? h : -h, v, x));
    PetscCall(TenonPetscPlaceVecRead(from, columns, at));
    PetscCall(TenonPetscPlaceVec(to, rows, f[side]));
    TenonPetscCall(TenonLayerApply(layer, from, to));
    TenonPetscCall(TenonLayerClearStack(layer)); /* no adjoint follows */
    PetscCall(TenonPetscRestoreVec(to, f[side]));
    PetscCall(TenonPetscRestoreVecRead(from, at));
  }
  PetscCall(VecNorm(Jv, NORM_2, &norm));
  PetscCall(VecAXPBYPCZ(Jv, 1 / (2 * h), -1 / (2 * h), -1, f[0], f[1]));
  PetscCall(VecNorm(Jv, NORM_2, &difference));
  CHECK(norm > 0 && difference < 1e-8 * norm);
  for (side = 0; side < 2; ++side)
    PetscCall(VecDestroy(&f[side]));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&at));
  PetscCall(VecDestroy(&Jv));
  TenonPetscCall(TenonDTensorDestroy(&from));
  TenonPetscCall(TenonDTensorDestroy(&to));
  TenonPetscCall(TenonLayoutDestroy(&layout));
  PetscFunctionReturn(0);
}

/* A network of 3 channels, and a convolution to another grid of 2. */
static PetscErrorCode TestJacobians(void) {
  TenonLayer network = NULL, conv = NULL;
  TenonLayout layout = NULL;
  DM three, two;
  Mat J, K;
  Vec x;

  PetscFunctionBegin;
  PetscCall(CreateGrid(3, DM_BOUNDARY_PERIODIC, &three));
  PetscCall(CreateGrid(2, DM_BOUNDARY_PERIODIC, &two));
  PetscCall(TenonPetscLayoutFromDM(three, &layout));
  PetscCall(CreateNetwork(PETSC_COMM_WORLD, 2, 3, TENON_BOUNDARY_PERIODIC, &network));
  PetscCall(CreateSameConv(PETSC_COMM_WORLD, 2, 3, 2, TENON_BOUNDARY_PERIODIC, &conv));
  TenonPetscCall(TenonLayerSetUp(network, layout));
  TenonPetscCall(TenonLayerSetUp(conv, layout));
  PetscCall(DMCreateGlobalVector(three, &x));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(TenonPetscMatFromLayer(network, three, three, x, &J));
  PetscCall(CheckMatrix(J, 1e-12));
  PetscCall(CheckDifference(network, three, three, x, J));
  PetscCall(VecScale(x, -0.5));
  PetscCall(TenonPetscMatSetPoint(J, x));
  PetscCall(CheckDifference(network, three, three, x, J));
  PetscCall(TenonPetscMatFromLayer(conv, two, three, x, &K));
  PetscCall(CheckMatrix(K, 1e-12));
  CHECK_FAILS(PETSC_ERR_ARG_INCOMP, TenonPetscMatFromLayer(conv, three, three, x, &K));
  PetscCall(MatDestroy(&J));
  PetscCall(MatDestroy(&K));
  PetscCall(VecDestroy(&x));
  TenonPetscCall(TenonLayerDestroy(&network));
  TenonPetscCall(TenonLayerDestroy(&conv));
  TenonPetscCall(TenonLayoutDestroy(&layout));
  PetscCall(DMDestroy(&three));
  PetscCall(DMDestroy(&two));
  PetscFunctionReturn(0);
}

static PetscErrorCode MultiplyForeign(Mat A, Vec x, Vec y) {
  (void)A;
  return VecCopy(x, y);
}

/* Matrices that are not Tenon's, and no arguments. */
static PetscErrorCode TestForeign(TenonLayer layer, TenonLinearOp op, DM dm, Vec x, Mat J) {
  Mat foreign, dense, K;
  PetscInt m;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &m));
  PetscCall(
      MatCreateShell(PETSC_COMM_WORLD, m, m, PETSC_DETERMINE, PETSC_DETERMINE, NULL, &foreign));
  CHECK_FAILS(PETSC_ERR_ARG_WRONG, TenonPetscMatSetPoint(foreign, x));
  PetscCall(MatShellSetOperation(foreign, MATOP_MULT, (void (*)(void))MultiplyForeign));
  CHECK_FAILS(PETSC_ERR_ARG_WRONG, TenonPetscMatSetPoint(foreign, x));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, m, m, PETSC_DETERMINE, PETSC_DETERMINE, NULL, &dense));
  CHECK_FAILS(PETSC_ERR_ARG_WRONG, TenonPetscMatSetPoint(dense, x));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscMatSetPoint(NULL, x));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscMatSetPoint(J, NULL));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscMatFromLayer(NULL, dm, dm, x, &K));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscMatFromLayer(layer, dm, NULL, x, &K));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscMatFromLayer(layer, dm, dm, NULL, &K));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscMatFromLayer(layer, dm, dm, x, NULL));
  CHECK_FAILS(PETSC_ERR_ARG_WRONG, TenonPetscMatFromLayer(layer, (DM)x, dm, x, &K));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscMatFromLinearOp(NULL, dm, dm, &K));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscMatFromLinearOp(op, dm, dm, NULL));
  PetscCall(MatDestroy(&foreign));
  PetscCall(MatDestroy(&dense));
  PetscFunctionReturn(0);
}

static TenonErrorCode ReturnError(TenonDTensor x, TenonDTensor y, void* context) {
  (void)x;
  (void)y;
  (void)context;
  return TENON_ERR_SUPPORT;
}

/* An operator that fails leaves the vectors restored: the output's state has grown, and both can be
 * used. */
static PetscErrorCode TestFailingOperator(DM dm, TenonLayout layout, Vec x) {
  TenonLinearOp op = NULL;
  PetscObjectState before, after;
  Mat A;
  Vec y;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &y));
  TenonPetscCall(TenonLinearOpCreateShell(layout, layout, TENON_PETSC_SCALAR, TENON_PETSC_SCALAR,
                                          ReturnError, ReturnError, NULL, NULL, &op));
  PetscCall(TenonPetscMatFromLinearOp(op, dm, dm, &A));
  TenonPetscCall(TenonSetFatalErrorHandler(TenonReturnErrorHandler, NULL));
  PetscCall(PetscObjectStateGet((PetscObject)y, &before));
  CHECK_FAILS(PETSC_ERR_LIB, MatMult(A, x, y));
  PetscCall(PetscObjectStateGet((PetscObject)y, &after));
  CHECK(after > before);
  CHECK_FAILS(PETSC_ERR_LIB, MatMultTranspose(A, x, y));
  TenonPetscCall(TenonSetFatalErrorHandler(NULL, NULL));
  PetscCall(VecCopy(x, y));
  PetscCall(MatDestroy(&A));
  TenonPetscCall(TenonLinearOpDestroy(&op));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

/* A duplicate is the same operator, and outlives the matrix. */
static PetscErrorCode TestDuplicate(Mat A, Vec x) {
  Mat B, C;
  Vec y, z;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &C));
  PetscCall(MatDestroy(&B));
  PetscCall(MatCreateVecs(C, NULL, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(C, x, z));
  PetscCall(VecAXPY(z, -1, y));
  PetscCall(VecNorm(z, NORM_INFINITY, &norm));
  CHECK(norm == 0);
  PetscCall(MatDestroy(&C));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestLife(void) {
  TenonLayer conv = NULL;
  TenonLayout layout = NULL;
  TenonDTensor point = NULL;
  TenonLinearOp op = NULL;
  DM dm;
  Mat J;
  Vec x;

  PetscFunctionBegin;
  PetscCall(CreateGrid(2, DM_BOUNDARY_PERIODIC, &dm));
  PetscCall(TenonPetscLayoutFromDM(dm, &layout));
  PetscCall(CreateSameConv(PETSC_COMM_WORLD, 2, 2, 2, TENON_BOUNDARY_PERIODIC, &conv));
  TenonPetscCall(TenonLayerSetUp(conv, layout));
  TenonPetscCall(TenonDTensorCreate(layout, TENON_PETSC_SCALAR, &point));
  TenonPetscCall(TenonLinearOpCreateJacobian(conv, point, &op));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(TenonPetscMatFromLayer(conv, dm, dm, x, &J));
  PetscCall(TestForeign(conv, op, dm, x, J));
  PetscCall(TestFailingOperator(dm, layout, x));
  PetscCall(TestDuplicate(J, x));
  PetscCall(MatDestroy(&J));
  PetscCall(VecDestroy(&x));
  TenonPetscCall(TenonLinearOpDestroy(&op));
  TenonPetscCall(TenonDTensorDestroy(&point));
  TenonPetscCall(TenonLayerDestroy(&conv));
  TenonPetscCall(TenonLayoutDestroy(&layout));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(0);
}

/* Operators without a grid; copies of elements, and other data types, are refused. */
static PetscErrorCode TestOperators(void) {
  const TenonInt shape[2] = {10, 6};
  TenonPartition partition = NULL;
  TenonLayout rows = NULL, columns = NULL, copies = NULL;
  TenonLinearOp transpose = NULL, copy = NULL, single = NULL, casts[3] = {NULL, NULL, NULL},
                there = NULL;
  Mat A;
  int size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  TenonPetscCall(TenonPartitionCreate(PETSC_COMM_WORLD, 1, &size, &partition));
  TenonPetscCall(TenonLayoutCreateSharded(partition, 2, shape, "S0", &rows));
  TenonPetscCall(TenonLayoutCreateSharded(partition, 2, shape, "S1", &columns));
  TenonPetscCall(TenonLayoutCreateSharded(partition, 2, shape, "B", &copies));
  TenonPetscCall(TenonLinearOpCreateConversion(rows, columns, TENON_PETSC_SCALAR, &transpose));
  PetscCall(TenonPetscMatFromLinearOp(transpose, NULL, NULL, &A));
  TenonPetscCall(TenonLinearOpDestroy(&transpose));
  PetscCall(CheckMatrix(A, 1e-13));
  PetscCall(MatDestroy(&A));
  if (size > 1) {
    TenonPetscCall(TenonLinearOpCreateConversion(rows, copies, TENON_PETSC_SCALAR, &copy));
    CHECK_FAILS(PETSC_ERR_ARG_INCOMP, TenonPetscMatFromLinearOp(copy, NULL, NULL, &A));
    TenonPetscCall(TenonLinearOpDestroy(&copy));
  }
  TenonPetscCall(TenonLinearOpCreateConversion(rows, columns, TENON_FLOAT32, &single));
  CHECK_FAILS(PETSC_ERR_ARG_WRONG, TenonPetscMatFromLinearOp(single, NULL, NULL, &A));
  TenonPetscCall(TenonLinearOpCreateType(rows, rows, TENON_PETSC_SCALAR, TENON_FLOAT32, "cast",
                                         NULL, &casts[0]));
  TenonPetscCall(TenonLinearOpCreateType(columns, columns, TENON_FLOAT32, TENON_PETSC_SCALAR,
                                         "cast", NULL, &casts[2]));
  casts[1] = single;
  TenonPetscCall(TenonLinearOpCreateComposition(3, casts, &there));
  PetscCall(TenonPetscMatFromLinearOp(there, NULL, NULL, &A));
  PetscCall(CheckMatrix(A, 1e-5));
  PetscCall(MatDestroy(&A));
  TenonPetscCall(TenonLinearOpDestroy(&there));
  TenonPetscCall(TenonLinearOpDestroy(&single));
  TenonPetscCall(TenonLinearOpDestroy(&casts[0]));
  TenonPetscCall(TenonLinearOpDestroy(&casts[2]));
  TenonPetscCall(TenonLayoutDestroy(&rows));
  TenonPetscCall(TenonLayoutDestroy(&columns));
  TenonPetscCall(TenonLayoutDestroy(&copies));
  TenonPetscCall(TenonPartitionDestroy(&partition));
  PetscFunctionReturn(0);
}

/* 4 u - its neighbours, zero outside: PETSc's matrix. */
static PetscErrorCode CreateLaplacian(DM dm, Mat* A) {
  PetscInt x, y, m, n, i, j, k, count;
  MatStencil row, columns[5];
  PetscScalar values[5];
  const PetscInt steps[5][2] = {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}};

  PetscFunctionBegin;
  PetscCall(DMCreateMatrix(dm, A));
  PetscCall(DMDAGetCorners(dm, &x, &y, NULL, &m, &n, NULL));
  for (j = y; j < y + n; ++j)
    for (i = x; i < x + m; ++i) {
      row.i = i;
      row.j = j;
      row.c = 0;
      count = 0;
      for (k = 0; k < 5; ++k) {
        columns[count].i = i + steps[k][0];
        columns[count].j = j + steps[k][1];
        columns[count].c = 0;
        values[count] = k == 0 ? 4 : -1;
        if (columns[count].i >= 0 && columns[count].i < 13 && columns[count].j >= 0 &&
            columns[count].j < 9)
          ++count;
      }
      PetscCall(MatSetValuesStencil(*A, 1, &row, count, columns, values, INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(Mat A, Vec b, Vec u, PetscInt* iterations) {
  KSP ksp;
  PC pc;
  KSPConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSolve(ksp, b, u));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  CHECK(reason > 0);
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

/* The same system by a convolution and by PETSc's matrix. */
static PetscErrorCode TestSolver(void) {
  const PetscScalar stencil[9] = {0, -1, 0, -1, 4, -1, 0, -1, 0};
  TenonLayer conv = NULL;
  TenonLayout layout = NULL;
  TenonDTensor weight = NULL;
  void* array;
  PetscInt i, iterations[2];
  PetscReal norm;
  DM dm;
  Mat A, B;
  Vec b, u, w;

  PetscFunctionBegin;
  PetscCall(CreateGrid(1, DM_BOUNDARY_NONE, &dm));
  PetscCall(TenonPetscLayoutFromDM(dm, &layout));
  PetscCall(CreateSameConv(PETSC_COMM_WORLD, 2, 1, 1, TENON_BOUNDARY_ZERO, &conv));
  TenonPetscCall(TenonLayerSetUp(conv, layout));
  TenonPetscCall(TenonLayerGetParameter(conv, 0, &weight));
  TenonPetscCall(TenonDTensorGetArray(weight, TENON_PETSC_SCALAR, &array));
  for (i = 0; array && i < 9; ++i)
    ((PetscScalar*)array)[i] = stencil[i];
  TenonPetscCall(TenonDTensorRestoreArray(weight, &array));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &u));
  PetscCall(VecDuplicate(b, &w));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(TenonPetscMatFromLayer(conv, dm, dm, b, &A));
  PetscCall(CreateLaplacian(dm, &B));
  PetscCall(Solve(A, b, u, &iterations[0]));
  PetscCall(Solve(B, b, w, &iterations[1]));
  CHECK(iterations[0] == iterations[1] && iterations[0] > 10);
  PetscCall(VecAXPY(u, -1, w));
  PetscCall(VecNorm(u, NORM_INFINITY, &norm));
  CHECK(norm < 1e-8);
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&w));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  TenonPetscCall(TenonDTensorDestroy(&weight));
  TenonPetscCall(TenonLayerDestroy(&conv));
  TenonPetscCall(TenonLayoutDestroy(&layout));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(0);
}

static PetscErrorCode Test(void) {
  PetscFunctionBegin;
  PetscCall(TestJacobians());
  PetscCall(TestLife());
  PetscCall(TestOperators());
  PetscCall(TestSolver());
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  return RunTest(argc, argv, Test);
}
