/* SPDX-License-Identifier: BSD-2-Clause */
/* TenonPetscTaoSetLoss(tao, layer, x): minimises a network's loss by TAO, PETSc's optimization
 * solver. The variables p are the parameters of the layer as one Vec (parameters.c), the objective
 * is the layer's output for the fixed input x, which must be one number, and the gradient is
 * computed by the adjoint. Evaluate() is called by TAO; it is collective. TenonPetscTaoSetLoss() is
 * declared in include/tenon_petsc.h. */
#include "parameters.h"

/* The context of the objective; destroyed with the Tao object. */
typedef struct Loss {
  Parameters parameters;
  TenonDTensor x, value, one; /* input; output, the loss; its cotangent, which is 1 */
  Events events;
} Loss;

/* The loss at p. The pairing of a tensor with one element and the cotangent 1 is its value, on all
 * ranks. */
static PetscErrorCode GetValue(Loss* loss, Vec p, double* value) {
  PetscFunctionBegin;
  PetscCall(ParametersSet(&loss->parameters, p));
  TenonPetscCall(TenonLayerApply(loss->parameters.layer, loss->x, loss->value));
  TenonPetscCall(TenonDTensorPairing(loss->value, loss->one, value));
  PetscFunctionReturn(0);
}

/* The gradient at the p of the last GetValue(), which has saved the intermediate results. */
static PetscErrorCode GetGradient(Loss* loss, Vec gradient) {
  TenonLayer layer = loss->parameters.layer;

  PetscFunctionBegin;
  TenonPetscCall(TenonLayerZeroGradients(layer));
  TenonPetscCall(TenonLayerApplyAdjoint(layer, loss->one, NULL));
  PetscCall(ParametersGet(&loss->parameters, TenonLayerGetReducedGradient, gradient));
  PetscFunctionReturn(0);
}

static PetscErrorCode Evaluate(Tao tao, Vec p, PetscReal* f, Vec gradient, void* context) {
  Loss* loss = (Loss*)context;
  double value;
  PetscErrorCode code;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(loss->events.apply, tao, p, 0, 0));
  code = GetValue(loss, p, &value);
  PetscCall(PetscLogEventEnd(loss->events.apply, tao, p, 0, 0));
  PetscCall(code);
  *f = (PetscReal)value;
  PetscCall(PetscLogEventBegin(loss->events.adjoint, tao, p, gradient, 0));
  code = GetGradient(loss, gradient);
  PetscCall(PetscLogEventEnd(loss->events.adjoint, tao, p, gradient, 0));
  PetscCall(code);
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyLoss(void* context) {
  Loss* loss = (Loss*)context;

  PetscFunctionBegin;
  TenonPetscCall(TenonDTensorDestroy(&loss->x));
  TenonPetscCall(TenonDTensorDestroy(&loss->value));
  TenonPetscCall(TenonDTensorDestroy(&loss->one));
  PetscCall(ParametersDestroy(&loss->parameters));
  PetscCall(PetscFree(loss));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckOneElement(TenonLayer layer) {
  TenonLayout output = NULL;
  TenonInt shape[kMaxDimensions], all = 1;
  int ndim, d;

  PetscFunctionBegin;
  TenonPetscCall(TenonLayerGetOutputLayout(layer, 0, &output));
  TenonPetscCall(TenonLayoutGetDim(output, &ndim));
  TenonPetscCall(TenonLayoutGetShape(output, shape));
  TenonPetscCall(TenonLayoutDestroy(&output));
  for (d = 0; d < ndim; ++d)
    all *= shape[d];
  PetscCheck(all == 1, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "the layer's output has %lld elements, but an objective is one number; end the "
             "network with a loss",
             (long long)all);
  PetscFunctionReturn(0);
}

static PetscErrorCode FillLoss(TenonLayer layer, TenonDTensor x, Loss* loss) {
  PetscFunctionBegin;
  PetscCall(GetEvents(&loss->events));
  PetscCall(ParametersCreate(layer, &loss->parameters));
  TenonPetscCall(TenonLayerCreateOutput(layer, 0, &loss->value));
  TenonPetscCall(TenonLayerCreateOutputCotangent(layer, 0, &loss->one));
  TenonPetscCall(TenonDTensorFillConstant(loss->one, 1));
  TenonPetscCall(TenonObjectRetain((TenonObject)x));
  loss->x = x;
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateLoss(TenonLayer layer, TenonDTensor x, Loss** loss) {
  PetscErrorCode code;

  PetscFunctionBegin;
  PetscCall(PetscNew(loss));
  code = FillLoss(layer, x, *loss);
  if (code)
    PetscCall(DestroyLoss(*loss));
  PetscCall(code);
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscTaoSetLoss(Tao tao, TenonLayer layer, TenonDTensor x) {
  Loss* loss;
  PetscContainer container;

  PetscFunctionBegin;
  NEED_OBJECT(tao, TAO_CLASSID);
  NEED_ADDRESS(layer);
  NEED_ADDRESS(x);
  PetscCall(CheckOneElement(layer));
  PetscCall(CreateLoss(layer, x, &loss));
  PetscCall(PetscLogEventBegin(loss->events.setUp, tao, 0, 0, 0));
  PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)tao), &container));
  PetscCall(PetscContainerSetPointer(container, loss));
  PetscCall(PetscContainerSetUserDestroy(container, DestroyLoss));
  PetscCall(PetscObjectCompose((PetscObject)tao, "TenonLoss", (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscCall(TaoSetObjectiveAndGradient(tao, NULL, Evaluate, loss));
  PetscCall(PetscLogEventEnd(loss->events.setUp, tao, 0, 0, 0));
  PetscFunctionReturn(0);
}
