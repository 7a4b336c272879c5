/* SPDX-License-Identifier: BSD-2-Clause */
/* The parameters of a layer as parts of a Vec's local array, one after the other. */
#ifndef TENON_PETSC_PARAMETERS_H
#define TENON_PETSC_PARAMETERS_H

#include "shim.h"

typedef struct Part {
  TenonDTensor part;          /* divided over the ranks; wraps its piece of the array */
  TenonLinearOp join, divide; /* to and from the parameter's storage layout */
  TenonInt first, count;      /* its piece of the array */
} Part;

typedef struct Parameters {
  TenonLayer layer;
  int count;
  TenonInt size; /* of the local array */
  Part* parts;
} Parameters;

PetscErrorCode ParametersCreate(TenonLayer layer, Parameters* p);
PetscErrorCode ParametersDestroy(Parameters* p);
/* Copies the layer's values or gradients to a Vec, or a Vec to the values. Collective. */
typedef TenonErrorCode (*GetTensor)(TenonLayer layer, int index, TenonDTensor* tensor);
PetscErrorCode ParametersGet(Parameters* p, GetTensor of, Vec vec);
PetscErrorCode ParametersSet(Parameters* p, Vec vec);

#endif
