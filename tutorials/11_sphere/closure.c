/* SPDX-License-Identifier: BSD-2-Clause */
/* Creates and evaluates the network of closure.h. Each evaluation that waits for its adjoint needs
 * an input tensor of its own, so `depth` tensors are used in turn. */
#include "closure.h"

#include <stdlib.h>

enum { kChannels = 8, kBlocks = 2 };

/* The size of the vorticity, and the unit of the network's output. */
static const double kScale = 2, kUnit = 0.03;

static TenonErrorCode AddLayer(TenonLayer network, TenonLayer* layer) {
  TenonCall(TenonLayerSequentialAdd(network, *layer));
  TenonCall(TenonLayerDestroy(layer));
  return TENON_SUCCESS;
}

static TenonErrorCode AddTransform(const Solver* s, TenonLayer network, const char* type) {
  const TenonInt size[2] = {s->rows, s->columns};
  TenonLayer layer;

  TenonCall(TenonLayerCreateType(s->comm, type, &layer));
  TenonCall(TenonObjectSetIntegers((TenonObject)layer, "degrees", 1, &s->degrees));
  if (type[0] == 'i') /* inversesht */
    TenonCall(TenonObjectSetIntegers((TenonObject)layer, "size", 2, size));
  return AddLayer(network, &layer);
}

/* A matrix at each point. */
static TenonErrorCode AddMatrix(const Solver* s, TenonLayer network, TenonInt in, TenonInt out) {
  const TenonInt kernel[2] = {1, 1};
  TenonLayer layer;

  TenonCall(TenonLayerCreateConv(s->comm, 2, in, out, kernel, &layer));
  return AddLayer(network, &layer);
}

static TenonErrorCode AddBlock(const Solver* s, TenonLayer network) {
  const TenonInt channels = kChannels;
  TenonLayer layer;
  TenonObject settings;

  TenonCall(TenonLayerCreateType(s->comm, "sphericalconv", &layer));
  settings = (TenonObject)layer;
  TenonCall(TenonObjectSetIntegers(settings, "in_channels", 1, &channels));
  TenonCall(TenonObjectSetIntegers(settings, "out_channels", 1, &channels));
  TenonCall(TenonObjectSetIntegers(settings, "degrees", 1, &s->degrees));
  TenonCall(AddLayer(network, &layer));
  TenonCall(TenonLayerCreateType(s->comm, "gelu", &layer));
  return AddLayer(network, &layer);
}

/* Between fields at the points: a new network. */
static TenonErrorCode AddNetwork(const Solver* s, TenonLayer network) {
  int n;

  TenonCall(AddMatrix(s, network, 1, kChannels));
  for (n = 0; n < kBlocks; ++n)
    TenonCall(AddBlock(s, network));
  return AddMatrix(s, network, kChannels, 1);
}

/* The same from PyTorch. Its transforms are recognised, and become spherical convolutions. */
static TenonErrorCode AddModel(const Solver* s, TenonLayer network, const char* model) {
  TenonLayer layer;

  TenonCall(TenonLayerCreateFromModel(s->comm, model, &layer));
  return AddLayer(network, &layer);
}

static TenonErrorCode CreateTensors(const Solver* s, Closure* c) {
  int n;

  c->x = (TenonDTensor*)malloc((size_t)c->depth * sizeof *c->x);
  for (n = 0; n < c->depth; ++n)
    TenonCall(SolverCreateField(s, &c->x[n]));
  TenonCall(TenonLayerCreateOutput(c->network, 0, &c->y));
  TenonCall(TenonLayerCreateOutputCotangent(c->network, 0, &c->dy));
  TenonCall(TenonLayerCreateInputCotangent(c->network, 0, &c->dx));
  return TENON_SUCCESS;
}

TenonErrorCode ClosureCreate(const Solver* s, const char* model, int depth, Closure* c) {
  c->dt = s->dt;
  c->depth = depth;
  c->next = 0;
  TenonCall(TenonLayerCreateSequential(s->comm, &c->network));
  TenonCall(AddTransform(s, c->network, "inversesht"));
  if (model[0])
    TenonCall(AddModel(s, c->network, model));
  else
    TenonCall(AddNetwork(s, c->network));
  TenonCall(AddTransform(s, c->network, "sht"));
  TenonCall(TenonLayerSetDataType(c->network, TENON_FLOAT64));
  TenonCall(TenonLayerSetStackDepth(c->network, depth));
  TenonCall(TenonObjectSetFromOptions((TenonObject)c->network));
  TenonCall(TenonLayerSetUp(c->network, s->spectral));
  if (!model[0])
    TenonCall(TenonLayerInitialize(c->network, 1));
  TenonCall(TenonOptimizerCreate(c->network, "adam", &c->optimizer));
  return CreateTensors(s, c);
}

TenonErrorCode ClosureDestroy(Closure* c) {
  int n;

  TenonCall(TenonDTensorDestroy(&c->dx));
  TenonCall(TenonDTensorDestroy(&c->dy));
  TenonCall(TenonDTensorDestroy(&c->y));
  for (n = 0; n < c->depth; ++n)
    TenonCall(TenonDTensorDestroy(&c->x[n]));
  TenonCall(TenonOptimizerDestroy(&c->optimizer));
  TenonCall(TenonLayerDestroy(&c->network));
  free(c->x);
  return TENON_SUCCESS;
}

TenonErrorCode ClosureApply(Closure* c, TenonBool training, TenonDTensor z, TenonDTensor next) {
  const TenonDTensor x = c->x[c->next];

  c->next = (c->next + 1) % c->depth;
  TenonCall(TenonDTensorAXPBY(1 / kScale, z, 0, x));
  TenonCall(TenonLayerSetTraining(c->network, training));
  TenonCall(TenonLayerApply(c->network, x, c->y));
  TenonCall(TenonDTensorAXPBY(c->dt * kUnit, c->y, 1, next));
  return TENON_SUCCESS;
}

TenonErrorCode ClosureAdjoint(Closure* c, TenonDTensor w, TenonDTensor gradient) {
  TenonCall(TenonDTensorAXPBY(c->dt * kUnit, w, 0, c->dy));
  TenonCall(TenonLayerApplyAdjoint(c->network, c->dy, c->dx));
  TenonCall(TenonDTensorAXPBY(1 / kScale, c->dx, 1, gradient));
  return TENON_SUCCESS;
}
