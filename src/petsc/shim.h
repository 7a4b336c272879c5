/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this folder share. */
#ifndef TENON_PETSC_SHIM_H
#define TENON_PETSC_SHIM_H

#include <tenon_petsc.h>

/* Events of -log_view. */
typedef struct Events {
  PetscLogEvent setUp, apply, adjoint;
} Events;
/* Registers them at the first call after PetscInitialize(). Collective. */
PetscErrorCode GetEvents(Events* events);

enum { kMostDimensions = 8 };

/* A tensor's blocks as a Vec has them: as a grid's, or row-major where dm is NULL. */
PetscErrorCode PlaceBlock(TenonDTensor x, DM dm, Vec vec, PetscBool readOnly);

/* On all ranks alike: whether a layout is that of the grid's global vectors (of any, if dm is NULL) and
 * holds each element once. */
PetscErrorCode CheckBlocks(TenonLayout layout, DM dm, MPI_Comm comm, const char* what);

/* Whether an operator or layer's data type is that of vectors. */
PetscErrorCode CheckScalar(TenonDataType type, const char* what);

#endif
