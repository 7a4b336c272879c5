/* SPDX-License-Identifier: BSD-2-Clause */
/* A DMPlex of quadrilaterals, with overlap 0 and 1, and with the cells beyond the boundary that
 * finite volumes have: sums over the neighbours of cells and of vertices, which are those of the
 * grid that the mesh is, on global vectors without a copy. */
#include "run.h"

#include <petscdmplex.h>

#include <math.h>

enum { kNx = 7, kNy = 5, kDof = 2 };

static PetscErrorCode CreateDM(int overlap, DM* dm) {
  PetscFunctionBegin;
  PetscCall(PetscOptionsSetValue(NULL, "-dm_plex_simplex", "0"));
  PetscCall(PetscOptionsSetValue(NULL, "-dm_plex_box_faces", "7,5"));
  PetscCall(PetscOptionsSetValue(NULL, "-dm_distribute_overlap", overlap ? "1" : "0"));
  PetscCall(DMCreate(PETSC_COMM_WORLD, dm));
  PetscCall(DMSetType(*dm, DMPLEX));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(DMGetCoordinatesLocalSetUp(*dm));
  PetscFunctionReturn(0);
}

/* kDof numbers on each point of the height but cells beyond the boundary. */
static PetscErrorCode SetSection(DM dm, PetscInt height, PetscInt* begin, PetscInt* end) {
  PetscInt low, high, p;
  DMPolytopeType type;
  PetscSection section;

  PetscFunctionBegin;
  PetscCall(DMPlexGetChart(dm, &low, &high));
  PetscCall(DMPlexGetHeightStratum(dm, height, begin, end));
  for (p = *begin; height == 0 && p < *end; ++p) {
    PetscCall(DMPlexGetCellType(dm, p, &type));
    if (type == DM_POLYTOPE_FV_GHOST)
      *end = p;
  }
  PetscCall(PetscSectionCreate(PETSC_COMM_WORLD, &section));
  PetscCall(PetscSectionSetChart(section, low, high));
  for (p = *begin; p < *end; ++p)
    PetscCall(PetscSectionSetDof(section, p, kDof));
  PetscCall(PetscSectionSetUp(section));
  PetscCall(DMSetLocalSection(dm, section));
  PetscCall(PetscSectionDestroy(&section));
  PetscFunctionReturn(0);
}

/* Where a point lies on the grid of cells or of vertices, whose extents are kNx + more and kNy +
 * more. */
static PetscErrorCode PlaceOf(DM dm, PetscInt height, PetscInt point, int at[2]) {
  const int more = height > 0;
  PetscReal centre[3];

  PetscFunctionBegin;
  if (height == 0) {
    PetscCall(DMPlexComputeCellGeometryFVM(dm, point, NULL, centre, NULL));
  } else {
    PetscSection section;
    Vec coordinates;
    const PetscScalar* values;
    PetscInt offset;

    PetscCall(DMGetCoordinateSection(dm, &section));
    PetscCall(DMGetCoordinatesLocal(dm, &coordinates));
    PetscCall(PetscSectionGetOffset(section, point, &offset));
    PetscCall(VecGetArrayRead(coordinates, &values));
    centre[0] = values[offset];
    centre[1] = values[offset + 1];
    PetscCall(VecRestoreArrayRead(coordinates, &values));
  }
  at[0] = (int)lround(centre[0] * kNx - (more ? 0 : 0.5));
  at[1] = (int)lround(centre[1] * kNy - (more ? 0 : 0.5));
  PetscFunctionReturn(0);
}

static double Value(const int at[2], int dof) {
  return 100 * at[0] + at[1] * at[1] + 1000 * dof;
}

static double SumAround(const int at[2], int more, int dof) {
  const int steps[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
  double sum = 0;
  int k;

  for (k = 0; k < 4; ++k) {
    const int there[2] = {at[0] + steps[k][0], at[1] + steps[k][1]};

    if (there[0] >= 0 && there[0] < kNx + more && there[1] >= 0 && there[1] < kNy + more)
      sum += Value(there, dof);
  }
  return sum;
}

/* Vectors of the own points: f(place, dof) in each. */
static PetscErrorCode Visit(DM dm, PetscInt height, PetscInt begin, PetscInt end, Vec vec,
                            PetscBool isCheck) {
  const int more = height > 0;
  PetscInt p, dof, offset, first;
  PetscSection global;
  PetscScalar* values;
  int at[2] = {0, 0}, k;

  PetscFunctionBegin;
  PetscCall(DMGetGlobalSection(dm, &global));
  PetscCall(VecGetOwnershipRange(vec, &first, NULL));
  PetscCall(VecGetArray(vec, &values));
  for (p = begin; p < end; ++p) {
    PetscCall(PetscSectionGetDof(global, p, &dof));
    if (dof < 0)
      continue; /* of another rank */
    PetscCall(PetscSectionGetOffset(global, p, &offset));
    PetscCall(PlaceOf(dm, height, p, at));
    for (k = 0; k < kDof; ++k) {
      if (isCheck)
        CHECK(values[offset - first + k] == SumAround(at, more, k));
      else
        values[offset - first + k] = Value(at, k);
    }
  }
  PetscCall(VecRestoreArray(vec, &values));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckSums(DM dm, PetscInt height, PetscInt through) {
  const TenonInt shape[2] = {0, kDof};
  TenonLayout plain, ghosted;
  TenonIndexMap nodes;
  TenonEdges edges;
  TenonLayer sums;
  TenonDTensor x, y;
  PetscInt begin, end;
  Vec u, v, other;

  PetscFunctionBegin;
  PetscCall(SetSection(dm, height, &begin, &end));
  PetscCall(DMCreateGlobalVector(dm, &u));
  PetscCall(VecDuplicate(u, &v));
  PetscCall(TenonPetscMeshFromPlex(dm, height, through, &nodes, &edges));
  TenonPetscCall(TenonIndexMapGetLayouts(nodes, 2, shape, &plain, &ghosted));
  TenonPetscCall(TenonLayerCreateType(PETSC_COMM_WORLD, "sparsematrix", &sums));
  TenonPetscCall(TenonLayerSetEdges(sums, "", edges));
  TenonPetscCall(TenonLayerSetDataType(sums, TENON_PETSC_SCALAR));
  TenonPetscCall(TenonLayerSetUp(sums, plain));
  TenonPetscCall(TenonDTensorCreate(plain, TENON_PETSC_SCALAR, &x));
  TenonPetscCall(TenonLayerCreateOutput(sums, 0, &y));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, PETSC_DECIDE, kDof * (kNx + 2) * (kNy + 2), &other));
  CHECK_FAILS(PETSC_ERR_ARG_SIZ, TenonPetscPlaceVec(x, dm, other));
  PetscCall(VecDestroy(&other));
  PetscCall(Visit(dm, height, begin, end, u, PETSC_FALSE));
  PetscCall(TenonPetscPlaceVecRead(x, dm, u));
  PetscCall(TenonPetscPlaceVec(y, dm, v));
  TenonPetscCall(TenonLayerApply(sums, x, y));
  PetscCall(TenonPetscRestoreVec(y, v));
  PetscCall(TenonPetscRestoreVecRead(x, u));
  PetscCall(Visit(dm, height, begin, end, v, PETSC_TRUE));
  /* The matrix is symmetric. */
  PetscCall(VecSet(v, 0));
  PetscCall(TenonPetscLayerApplyAdjoint(sums, dm, u, dm, v));
  PetscCall(Visit(dm, height, begin, end, v, PETSC_TRUE));
  PetscCall(VecSet(v, 0));
  PetscCall(TenonPetscLayerApply(sums, dm, u, dm, v));
  PetscCall(Visit(dm, height, begin, end, v, PETSC_TRUE));
  TenonPetscCall(TenonDTensorDestroy(&y));
  TenonPetscCall(TenonDTensorDestroy(&x));
  TenonPetscCall(TenonLayerDestroy(&sums));
  TenonPetscCall(TenonLayoutDestroy(&ghosted));
  TenonPetscCall(TenonLayoutDestroy(&plain));
  TenonPetscCall(TenonEdgesDestroy(&edges));
  TenonPetscCall(TenonIndexMapDestroy(&nodes));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&u));
  PetscFunctionReturn(0);
}

/* The ghosts of any height: the number of each list is that of the points. */
static PetscErrorCode CheckLists(DM dm) {
  const TenonInt shape[1] = {0};
  TenonInt low, high;
  TenonLayout plain, ghosted;
  TenonIndexMap nodes;
  PetscInt height, begin, end;

  PetscFunctionBegin;
  for (height = 0; height <= 2; ++height) {
    PetscCall(DMPlexGetHeightStratum(dm, height, &begin, &end));
    PetscCall(TenonPetscIndexMapFromPlex(dm, height, &nodes));
    TenonPetscCall(TenonIndexMapGetLayouts(nodes, 1, shape, &plain, &ghosted));
    TenonPetscCall(TenonLayoutGetBox(ghosted, &low, &high));
    CHECK(high - low == end - begin);
    TenonPetscCall(TenonLayoutDestroy(&ghosted));
    TenonPetscCall(TenonLayoutDestroy(&plain));
    TenonPetscCall(TenonIndexMapDestroy(&nodes));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(void) {
  TenonIndexMap nodes;
  TenonEdges edges;
  int overlap;
  DM dm, beyond;

  PetscFunctionBegin;
  for (overlap = 0; overlap < 2; ++overlap) {
    PetscCall(CreateDM(overlap, &dm));
    PetscCall(CheckSums(dm, 0, 1));
    PetscCall(CheckSums(dm, 2, 1));
    PetscCall(CheckLists(dm));
    CHECK_FAILS(PETSC_ERR_ARG_OUTOFRANGE, TenonPetscIndexMapFromPlex(dm, 3, &nodes));
    CHECK_FAILS(PETSC_ERR_ARG_OUTOFRANGE, TenonPetscMeshFromPlex(dm, 0, 2, &nodes, &edges));
    PetscCall(DMPlexConstructGhostCells(dm, NULL, NULL, &beyond));
    PetscCall(CheckSums(beyond, 0, 1));
    PetscCall(DMDestroy(&beyond));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  return RunTest(argc, argv, Run);
}
