/* SPDX-License-Identifier: BSD-2-Clause */
/* Evaluates a layer, or its adjoint, between vectors of PETSc grids:
 *
 *   TenonPetscLayerApply(layer, columns, x, rows, y)           y <- F(x)
 *   TenonPetscLayerApplyAdjoint(layer, rows, dy, columns, dx)  dx <- F'(x)^T dy
 *
 * x is a vector of the grid (DM) `columns`, y of `rows`; the names are those of the Jacobian as a
 * matrix. Tensors that use the vectors' arrays are the arguments of the layer. For a DMDA they are
 * created once and stored with the DM, because creating one is collective and allocates memory, and
 * a time step must not do that. All functions are collective. The functions are declared in
 * include/tenon_petsc.h. */
#include "shim.h"

/* The arguments of an evaluation: x, y, dy and dx. A grid has a tensor for each of them, so input
 * and output can be vectors of the same grid. kRoles is their number. */
typedef enum Role { kInput, kOutput, kOutputCotangent, kInputCotangent, kRoles } Role;

typedef struct Tensors {
  TenonDTensor of[kRoles];
} Tensors;

/* The name under which a DM stores its tensors (PetscObjectCompose()). */
static const char* const kComposedName = "TenonPetscTensors";

static PetscErrorCode DestroyTensors(void* memory) {
  Tensors* tensors = (Tensors*)memory;
  int role;

  PetscFunctionBegin;
  for (role = 0; role < kRoles; ++role)
    TenonPetscCall(TenonDTensorDestroy(&tensors->of[role]));
  PetscCall(PetscFree(tensors));
  PetscFunctionReturn(0);
}

/* Returns the tensors that are stored with a grid; at the first call none is created yet. */
static PetscErrorCode TensorsOf(DM dm, Tensors** tensors) {
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)dm, kComposedName, (PetscObject*)&container));
  if (container) {
    PetscCall(PetscContainerGetPointer(container, (void**)tensors));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscNew(tensors));
  PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)dm), &container));
  PetscCall(PetscContainerSetPointer(container, *tensors));
  PetscCall(PetscContainerSetUserDestroy(container, DestroyTensors));
  PetscCall(PetscObjectCompose((PetscObject)dm, kComposedName, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(0);
}

/* Creates a tensor in the layout of the grid's global vectors; cotangents have the dual layout. */
static PetscErrorCode CreateTensor(DM dm, Role role, TenonDTensor* x) {
  TenonLayout layout = NULL, dual = NULL;
  TenonErrorCode result;

  PetscFunctionBegin;
  PetscCall(TenonPetscLayoutFromDM(dm, &layout));
  result = TenonLayoutGetDual(layout, &dual);
  if (result == TENON_SUCCESS)
    result = TenonDTensorCreate(role == kInput || role == kOutput ? layout : dual,
                                TENON_PETSC_SCALAR, x);
  TenonPetscCall(TenonLayoutDestroy(&dual));
  TenonPetscCall(TenonLayoutDestroy(&layout));
  TenonPetscCall(result);
  PetscFunctionReturn(0);
}

/* Creates a tensor in the layout that the layer has for this argument. */
static PetscErrorCode CreateTensorOfLayer(TenonLayer layer, Role role, TenonDTensor* x) {
  TenonDTensor cotangent = NULL;
  TenonLayout dual = NULL, layout = NULL;
  TenonErrorCode result;

  PetscFunctionBegin;
  if (role == kOutput || role == kOutputCotangent) {
    TenonPetscCall(
        (role == kOutput ? TenonLayerCreateOutput : TenonLayerCreateOutputCotangent)(layer, 0, x));
    PetscFunctionReturn(0);
  }
  TenonPetscCall(TenonLayerCreateInputCotangent(layer, 0, &cotangent));
  if (role == kInputCotangent) {
    *x = cotangent;
    PetscFunctionReturn(0);
  }
  result = TenonDTensorGetLayout(cotangent, &dual);
  if (result == TENON_SUCCESS)
    result = TenonLayoutGetDual(dual, &layout);
  if (result == TENON_SUCCESS)
    result = TenonDTensorCreate(layout, TENON_PETSC_SCALAR, x);
  TenonPetscCall(TenonLayoutDestroy(&layout));
  TenonPetscCall(TenonLayoutDestroy(&dual));
  TenonPetscCall(TenonDTensorDestroy(&cotangent));
  TenonPetscCall(result);
  PetscFunctionReturn(0);
}

/* Returns a reference to the tensor of a grid for an argument. For a mesh (DMPLEX) or without a
 * grid, it is a new tensor, since only the layer knows the layout. */
static PetscErrorCode GetTensor(TenonLayer layer, DM dm, Role role, TenonDTensor* x) {
  PetscBool isMesh = PETSC_FALSE;
  Tensors* tensors;

  PetscFunctionBegin;
  if (dm) {
    NEED_OBJECT(dm, DM_CLASSID);
    PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMPLEX, &isMesh));
  } else {
    PetscCheck(role == kOutput || role == kOutputCotangent, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,
               "the grid of the input is NULL");
  }
  if (!dm || isMesh) {
    PetscCall(CreateTensorOfLayer(layer, role, x));
    PetscFunctionReturn(0);
  }
  PetscCall(TensorsOf(dm, &tensors));
  if (!tensors->of[role])
    PetscCall(CreateTensor(dm, role, &tensors->of[role]));
  *x = tensors->of[role];
  TenonPetscCall(TenonObjectRetain((TenonObject)*x));
  PetscFunctionReturn(0);
}

/* One side of an evaluation: a tensor that uses the array of a vector between OpenSide() and
 * CloseSide(). */
typedef struct Side {
  TenonDTensor x;
  Vec vec;
  PetscBool readOnly, isPlaced;
} Side;

static PetscErrorCode OpenSide(TenonLayer layer, DM dm, Role role, Vec vec, Side* side) {
  PetscFunctionBegin;
  side->vec = vec;
  side->readOnly = role == kInput || role == kOutputCotangent ? PETSC_TRUE : PETSC_FALSE;
  NEED_OBJECT(vec, VEC_CLASSID);
  PetscCall(GetTensor(layer, dm, role, &side->x));
  PetscCall(PlaceBlock(side->x, dm, vec, side->readOnly));
  side->isPlaced = PETSC_TRUE;
  PetscFunctionReturn(0);
}

static PetscErrorCode CloseSide(Side* side) {
  PetscFunctionBegin;
  if (side->isPlaced)
    PetscCall(ReleaseBlock(side->x, side->vec, side->readOnly));
  TenonPetscCall(TenonDTensorDestroy(&side->x));
  PetscFunctionReturn(0);
}

static PetscErrorCode Evaluate(TenonLayer layer, Side* from, Side* to, PetscBool adjoint) {
  Events events;
  PetscLogEvent event;
  TenonErrorCode result;

  PetscFunctionBegin;
  PetscCall(GetEvents(&events));
  event = adjoint ? events.adjoint : events.apply;
  PetscCall(BeginWork(&events, event, NULL, from->vec, to->vec));
  result = (adjoint ? TenonLayerApplyAdjoint : TenonLayerApply)(layer, from->x, to->x);
  PetscCall(EndWork(&events, event, NULL, from->vec, to->vec));
  TenonPetscCall(result);
  PetscFunctionReturn(0);
}

/* Opens both sides, evaluates the layer, and closes both sides, also after an error. `to` is NULL
 * if the caller of the adjoint does not need dx. */
static PetscErrorCode Run(TenonLayer layer, DM fromGrid, Vec from, DM toGrid, Vec to,
                          PetscBool adjoint) {
  Side input = {NULL, NULL, PETSC_FALSE, PETSC_FALSE}, output = input;
  PetscErrorCode code;

  PetscFunctionBegin;
  code = OpenSide(layer, fromGrid, adjoint ? kOutputCotangent : kInput, from, &input);
  if (!code && to)
    code = OpenSide(layer, toGrid, adjoint ? kInputCotangent : kOutput, to, &output);
  if (!code)
    code = Evaluate(layer, &input, &output, adjoint);
  PetscCall(CloseSide(&output));
  PetscCall(CloseSide(&input));
  PetscCall(code);
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscLayerApply(TenonLayer layer, DM columns, Vec x, DM rows, Vec y) {
  PetscFunctionBegin;
  NEED_ADDRESS(layer);
  NEED_OBJECT(columns, DM_CLASSID);
  NEED_OBJECT(y, VEC_CLASSID);
  PetscCall(Run(layer, columns, x, rows, y, PETSC_FALSE));
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscLayerApplyAdjoint(TenonLayer layer, DM rows, Vec dy, DM columns, Vec dx) {
  PetscFunctionBegin;
  NEED_ADDRESS(layer);
  NEED_OBJECT(columns, DM_CLASSID);
  PetscCall(Run(layer, rows, dy, columns, dx, PETSC_TRUE));
  PetscFunctionReturn(0);
}
