/* SPDX-License-Identifier: BSD-2-Clause */
/* A time step of the solver (solver.h) and its adjoint. The transforms are layers, whose adjoints
 * Tenon has; only the product at the points between them is differentiated by hand. */
#include "solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double kRotation = 6.28318530717958647692; /* a turn in a unit of time */
static const double kWeights[kStages] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
static const double kShifts[kStages] = {0, 0.5, 0.5, 1}; /* of the argument of each rate */

/* A transform with two components of a vector in channels 0 and 1. */
static TenonErrorCode CreateTransform(const Solver* s, const char* type, TenonLayout input,
                                      TenonLayer* layer) {
  const TenonInt size[2] = {s->rows, s->columns}, vectors[2] = {0, 1};
  TenonObject settings;

  TenonCall(TenonLayerCreateType(s->comm, type, layer));
  settings = (TenonObject)*layer;
  TenonCall(TenonObjectSetIntegers(settings, "degrees", 1, &s->degrees));
  TenonCall(TenonObjectSetIntegers(settings, "vectors", 2, vectors));
  TenonCall(TenonObjectSetText(settings, "vector_output", "div_vort"));
  if (strcmp(type, "inversesht") == 0)
    TenonCall(TenonObjectSetIntegers(settings, "size", 2, size));
  TenonCall(TenonLayerSetDataType(*layer, TENON_FLOAT64));
  TenonCall(TenonLayerSetUp(*layer, input));
  TenonCall(TenonLayerSetTraining(*layer, TENON_FALSE));
  return TENON_SUCCESS;
}

static TenonErrorCode CreateDamping(const Solver* s, double rate, TenonLayer* layer) {
  const double eigenvalue = (double)(s->degrees * (s->degrees - 1)); /* l (l + 1) of the last l */
  TenonObject settings;

  TenonCall(TenonLayerCreateType(s->comm, "degreeproduct", layer));
  settings = (TenonObject)*layer;
  TenonCall(TenonObjectSetText(settings, "filter", "diffusion"));
  TenonCall(TenonObjectSetReal(settings, "power", 4));
  TenonCall(TenonObjectSetReal(settings, "rate", s->dt * rate / pow(eigenvalue, 4)));
  TenonCall(TenonLayerSetDataType(*layer, TENON_FLOAT64));
  TenonCall(TenonLayerSetUp(*layer, s->spectral));
  TenonCall(TenonLayerSetTraining(*layer, TENON_FALSE));
  return TENON_SUCCESS;
}

/* The orders of this process, and the Coriolis parameter in its rows. */
static TenonErrorCode FillLists(Solver* s) {
  double* colatitude = (double*)malloc((size_t)s->rows * 2 * sizeof *colatitude);
  TenonInt low[5], high[5], row;

  s->order = (TenonInt*)malloc((size_t)s->degrees * sizeof *s->order);
  TenonCall(TenonSphereGetOrders(s->degrees, s->order));
  TenonCall(TenonDTensorGetBox(s->rate, low, high));
  s->low = low[2];
  s->count = high[2] - low[2];
  TenonCall(TenonSphereGetRows("gauss", s->rows, colatitude, colatitude + s->rows));
  TenonCall(TenonDTensorGetBox(s->fields, low, high));
  s->coriolis = (double*)malloc((size_t)(high[2] - low[2] + 1) * sizeof *s->coriolis);
  for (row = low[2]; row < high[2]; ++row)
    s->coriolis[row - low[2]] = 2 * kRotation * cos(colatitude[row]);
  free(colatitude);
  return TENON_SUCCESS;
}

TenonErrorCode SolverCreateField(const Solver* s, TenonDTensor* z) {
  TenonCall(TenonDTensorCreate(s->spectral, TENON_FLOAT64, z));
  return TENON_SUCCESS;
}

TenonErrorCode SolverCreate(TenonPartition processes, TenonInt degrees, double dt, double damping,
                            Solver* s) {
  TenonInt shape[5] = {1, 1, degrees, degrees, 2};
  TenonLayout input, points;
  TenonInt fluxShape[4];
  int n;

  TenonCall(TenonObjectGetComm((TenonObject)processes, &s->comm));
  s->degrees = degrees;
  s->rows = (3 * degrees + 1) / 2 + 1;
  s->columns = 2 * s->rows;
  s->dt = dt;
  TenonCall(TenonLayoutCreateSharded(processes, 5, shape, "S2", &s->spectral));
  shape[1] = 3;
  TenonCall(TenonLayoutCreateSharded(processes, 5, shape, "S2", &input));
  fluxShape[0] = 1;
  fluxShape[1] = 2;
  fluxShape[2] = s->rows;
  fluxShape[3] = s->columns;
  TenonCall(TenonLayoutCreateSharded(processes, 4, fluxShape, "S2", &points));
  TenonCall(CreateTransform(s, "inversesht", input, &s->synthesis));
  TenonCall(CreateTransform(s, "sht", points, &s->analysis));
  TenonCall(CreateDamping(s, damping, &s->damping));
  TenonCall(TenonDTensorCreate(input, TENON_FLOAT64, &s->input));
  TenonCall(TenonDTensorCreate(points, TENON_FLOAT64, &s->flux));
  TenonCall(TenonLayerCreateOutput(s->synthesis, 0, &s->fields));
  TenonCall(TenonLayerCreateOutput(s->analysis, 0, &s->output));
  TenonCall(TenonLayerCreateInputCotangent(s->synthesis, 0, &s->dInput));
  TenonCall(TenonLayerCreateOutputCotangent(s->synthesis, 0, &s->dFields));
  TenonCall(TenonLayerCreateInputCotangent(s->analysis, 0, &s->dFlux));
  TenonCall(TenonLayerCreateOutputCotangent(s->analysis, 0, &s->dOutput));
  TenonCall(SolverCreateField(s, &s->rate));
  TenonCall(SolverCreateField(s, &s->sum));
  TenonCall(SolverCreateField(s, &s->work));
  for (n = 0; n < kStages; ++n)
    TenonCall(SolverCreateField(s, &s->stage[n]));
  TenonCall(TenonLayoutDestroy(&points));
  TenonCall(TenonLayoutDestroy(&input));
  TenonCall(FillLists(s));
  return TENON_SUCCESS;
}

TenonErrorCode SolverDestroy(Solver* s) {
  TenonDTensor* tensors[] = {&s->input,   &s->fields,   &s->flux,     &s->output,   &s->dInput,
                             &s->dFields, &s->dFlux,    &s->dOutput,  &s->rate,     &s->sum,
                             &s->work,    &s->stage[0], &s->stage[1], &s->stage[2], &s->stage[3]};
  size_t n;

  for (n = 0; n < sizeof tensors / sizeof *tensors; ++n)
    TenonCall(TenonDTensorDestroy(tensors[n]));
  TenonCall(TenonLayerDestroy(&s->damping));
  TenonCall(TenonLayerDestroy(&s->analysis));
  TenonCall(TenonLayerDestroy(&s->synthesis));
  TenonCall(TenonLayoutDestroy(&s->spectral));
  free(s->coriolis);
  free(s->order);
  return TENON_SUCCESS;
}

/* Channel i of `to` <- factors[i] * z, for all `channels`. */
static TenonErrorCode SetChannels(TenonDTensor z, int channels, const double factors[],
                                  TenonDTensor to) {
  const void* from;
  void* array;
  TenonInt count, i;
  int channel;

  TenonCall(TenonDTensorGetLocalSize(z, &count));
  TenonCall(TenonDTensorGetArrayRead(z, TENON_FLOAT64, &from));
  TenonCall(TenonDTensorGetArray(to, TENON_FLOAT64, &array));
  for (channel = 0; channel < channels; ++channel)
    for (i = 0; i < count; ++i)
      ((double*)array)[channel * count + i] = factors[channel] * ((const double*)from)[i];
  TenonCall(TenonDTensorRestoreArray(to, &array));
  TenonCall(TenonDTensorRestoreArrayRead(z, &from));
  return TENON_SUCCESS;
}

/* z <- the sum of factors[i] times channel i of `from`. */
static TenonErrorCode AddChannels(TenonDTensor from, int channels, const double factors[],
                                  TenonDTensor z) {
  const void* lent;
  void* array;
  TenonInt count, i;
  int channel;

  TenonCall(TenonDTensorGetLocalSize(z, &count));
  TenonCall(TenonDTensorGetArrayRead(from, TENON_FLOAT64, &lent));
  TenonCall(TenonDTensorGetArray(z, TENON_FLOAT64, &array));
  for (i = 0; i < count; ++i) {
    double sum = 0;

    for (channel = 0; channel < channels; ++channel)
      sum += factors[channel] * ((const double*)lent)[channel * count + i];
    ((double*)array)[i] = sum;
  }
  TenonCall(TenonDTensorRestoreArray(z, &array));
  TenonCall(TenonDTensorRestoreArrayRead(from, &lent));
  return TENON_SUCCESS;
}

/* The wind and the vorticity of z, and their flux (z + f) v, at the points. */
static TenonErrorCode Flux(Solver* s, TenonDTensor z) {
  const double vorticity[3] = {0, 1, 1};
  const void* lent;
  void* array;
  TenonInt count, i;
  const double* q;
  double* flux;

  TenonCall(SetChannels(z, 3, vorticity, s->input));
  TenonCall(TenonLayerApply(s->synthesis, s->input, s->fields));
  TenonCall(TenonDTensorGetLocalSize(s->flux, &count));
  count /= 2;
  TenonCall(TenonDTensorGetArrayRead(s->fields, TENON_FLOAT64, &lent));
  TenonCall(TenonDTensorGetArray(s->flux, TENON_FLOAT64, &array));
  q = (const double*)lent;
  flux = (double*)array;
  for (i = 0; i < count; ++i) {
    const double absolute = q[2 * count + i] + s->coriolis[i / s->columns];

    flux[i] = absolute * q[i];
    flux[count + i] = absolute * q[count + i];
  }
  TenonCall(TenonDTensorRestoreArray(s->flux, &array));
  TenonCall(TenonDTensorRestoreArrayRead(s->fields, &lent));
  return TENON_SUCCESS;
}

/* rate <- minus the divergence of the flux. */
static TenonErrorCode Rate(Solver* s, TenonDTensor z, TenonDTensor rate) {
  const double minus = -1;

  TenonCall(Flux(s, z));
  TenonCall(TenonLayerApply(s->analysis, s->flux, s->output));
  TenonCall(AddChannels(s->output, 1, &minus, rate));
  return TENON_SUCCESS;
}

/* From the cotangent of the flux to those of the wind and of the vorticity. */
static TenonErrorCode FluxAdjoint(Solver* s) {
  const void *lent, *cotangent;
  void* array;
  TenonInt count, i;
  const double *q, *w;
  double* z;

  TenonCall(TenonDTensorGetLocalSize(s->flux, &count));
  count /= 2;
  TenonCall(TenonDTensorGetArrayRead(s->fields, TENON_FLOAT64, &lent));
  TenonCall(TenonDTensorGetArrayRead(s->dFlux, TENON_FLOAT64, &cotangent));
  TenonCall(TenonDTensorGetArray(s->dFields, TENON_FLOAT64, &array));
  q = (const double*)lent;
  w = (const double*)cotangent;
  z = (double*)array;
  for (i = 0; i < count; ++i) {
    const double absolute = q[2 * count + i] + s->coriolis[i / s->columns];

    z[i] = absolute * w[i];
    z[count + i] = absolute * w[count + i];
    z[2 * count + i] = q[i] * w[i] + q[count + i] * w[count + i];
  }
  TenonCall(TenonDTensorRestoreArray(s->dFields, &array));
  TenonCall(TenonDTensorRestoreArrayRead(s->dFlux, &cotangent));
  TenonCall(TenonDTensorRestoreArrayRead(s->fields, &lent));
  return TENON_SUCCESS;
}

/* rate <- R'(z)* w. The transforms are evaluated again, since their adjoints follow on that. */
static TenonErrorCode RateAdjoint(Solver* s, TenonDTensor z, TenonDTensor w, TenonDTensor rate) {
  const double minus[2] = {-1, 0}, vorticity[3] = {0, 1, 1};

  TenonCall(TenonLayerSetTraining(s->synthesis, TENON_TRUE));
  TenonCall(TenonLayerSetTraining(s->analysis, TENON_TRUE));
  TenonCall(Flux(s, z));
  TenonCall(TenonLayerApply(s->analysis, s->flux, s->output));
  TenonCall(SetChannels(w, 2, minus, s->dOutput));
  TenonCall(TenonLayerApplyAdjoint(s->analysis, s->dOutput, s->dFlux));
  TenonCall(FluxAdjoint(s));
  TenonCall(TenonLayerApplyAdjoint(s->synthesis, s->dFields, s->dInput));
  TenonCall(AddChannels(s->dInput, 3, vorticity, rate));
  TenonCall(TenonLayerSetTraining(s->analysis, TENON_FALSE));
  TenonCall(TenonLayerSetTraining(s->synthesis, TENON_FALSE));
  return TENON_SUCCESS;
}

TenonErrorCode SolverStep(Solver* s, TenonDTensor z, TenonDTensor stages[]) {
  int n;

  TenonCall(TenonDTensorCopy(z, s->sum));
  for (n = 0; n < kStages; ++n) {
    TenonCall(TenonDTensorCopy(z, stages[n]));
    if (n > 0)
      TenonCall(TenonDTensorAXPBY(s->dt * kShifts[n], s->rate, 1, stages[n]));
    TenonCall(Rate(s, stages[n], s->rate));
    TenonCall(TenonDTensorAXPBY(s->dt * kWeights[n], s->rate, 1, s->sum));
  }
  TenonCall(TenonLayerApply(s->damping, s->sum, z));
  return TENON_SUCCESS;
}

/* From the last rate to the first: the cotangent of a rate is that of the sum, and that of the next
 * argument. Damping is its own adjoint. */
TenonErrorCode SolverAdjoint(Solver* s, const TenonDTensor stages[], TenonDTensor w) {
  int n;

  TenonCall(TenonLayerApply(s->damping, w, s->sum));
  TenonCall(TenonDTensorCopy(s->sum, w));
  for (n = kStages; n-- > 0;) {
    TenonCall(TenonDTensorCopy(s->sum, s->work));
    TenonCall(TenonDTensorScale(s->dt * kWeights[n], s->work));
    if (n + 1 < kStages)
      TenonCall(TenonDTensorAXPBY(s->dt * kShifts[n + 1], s->rate, 1, s->work));
    TenonCall(RateAdjoint(s, stages[n], s->work, s->rate));
    TenonCall(TenonDTensorAXPBY(1, s->rate, 1, w));
  }
  return TENON_SUCCESS;
}
