/* SPDX-License-Identifier: BSD-2-Clause */
/* Layouts of tensors from a DMDA, PETSc's structured grid, and the positions in its vectors of a
 * tensor's elements:
 *
 *   TenonPetscLayoutFromDM, ...BatchLayoutFromDM, ...GhostedLayoutFromDM    the layouts
 *   FindPlace     the strides and ghost widths with which a tensor can use the array of a Vec
 *   CheckBlocks   whether a layout is that of the grid's vectors
 *   CommOfObject, CheckScalar    the communicator of a PETSc object, and the data type of vectors
 *
 * The array of a vector is [z][y][x][dof], where dof are the values of a point, and the dimensions
 * of the tensor are batch, channel, z, y, x. So in a global vector of a rank's 2 x 3 points (y, x)
 * with 4 values each, the tensor [1, 4, 2, 3] has the strides [24, 1, 12, 4]. A local vector also
 * has ghost points. A mesh (DMPLEX) has no such order; there the elements of the tensor are
 * row-major. The layouts are declared in include/tenon_petsc.h, the positions in shim.h. */
#include "shim.h"

/* Dimensions of the tensor; kSpace is the first one of space. */
enum { kBatch = 0, kChannel = 1, kSpace = 2 };

/* A DMDA on this rank. Lists have an entry for each dimension of the tensor. */
typedef struct Grid {
  MPI_Comm comm;
  int ndim;         /* of the tensor */
  PetscInt stencil; /* width of the stencil */
  TenonInt shape[kMaxDimensions], low[kMaxDimensions], high[kMaxDimensions]; /* owned */
  TenonInt ghostsLow[kMaxDimensions], ghostsHigh[kMaxDimensions];            /* of a local vector */
  DMBoundaryType boundary[kMaxDimensions];
} Grid;

static void SetGridDimension(Grid* grid, int d, PetscInt extent, PetscInt first, PetscInt count) {
  grid->shape[d] = extent;
  grid->low[d] = first;
  grid->high[d] = first + count;
  grid->ghostsLow[d] = grid->ghostsHigh[d] = 0;
}

PetscErrorCode CommOfObject(PetscObject object, MPI_Comm* comm) {
  MPI_Comm world;
  PetscMPIInt result;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetComm(object, comm));
  PetscCall(PetscCommDuplicate(PETSC_COMM_WORLD, &world, NULL));
  PetscCallMPI(MPI_Comm_compare(*comm, world, &result));
  if (result == MPI_IDENT)
    *comm = PETSC_COMM_WORLD;
  PetscCall(PetscCommDestroy(&world));
  PetscFunctionReturn(0);
}

/* Reads a DMDA. Its axes x, y, z are the tensor's dimensions from the last to the first one of
 * space.
 */
static PetscErrorCode ReadGrid(DM dm, Grid* grid) {
  PetscBool isGrid;
  PetscInt axes, dof, n[3], first[3], count[3], ghostFirst[3], ghostCount[3];
  DMBoundaryType boundary[3];
  int axis, d;

  PetscFunctionBegin;
  PetscCall(CommOfObject((PetscObject)dm, &grid->comm));
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

/* A DMDA before DMSetUp() has a size and no points; after it, single ranks can have no points. */
static PetscErrorCode CheckSetUp(const Grid* grid) {
  TenonInt most = 0, all;
  int d;

  PetscFunctionBegin;
  for (d = kSpace; d < grid->ndim; ++d)
    most = PetscMax(most, grid->high[d] - grid->low[d]);
  PetscCallMPI(MPI_Allreduce(&most, &all, 1, MPI_INT64_T, MPI_MAX, grid->comm));
  PetscCheck(all > 0, grid->comm, PETSC_ERR_ARG_WRONGSTATE,
             "the DMDA is not set up; call DMSetUp() first");
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscLayoutFromDM(DM dm, TenonLayout* layout) {
  PetscFunctionBegin;
  PetscCall(TenonPetscBatchLayoutFromDM(dm, 1, layout));
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscBatchLayoutFromDM(DM dm, PetscInt states, TenonLayout* layout) {
  Grid grid;

  PetscFunctionBegin;
  NEED_OBJECT(dm, DM_CLASSID);
  NEED_ADDRESS(layout);
  PetscCall(CheckInitialized());
  PetscCall(ReadGrid(dm, &grid));
  PetscCall(CheckSetUp(&grid));
  PetscCheck(states >= 1, grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
             "the number of states is %lld; it must be at least 1", (long long)states);
  SetGridDimension(&grid, kBatch, states, 0, states);
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

static PetscErrorCode SetHalos(const Grid* grid, TenonLayout layout) {
  TenonBoundary boundary;
  int d;

  PetscFunctionBegin;
  for (d = kSpace; d < grid->ndim; ++d) {
    PetscCall(BoundaryOf(grid, d, &boundary));
    TenonPetscCall(TenonLayoutSetHalo(layout, d, grid->stencil, grid->stencil, boundary, boundary));
  }
  TenonPetscCall(TenonLayoutSetUp(layout));
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscGhostedLayoutFromDM(DM dm, TenonLayout* layout) {
  Grid grid;
  TenonLayout owned = NULL, ghosted = NULL;
  TenonErrorCode result;
  PetscErrorCode code;

  PetscFunctionBegin;
  NEED_ADDRESS(layout);
  PetscCall(TenonPetscLayoutFromDM(dm, &owned));
  PetscCall(ReadGrid(dm, &grid));
  result = TenonLayoutCreateLike(owned, &ghosted);
  TenonPetscCall(TenonLayoutDestroy(&owned));
  TenonPetscCall(result);
  code = SetHalos(&grid, ghosted);
  if (code)
    TenonPetscCall(TenonLayoutDestroy(&ghosted));
  PetscCall(code);
  *layout = ghosted;
  PetscFunctionReturn(0);
}

/* The place of a rank's elements in a global vector (isLocal false) or in a local vector, which
 * contains ghost points. */
static void PlaceOf(const Grid* grid, PetscBool isLocal, Place* place) {
  int d;

  place->first = 0;
  place->length = grid->shape[kChannel];
  place->strides[kChannel] = 1;
  for (d = grid->ndim - 1; d >= 0; --d)
    place->ghostsLow[d] = place->ghostsHigh[d] = 0;
  for (d = grid->ndim - 1; d >= kSpace; --d) {
    if (isLocal) {
      place->ghostsLow[d] = grid->ghostsLow[d];
      place->ghostsHigh[d] = grid->ghostsHigh[d];
    }
    place->first += place->ghostsLow[d] * place->length;
    place->strides[d] = place->length;
    place->length *= grid->high[d] - grid->low[d] + place->ghostsLow[d] + place->ghostsHigh[d];
  }
  place->strides[kBatch] = place->length;
}

/* Selects the place in a global or a local vector by the size of the vector; if both have the same
 * size, the places are equal too. With a batch, the vector contains its states one after the other.
 */
static PetscErrorCode FindPlaceOnGrid(const Grid* grid, PetscInt size, Place* place) {
  const TenonInt states = grid->shape[kBatch];
  TenonInt global;

  PetscFunctionBegin;
  PlaceOf(grid, PETSC_FALSE, place);
  place->length *= states;
  if (place->length == size)
    PetscFunctionReturn(0);
  global = place->length;
  PlaceOf(grid, PETSC_TRUE, place);
  place->length *= states;
  PetscCheck(
      place->length == size, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
      "the Vec has %lld elements on this rank, but %lld of the DMDA's global vectors have %lld "
      "and as many local ones %lld; pass one of those",
      (long long)size, (long long)states, (long long)global, (long long)place->length);
  PetscFunctionReturn(0);
}

/* The box of the elements that this rank owns. */
typedef struct Owned {
  int ndim;
  TenonInt low[kMaxDimensions], high[kMaxDimensions];
} Owned;

static PetscErrorCode ReadOwned(TenonLayout layout, Owned* owned) {
  PetscFunctionBegin;
  TenonPetscCall(TenonLayoutGetDim(layout, &owned->ndim));
  TenonPetscCall(TenonLayoutGetOwnedBox(layout, owned->low, owned->high));
  PetscFunctionReturn(0);
}

/* Whether the tensor's block on this rank is that of the grid. */
static PetscBool IsOfGrid(const Owned* owned, const Grid* grid) {
  int d;

  if (owned->ndim != grid->ndim)
    return PETSC_FALSE;
  for (d = 0; d < grid->ndim; ++d)
    if (owned->low[d] != grid->low[d] || owned->high[d] != grid->high[d])
      return PETSC_FALSE;
  return PETSC_TRUE;
}

static void PlaceRowMajor(const Owned* owned, PetscInt size, Place* place) {
  TenonInt stride = 1;
  int d;

  place->first = 0;
  place->length = size;
  for (d = owned->ndim - 1; d >= 0; --d) {
    place->ghostsLow[d] = place->ghostsHigh[d] = 0;
    place->strides[d] = stride;
    stride *= owned->high[d] - owned->low[d];
  }
}

static TenonInt ElementsOf(const Owned* owned) {
  TenonInt count = 1;
  int d;

  for (d = 0; d < owned->ndim; ++d)
    count *= owned->high[d] - owned->low[d];
  return count;
}

PetscErrorCode FindPlace(TenonDTensor x, DM dm, Vec vec, Place* place) {
  PetscBool isMesh = PETSC_FALSE;
  TenonLayout layout = NULL;
  Owned owned;
  PetscInt size;
  Grid grid;
  PetscErrorCode code;

  PetscFunctionBegin;
  TenonPetscCall(TenonDTensorGetLayout(x, &layout));
  code = ReadOwned(layout, &owned);
  TenonPetscCall(TenonLayoutDestroy(&layout));
  PetscCall(code);
  PetscCall(VecGetLocalSize(vec, &size));
  if (dm)
    PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMPLEX, &isMesh));
  if (!dm || isMesh) {
    PlaceRowMajor(&owned, size, place);
    PetscCheck(!isMesh || ElementsOf(&owned) == size, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
               "the Vec has %lld elements on this rank, but the tensor owns %lld; pass a global "
               "vector of the mesh with as many degrees of freedom on each point of one height",
               (long long)size, (long long)ElementsOf(&owned));
    PetscFunctionReturn(0);
  }
  PetscCall(ReadGrid(dm, &grid));
  if (owned.low[kBatch] == 0) /* a batch of states, whole on each rank */
    SetGridDimension(&grid, kBatch, owned.high[kBatch], 0, owned.high[kBatch]);
  PetscCheck(IsOfGrid(&owned, &grid), PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "the tensor's block on this rank is not that of the DMDA; create the tensor in the "
             "layout of TenonPetscLayoutFromDM() or TenonPetscGhostedLayoutFromDM()");
  PetscCall(FindPlaceOnGrid(&grid, size, place));
  PetscFunctionReturn(0);
}

PetscErrorCode CheckScalar(TenonDataType type, const char* what) {
  PetscFunctionBegin;
  PetscCheck(type == TENON_PETSC_SCALAR, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "%s has another data type than PetscScalar; use TENON_PETSC_SCALAR, and "
             "casts (TenonLinearOpCreateType()) from and to another type",
             what);
  PetscFunctionReturn(0);
}

PetscErrorCode CheckBlocks(TenonLayout layout, DM dm, MPI_Comm comm, const char* what) {
  TenonInt shape[kMaxDimensions], low[kMaxDimensions], high[kMaxDimensions], all = 1;
  TenonInt counts[2] = {1, 0},
           sums[2] = {0, 0}; /* elements, and ranks whose box is not the grid's */
  Owned owned;
  Grid grid;
  int d;

  PetscFunctionBegin;
  PetscCall(ReadOwned(layout, &owned));
  TenonPetscCall(TenonLayoutGetShape(layout, shape));
  TenonPetscCall(TenonLayoutGetBox(layout, low, high));
  if (dm) {
    PetscCall(ReadGrid(dm, &grid));
    counts[1] = IsOfGrid(&owned, &grid) ? 0 : 1;
  }
  for (d = 0; d < owned.ndim; ++d) {
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
