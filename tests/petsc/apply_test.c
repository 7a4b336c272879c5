/* SPDX-License-Identifier: BSD-2-Clause */
/* Layers evaluated on vectors, their adjoints, and the blocks of networks that act at each point.
 */
#include "run.h"

#include <petscksp.h>

/* 13 x 9 points: 2 or 4 processes have unequal parts. */
static PetscErrorCode CreateGrid(PetscInt dof, DM* dm) {
  PetscFunctionBegin;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC,
                         DMDA_STENCIL_BOX, 13, 9, PETSC_DECIDE, PETSC_DECIDE, dof, 1, NULL, NULL,
                         dm));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckEqual(Vec x, Vec y, PetscReal tolerance) {
  PetscReal norm, difference;
  Vec z;

  PetscFunctionBegin;
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecWAXPY(z, -1, x, y));
  PetscCall(VecNorm(z, NORM_2, &difference));
  PetscCall(VecDestroy(&z));
  CHECK(norm > 0 && difference <= tolerance * norm);
  PetscFunctionReturn(0);
}

/* y = f(x) from a global and from a local vector, in a global and in a local one; dx = J* dy.
 * `columns` is the grid of the input and `rows` that of the output, as of the Jacobian J. */
static PetscErrorCode CheckEvaluations(TenonLayer layer, DM columns, DM rows) {
  Vec x, localX, y, again, localY, dy, dx, wanted;
  Mat J;

  PetscFunctionBegin;
  PetscCall(DMCreateGlobalVector(columns, &x));
  PetscCall(DMCreateLocalVector(columns, &localX));
  PetscCall(DMCreateGlobalVector(rows, &y));
  PetscCall(DMCreateLocalVector(rows, &localY));
  PetscCall(VecDuplicate(y, &again));
  PetscCall(VecDuplicate(y, &dy));
  PetscCall(VecDuplicate(x, &dx));
  PetscCall(VecDuplicate(x, &wanted));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecSetRandom(dy, NULL));
  PetscCall(TenonPetscLayerApply(layer, columns, x, rows, y));
  PetscCall(TenonPetscLayerApplyAdjoint(layer, rows, dy, columns, dx));
  PetscCall(TenonPetscMatFromLayer(layer, rows, columns, x, &J));
  PetscCall(MatMultTranspose(J, dy, wanted));
  PetscCall(CheckEqual(wanted, dx, 1e-13));

  PetscCall(DMGlobalToLocal(columns, x, INSERT_VALUES, localX));
  /* Apply writes owned points only. The ghost points must be 0, because
   * DMLocalToGlobal(ADD_VALUES) adds them to the points that they are copies of. */
  PetscCall(VecSet(localY, 0));
  PetscCall(VecSet(again, 0));
  PetscCall(TenonPetscLayerApply(layer, columns, localX, rows, localY));
  PetscCall(TenonPetscLayerApplyAdjoint(layer, rows, dy, columns, NULL)); /* parameters alone */
  PetscCall(DMLocalToGlobal(rows, localY, ADD_VALUES, again));
  PetscCall(CheckEqual(y, again, 0));

  PetscCall(MatDestroy(&J));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&localX));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&localY));
  PetscCall(VecDestroy(&again));
  PetscCall(VecDestroy(&dy));
  PetscCall(VecDestroy(&dx));
  PetscCall(VecDestroy(&wanted));
  PetscFunctionReturn(0);
}

/* After an error the arrays of the vectors are free again, and the grids hold no vector. */
static PetscErrorCode CheckErrors(TenonLayer layer, DM columns, DM rows) {
  Vec x, y;
  PetscInt before, after;
  PetscScalar* values;

  PetscFunctionBegin;
  PetscCall(DMCreateGlobalVector(columns, &x));
  PetscCall(DMCreateGlobalVector(rows, &y));
  PetscCall(PetscObjectGetReference((PetscObject)x, &before));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscLayerApply(layer, NULL, x, rows, y));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscLayerApply(NULL, columns, x, rows, y));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscPlaceVec(NULL, columns, x));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscLayerApply(layer, columns, x, rows, NULL));
  CHECK_FAILS(PETSC_ERR_ARG_SIZ, TenonPetscLayerApply(layer, columns, y, rows, y));
  CHECK_FAILS(PETSC_ERR_ARG_SIZ, TenonPetscLayerApply(layer, columns, x, rows, x));
  PetscCall(PetscObjectGetReference((PetscObject)x, &after));
  CHECK(before == after);
  PetscCall(VecGetArray(x, &values)); /* an error if it were still lent */
  PetscCall(VecRestoreArray(x, &values));
  PetscCall(VecGetArray(y, &values));
  PetscCall(VecRestoreArray(y, &values));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestLayers(void) {
  TenonLayer network = NULL, conv = NULL;
  TenonLayout layout = NULL;
  DM three, two;

  PetscFunctionBegin;
  PetscCall(CreateGrid(3, &three));
  PetscCall(CreateGrid(2, &two));
  PetscCall(TenonPetscLayoutFromDM(three, &layout));
  PetscCall(CreateNetwork(PETSC_COMM_WORLD, 2, 3, TENON_BOUNDARY_PERIODIC, &network));
  PetscCall(CreateSameConv(PETSC_COMM_WORLD, 2, 3, 2, TENON_BOUNDARY_PERIODIC, &conv));
  TenonPetscCall(TenonLayerSetUp(network, layout));
  TenonPetscCall(TenonLayerSetUp(conv, layout));
  PetscCall(CheckEvaluations(network, three, three)); /* input and output of one grid */
  PetscCall(CheckEvaluations(conv, three, two));
  PetscCall(CheckErrors(conv, three, two));
  TenonPetscCall(TenonLayoutDestroy(&layout));
  TenonPetscCall(TenonLayerDestroy(&network));
  TenonPetscCall(TenonLayerDestroy(&conv));
  PetscCall(DMDestroy(&three));
  PetscCall(DMDestroy(&two));
  PetscFunctionReturn(0);
}

/* State number s of a Vec with several, as a global vector. */
static PetscErrorCode PlaceState(Vec states, PetscInt s, Vec x) {
  PetscScalar* values;
  PetscInt size;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &size));
  PetscCall(VecGetArray(states, &values));
  PetscCall(VecPlaceArray(x, values + s * size));
  PetscCall(VecRestoreArray(states, &values));
  PetscFunctionReturn(0);
}

/* Two states of a grid in one Vec, one after the other, are a batch: each gives what it gives
 * alone. */
static PetscErrorCode TestBatch(void) {
  TenonLayer network = NULL;
  TenonLayout batch = NULL, plain = NULL;
  TenonDTensor in = NULL, out = NULL;
  Vec states, results, x, y, result;
  PetscInt size, s;
  DM three;

  PetscFunctionBegin;
  PetscCall(CreateGrid(3, &three));
  PetscCall(TenonPetscBatchLayoutFromDM(three, 2, &batch));
  PetscCall(TenonPetscLayoutFromDM(three, &plain));
  PetscCall(CreateNetwork(PETSC_COMM_WORLD, 2, 3, TENON_BOUNDARY_PERIODIC, &network));
  TenonPetscCall(TenonLayerSetUp(network, batch));
  /* In inference mode nothing is saved: no adjoint follows the evaluations. */
  TenonPetscCall(TenonLayerSetTraining(network, TENON_FALSE));
  PetscCall(DMCreateGlobalVector(three, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &result));
  PetscCall(VecGetLocalSize(x, &size));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, 2 * size, PETSC_DETERMINE, &states));
  PetscCall(VecDuplicate(states, &results));
  PetscCall(VecSetRandom(states, NULL));
  TenonPetscCall(TenonDTensorCreate(batch, TENON_PETSC_SCALAR, &in));
  TenonPetscCall(TenonLayerCreateOutput(network, 0, &out));
  CHECK_FAILS(PETSC_ERR_ARG_SIZ, TenonPetscPlaceVec(in, three, x));
  CHECK_FAILS(PETSC_ERR_ARG_OUTOFRANGE, TenonPetscBatchLayoutFromDM(three, 0, &plain));
  PetscCall(TenonPetscPlaceVecRead(in, three, states));
  PetscCall(TenonPetscPlaceVec(out, three, results));
  TenonPetscCall(TenonLayerApply(network, in, out));
  PetscCall(TenonPetscRestoreVec(out, results));
  PetscCall(TenonPetscRestoreVecRead(in, states));
  TenonPetscCall(TenonLayerSetUp(network, plain));
  for (s = 0; s < 2; ++s) {
    PetscCall(PlaceState(states, s, x));
    PetscCall(PlaceState(results, s, result));
    PetscCall(TenonPetscLayerApply(network, three, x, three, y));
    PetscCall(CheckEqual(y, result, 1e-14));
    PetscCall(VecResetArray(x));
    PetscCall(VecResetArray(result));
  }
  TenonPetscCall(TenonDTensorDestroy(&out));
  TenonPetscCall(TenonDTensorDestroy(&in));
  PetscCall(VecDestroy(&results));
  PetscCall(VecDestroy(&states));
  PetscCall(VecDestroy(&result));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&x));
  TenonPetscCall(TenonLayoutDestroy(&plain));
  TenonPetscCall(TenonLayoutDestroy(&batch));
  TenonPetscCall(TenonLayerDestroy(&network));
  PetscCall(DMDestroy(&three));
  PetscFunctionReturn(0);
}

/* conv, tanh, conv with kernels of 1. */
static PetscErrorCode CreatePointwise(TenonLayer* network) {
  const TenonInt kernel[2] = {1, 1};
  TenonLayer layers[3] = {NULL, NULL, NULL};
  int i;

  PetscFunctionBegin;
  TenonPetscCall(TenonLayerCreateConv(PETSC_COMM_WORLD, 2, 3, 5, kernel, &layers[0]));
  TenonPetscCall(TenonLayerCreateType(PETSC_COMM_WORLD, "tanh", &layers[1]));
  TenonPetscCall(TenonLayerCreateConv(PETSC_COMM_WORLD, 2, 5, 3, kernel, &layers[2]));
  TenonPetscCall(TenonLayerCreateSequential(PETSC_COMM_WORLD, network));
  TenonPetscCall(TenonLayerSetDataType(*network, TENON_PETSC_SCALAR));
  for (i = 0; i < 3; ++i) {
    TenonPetscCall(TenonLayerSequentialAdd(*network, layers[i]));
    TenonPetscCall(TenonLayerDestroy(&layers[i]));
  }
  PetscFunctionReturn(0);
}

/* Solves (1 - J / 4) x = b for the blocks B of J, which is block-diagonal: point-block Jacobi
 * inverts exactly these blocks and so needs one iteration. With random weights the blocks of J have
 * norms of the order of 1; the quarter keeps those of 1 - J / 4 regular. */
static PetscErrorCode SolveByBlocks(Mat B, Vec b, Vec x) {
  KSP ksp;
  PC pc;
  PetscInt steps;

  PetscFunctionBegin;
  PetscCall(MatScale(B, -0.25));
  PetscCall(MatShift(B, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCPBJACOBI));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &steps));
  CHECK(steps <= 1);
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestBlocks(void) {
  TenonLayer network = NULL, conv = NULL;
  TenonLayout layout = NULL;
  DM three;
  Mat J, K, B;
  Vec x, v, Jv, Bv;

  PetscFunctionBegin;
  PetscCall(CreateGrid(3, &three));
  PetscCall(TenonPetscLayoutFromDM(three, &layout));
  PetscCall(CreatePointwise(&network));
  PetscCall(CreateSameConv(PETSC_COMM_WORLD, 2, 3, 3, TENON_BOUNDARY_PERIODIC, &conv));
  TenonPetscCall(TenonLayerSetUp(network, layout));
  TenonPetscCall(TenonLayerSetUp(conv, layout));
  PetscCall(DMCreateGlobalVector(three, &x));
  PetscCall(VecDuplicate(x, &v));
  PetscCall(VecDuplicate(x, &Jv));
  PetscCall(VecDuplicate(x, &Bv));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecSetRandom(v, NULL));
  PetscCall(TenonPetscMatFromLayer(network, three, three, x, &J));
  PetscCall(TenonPetscMatFromLayer(conv, three, three, x, &K));
  PetscCall(TenonPetscMatAssembleBlocks(J, &B));
  PetscCall(MatMult(J, v, Jv));
  PetscCall(MatMult(B, v, Bv));
  PetscCall(CheckEqual(Jv, Bv, 1e-13));
  PetscCall(SolveByBlocks(B, v, Bv));
  CHECK_FAILS(PETSC_ERR_ARG_WRONG, TenonPetscMatAssembleBlocks(B, &B));
  PetscCall(MatDestroy(&B));
  CHECK_FAILS(PETSC_ERR_ARG_INCOMP, TenonPetscMatAssembleBlocks(K, &B)); /* reaches neighbours */
  PetscCall(MatDestroy(&J));
  PetscCall(MatDestroy(&K));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&Jv));
  PetscCall(VecDestroy(&Bv));
  TenonPetscCall(TenonLayoutDestroy(&layout));
  TenonPetscCall(TenonLayerDestroy(&network));
  TenonPetscCall(TenonLayerDestroy(&conv));
  PetscCall(DMDestroy(&three));
  PetscFunctionReturn(0);
}

static PetscErrorCode Test(void) {
  PetscFunctionBegin;
  PetscCall(TestLayers());
  PetscCall(TestBatch());
  PetscCall(TestBlocks());
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  return RunTest(argc, argv, Test);
}
