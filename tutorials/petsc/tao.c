/* SPDX-License-Identifier: BSD-2-Clause */
/* PETSc, TAO: a network trained by an optimiser of PETSc.
 *
 * What you learn: a loss as the objective of TAO, with its gradient; the parameters of a network as
 * a Vec. A network learns one step of upwind advection on a periodic grid, u_new = u - c (u -
 * u_west), from one field and its step, which the program computes in its DMDA.
 *
 *   mpiexec -n 4 petsc_tao
 *   mpiexec -n 4 petsc_tao -tao_monitor -tao_type cg
 *   mpiexec -n 4 petsc_tao -tao_test_gradient
 */
#include <tenon_petsc.h>

enum { kHidden = 4 };

/* A smooth field in a global vector, and its step in another. */
static PetscErrorCode FillFields(DM grid, Vec field, Vec stepped) {
  const PetscReal courant = 0.4;
  PetscInt x, y, m, n, i, j;
  Vec local;
  PetscScalar **u, **next;

  PetscFunctionBegin;
  PetscCall(DMDAGetCorners(grid, &x, &y, NULL, &m, &n, NULL));
  PetscCall(DMDAVecGetArray(grid, field, &u));
  for (j = y; j < y + n; ++j)
    for (i = x; i < x + m; ++i)
      u[j][i] = PetscSinReal((PetscReal)(i * i) / 9 + (PetscReal)j) *
                PetscCosReal((PetscReal)(j * i) / 5);
  PetscCall(DMDAVecRestoreArray(grid, field, &u));
  PetscCall(DMGetLocalVector(grid, &local));
  PetscCall(DMGlobalToLocal(grid, field, INSERT_VALUES, local));
  PetscCall(DMDAVecGetArrayRead(grid, local, &u));
  PetscCall(DMDAVecGetArray(grid, stepped, &next));
  for (j = y; j < y + n; ++j)
    for (i = x; i < x + m; ++i)
      next[j][i] = u[j][i] - courant * (u[j][i] - u[j][i - 1]);
  PetscCall(DMDAVecRestoreArray(grid, stepped, &next));
  PetscCall(DMDAVecRestoreArrayRead(grid, local, &u));
  PetscCall(DMRestoreLocalVector(grid, &local));
  PetscFunctionReturn(0);
}

static PetscErrorCode AddConv(TenonLayer network, TenonInt in, TenonInt out) {
  const TenonInt kernel[2] = {3, 3}, padding[2] = {1, 1};
  const TenonBoundary periodic[2] = {TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC};
  TenonLayer conv = NULL;

  PetscFunctionBegin;
  TenonPetscCall(TenonLayerCreateConv(PETSC_COMM_WORLD, 2, in, out, kernel, &conv));
  TenonPetscCall(TenonLayerSetPadding(conv, padding, NULL));
  TenonPetscCall(TenonLayerSetBoundary(conv, periodic, NULL));
  TenonPetscCall(TenonLayerSequentialAdd(network, conv));
  TenonPetscCall(TenonLayerDestroy(&conv));
  PetscFunctionReturn(0);
}

/* conv, tanh, conv, mean squared error against the target. */
static PetscErrorCode CreateNetwork(TenonLayout layout, TenonDTensor target, TenonLayer* network) {
  TenonLayer tanh = NULL, loss = NULL;

  PetscFunctionBegin;
  TenonPetscCall(TenonLayerCreateSequential(PETSC_COMM_WORLD, network));
  TenonPetscCall(TenonLayerSetDataType(*network, TENON_PETSC_SCALAR));
  PetscCall(AddConv(*network, 1, kHidden));
  TenonPetscCall(TenonLayerCreateType(PETSC_COMM_WORLD, "tanh", &tanh));
  TenonPetscCall(TenonLayerSequentialAdd(*network, tanh));
  PetscCall(AddConv(*network, kHidden, 1));
  TenonPetscCall(TenonLayerCreateType(PETSC_COMM_WORLD, "meansquarederror", &loss));
  TenonPetscCall(TenonLayerSetTarget(loss, target));
  TenonPetscCall(TenonLayerSequentialAdd(*network, loss));
  TenonPetscCall(TenonLayerDestroy(&tanh));
  TenonPetscCall(TenonLayerDestroy(&loss));
  TenonPetscCall(TenonLayerSetUp(*network, layout));
  TenonPetscCall(TenonLayerInitialize(*network, 1));
  PetscFunctionReturn(0);
}

static PetscErrorCode Train(TenonLayer network, TenonDTensor x) {
  Tao tao;
  Vec p, gradient;
  PetscReal before, after, norm;
  PetscInt size;

  PetscFunctionBegin;
  PetscCall(TenonPetscVecFromParameters(network, &p));
  PetscCall(VecGetSize(p, &size));
  PetscCall(VecDuplicate(p, &gradient));
  PetscCall(TaoCreate(PETSC_COMM_WORLD, &tao));
  PetscCall(TaoSetType(tao, TAOLMVM));
  PetscCall(TenonPetscTaoSetLoss(tao, network, x));
  PetscCall(TaoSetSolution(tao, p));
  PetscCall(TaoSetMaximumIterations(tao, 200));
  PetscCall(TaoSetFromOptions(tao));
  PetscCall(TaoComputeObjectiveAndGradient(tao, p, &before, gradient));
  PetscCall(VecNorm(gradient, NORM_2, &norm));
  PetscCall(TaoSolve(tao));
  PetscCall(TenonPetscParametersFromVec(network, p));
  PetscCall(TaoComputeObjective(tao, p, &after));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d parameters, loss %.8f, norm of its gradient %.8f\n",
                        (int)size, (double)before, (double)norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the loss is now below a thousandth: %s\n",
                        after < 1e-3 * before ? "yes" : "no"));
  PetscCall(TaoDestroy(&tao));
  PetscCall(VecDestroy(&gradient));
  PetscCall(VecDestroy(&p));
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(void) {
  DM grid;
  Vec field, stepped;
  TenonLayout layout = NULL;
  TenonDTensor x = NULL, target = NULL;
  TenonLayer network = NULL;

  PetscFunctionBegin;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC,
                         DMDA_STENCIL_STAR, 24, 18, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL,
                         &grid));
  PetscCall(DMSetUp(grid));
  PetscCall(DMCreateGlobalVector(grid, &field));
  PetscCall(VecDuplicate(field, &stepped));
  PetscCall(FillFields(grid, field, stepped));
  PetscCall(TenonPetscLayoutFromDM(grid, &layout));
  TenonPetscCall(TenonDTensorCreate(layout, TENON_PETSC_SCALAR, &x));
  TenonPetscCall(TenonDTensorCreate(layout, TENON_PETSC_SCALAR, &target));
  PetscCall(TenonPetscPlaceVecRead(x, grid, field));
  PetscCall(TenonPetscPlaceVecRead(target, grid, stepped));
  PetscCall(CreateNetwork(layout, target, &network));
  PetscCall(Train(network, x));
  PetscCall(TenonPetscRestoreVecRead(x, field));
  PetscCall(TenonPetscRestoreVecRead(target, stepped));
  TenonPetscCall(TenonLayerDestroy(&network));
  TenonPetscCall(TenonDTensorDestroy(&x));
  TenonPetscCall(TenonDTensorDestroy(&target));
  TenonPetscCall(TenonLayoutDestroy(&layout));
  PetscCall(VecDestroy(&field));
  PetscCall(VecDestroy(&stepped));
  PetscCall(DMDestroy(&grid));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  PetscCall(PetscInitialize(&argc, &argv, NULL, "A network trained by TAO\n"));
  PetscCall(TenonPetscInitialize(NULL));
  PetscCall(Run());
  PetscCall(PetscFinalize());
  return 0;
}
