/* SPDX-License-Identifier: BSD-2-Clause */
/* Creates, applies and trains the network of closure.h. The network's tensors have no arrays of
 * their own: before each call they are placed on the solver's arrays (ClosureWrap()), ghost cells
 * included, so nothing is copied. The network computes the radiation in units of kUnit, and the
 * functions multiply its output by this unit. */
#include "closure.h"

#include <stddef.h>

enum { kHidden = 16 };

/* The unit of the network's output, with which its weights are of order 1. */
static const double kUnit = 0.02;

static TenonErrorCode AddConvolution(Closure* c, TenonInt in, TenonInt out, TenonInt width) {
  const TenonInt kernel[2] = {width, width}, padding[2] = {width / 2, width / 2};
  TenonLayer layer;

  TenonCall(TenonLayerCreateConv(c->heat->comm, 2, in, out, kernel, &layer));
  TenonCall(TenonLayerSetPadding(layer, padding, NULL)); /* zero: it is cold outside */
  TenonCall(TenonLayerSequentialAdd(c->network, layer));
  TenonCall(TenonLayerDestroy(&layer));
  return TENON_SUCCESS;
}

static TenonErrorCode AddTanh(Closure* c) {
  TenonLayer layer;

  TenonCall(TenonLayerCreateType(c->heat->comm, "tanh", &layer));
  TenonCall(TenonLayerSequentialAdd(c->network, layer));
  TenonCall(TenonLayerDestroy(&layer));
  return TENON_SUCCESS;
}

/* A function of the 3 x 3 neighbourhood, with 1 -> 16 -> 1 channels. The optimizer is SGD with
 * momentum rather than Adam: its path is smooth, so that rounding differences between numbers of
 * processes do not reach the printed digits. */
static TenonErrorCode CreateNetwork(Closure* c) {
  TenonCall(TenonLayerCreateSequential(c->heat->comm, &c->network));
  TenonCall(AddConvolution(c, 1, kHidden, 3));
  TenonCall(AddTanh(c));
  TenonCall(AddConvolution(c, kHidden, 1, 1));
  TenonCall(TenonLayerSetDataType(c->network, TENON_FLOAT64));
  TenonCall(TenonObjectSetFromOptions((TenonObject)c->network));
  TenonCall(TenonLayerSetUp(c->network, c->layout));
  TenonCall(TenonLayerInitialize(c->network, 1));
  TenonCall(TenonOptimizerCreate(c->network, "sgd", &c->optimizer));
  TenonCall(TenonObjectSetReal((TenonObject)c->optimizer, "momentum", 0.9));
  TenonCall(TenonOptimizerSetLearningRate(c->optimizer, 0.025));
  TenonCall(TenonObjectSetFromOptions((TenonObject)c->optimizer));
  return TENON_SUCCESS;
}

TenonErrorCode ClosureCreate(const Heat* heat, Closure* c) {
  const TenonInt shape[4] = {1, 1, kRows, kColumns};
  const TenonInt low[4] = {0, 0, heat->low[0], heat->low[1]};
  const TenonInt high[4] = {1, 1, heat->high[0], heat->high[1]};

  c->heat = heat;
  TenonCall(TenonLayoutCreateFromBoxes(heat->comm, 4, shape, low, high, &c->layout));
  TenonCall(TenonDTensorCreate(c->layout, TENON_FLOAT64, &c->u));
  TenonCall(CreateNetwork(c));
  TenonCall(TenonLayerCreateOutput(c->network, 0, &c->tendency));
  TenonCall(TenonLayerCreateOutputCotangent(c->network, 0, &c->cotangent));
  /* The solver's arrays are on the host, wherever the network runs (-tenon_space device). */
  TenonCall(TenonDTensorSetSpace(c->tendency, TENON_MEMORY_HOST));
  TenonCall(TenonDTensorSetSpace(c->cotangent, TENON_MEMORY_HOST));
  return TENON_SUCCESS;
}

TenonErrorCode ClosureDestroy(Closure* c) {
  TenonCall(TenonDTensorDestroy(&c->cotangent));
  TenonCall(TenonDTensorDestroy(&c->tendency));
  TenonCall(TenonDTensorDestroy(&c->u));
  TenonCall(TenonOptimizerDestroy(&c->optimizer));
  TenonCall(TenonLayerDestroy(&c->network));
  TenonCall(TenonLayoutDestroy(&c->layout));
  return TENON_SUCCESS;
}

TenonErrorCode ClosureWrap(const Closure* c, TenonDTensor tensor, double* field) {
  const TenonInt rows = c->heat->high[0] - c->heat->low[0] + 2 * kGhost, width = c->heat->width;
  const TenonInt strides[4] = {rows * width, rows * width, width, 1};
  const TenonInt ghosts[4] = {0, 0, kGhost, kGhost};
  double* first = HeatAt(c->heat, field, c->heat->low[0], c->heat->low[1]);

  TenonCall(TenonDTensorPlaceArray(tensor, first, strides, ghosts, ghosts, rows * width));
  return TENON_SUCCESS;
}

TenonErrorCode ClosureApply(Closure* c, double* u, double* r) {
  TenonCall(ClosureWrap(c, c->u, u));
  TenonCall(ClosureWrap(c, c->tendency, r));
  TenonCall(TenonLayerSetTraining(c->network, TENON_FALSE));
  TenonCall(TenonLayerApply(c->network, c->u, c->tendency));
  HeatAdd(c->heat, r, kUnit - 1, r);
  return TENON_SUCCESS;
}

/* The loss L is the mean square of output - wanted, so dL/doutput is 2 (output - wanted) / cells;
 * the solver computes it in its own arrays. */
TenonErrorCode ClosureTrain(Closure* c, double* u, double* wanted, double* work, double* error) {
  TenonCall(ClosureWrap(c, c->u, u));
  TenonCall(ClosureWrap(c, c->tendency, work));
  TenonCall(TenonLayerSetTraining(c->network, TENON_TRUE));
  TenonCall(TenonLayerApply(c->network, c->u, c->tendency));
  HeatAdd(c->heat, work, kUnit - 1, work);
  *error = HeatDistance(c->heat, work, wanted);
  HeatAdd(c->heat, work, -1, wanted);
  HeatAdd(c->heat, work, 2.0 / (kUnit * kRows * kColumns) - 1, work);
  TenonCall(ClosureWrap(c, c->cotangent, work));
  TenonCall(TenonLayerApplyAdjoint(c->network, c->cotangent, NULL));
  TenonCall(TenonOptimizerStep(c->optimizer));
  return TENON_SUCCESS;
}
