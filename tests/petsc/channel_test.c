/* SPDX-License-Identifier: BSD-2-Clause */
/* The plane channel of tests/tutorials/channel.c in PETSc: a period in x, walls in z, u and w on
 * faces and a scalar in one DMDA. A closure 3-16-16-6 reads the ghost points that PETSc and the
 * program have filled, and gives what it gives when it fills walls itself, by the modes of its
 * channels. Its options come from PETSc's database. */
#include "run.h"

#include <math.h>

enum { kColumns = 20, kRows = 11, kFields = 3, kHidden = 16, kOutputs = 6 };

static PetscErrorCode CreateGrid(PetscInt dof, DM* dm) {
  PetscFunctionBegin;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_GHOSTED,
                         DMDA_STENCIL_BOX, kColumns, kRows, PETSC_DECIDE, PETSC_DECIDE, dof, 1,
                         NULL, NULL, dm));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(0);
}

/* w lies on upper faces: the last one is on the wall, where it is 0. */
static PetscErrorCode SetFields(DM dm, Vec x) {
  const double pi = 3.14159265358979323846;
  PetscInt i0, k0, columns, rows, i, k, f;
  PetscScalar*** a;

  PetscFunctionBegin;
  PetscCall(DMDAGetCorners(dm, &i0, &k0, NULL, &columns, &rows, NULL));
  PetscCall(DMDAVecGetArrayDOF(dm, x, &a));
  for (k = k0; k < k0 + rows; ++k)
    for (i = i0; i < i0 + columns; ++i)
      for (f = 0; f < kFields; ++f) {
        const double z = (double)(k + 1) / kRows;

        a[k][i][f] = f == 1 && k == kRows - 1
                         ? 0
                         : sin(2 * pi * (double)i / kColumns + (double)f) * cos(3 * z) + 0.3 * z;
      }
  PetscCall(DMDAVecRestoreArrayDOF(dm, x, &a));
  PetscFunctionReturn(0);
}

/* Beyond the walls of a local vector: u and w are odd, u about a wall between points, w about one
 * on a face. */
static PetscErrorCode FillWalls(DM dm, Vec local) {
  PetscInt i0, k0, columns, rows, i, f;
  PetscScalar*** a;

  PetscFunctionBegin;
  PetscCall(DMDAGetGhostCorners(dm, &i0, &k0, NULL, &columns, &rows, NULL));
  PetscCall(DMDAVecGetArrayDOF(dm, local, &a));
  for (i = i0; i < i0 + columns; ++i)
    for (f = 0; f < kFields; ++f) {
      const PetscScalar sign = f == 2 ? 1 : -1;

      if (k0 < 0)
        a[-1][i][f] = f == 1 ? 0 : sign * a[0][i][f];
      if (k0 + rows > kRows)
        a[kRows][i][f] = sign * a[f == 1 ? kRows - 2 : kRows - 1][i][f];
    }
  PetscCall(DMDAVecRestoreArrayDOF(dm, local, &a));
  PetscFunctionReturn(0);
}

static PetscErrorCode AddConv(TenonLayer network, TenonInt in, TenonInt out, TenonInt window,
                              const char* walls, TenonBool filled) {
  const TenonInt kernel[2] = {window, window}, padding[2] = {window / 2, window / 2};
  TenonLayer layer = NULL;

  PetscFunctionBegin;
  TenonPetscCall(TenonLayerCreateConv(PETSC_COMM_WORLD, 2, in, out, kernel, &layer));
  TenonPetscCall(TenonLayerSetPadding(layer, padding, NULL));
  TenonPetscCall(TenonObjectSetText((TenonObject)layer, "boundary", walls));
  TenonPetscCall(TenonObjectSetBool((TenonObject)layer, "filled", filled));
  TenonPetscCall(TenonLayerSequentialAdd(network, layer));
  TenonPetscCall(TenonLayerDestroy(&layer));
  PetscFunctionReturn(0);
}

static PetscErrorCode AddTanh(TenonLayer network) {
  TenonLayer layer = NULL;

  PetscFunctionBegin;
  TenonPetscCall(TenonLayerCreateType(PETSC_COMM_WORLD, "tanh", &layer));
  TenonPetscCall(TenonLayerSequentialAdd(network, layer));
  TenonPetscCall(TenonLayerDestroy(&layer));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateClosure(TenonBool filled, TenonLayout input, TenonLayer* network) {
  const char* walls = "odd,periodic; zero/odd_point,periodic; symmetric,periodic"; /* z, x */

  PetscFunctionBegin;
  TenonPetscCall(TenonLayerCreateSequential(PETSC_COMM_WORLD, network));
  PetscCall(AddConv(*network, kFields, kHidden, 3, walls, filled));
  PetscCall(AddTanh(*network));
  PetscCall(AddConv(*network, kHidden, kHidden, 1, "none", TENON_FALSE));
  PetscCall(AddTanh(*network));
  PetscCall(AddConv(*network, kHidden, kOutputs, 1, "none", TENON_FALSE));
  TenonPetscCall(TenonLayerSetDataType(*network, TENON_PETSC_SCALAR));
  TenonPetscCall(TenonObjectSetFromOptions((TenonObject)*network)); /* -tenon_check_ghosts */
  TenonPetscCall(TenonLayerSetUp(*network, input));
  TenonPetscCall(TenonLayerInitialize(*network, 7));
  TenonPetscCall(TenonLayerSetTraining(*network, TENON_FALSE));
  PetscFunctionReturn(0);
}

/* y <- the closure of the ghost points as they are. */
static PetscErrorCode ApplyFilled(DM grid, Vec local, DM outputs, Vec y) {
  TenonLayout ghosted = NULL;
  TenonLayer network = NULL;
  TenonDTensor in = NULL, out = NULL;

  PetscFunctionBegin;
  PetscCall(TenonPetscGhostedLayoutFromDM(grid, &ghosted));
  PetscCall(CreateClosure(TENON_TRUE, ghosted, &network));
  TenonPetscCall(TenonDTensorCreate(ghosted, TENON_PETSC_SCALAR, &in));
  TenonPetscCall(TenonLayerCreateOutput(network, 0, &out));
  PetscCall(TenonPetscPlaceVecRead(in, grid, local));
  PetscCall(TenonPetscPlaceVec(out, outputs, y));
  TenonPetscCall(TenonLayerApply(network, in, out));
  PetscCall(TenonPetscRestoreVec(out, y));
  PetscCall(TenonPetscRestoreVecRead(in, local));
  TenonPetscCall(TenonDTensorDestroy(&out));
  TenonPetscCall(TenonDTensorDestroy(&in));
  TenonPetscCall(TenonLayerDestroy(&network));
  TenonPetscCall(TenonLayoutDestroy(&ghosted));
  PetscFunctionReturn(0);
}

/* y <- the closure that fills ghost points itself. */
static PetscErrorCode ApplyPlain(DM grid, Vec x, DM outputs, Vec y) {
  TenonLayout plain = NULL;
  TenonLayer network = NULL;

  PetscFunctionBegin;
  PetscCall(TenonPetscLayoutFromDM(grid, &plain));
  PetscCall(CreateClosure(TENON_FALSE, plain, &network));
  PetscCall(TenonPetscLayerApply(network, grid, x, outputs, y));
  TenonPetscCall(TenonLayerDestroy(&network));
  TenonPetscCall(TenonLayoutDestroy(&plain));
  PetscFunctionReturn(0);
}

static PetscErrorCode Test(void) {
  DM grid, outputs;
  Vec x, local, y, wanted;
  PetscReal norm, difference;

  PetscFunctionBegin;
  PetscCall(CreateGrid(kFields, &grid));
  PetscCall(CreateGrid(kOutputs, &outputs));
  PetscCall(DMCreateGlobalVector(grid, &x));
  PetscCall(DMCreateLocalVector(grid, &local));
  PetscCall(DMCreateGlobalVector(outputs, &y));
  PetscCall(VecDuplicate(y, &wanted));
  PetscCall(SetFields(grid, x));
  PetscCall(VecSet(local, 1e30)); /* what nobody fills */
  PetscCall(DMGlobalToLocal(grid, x, INSERT_VALUES, local));
  PetscCall(FillWalls(grid, local));
  PetscCall(ApplyFilled(grid, local, outputs, y));
  PetscCall(ApplyPlain(grid, x, outputs, wanted));
  PetscCall(VecNorm(wanted, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "norm of the closure %.10e\n", (double)norm));
  PetscCall(VecAXPY(y, -1, wanted));
  PetscCall(VecNorm(y, NORM_2, &difference));
  CHECK(norm > 1 && difference <= 1e-13 * norm);
  PetscCall(VecDestroy(&wanted));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&local));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&outputs));
  PetscCall(DMDestroy(&grid));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  return RunTest(argc, argv, Test);
}
