/* SPDX-License-Identifier: BSD-2-Clause */
/* Declarations that the files of this folder share: checks of arguments, events of -log_view, and
 * tensors that use the array of a Vec. Defined in start.c, grid.c, loan.c and mat.c. */
#ifndef TENON_PETSC_SHIM_H
#define TENON_PETSC_SHIM_H

#include <tenon_petsc.h>

/* Check arguments of PETSc's classes, and addresses of results. PETSc itself checks them only in
 * debug builds. */
PetscErrorCode CheckObject(PetscObject object, PetscClassId id, const char* name);
#define NEED_OBJECT(object, id) PetscCall(CheckObject((PetscObject)(object), id, #object))
#define NEED_ADDRESS(address)                                                                      \
  PetscCheck(address, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "%s is NULL", #address)

/* Checks that Tenon is initialised, in functions whose arguments contain no object of Tenon.
 * Tenon's own check would recommend TenonInitialize(), which is wrong in a PETSc program. */
PetscErrorCode CheckInitialized(void);

/* Returns the communicator of an object; PETSC_COMM_WORLD itself for an object on all ranks.
 * PETSc's objects have a duplicate of the communicator with which they were created, but the layers
 * of the program are on PETSC_COMM_WORLD, and layouts must be on the same communicator. */
PetscErrorCode CommOfObject(PetscObject object, MPI_Comm* comm);

/* Events of -log_view, and the event of Tenon's log in which their work is counted. */
typedef struct Events {
  PetscLogEvent setUp, apply, adjoint;
  int work;
} Events;
/* Registers the events at the first call after PetscInitialize(). Collective. */
PetscErrorCode GetEvents(Events* events);
/* Begin and end of an event of -log_view; the flops and messages that Tenon counts in between are
 * added to it. */
PetscErrorCode BeginWork(const Events* events, PetscLogEvent event, PetscObject object, Vec x,
                         Vec y);
PetscErrorCode EndWork(const Events* events, PetscLogEvent event, PetscObject object, Vec x, Vec y);

enum { kMaxDimensions = 8 };

/* Where a Vec's array has the elements that a tensor owns: the offset of the first one, the length
 * of the array, and for each dimension of the tensor stride and numbers of ghost cells. */
typedef struct Place {
  TenonInt first, length;
  TenonInt strides[kMaxDimensions], ghostsLow[kMaxDimensions], ghostsHigh[kMaxDimensions];
} Place;
/* The place in a vector of the grid, or row-major if dm is a mesh or NULL. An error if the
 * tensor has another block than the grid. */
PetscErrorCode FindPlace(TenonDTensor x, DM dm, Vec vec, Place* place);

/* Places a Vec's array in a tensor, and restores it. After an error nothing is placed. */
PetscErrorCode PlaceBlock(TenonDTensor x, DM dm, Vec vec, PetscBool readOnly);
PetscErrorCode ReleaseBlock(TenonDTensor x, Vec vec, PetscBool readOnly);

/* Collective. Checks that a layout is that of the grid's global vectors (any layout, if dm is
 * NULL) and contains each element once. */
PetscErrorCode CheckBlocks(TenonLayout layout, DM dm, MPI_Comm comm, const char* what);

/* The degrees of freedom of the grids of a matrix of Tenon; an error for any other matrix. */
PetscErrorCode BlockSizes(Mat J, PetscInt* rows, PetscInt* columns);

/* Checks that a data type is that of vectors. */
PetscErrorCode CheckScalar(TenonDataType type, const char* what);

#endif
