/* SPDX-License-Identifier: BSD-2-Clause */
/* All parameters of a layer as one Vec, for solvers and optimizers of PETSc. A parameter can be
 * stored with copies on several ranks, but a Vec contains each element once. So each parameter is
 * converted to a tensor that is divided among the ranks along its first dimension (Part), and each
 * rank's array of the Vec has its pieces of all parameters, one after the other:
 *
 *     rank 0   weight rows 0-1 | bias 0-1        rank 1   weight rows 2-3 | bias 2-3
 *
 * ParametersGet() and ParametersSet() copy between the layer and the Vec; the public functions at
 * the end of the file create a Vec of the values, copy a Vec to the values, and the gradients to a
 * Vec. All are collective. */
#include "parameters.h"

enum { kMaxAxes = 16 }; /* of a process grid */

/* The layout of a parameter divided along its first dimension. */
static PetscErrorCode CreateDividedLayout(TenonLayout storage, TenonLayout* divided) {
  TenonPartition partition = NULL;
  TenonInt shape[kMaxDimensions];
  char properties[3 * kMaxAxes + 1] = "S0";
  int axes, axis, ndim;
  TenonErrorCode result;

  PetscFunctionBegin;
  TenonPetscCall(TenonLayoutGetDim(storage, &ndim));
  TenonPetscCall(TenonLayoutGetShape(storage, shape));
  TenonPetscCall(TenonLayoutGetPartition(storage, &partition));
  result = TenonPartitionGetAxes(partition, &axes);
  if (result == TENON_SUCCESS && axes <= kMaxAxes) {
    for (axis = 1; axis < axes; ++axis)
      PetscCall(PetscStrcat(properties, ",S0"));
    result = TenonLayoutCreateSharded(partition, ndim, shape, properties, divided);
  }
  TenonPetscCall(TenonPartitionDestroy(&partition));
  TenonPetscCall(result);
  PetscCheck(axes <= kMaxAxes, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "a parameter's process grid has %d axes; at most %d are possible", axes,
             (int)kMaxAxes);
  PetscFunctionReturn(0);
}

static PetscErrorCode FillPart(TenonLayout storage, TenonLayout divided, Part* part) {
  PetscFunctionBegin;
  TenonPetscCall(TenonDTensorCreate(divided, TENON_PETSC_SCALAR, &part->part));
  TenonPetscCall(TenonLinearOpCreateConversion(divided, storage, TENON_PETSC_SCALAR, &part->join));
  TenonPetscCall(
      TenonLinearOpCreateConversion(storage, divided, TENON_PETSC_SCALAR, &part->divide));
  TenonPetscCall(TenonDTensorGetLocalSize(part->part, &part->count));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreatePartOf(TenonDTensor value, Part* part) {
  TenonLayout storage = NULL, divided = NULL;
  TenonDataType type;
  PetscErrorCode code;

  PetscFunctionBegin;
  TenonPetscCall(TenonDTensorGetDataType(value, &type));
  PetscCall(CheckScalar(type, "the layer"));
  TenonPetscCall(TenonDTensorGetLayout(value, &storage));
  code = CreateDividedLayout(storage, &divided);
  if (!code)
    code = FillPart(storage, divided, part);
  TenonPetscCall(TenonLayoutDestroy(&divided));
  TenonPetscCall(TenonLayoutDestroy(&storage));
  PetscCall(code);
  PetscFunctionReturn(0);
}

static PetscErrorCode CreatePart(TenonLayer layer, int index, Part* part) {
  TenonDTensor value = NULL;
  PetscErrorCode code;

  PetscFunctionBegin;
  TenonPetscCall(TenonLayerGetParameter(layer, index, &value));
  code = CreatePartOf(value, part);
  TenonPetscCall(TenonDTensorDestroy(&value));
  PetscCall(code);
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateParts(Parameters* p) {
  int i;

  PetscFunctionBegin;
  for (i = 0; i < p->count; ++i) {
    PetscCall(CreatePart(p->layer, i, &p->parts[i]));
    p->parts[i].first = p->size;
    p->size += p->parts[i].count;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode ParametersCreate(TenonLayer layer, Parameters* p) {
  PetscErrorCode code;

  PetscFunctionBegin;
  TenonPetscCall(TenonLayerGetParameterCount(layer, &p->count));
  PetscCheck(p->count > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "the layer has no parameters; call TenonLayerSetUp() first");
  PetscCall(PetscCalloc1(p->count, &p->parts));
  TenonPetscCall(TenonObjectRetain((TenonObject)layer));
  p->layer = layer;
  p->size = 0;
  code = CreateParts(p);
  if (code)
    PetscCall(ParametersDestroy(p));
  PetscCall(code);
  PetscFunctionReturn(0);
}

PetscErrorCode ParametersDestroy(Parameters* p) {
  int i;

  PetscFunctionBegin;
  for (i = 0; i < p->count; ++i) {
    TenonPetscCall(TenonDTensorDestroy(&p->parts[i].part));
    TenonPetscCall(TenonLinearOpDestroy(&p->parts[i].join));
    TenonPetscCall(TenonLinearOpDestroy(&p->parts[i].divide));
  }
  p->count = 0;
  PetscCall(PetscFree(p->parts));
  TenonPetscCall(TenonLayerDestroy(&p->layer));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckSize(const Parameters* p, Vec vec) {
  PetscInt size;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(vec, &size));
  PetscCheck(size == p->size, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "the Vec has %lld elements on this rank, but the layer's parameters have %lld here; "
             "create it with TenonPetscVecFromParameters()",
             (long long)size, (long long)p->size);
  PetscFunctionReturn(0);
}

/* GetPart() copies one parameter, or with another function `of` its gradient, to its piece of the
 * array; SetPart() copies the piece to the parameter. */
static PetscErrorCode GetPart(TenonLayer layer, int i, GetTensor of, const Part* part,
                              PetscScalar* array) {
  TenonDTensor from = NULL;
  TenonErrorCode result;

  PetscFunctionBegin;
  TenonPetscCall(of(layer, i, &from));
  result = TenonDTensorPlaceArray(part->part, array + part->first, NULL, NULL, NULL, part->count);
  if (result == TENON_SUCCESS)
    result = TenonLinearOpApply(part->divide, from, part->part);
  TenonPetscCall(TenonDTensorResetArray(part->part));
  TenonPetscCall(TenonDTensorDestroy(&from));
  TenonPetscCall(result);
  PetscFunctionReturn(0);
}

static PetscErrorCode SetPart(TenonLayer layer, int i, const Part* part, const PetscScalar* array) {
  TenonDTensor to = NULL;
  TenonErrorCode result;

  PetscFunctionBegin;
  TenonPetscCall(TenonLayerGetParameter(layer, i, &to));
  result =
      TenonDTensorPlaceArrayRead(part->part, array + part->first, NULL, NULL, NULL, part->count);
  if (result == TENON_SUCCESS)
    result = TenonLinearOpApply(part->join, part->part, to);
  TenonPetscCall(TenonDTensorResetArray(part->part));
  TenonPetscCall(TenonDTensorDestroy(&to));
  TenonPetscCall(result);
  PetscFunctionReturn(0);
}

PetscErrorCode ParametersGet(Parameters* p, GetTensor of, Vec vec) {
  PetscScalar* array;
  PetscErrorCode code = 0;
  int i;

  PetscFunctionBegin;
  PetscCall(CheckSize(p, vec));
  PetscCall(VecGetArrayWrite(vec, &array));
  for (i = 0; i < p->count && !code; ++i)
    code = GetPart(p->layer, i, of, &p->parts[i], array);
  PetscCall(VecRestoreArrayWrite(vec, &array));
  PetscCall(code);
  PetscFunctionReturn(0);
}

PetscErrorCode ParametersSet(Parameters* p, Vec vec) {
  const PetscScalar* array;
  PetscErrorCode code = 0;
  int i;

  PetscFunctionBegin;
  PetscCall(CheckSize(p, vec));
  PetscCall(VecGetArrayRead(vec, &array));
  for (i = 0; i < p->count && !code; ++i)
    code = SetPart(p->layer, i, &p->parts[i], array);
  PetscCall(VecRestoreArrayRead(vec, &array));
  PetscCall(code);
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateVec(Parameters* p, Vec* vec) {
  MPI_Comm comm;
  PetscErrorCode code;

  PetscFunctionBegin;
  TenonPetscCall(TenonObjectGetComm((TenonObject)p->layer, &comm));
  PetscCall(VecCreateMPI(comm, (PetscInt)p->size, PETSC_DETERMINE, vec));
  code = ParametersGet(p, TenonLayerGetParameter, *vec);
  if (code)
    PetscCall(VecDestroy(vec));
  PetscCall(code);
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscVecFromParameters(TenonLayer layer, Vec* vec) {
  Parameters p;
  PetscErrorCode code;

  PetscFunctionBegin;
  NEED_ADDRESS(layer);
  NEED_ADDRESS(vec);
  PetscCall(ParametersCreate(layer, &p));
  code = CreateVec(&p, vec);
  PetscCall(ParametersDestroy(&p));
  PetscCall(code);
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscParametersFromVec(TenonLayer layer, Vec vec) {
  Parameters p;
  PetscErrorCode code;

  PetscFunctionBegin;
  NEED_ADDRESS(layer);
  NEED_OBJECT(vec, VEC_CLASSID);
  PetscCall(ParametersCreate(layer, &p));
  code = ParametersSet(&p, vec);
  PetscCall(ParametersDestroy(&p));
  PetscCall(code);
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscGradientsToVec(TenonLayer layer, Vec vec) {
  Parameters p;
  PetscErrorCode code;

  PetscFunctionBegin;
  NEED_ADDRESS(layer);
  NEED_OBJECT(vec, VEC_CLASSID);
  PetscCall(ParametersCreate(layer, &p));
  code = ParametersGet(&p, TenonLayerGetReducedGradient, vec);
  PetscCall(ParametersDestroy(&p));
  PetscCall(code);
  PetscFunctionReturn(0);
}
