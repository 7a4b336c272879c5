/* SPDX-License-Identifier: BSD-2-Clause */
/* The parameters of a layer as pieces of a Vec's local array, one after the other (parameters.c).
 * Used by the public functions for parameters, and by the objective of TAO (tao.c). */
#ifndef TENON_PETSC_PARAMETERS_H
#define TENON_PETSC_PARAMETERS_H

#include "shim.h"

/* One parameter. */
typedef struct Part {
  TenonDTensor part;          /* divided among the ranks; uses its piece of the array */
  TenonLinearOp join, divide; /* conversions to and from the layout in which the layer stores it */
  TenonInt first, count;      /* its piece of the array: elements first ... first + count - 1 */
} Part;

typedef struct Parameters {
  TenonLayer layer;
  int count;
  TenonInt size; /* elements of this rank's array of the Vec */
  Part* parts;
} Parameters;

/* Creates the parts for a layer that is set up. Collective. */
PetscErrorCode ParametersCreate(TenonLayer layer, Parameters* p);
PetscErrorCode ParametersDestroy(Parameters* p);
/* ParametersGet() copies the tensors that `of` returns, values or gradients of the parameters, to a
 * Vec; ParametersSet() copies a Vec to the values. Collective. */
typedef TenonErrorCode (*GetTensor)(TenonLayer layer, int index, TenonDTensor* tensor);
PetscErrorCode ParametersGet(Parameters* p, GetTensor of, Vec vec);
PetscErrorCode ParametersSet(Parameters* p, Vec vec);

#endif
