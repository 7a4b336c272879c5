/* SPDX-License-Identifier: BSD-2-Clause */
/* A local vector of a DMDA, with its ghost points, goes through a network; its Jacobian is a Mat. */
#include <tenon_petsc.h>

int main(int argc, char** argv) {
  const TenonInt kernel[2] = {3, 3}, padding[2] = {1, 1};
  TenonLayout layout = NULL;
  TenonDTensor x = NULL, y = NULL;
  TenonLayer conv = NULL;
  double relative;
  PetscBool isLinear;
  DM grid;
  Vec u, v;
  Mat J;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(TenonPetscInitialize(NULL));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC,
                         DMDA_STENCIL_BOX, 12, 8, PETSC_DECIDE, PETSC_DECIDE, 3, 1, NULL, NULL,
                         &grid));
  PetscCall(DMSetUp(grid));
  PetscCall(DMCreateGlobalVector(grid, &u));
  PetscCall(DMCreateLocalVector(grid, &v));
  PetscCall(VecSetRandom(u, NULL));
  PetscCall(DMGlobalToLocal(grid, u, INSERT_VALUES, v));
  PetscCall(TenonPetscLayoutFromDM(grid, &layout));
  TenonPetscCall(TenonDTensorCreate(layout, TENON_PETSC_SCALAR, &x));
  PetscCall(TenonPetscPlaceVec(x, grid, v)); /* no copy */
  TenonPetscCall(TenonLayerCreateConv(PETSC_COMM_WORLD, 2, 3, 3, kernel, &conv));
  TenonPetscCall(TenonLayerSetDataType(conv, TENON_PETSC_SCALAR));
  TenonPetscCall(TenonLayerSetPadding(conv, padding, NULL));
  TenonPetscCall(TenonLayerSetUp(conv, layout));
  TenonPetscCall(TenonLayerCreateOutput(conv, &y));
  TenonPetscCall(TenonLayerTestAdjoint(conv, x, 1, NULL, NULL, &relative));
  TenonPetscCall(TenonLayerApply(conv, x, y));
  PetscCall(TenonPetscRestoreVec(x, v));
  PetscCall(TenonPetscMatFromLayer(conv, grid, grid, u, &J));
  PetscCall(MatIsLinear(J, 3, &isLinear));
  return relative > 1e-13 || !isLinear;
}
