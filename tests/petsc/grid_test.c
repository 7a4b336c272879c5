/* SPDX-License-Identifier: BSD-2-Clause */
/* Grids of 1 to 3 dimensions: their vectors as tensors hold the element of each global index, and
 * the halo exchange in a local vector gives what DMGlobalToLocal() gives. */
#include "run.h"

#include <petscdmshell.h>

typedef struct Case {
  int dimensions;
  PetscInt dof, width;
  DMBoundaryType boundary;
  DMDAStencilType stencil;
} Case;

static const PetscInt kExtents[3] = {11, 7, 5};

/* Along the first dimension the first rank has 1 point more than an even share, if there are two.
 */
static PetscErrorCode CreateGrid(const Case* c, DM* dm) {
  const DMBoundaryType b = c->boundary;
  PetscMPIInt size, rank;
  PetscInt lx[16];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  CHECK(size <= 5);
  for (rank = 0; rank < size; ++rank)
    lx[rank] = kExtents[0] / size;
  lx[0] += kExtents[0] % size;
  if (c->dimensions == 1)
    PetscCall(DMDACreate1d(PETSC_COMM_WORLD, b, kExtents[0], c->dof, c->width, lx, dm));
  else if (c->dimensions == 2)
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, b, b, c->stencil, kExtents[0], kExtents[1],
                           PETSC_DECIDE, PETSC_DECIDE, c->dof, c->width, NULL, NULL, dm));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, b, b, b, c->stencil, kExtents[0], kExtents[1],
                           kExtents[2], PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, c->dof, c->width,
                           NULL, NULL, NULL, dm));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(0);
}

/* Visits the points of a box, x fastest. */
typedef struct Box {
  PetscInt first[3], count[3], at[3];
} Box;

static PetscErrorCode BoxOf(DM dm, PetscBool isLocal, Box* box) {
  PetscFunctionBegin;
  PetscCall((isLocal ? DMDAGetGhostCorners : DMDAGetCorners)(dm, &box->first[0], &box->first[1],
                                                             &box->first[2], &box->count[0],
                                                             &box->count[1], &box->count[2]));
  PetscCall(PetscArraycpy(box->at, box->first, 3));
  PetscFunctionReturn(0);
}

static void NextPoint(Box* box) {
  int d = 0;

  while (d < 3 && ++box->at[d] == box->first[d] + box->count[d]) {
    box->at[d] = box->first[d];
    ++d;
  }
}

static double ValueAt(const PetscInt point[3], PetscInt channel) {
  return (double)(((point[2] * kExtents[1] + point[1]) * kExtents[0] + point[0]) * 10 + channel +
                  1);
}

static PetscErrorCode Fill(DM dm, const Case* c, PetscBool isLocal, Vec vec) {
  Box box;
  PetscInt size, i;
  PetscScalar* values;

  PetscFunctionBegin;
  PetscCall(BoxOf(dm, isLocal, &box));
  PetscCall(VecGetLocalSize(vec, &size));
  PetscCall(VecGetArray(vec, &values));
  for (i = 0; i < size; ++i) {
    values[i] = ValueAt(box.at, i % c->dof);
    if (i % c->dof == c->dof - 1)
      NextPoint(&box);
  }
  PetscCall(VecRestoreArray(vec, &values));
  PetscFunctionReturn(0);
}

/* The whole tensor on this rank, in the order channel, z, y, x. */
static PetscErrorCode CheckTensor(TenonDTensor x, TenonLayout layout, const Case* c) {
  TenonPartition partition = NULL;
  TenonLayout everywhere = NULL;
  TenonDTensor all = NULL;
  TenonLinearOp gather = NULL;
  TenonInt shape[5], count;
  const void* values;
  Box box = {{0, 0, 0}, {1, 1, 1}, {0, 0, 0}};
  PetscInt i, points = 1;
  int ndim, d;

  PetscFunctionBegin;
  TenonPetscCall(TenonLayoutGetDim(layout, &ndim));
  CHECK(ndim == c->dimensions + 2);
  TenonPetscCall(TenonLayoutGetShape(layout, shape));
  CHECK(shape[0] == 1 && shape[1] == c->dof);
  for (d = 0; d < c->dimensions; ++d) {
    CHECK(shape[ndim - 1 - d] == kExtents[d]);
    box.count[d] = kExtents[d];
    points *= kExtents[d];
  }
  TenonPetscCall(TenonLayoutGetPartition(layout, &partition));
  TenonPetscCall(TenonLayoutCreateSharded(partition, ndim, shape,
                                          ndim == 3   ? "B,B,B"
                                          : ndim == 4 ? "B,B,B,B"
                                                      : "B,B,B,B,B",
                                          &everywhere));
  TenonPetscCall(TenonDTensorCreate(everywhere, TENON_PETSC_SCALAR, &all));
  TenonPetscCall(TenonLinearOpCreateConversion(layout, everywhere, TENON_PETSC_SCALAR, &gather));
  TenonPetscCall(TenonLinearOpApply(gather, x, all));
  TenonPetscCall(TenonDTensorGetLocalSize(all, &count));
  CHECK(count == points * c->dof);
  TenonPetscCall(TenonDTensorGetArrayRead(all, TENON_PETSC_SCALAR, &values));
  for (i = 0; i < count; ++i, NextPoint(&box))
    CHECK(((const PetscScalar*)values)[i] == ValueAt(box.at, i / points));
  TenonPetscCall(TenonDTensorRestoreArrayRead(all, &values));
  TenonPetscCall(TenonLinearOpDestroy(&gather));
  TenonPetscCall(TenonDTensorDestroy(&all));
  TenonPetscCall(TenonLayoutDestroy(&everywhere));
  TenonPetscCall(TenonPartitionDestroy(&partition));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestPlaces(DM dm, const Case* c, TenonLayout layout) {
  TenonDTensor x = NULL;
  Vec global, local;

  PetscFunctionBegin;
  TenonPetscCall(TenonDTensorCreate(layout, TENON_PETSC_SCALAR, &x));
  PetscCall(DMCreateGlobalVector(dm, &global));
  PetscCall(DMCreateLocalVector(dm, &local));
  PetscCall(Fill(dm, c, PETSC_FALSE, global));
  PetscCall(Fill(dm, c, PETSC_TRUE, local));

  PetscCall(TenonPetscPlaceVecRead(x, dm, global));
  PetscCall(CheckTensor(x, layout, c));
  PetscCall(TenonPetscRestoreVecRead(x, global));
  PetscCall(TenonPetscPlaceVecRead(x, dm, local));
  PetscCall(CheckTensor(x, layout, c));
  PetscCall(TenonPetscRestoreVecRead(x, local));
  PetscCall(VecDestroy(&global));
  PetscCall(VecDestroy(&local));
  TenonPetscCall(TenonDTensorDestroy(&x));
  PetscFunctionReturn(0);
}

/* Whether the exchange of a star stencil fills this point. */
static PetscBool IsFilled(const Case* c, const Box* box, const Box* owned) {
  int d, outside = 0;

  for (d = 0; d < c->dimensions; ++d)
    outside += box->at[d] < owned->first[d] || box->at[d] >= owned->first[d] + owned->count[d];
  return (PetscBool)(c->stencil == DMDA_STENCIL_BOX || outside < 2);
}

static PetscErrorCode TestHalo(DM dm, const Case* c, TenonLayout layout) {
  TenonLayout wide = NULL;
  TenonLinearOp halo = NULL;
  TenonDTensor x = NULL, y = NULL;
  Vec global, expected, local;
  Box box, owned;
  PetscInt size, i;
  const PetscScalar *want, *got;

  PetscFunctionBegin;
  PetscCall(TenonPetscGhostedLayoutFromDM(dm, &wide));
  TenonPetscCall(TenonLinearOpCreateHalo(layout, wide, TENON_PETSC_SCALAR, &halo));
  TenonPetscCall(TenonDTensorCreate(layout, TENON_PETSC_SCALAR, &x));
  TenonPetscCall(TenonDTensorCreate(wide, TENON_PETSC_SCALAR, &y));
  PetscCall(DMCreateGlobalVector(dm, &global));
  PetscCall(DMCreateLocalVector(dm, &expected));
  PetscCall(VecDuplicate(expected, &local));
  PetscCall(Fill(dm, c, PETSC_FALSE, global));
  PetscCall(VecSet(expected, 0));
  PetscCall(VecSet(local, -1));
  PetscCall(DMGlobalToLocal(dm, global, INSERT_VALUES, expected));
  PetscCall(TenonPetscPlaceVecRead(x, dm, global));
  PetscCall(TenonPetscPlaceVec(y, dm, local));
  TenonPetscCall(TenonLinearOpApply(halo, x, y));
  PetscCall(TenonPetscRestoreVec(y, local));
  PetscCall(TenonPetscRestoreVecRead(x, global));

  PetscCall(BoxOf(dm, PETSC_TRUE, &box));
  PetscCall(BoxOf(dm, PETSC_FALSE, &owned));
  PetscCall(VecGetLocalSize(local, &size));
  PetscCall(VecGetArrayRead(expected, &want));
  PetscCall(VecGetArrayRead(local, &got));
  for (i = 0; i < size; ++i) {
    if (IsFilled(c, &box, &owned))
      CHECK(got[i] == want[i]);
    if (i % c->dof == c->dof - 1)
      NextPoint(&box);
  }
  PetscCall(VecRestoreArrayRead(local, &got));
  PetscCall(VecRestoreArrayRead(expected, &want));
  PetscCall(VecDestroy(&global));
  PetscCall(VecDestroy(&expected));
  PetscCall(VecDestroy(&local));
  TenonPetscCall(TenonDTensorDestroy(&x));
  TenonPetscCall(TenonDTensorDestroy(&y));
  TenonPetscCall(TenonLinearOpDestroy(&halo));
  TenonPetscCall(TenonLayoutDestroy(&wide));
  PetscFunctionReturn(0);
}

/* A write through the tensor is one to the Vec, whose state grows; what does not fit is refused. */
static PetscErrorCode TestLoan(DM dm, TenonLayout layout) {
  TenonDTensor x = NULL;
  Vec vec, other, small;
  PetscReal norm;

  PetscFunctionBegin;
  TenonPetscCall(TenonDTensorCreate(layout, TENON_PETSC_SCALAR, &x));
  PetscCall(DMCreateGlobalVector(dm, &vec));
  PetscCall(VecDuplicate(vec, &other));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, 1, PETSC_DETERMINE, &small));
  PetscCall(VecSet(vec, 1));
  PetscCall(VecNorm(vec, NORM_INFINITY, &norm)); /* which PETSc keeps until the Vec's state grows */
  PetscCall(TenonPetscPlaceVec(x, dm, vec));
  TenonPetscCall(TenonDTensorFillConstant(x, 2));
  CHECK_FAILS(PETSC_ERR_ARG_WRONGSTATE, TenonPetscRestoreVec(x, other));
  PetscCall(TenonPetscRestoreVec(x, vec));
  PetscCall(VecNorm(vec, NORM_INFINITY, &norm));
  CHECK(norm == 2);
  PetscCall(TenonPetscPlaceVecRead(x, dm, vec));
  CHECK_FAILS(PETSC_ERR_LIB,
              TenonPetscError(TenonDTensorFillConstant(x, 3), __func__, __FILE__, __LINE__));
  PetscCall(TenonPetscRestoreVecRead(x, vec));
  CHECK_FAILS(PETSC_ERR_ARG_SIZ, TenonPetscPlaceVec(x, dm, small));
  PetscCall(VecDestroy(&vec));
  PetscCall(VecDestroy(&other));
  PetscCall(VecDestroy(&small));
  TenonPetscCall(TenonDTensorDestroy(&x));
  PetscFunctionReturn(0);
}

/* A tensor of another data type, of another grid with as many elements, and one that has a Vec
 * already. */
static PetscErrorCode TestPlaceRefusals(void) {
  const TenonDataType other = TENON_PETSC_SCALAR == TENON_FLOAT64 ? TENON_FLOAT32 : TENON_FLOAT64;
  TenonLayout layout = NULL;
  TenonDTensor x = NULL, converted = NULL;
  DM dm, turned;
  Vec vec, second;

  PetscFunctionBegin;
  PetscCall(DMDACreate2d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, 6,
                         4, 1, 1, 1, 1, NULL, NULL, &dm));
  PetscCall(DMDACreate2d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, 4,
                         6, 1, 1, 1, 1, NULL, NULL, &turned));
  PetscCall(DMSetUp(dm));
  PetscCall(DMSetUp(turned));
  PetscCall(TenonPetscLayoutFromDM(dm, &layout));
  TenonPetscCall(TenonDTensorCreate(layout, TENON_PETSC_SCALAR, &x));
  TenonPetscCall(TenonDTensorCreate(layout, other, &converted));
  PetscCall(DMCreateGlobalVector(dm, &vec));
  PetscCall(VecDuplicate(vec, &second));
  CHECK_FAILS(PETSC_ERR_ARG_WRONG, TenonPetscPlaceVec(converted, dm, vec));
  CHECK_FAILS(PETSC_ERR_ARG_WRONG, TenonPetscPlaceVecRead(converted, dm, vec));
  CHECK_FAILS(PETSC_ERR_ARG_INCOMP, TenonPetscPlaceVec(x, turned, vec));
  CHECK_FAILS(PETSC_ERR_ARG_WRONGSTATE, TenonPetscRestoreVec(x, vec));
  PetscCall(TenonPetscPlaceVec(x, dm, vec));
  CHECK_FAILS(PETSC_ERR_ARG_WRONGSTATE, TenonPetscPlaceVecRead(x, dm, second));
  CHECK_FAILS(PETSC_ERR_ARG_WRONGSTATE, TenonPetscRestoreVecRead(x, vec));
  PetscCall(TenonPetscRestoreVec(x, vec));
  PetscCall(VecDestroy(&vec));
  PetscCall(VecDestroy(&second));
  TenonPetscCall(TenonDTensorDestroy(&x));
  TenonPetscCall(TenonDTensorDestroy(&converted));
  TenonPetscCall(TenonLayoutDestroy(&layout));
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDestroy(&turned));
  PetscFunctionReturn(0);
}

/* A Vec and a tensor that their owners destroy stay until the end of the loan. */
static PetscErrorCode TestDestroyedWhilePlaced(DM dm, TenonLayout layout) {
  TenonDTensor x = NULL, y = NULL;
  Vec vec, same;
  int references;
  double largest;

  PetscFunctionBegin;
  TenonPetscCall(TenonDTensorCreate(layout, TENON_PETSC_SCALAR, &x));
  PetscCall(DMCreateGlobalVector(dm, &vec));
  PetscCall(VecSet(vec, 2));
  PetscCall(TenonPetscPlaceVec(x, dm, vec));
  same = vec;
  y = x;
  PetscCall(VecDestroy(&vec));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscRestoreVec(x, vec));
  TenonPetscCall(TenonDTensorFillConstant(x, 3));
  TenonPetscCall(TenonDTensorMaxAbs(x, &largest));
  CHECK(largest == 3);
  TenonPetscCall(TenonObjectGetReferences((TenonObject)x, &references));
  CHECK(references == 2);
  TenonPetscCall(TenonDTensorDestroy(&x));
  PetscCall(TenonPetscRestoreVec(y, same)); /* the last use of both */
  PetscFunctionReturn(0);
}

static PetscErrorCode TestNotSetUp(void) {
  TenonLayout layout = NULL;
  DM dm;

  PetscFunctionBegin;
  PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 8, 1, 1, NULL, &dm));
  CHECK_FAILS(PETSC_ERR_ARG_WRONGSTATE, TenonPetscLayoutFromDM(dm, &layout));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestNull(DM dm, TenonLayout layout) {
  TenonLayout made = NULL;
  TenonDTensor x = NULL;
  Vec vec;

  PetscFunctionBegin;
  TenonPetscCall(TenonDTensorCreate(layout, TENON_PETSC_SCALAR, &x));
  PetscCall(DMCreateGlobalVector(dm, &vec));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscLayoutFromDM(NULL, &made));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscLayoutFromDM(dm, NULL));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscGhostedLayoutFromDM(NULL, &made));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscGhostedLayoutFromDM(dm, NULL));
  CHECK_FAILS(PETSC_ERR_ARG_WRONG, TenonPetscLayoutFromDM((DM)vec, &made));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscPlaceVec(NULL, dm, vec));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscPlaceVec(x, NULL, vec));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscPlaceVec(x, dm, NULL));
  CHECK_FAILS(PETSC_ERR_ARG_WRONG, TenonPetscPlaceVec(x, dm, (Vec)dm));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscPlaceVecRead(NULL, dm, vec));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscPlaceVecRead(x, NULL, vec));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscPlaceVecRead(x, dm, NULL));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscRestoreVec(x, NULL));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscRestoreVec(NULL, vec));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscRestoreVecRead(x, NULL));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscRestoreVecRead(NULL, vec));
  PetscCall(VecDestroy(&vec));
  TenonPetscCall(TenonDTensorDestroy(&x));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestRefusals(void) {
  const Case twisted = {2, 1, 1, DM_BOUNDARY_TWIST, DMDA_STENCIL_BOX};
  TenonLayout layout = NULL;
  DM dm, shell;

  PetscFunctionBegin;
  PetscCall(DMShellCreate(PETSC_COMM_WORLD, &shell));
  CHECK_FAILS(PETSC_ERR_SUP, TenonPetscLayoutFromDM(shell, &layout));
  PetscCall(DMDestroy(&shell));
  PetscMPIInt size;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size > 1)
    PetscFunctionReturn(0); /* PETSc has no twist on more */
  PetscCall(CreateGrid(&twisted, &dm));
  CHECK_FAILS(PETSC_ERR_SUP, TenonPetscGhostedLayoutFromDM(dm, &layout));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(0);
}

static PetscErrorCode Test(void) {
  const Case cases[] = {
      {1, 1, 1, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX},
      {1, 3, 2, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_BOX},
      {1, 2, 1, DM_BOUNDARY_MIRROR, DMDA_STENCIL_BOX},
      {2, 3, 1, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR},
      {2, 3, 2, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_BOX},
      {2, 1, 1, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_STAR},
      {2, 2, 1, DM_BOUNDARY_GHOSTED, DMDA_STENCIL_BOX},
      {2, 1, 1, DM_BOUNDARY_MIRROR, DMDA_STENCIL_STAR},
      {3, 1, 1, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX},
      {3, 3, 1, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_BOX},
      {3, 2, 1, DM_BOUNDARY_GHOSTED, DMDA_STENCIL_STAR},
  };
  size_t i;

  PetscFunctionBegin;
  for (i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    TenonLayout layout = NULL;
    DM dm;
    PetscCall(CreateGrid(&cases[i], &dm));
    PetscCall(TenonPetscLayoutFromDM(dm, &layout));
    PetscCall(TestPlaces(dm, &cases[i], layout));
    PetscCall(TestHalo(dm, &cases[i], layout));
    PetscCall(TestLoan(dm, layout));
    PetscCall(TestDestroyedWhilePlaced(dm, layout));
    PetscCall(TestNull(dm, layout));
    TenonPetscCall(TenonLayoutDestroy(&layout));
    PetscCall(DMDestroy(&dm));
  }
  PetscCall(TestRefusals());
  PetscCall(TestNotSetUp());
  PetscCall(TestPlaceRefusals());
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  return RunTest(argc, argv, Test);
}
