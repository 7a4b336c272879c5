/* SPDX-License-Identifier: BSD-2-Clause */
/* A local vector of a DMDA, ghost points and all, goes through a network, whose gradient is
 * checked. */
#include <tenon_petsc.h>

int main(int argc, char** argv) {
  const TenonInt kernel[2] = {3, 3}, padding[2] = {1, 1};
  TenonLayout layout = NULL;
  TenonDTensor x = NULL, y = NULL;
  TenonLayer conv = NULL;
  double relative;
  DM grid;
  Vec u;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(TenonPetscInitialize(NULL));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC,
                         DMDA_STENCIL_BOX, 12, 8, -1, -1, 3, 1, NULL, NULL, &grid));
  PetscCall(DMSetUp(grid));
  PetscCall(DMCreateLocalVector(grid, &u));
  PetscCall(VecSetRandom(u, NULL));
  PetscCall(TenonPetscLayoutFromDM(grid, &layout));
  TenonPetscCall(TenonDTensorCreate(layout, TENON_PETSC_SCALAR, &x));
  PetscCall(TenonPetscPlaceVec(x, grid, u)); /* no copy */
  TenonPetscCall(TenonLayerCreateConv(PETSC_COMM_WORLD, 2, 3, 3, kernel, &conv));
  TenonPetscCall(TenonLayerSetDataType(conv, TENON_PETSC_SCALAR));
  TenonPetscCall(TenonLayerSetPadding(conv, padding, NULL));
  TenonPetscCall(TenonLayerSetUp(conv, layout));
  TenonPetscCall(TenonLayerCreateOutput(conv, 0, &y));
  TenonPetscCall(TenonLayerTestAdjoint(conv, x, 1, NULL, NULL, &relative));
  TenonPetscCall(TenonLayerApply(conv, x, y));
  PetscCall(TenonPetscRestoreVec(x, u));
  TenonPetscCall(TenonDTensorDestroy(&x));
  TenonPetscCall(TenonDTensorDestroy(&y));
  TenonPetscCall(TenonLayerDestroy(&conv));
  TenonPetscCall(TenonLayoutDestroy(&layout));
  PetscCall(VecDestroy(&u));
  PetscCall(DMDestroy(&grid));
  PetscCall(PetscFinalize());
  return relative > 1e-13;
}
