/* SPDX-License-Identifier: BSD-2-Clause */
/* DMDA as layouts, and the arrays of their vectors as tensors.
 *
 * PETSc's array is [z][y][x][dof], the tensor's dimensions are batch, channel, z, y, x: the strides
 * are those of the array, the ghost widths those of a local vector. */
#include "shim.h"

enum { kBatch = 0, kChannel = 1, kSpace = 2 };

typedef struct Grid {
  MPI_Comm comm;
  int ndim; /* of the tensor */
  PetscInt stencil;
  TenonInt shape[kMostDimensions], low[kMostDimensions], high[kMostDimensions]; /* owned */
  TenonInt ghostsLow[kMostDimensions], ghostsHigh[kMostDimensions]; /* of a local vector */
  DMBoundaryType boundary[kMostDimensions];
} Grid;

static void SetGridDimension(Grid* grid, int d, PetscInt extent, PetscInt first, PetscInt count) {
  grid->shape[d] = extent;
  grid->low[d] = first;
  grid->high[d] = first + count;
  grid->ghostsLow[d] = grid->ghostsHigh[d] = 0;
}

/* PETSc's objects are on a duplicate of the communicator with which they were created. Layers are created
 * on PETSC_COMM_WORLD itself, so that of a grid of all ranks is given back. */
static PetscErrorCode CommOfGrid(DM dm, MPI_Comm* comm) {
  MPI_Comm world;
  PetscMPIInt result;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetComm((PetscObject)dm, comm));
  PetscCall(PetscCommDuplicate(PETSC_COMM_WORLD, &world, NULL));
  PetscCallMPI(MPI_Comm_compare(*comm, world, &result));
  if (result == MPI_IDENT)
    *comm = PETSC_COMM_WORLD;
  PetscCall(PetscCommDestroy(&world));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadGrid(DM dm, Grid* grid) {
  PetscBool isGrid;
  PetscInt axes, dof, n[3], first[3], count[3], ghostFirst[3], ghostCount[3];
  DMBoundaryType boundary[3];
  int axis, d;

  PetscFunctionBegin;
  PetscCall(CommOfGrid(dm, &grid->comm));
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &isGrid));
  PetscCheck(isGrid, grid->comm, PETSC_ERR_SUP, "Tenon needs a DMDA; this DM has another type");
  PetscCall(DMDAGetInfo(dm, &axes, &n[0], &n[1], &n[2], NULL, NULL, NULL, &dof, &grid->stencil,
                        &boundary[0], &boundary[1], &boundary[2], NULL));
  PetscCall(DMDAGetCorners(dm, &first[0], &first[1], &first[2], &count[0], &count[1], &count[2]));
  PetscCall(DMDAGetGhostCorners(dm, &ghostFirst[0], &ghostFirst[1], &ghostFirst[2], &ghostCount[0],
                                &ghostCount[1], &ghostCount[2]));
  grid->ndim = kSpace + (int)axes;
  SetGridDimension(grid, kBatch, 1, 0, 1);
  SetGridDimension(grid, kChannel, dof, 0, dof);
  for (axis = 0; axis < axes; ++axis) {
    d = grid->ndim - 1 - axis;
    SetGridDimension(grid, d, n[axis], first[axis], count[axis]);
    grid->ghostsLow[d] = first[axis] - ghostFirst[axis];
    grid->ghostsHigh[d] = ghostCount[axis] - count[axis] - grid->ghostsLow[d];
    grid->boundary[d] = boundary[axis];
  }
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscLayoutFromDM(DM dm, TenonLayout* layout) {
  Grid grid;

  PetscFunctionBegin;
  PetscCall(ReadGrid(dm, &grid));
  TenonPetscCall(
      TenonLayoutCreateFromBoxes(grid.comm, grid.ndim, grid.shape, grid.low, grid.high, layout));
  PetscFunctionReturn(0);
}

static PetscErrorCode BoundaryOf(const Grid* grid, int d, TenonBoundary* boundary) {
  PetscFunctionBegin;
  switch (grid->boundary[d]) {
  case DM_BOUNDARY_NONE:
    *boundary = TENON_BOUNDARY_NONE;
    break;
  case DM_BOUNDARY_GHOSTED:
    *boundary = TENON_BOUNDARY_VALUES;
    break;
  case DM_BOUNDARY_MIRROR:
    *boundary = TENON_BOUNDARY_REFLECT;
    break;
  case DM_BOUNDARY_PERIODIC:
    *boundary = TENON_BOUNDARY_PERIODIC;
    break;
  default:
    SETERRQ(grid->comm, PETSC_ERR_SUP,
            "dimension %d of the grid has boundary %s, which Tenon does not have; it has NONE, "
            "GHOSTED, MIRROR and PERIODIC",
            grid->ndim - 1 - d, DMBoundaryTypes[grid->boundary[d]]);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscGhostedLayoutFromDM(DM dm, TenonLayout* layout) {
  Grid grid;
  TenonLayout owned = NULL;
  TenonBoundary boundary[kMostDimensions];
  int d;

  PetscFunctionBegin;
  PetscCall(ReadGrid(dm, &grid));
  for (d = kSpace; d < grid.ndim; ++d)
    PetscCall(BoundaryOf(&grid, d, &boundary[d]));
  PetscCall(TenonPetscLayoutFromDM(dm, &owned));
  TenonPetscCall(TenonLayoutCreateLike(owned, layout));
  TenonPetscCall(TenonLayoutDestroy(&owned));
  for (d = kSpace; d < grid.ndim; ++d)
    TenonPetscCall(
        TenonLayoutSetHalo(*layout, d, grid.stencil, grid.stencil, boundary[d], boundary[d]));
  TenonPetscCall(TenonLayoutSetUp(*layout));
  PetscFunctionReturn(0);
}

/* Where the owned elements lie in a vector of the grid. */
typedef struct Place {
  TenonInt first, length, strides[kMostDimensions];
  const TenonInt *ghostsLow, *ghostsHigh; /* NULL without ghost points */
} Place;

static void PlaceOf(const Grid* grid, PetscBool isLocal, Place* place) {
  int d;
  TenonInt width;

  place->first = 0;
  place->length = grid->shape[kChannel];
  place->strides[kChannel] = 1;
  for (d = grid->ndim - 1; d >= kSpace; --d) {
    width = grid->high[d] - grid->low[d];
    if (isLocal) {
      width += grid->ghostsLow[d] + grid->ghostsHigh[d];
      place->first += grid->ghostsLow[d] * place->length;
    }
    place->strides[d] = place->length;
    place->length *= width;
  }
  place->strides[kBatch] = place->length;
  place->ghostsLow = isLocal ? grid->ghostsLow : NULL;
  place->ghostsHigh = isLocal ? grid->ghostsHigh : NULL;
}

/* A global vector's place, or a local one's, by the size; where both are equal, so are the places. */
static PetscErrorCode FindPlace(const Grid* grid, Vec vec, Place* place) {
  PetscInt size;
  TenonInt global;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(vec, &size));
  PlaceOf(grid, PETSC_FALSE, place);
  if (place->length == size)
    PetscFunctionReturn(0);
  global = place->length;
  PlaceOf(grid, PETSC_TRUE, place);
  PetscCheck(place->length == size, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "the Vec has %lld elements on this rank, but a global vector of the DMDA has %lld and "
             "a local one %lld; pass one of those",
             (long long)size, (long long)global, (long long)place->length);
  PetscFunctionReturn(0);
}

static PetscErrorCode PlaceOnGrid(TenonDTensor x, DM dm, Vec vec, PetscBool readOnly) {
  Grid grid;
  Place at;
  const PetscScalar* values;
  PetscScalar* array;

  PetscFunctionBegin;
  PetscCall(ReadGrid(dm, &grid));
  PetscCall(FindPlace(&grid, vec, &at));
  if (readOnly) {
    PetscCall(VecGetArrayRead(vec, &values));
    TenonPetscCall(TenonDTensorPlaceArrayRead(x, values + at.first, at.strides, at.ghostsLow,
                                              at.ghostsHigh, at.length));
  } else {
    PetscCall(VecGetArray(vec, &array));
    TenonPetscCall(TenonDTensorPlaceArray(x, array + at.first, at.strides, at.ghostsLow,
                                          at.ghostsHigh, at.length));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscPlaceVec(TenonDTensor x, DM dm, Vec vec) {
  return PlaceOnGrid(x, dm, vec, PETSC_FALSE);
}

PetscErrorCode TenonPetscPlaceVecRead(TenonDTensor x, DM dm, Vec vec) {
  return PlaceOnGrid(x, dm, vec, PETSC_TRUE);
}

PetscErrorCode PlaceBlock(TenonDTensor x, DM dm, Vec vec, PetscBool readOnly) {
  PetscInt size;
  const PetscScalar* values;
  PetscScalar* array;

  PetscFunctionBegin;
  if (dm) {
    PetscCall(PlaceOnGrid(x, dm, vec, readOnly));
    PetscFunctionReturn(0);
  }
  PetscCall(VecGetLocalSize(vec, &size));
  if (readOnly) {
    PetscCall(VecGetArrayRead(vec, &values));
    TenonPetscCall(TenonDTensorPlaceArrayRead(x, values, NULL, NULL, NULL, size));
  } else {
    PetscCall(VecGetArray(vec, &array));
    TenonPetscCall(TenonDTensorPlaceArray(x, array, NULL, NULL, NULL, size));
  }
  PetscFunctionReturn(0);
}

/* The tensor's elements lie between the ends of the Vec's array. */
static PetscErrorCode CheckLoan(TenonDTensor x, Vec vec) {
  PetscInt size;
  const PetscScalar* values;
  const void* first;
  PetscBool isLent;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(vec, &size));
  PetscCall(VecGetArrayRead(vec, &values));
  TenonPetscCall(TenonDTensorGetArrayRead(x, TENON_PETSC_SCALAR, &first));
  isLent = (PetscBool)(!first || ((const PetscScalar*)first >= values &&
                                  (const PetscScalar*)first < values + size));
  TenonPetscCall(TenonDTensorRestoreArrayRead(x, &first));
  PetscCall(VecRestoreArrayRead(vec, &values));
  PetscCheck(
      isLent, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
      "the tensor does not use the array of this Vec; restore the Vec that was placed in it");
  PetscFunctionReturn(0);
}

static PetscErrorCode EndLoan(TenonDTensor x, Vec vec, PetscErrorCode (*restore)(Vec)) {
  PetscFunctionBegin;
  PetscCall(CheckLoan(x, vec));
  TenonPetscCall(TenonDTensorResetArray(x));
  PetscCall(restore(vec));
  PetscFunctionReturn(0);
}

static PetscErrorCode RestoreWritten(Vec vec) {
  return VecRestoreArray(vec, NULL);
}
static PetscErrorCode RestoreRead(Vec vec) {
  return VecRestoreArrayRead(vec, NULL);
}

PetscErrorCode TenonPetscRestoreVec(TenonDTensor x, Vec vec) {
  return EndLoan(x, vec, RestoreWritten);
}

PetscErrorCode TenonPetscRestoreVecRead(TenonDTensor x, Vec vec) {
  return EndLoan(x, vec, RestoreRead);
}

PetscErrorCode CheckScalar(TenonDataType type, const char* what) {
  PetscFunctionBegin;
  PetscCheck(type == TENON_PETSC_SCALAR, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "%s has another data type than PetscScalar; compose it with "
             "TenonLinearOpCreateCast(), or set the layer's data type",
             what);
  PetscFunctionReturn(0);
}

static PetscErrorCode HasBoxOf(TenonLayout layout, int ndim, DM dm, PetscBool* has) {
  Grid grid;
  TenonInt low[kMostDimensions], high[kMostDimensions];
  int d;

  PetscFunctionBegin;
  *has = PETSC_TRUE;
  if (!dm)
    PetscFunctionReturn(0);
  PetscCall(ReadGrid(dm, &grid));
  TenonPetscCall(TenonLayoutGetOwnedBox(layout, low, high));
  *has = (PetscBool)(grid.ndim == ndim);
  for (d = 0; d < ndim && *has; ++d)
    *has = (PetscBool)(low[d] == grid.low[d] && high[d] == grid.high[d]);
  PetscFunctionReturn(0);
}

PetscErrorCode CheckBlocks(TenonLayout layout, DM dm, MPI_Comm comm, const char* what) {
  TenonInt shape[kMostDimensions], low[kMostDimensions], high[kMostDimensions], all = 1;
  TenonInt counts[2], sums[2] = {0, 0}; /* elements, and ranks whose box is not the grid's */
  PetscBool hasBox;
  int ndim, d;

  PetscFunctionBegin;
  TenonPetscCall(TenonLayoutGetDim(layout, &ndim));
  TenonPetscCall(TenonLayoutGetShape(layout, shape));
  TenonPetscCall(TenonLayoutGetBox(layout, low, high));
  PetscCall(HasBoxOf(layout, ndim, dm, &hasBox));
  counts[0] = 1;
  counts[1] = hasBox ? 0 : 1;
  for (d = 0; d < ndim; ++d) {
    counts[0] *= high[d] - low[d];
    all *= shape[d];
  }
  PetscCallMPI(MPI_Allreduce(counts, sums, 2, MPI_INT64_T, MPI_SUM, comm));
  PetscCheck(sums[1] == 0, comm, PETSC_ERR_ARG_INCOMP,
             "%s is not that of the grid passed with it; use TenonPetscLayoutFromDM(), and pass "
             "NULL for the grid of another layout",
             what);
  PetscCheck(sums[0] == all, comm, PETSC_ERR_ARG_INCOMP,
             "%s has %lld elements, but the ranks hold %lld: vectors hold each element once; "
             "convert to a layout of S and R without a halo",
             what, (long long)all, (long long)sums[0]);
  PetscFunctionReturn(0);
}
