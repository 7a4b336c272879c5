/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this folder share. */
#ifndef TENON_PETSC_SHIM_H
#define TENON_PETSC_SHIM_H

#include <tenon_petsc.h>

/* Arguments of PETSc's classes, and addresses of results. PETSc itself checks them in debug builds
 * only. */
PetscErrorCode CheckObject(PetscObject object, PetscClassId id, const char* name);
#define NEED_OBJECT(object, id) PetscCall(CheckObject((PetscObject)(object), id, #object))
#define NEED_ADDRESS(address)                                                                      \
  PetscCheck(address, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "%s is NULL", #address)

/* Before a call of Tenon that has no object of Tenon's yet, so that the advice is that for a
 * program of PETSc's. */
PetscErrorCode CheckInitialized(void);

/* PETSc's objects are on a duplicate of the communicator with which they were created. Layers are
 * created on PETSC_COMM_WORLD itself, so that of an object of all ranks is given back. */
PetscErrorCode CommOfObject(PetscObject object, MPI_Comm* comm);

/* Events of -log_view, and the event of Tenon's log in which their work is counted. */
typedef struct Events {
  PetscLogEvent setUp, apply, adjoint;
  int work;
} Events;
/* Registers them at the first call after PetscInitialize(). Collective. */
PetscErrorCode GetEvents(Events* events);
/* An event of -log_view, with the flops and messages of Tenon. */
PetscErrorCode BeginWork(const Events* events, PetscLogEvent event, PetscObject object, Vec x,
                         Vec y);
PetscErrorCode EndWork(const Events* events, PetscLogEvent event, PetscObject object, Vec x, Vec y);

enum { kMaxDimensions = 8 };

/* Where the elements that a tensor owns lie in a Vec. */
typedef struct Place {
  TenonInt first, length;
  TenonInt strides[kMaxDimensions], ghostsLow[kMaxDimensions], ghostsHigh[kMaxDimensions];
} Place;
/* As a vector of the grid, or row-major where dm is a mesh or NULL. An error if the tensor is not
 * of the grid. */
PetscErrorCode FindPlace(TenonDTensor x, DM dm, Vec vec, Place* place);

/* Lends a Vec's array to a tensor, and takes it back. After an error nothing is lent. */
PetscErrorCode PlaceBlock(TenonDTensor x, DM dm, Vec vec, PetscBool readOnly);
PetscErrorCode ReleaseBlock(TenonDTensor x, Vec vec, PetscBool readOnly);

/* On all ranks alike: whether a layout is that of the grid's global vectors (of any, if dm is NULL)
 * and holds each element once. */
PetscErrorCode CheckBlocks(TenonLayout layout, DM dm, MPI_Comm comm, const char* what);

/* The degrees of freedom of the grids of a matrix of Tenon; an error for any other matrix. */
PetscErrorCode BlockSizes(Mat J, PetscInt* rows, PetscInt* columns);

/* Whether a data type is that of vectors. */
PetscErrorCode CheckScalar(TenonDataType type, const char* what);

#endif
