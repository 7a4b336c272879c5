/* SPDX-License-Identifier: BSD-2-Clause */
#include "parameters.h"

enum { kMostAxes = 16 };

/* The layout of a parameter divided along its first dimension. */
static PetscErrorCode CreateDividedLayout(TenonLayout storage, TenonLayout* divided) {
  TenonPartition partition = NULL;
  TenonInt shape[kMostDimensions];
  char properties[3 * kMostAxes + 1] = "S0";
  int axes, axis, ndim;

  PetscFunctionBegin;
  TenonPetscCall(TenonLayoutGetPartition(storage, &partition));
  TenonPetscCall(TenonPartitionGetAxes(partition, &axes));
  PetscCheck(axes <= kMostAxes, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "a parameter's process grid has %d axes; at most %d are possible", axes,
             (int)kMostAxes);
  for (axis = 1; axis < axes; ++axis)
    PetscCall(PetscStrcat(properties, ",S0"));
  TenonPetscCall(TenonLayoutGetDim(storage, &ndim));
  TenonPetscCall(TenonLayoutGetShape(storage, shape));
  TenonPetscCall(TenonLayoutCreateSharded(partition, ndim, shape, properties, divided));
  TenonPetscCall(TenonPartitionDestroy(&partition));
  PetscFunctionReturn(0);
}

static PetscErrorCode PartCreate(TenonLayer layer, int index, Part* part) {
  TenonDTensor value = NULL;
  TenonLayout storage = NULL, divided = NULL;
  TenonDataType type;

  PetscFunctionBegin;
  TenonPetscCall(TenonLayerGetParameter(layer, index, &value));
  TenonPetscCall(TenonDTensorGetDataType(value, &type));
  PetscCall(CheckScalar(type, "the layer"));
  TenonPetscCall(TenonDTensorGetLayout(value, &storage));
  PetscCall(CreateDividedLayout(storage, &divided));
  TenonPetscCall(TenonDTensorCreate(divided, TENON_PETSC_SCALAR, &part->part));
  TenonPetscCall(TenonLinearOpCreateConversion(divided, storage, TENON_PETSC_SCALAR, &part->join));
  TenonPetscCall(
      TenonLinearOpCreateConversion(storage, divided, TENON_PETSC_SCALAR, &part->divide));
  TenonPetscCall(TenonDTensorGetLocalSize(part->part, &part->count));
  TenonPetscCall(TenonLayoutDestroy(&divided));
  TenonPetscCall(TenonLayoutDestroy(&storage));
  TenonPetscCall(TenonDTensorDestroy(&value));
  PetscFunctionReturn(0);
}

PetscErrorCode ParametersCreate(TenonLayer layer, Parameters* p) {
  int i;

  PetscFunctionBegin;
  TenonPetscCall(TenonLayerGetParameterCount(layer, &p->count));
  PetscCheck(p->count > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "the layer has no parameters; call TenonLayerSetUp() first");
  PetscCall(PetscCalloc1(p->count, &p->parts));
  TenonPetscCall(TenonObjectRetain((TenonObject)layer));
  p->layer = layer;
  p->size = 0;
  for (i = 0; i < p->count; ++i) {
    PetscCall(PartCreate(layer, i, &p->parts[i]));
    p->parts[i].first = p->size;
    p->size += p->parts[i].count;
  }
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

PetscErrorCode ParametersGet(Parameters* p, GetTensor of, Vec vec) {
  PetscScalar* array;
  TenonDTensor from = NULL;
  int i;

  PetscFunctionBegin;
  PetscCall(CheckSize(p, vec));
  PetscCall(VecGetArrayWrite(vec, &array));
  for (i = 0; i < p->count; ++i) {
    Part* part = &p->parts[i];
    TenonPetscCall(
        TenonDTensorPlaceArray(part->part, array + part->first, NULL, NULL, NULL, part->count));
    TenonPetscCall(of(p->layer, i, &from));
    TenonPetscCall(TenonLinearOpApply(part->divide, from, part->part));
    TenonPetscCall(TenonDTensorDestroy(&from));
    TenonPetscCall(TenonDTensorResetArray(part->part));
  }
  PetscCall(VecRestoreArrayWrite(vec, &array));
  PetscFunctionReturn(0);
}

PetscErrorCode ParametersSet(Parameters* p, Vec vec) {
  const PetscScalar* array;
  TenonDTensor to = NULL;
  int i;

  PetscFunctionBegin;
  PetscCall(CheckSize(p, vec));
  PetscCall(VecGetArrayRead(vec, &array));
  for (i = 0; i < p->count; ++i) {
    Part* part = &p->parts[i];
    TenonPetscCall(
        TenonDTensorPlaceArrayRead(part->part, array + part->first, NULL, NULL, NULL, part->count));
    TenonPetscCall(TenonLayerGetParameter(p->layer, i, &to));
    TenonPetscCall(TenonLinearOpApply(part->join, part->part, to));
    TenonPetscCall(TenonDTensorDestroy(&to));
    TenonPetscCall(TenonDTensorResetArray(part->part));
  }
  PetscCall(VecRestoreArrayRead(vec, &array));
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscVecFromParameters(TenonLayer layer, Vec* vec) {
  Parameters p;
  MPI_Comm comm;

  PetscFunctionBegin;
  PetscCall(ParametersCreate(layer, &p));
  TenonPetscCall(TenonObjectGetComm((TenonObject)layer, &comm));
  PetscCall(VecCreateMPI(comm, (PetscInt)p.size, PETSC_DETERMINE, vec));
  PetscCall(ParametersGet(&p, TenonLayerGetParameter, *vec));
  PetscCall(ParametersDestroy(&p));
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscParametersFromVec(TenonLayer layer, Vec vec) {
  Parameters p;

  PetscFunctionBegin;
  PetscCall(ParametersCreate(layer, &p));
  PetscCall(ParametersSet(&p, vec));
  PetscCall(ParametersDestroy(&p));
  PetscFunctionReturn(0);
}
