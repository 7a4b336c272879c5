/* SPDX-License-Identifier: BSD-2-Clause */
/* Creates and evaluates the network of closure.h. The network's tensors have no arrays of their
 * own: each call places them on the solver's fields (GridPlace()), so nothing is copied. */
#include "closure.h"

#include <stdlib.h>
#include <string.h>

enum { kHidden = 12, kOutputs = 2, kWidth = 3 };

/* Units of the network's output and input, with which its weights are of order 1. */
static const double kTendency = 1e-2;
static const double kInputScale[kFields] = {4, 4, 8}, kInputShift[kFields] = {0, 0, -8};

static TenonErrorCode Add(Closure* c, TenonLayer layer) {
  TenonCall(TenonLayerSequentialAdd(c->network, layer));
  TenonCall(TenonLayerDestroy(&layer));
  return TENON_SUCCESS;
}

/* u, v and h - H in units of their size: a layer whose parameters are not trained. */
static TenonErrorCode AddScaling(Closure* c) {
  const TenonInt channels = kFields;
  TenonLayer layer;

  TenonCall(TenonLayerCreateType(c->grid->comm, "channelaffine", &layer));
  TenonCall(TenonObjectSetIntegers((TenonObject)layer, "channels", 1, &channels));
  TenonCall(TenonLayerSetFrozen(layer, TENON_TRUE));
  TenonCall(Add(c, layer));
  return TENON_SUCCESS;
}

static TenonErrorCode AddConvolution(Closure* c, TenonInt in, TenonInt out) {
  const TenonInt kernel[2] = {kWidth, kWidth}, padding[2] = {kWidth / 2, kWidth / 2};
  const TenonBoundary ring[2] = {TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC};
  TenonLayer layer;

  TenonCall(TenonLayerCreateConv(c->grid->comm, 2, in, out, kernel, &layer));
  TenonCall(TenonLayerSetPadding(layer, padding, NULL));
  TenonCall(TenonLayerSetBoundary(layer, ring, NULL));
  TenonCall(Add(c, layer));
  return TENON_SUCCESS;
}

static TenonErrorCode AddTanh(Closure* c) {
  TenonLayer layer;

  TenonCall(TenonLayerCreateType(c->grid->comm, "tanh", &layer));
  TenonCall(Add(c, layer));
  return TENON_SUCCESS;
}

/* Sets a replicated parameter of one number for each field. */
static TenonErrorCode SetParameter(Closure* c, const char* path, const double values[kFields]) {
  TenonDTensor parameter;
  void* array;

  TenonCall(TenonLayerGetParameterAt(c->network, path, &parameter));
  TenonCall(TenonDTensorGetArray(parameter, TENON_FLOAT64, &array));
  memcpy(array, values, kFields * sizeof(double));
  TenonCall(TenonDTensorRestoreArray(parameter, &array));
  TenonCall(TenonDTensorDestroy(&parameter));
  return TENON_SUCCESS;
}

static TenonErrorCode CreateNetwork(Closure* c, int depth) {
  TenonCall(TenonLayerCreateSequential(c->grid->comm, &c->network));
  TenonCall(AddScaling(c));
  TenonCall(AddConvolution(c, kFields, kHidden));
  TenonCall(AddTanh(c));
  TenonCall(AddConvolution(c, kHidden, kHidden));
  TenonCall(AddTanh(c));
  TenonCall(AddConvolution(c, kHidden, kOutputs));
  TenonCall(TenonLayerSetDataType(c->network, TENON_FLOAT64));
  TenonCall(TenonLayerSetStackDepth(c->network, depth));
  TenonCall(TenonObjectSetFromOptions((TenonObject)c->network));
  TenonCall(TenonLayerSetUp(c->network, c->grid->plain));
  TenonCall(TenonLayerInitialize(c->network, 1));
  TenonCall(SetParameter(c, "0/scale", kInputScale));
  TenonCall(SetParameter(c, "0/shift", kInputShift));
  TenonCall(TenonOptimizerCreate(c->network, "adam", &c->optimizer));
  TenonCall(TenonObjectSetReal((TenonObject)c->optimizer, "beta2", 0.99));
  return TENON_SUCCESS;
}

TenonErrorCode ClosureCreate(const Grid* grid, double dt, int depth, Closure* c) {
  c->grid = grid;
  c->dt = dt;
  c->work = GridCreateFields(grid, 1);
  TenonCall(CreateNetwork(c, depth));
  TenonCall(TenonDTensorCreate(grid->plain, TENON_FLOAT64, &c->q));
  TenonCall(TenonLayerCreateOutput(c->network, 0, &c->output));
  TenonCall(TenonLayerCreateOutputCotangent(c->network, 0, &c->cotangent));
  TenonCall(TenonLayerCreateInputCotangent(c->network, 0, &c->gradient));
  /* The solver's arrays are on the host, wherever the network runs (-tenon_space device). */
  TenonCall(TenonDTensorSetSpace(c->output, TENON_MEMORY_HOST));
  TenonCall(TenonDTensorSetSpace(c->cotangent, TENON_MEMORY_HOST));
  TenonCall(TenonDTensorSetSpace(c->gradient, TENON_MEMORY_HOST));
  return TENON_SUCCESS;
}

TenonErrorCode ClosureDestroy(Closure* c) {
  TenonCall(TenonDTensorDestroy(&c->gradient));
  TenonCall(TenonDTensorDestroy(&c->cotangent));
  TenonCall(TenonDTensorDestroy(&c->output));
  TenonCall(TenonDTensorDestroy(&c->q));
  TenonCall(TenonOptimizerDestroy(&c->optimizer));
  TenonCall(TenonLayerDestroy(&c->network));
  free(c->work);
  return TENON_SUCCESS;
}

TenonErrorCode ClosureCopy(const Closure* from, Closure* to) {
  TenonDTensor source, target;
  int count, n;

  TenonCall(TenonLayerGetParameterCount(from->network, &count));
  for (n = 0; n < count; ++n) {
    TenonCall(TenonLayerGetParameter(from->network, n, &source));
    TenonCall(TenonLayerGetParameter(to->network, n, &target));
    TenonCall(TenonDTensorCopy(source, target));
    TenonCall(TenonDTensorDestroy(&target));
    TenonCall(TenonDTensorDestroy(&source));
  }
  return TENON_SUCCESS;
}

TenonErrorCode ClosureApply(Closure* c, TenonBool training, double* q, double* change) {
  const Grid* g = c->grid;

  TenonCall(GridPlace(g, c->q, q));
  TenonCall(GridPlace(g, c->output, change));
  TenonCall(TenonLayerSetTraining(c->network, training));
  TenonCall(TenonLayerApply(c->network, c->q, c->output));
  GridAdd(g, c->dt * kTendency, change, 0, change);
  memset(change + kOutputs * g->plane, 0, (size_t)g->plane * sizeof(double));
  return TENON_SUCCESS;
}

TenonErrorCode ClosureAdjoint(Closure* c, const double* w, double* gradient) {
  const Grid* g = c->grid;

  GridAdd(g, c->dt * kTendency, w, 0, c->work);
  TenonCall(GridPlace(g, c->cotangent, c->work));
  TenonCall(GridPlace(g, c->gradient, gradient));
  TenonCall(TenonLayerApplyAdjoint(c->network, c->cotangent, c->gradient));
  return TENON_SUCCESS;
}
