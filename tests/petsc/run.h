/* SPDX-License-Identifier: BSD-2-Clause */
/* What the test programs for PETSc share. Each ends with an error at the first thing that is not
 * so. */
#ifndef TENON_TEST_PETSC_RUN_H
#define TENON_TEST_PETSC_RUN_H

#include "support/check.h"

#include <tenon_petsc.h>

#define CHECK_PETSC(call) CHECK((call) == 0)

/* main() of a test. */
static inline int RunTest(int argc, char** argv, PetscErrorCode (*test)(void)) {
  CHECK_PETSC(PetscInitialize(&argc, &argv, NULL, NULL));
  CHECK_PETSC(TenonPetscInitialize(NULL));
  CHECK_PETSC(test());
  CHECK_PETSC(PetscFinalize());
  return 0;
}

/* The code of a call that must fail, without PETSc's or Tenon's print of it. */
#define CHECK_FAILS(code, call)                                                                    \
  do {                                                                                             \
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));                               \
    TenonPetscCall(TenonPushErrorHandler(TenonReturnErrorHandler, NULL));                          \
    CHECK((call) == (code));                                                                       \
    TenonPetscCall(TenonPopErrorHandler());                                                        \
    PetscCall(PetscPopErrorHandler());                                                             \
  } while (0)

/* A convolution of 3 points in each dimension that keeps the shape. */
static inline PetscErrorCode CreateSameConv(MPI_Comm comm, int dimensions, TenonInt in,
                                            TenonInt out, TenonBoundary boundary,
                                            TenonLayer* conv) {
  const TenonInt kernel[3] = {3, 3, 3}, padding[3] = {1, 1, 1};
  const TenonBoundary boundaries[3] = {boundary, boundary, boundary};

  PetscFunctionBegin;
  TenonPetscCall(TenonLayerCreateConv(comm, dimensions, in, out, kernel, conv));
  TenonPetscCall(TenonLayerSetPadding(*conv, padding, NULL));
  TenonPetscCall(TenonLayerSetBoundary(*conv, boundaries, NULL));
  TenonPetscCall(TenonLayerSetDataType(*conv, TENON_PETSC_SCALAR));
  PetscFunctionReturn(0);
}

/* conv, tanh, conv, of as many channels in and out. */
static inline PetscErrorCode CreateNetwork(MPI_Comm comm, int dimensions, TenonInt channels,
                                           TenonBoundary boundary, TenonLayer* network) {
  TenonLayer layers[3] = {NULL, NULL, NULL};
  int i;

  PetscFunctionBegin;
  PetscCall(CreateSameConv(comm, dimensions, channels, 4, boundary, &layers[0]));
  TenonPetscCall(TenonLayerCreateType(comm, "tanh", &layers[1]));
  PetscCall(CreateSameConv(comm, dimensions, 4, channels, boundary, &layers[2]));
  TenonPetscCall(TenonLayerCreateSequential(comm, network));
  TenonPetscCall(TenonLayerSetDataType(*network, TENON_PETSC_SCALAR));
  for (i = 0; i < 3; ++i) {
    TenonPetscCall(TenonLayerSequentialAdd(*network, layers[i]));
    TenonPetscCall(TenonLayerDestroy(&layers[i]));
  }
  PetscFunctionReturn(0);
}

#endif
