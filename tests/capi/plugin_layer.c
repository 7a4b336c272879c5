/* SPDX-License-Identifier: BSD-2-Clause */
/* A plugin, loaded by plugin_layer_host.c, with the layer type "reaction": y = rate x (1 - x), the
 * logistic term of a reaction-diffusion equation, with one parameter, in float64. Derivatives, with
 * u = x (1 - x):
 *
 *   tangent   dy = rate (1 - 2 x) dx + drate u
 *   adjoint   dx = rate (1 - 2 x) dy,   gradient of rate: sum of u dy over the cells
 *
 * The type "refusing" returns an error when a layer is created. */
#include <tenon/dtensor.h>
#include <tenon/ext/layer.h>

#include <stdlib.h>

/* The arrays of a call, NULL if the call does not have them. `in` is dx of the tangent and dy of
 * the adjoint, `out` the result. */
typedef struct {
  const double *x, *in, *rate, *rateTangent;
  double *out, *rateGradient;
  TenonInt cells;
} Arrays;

/* The tensor's array. It is restored at once, since the library does not move it during the call.
 */
static TenonErrorCode readable(TenonDTensor tensor, const double** array) {
  const void* memory = NULL;
  *array = NULL;
  if (tensor == NULL)
    return TENON_SUCCESS;
  TenonCall(TenonDTensorGetArrayRead(tensor, TENON_FLOAT64, &memory));
  *array = (const double*)memory;
  return TenonDTensorRestoreArrayRead(tensor, &memory);
}

static TenonErrorCode writable(TenonDTensor tensor, double** array) {
  void* memory = NULL;
  *array = NULL;
  if (tensor == NULL)
    return TENON_SUCCESS;
  TenonCall(TenonDTensorGetArray(tensor, TENON_FLOAT64, &memory));
  *array = (double*)memory;
  return TenonDTensorRestoreArray(tensor, &memory);
}

static TenonErrorCode arraysOf(TenonLayer layer, TenonDTensor x, TenonDTensor in, TenonDTensor out,
                               Arrays* a) {
  TenonDTensor rate = NULL, tangent = NULL, gradient = NULL;
  TenonCall(TenonLayerShellGetTensor(layer, TENON_SHELL_PARAMETER, 0, &rate));
  TenonCall(TenonLayerShellGetTensor(layer, TENON_SHELL_PARAMETER_TANGENT, 0, &tangent));
  TenonCall(TenonLayerShellGetTensor(layer, TENON_SHELL_PARAMETER_GRADIENT, 0, &gradient));
  TenonCall(readable(x, &a->x));
  TenonCall(readable(in, &a->in));
  TenonCall(readable(rate, &a->rate));
  TenonCall(readable(tangent, &a->rateTangent));
  TenonCall(writable(out, &a->out));
  TenonCall(writable(gradient, &a->rateGradient));
  return TenonDTensorGetLocalSize(x, &a->cells);
}

static TenonErrorCode apply(TenonLayer layer, TenonDTensor x, TenonDTensor y, void* context) {
  Arrays a;
  TenonInt i;
  ++*(int*)context;
  TenonCall(arraysOf(layer, x, NULL, y, &a));
  for (i = 0; i < a.cells; ++i)
    a.out[i] = a.rate[0] * a.x[i] * (1 - a.x[i]);
  return TENON_SUCCESS;
}

static TenonErrorCode applyTangent(TenonLayer layer, TenonDTensor x, TenonDTensor y,
                                   TenonDTensor dx, TenonDTensor dy, void* context) {
  Arrays a;
  TenonInt i;
  (void)y;
  (void)context;
  TenonCall(arraysOf(layer, x, dx, dy, &a));
  for (i = 0; i < a.cells; ++i)
    a.out[i] = (a.in ? a.rate[0] * (1 - 2 * a.x[i]) * a.in[i] : 0) +
               (a.rateTangent ? a.rateTangent[0] * a.x[i] * (1 - a.x[i]) : 0);
  return TENON_SUCCESS;
}

static TenonErrorCode applyAdjoint(TenonLayer layer, TenonDTensor x, TenonDTensor y,
                                   TenonDTensor dy, TenonDTensor dx, void* context) {
  Arrays a;
  TenonInt i;
  (void)y;
  (void)context;
  TenonCall(arraysOf(layer, x, dy, dx, &a));
  for (i = 0; i < a.cells; ++i) {
    a.rateGradient[0] += a.in[i] * a.x[i] * (1 - a.x[i]);
    if (a.out)
      a.out[i] = a.rate[0] * (1 - 2 * a.x[i]) * a.in[i];
  }
  return TENON_SUCCESS;
}

/* Makes a new shell layer a reaction. Its context counts the calls of apply(). */
static TenonErrorCode create(TenonLayer shell) {
  const TenonLayerShellFunctions functions = {NULL, apply, applyTangent, applyAdjoint};
  const TenonInt one = 1;
  int* applied = (int*)calloc(1, sizeof *applied);
  if (applied == NULL)
    return TENON_ERR_MEMORY;
  TenonCall(TenonLayerShellSetContext(shell, applied, free));
  TenonCall(TenonLayerShellSetFunctions(shell, &functions));
  return TenonLayerShellAddParameter(shell, "rate", 1, &one, 1, 1);
}

static TenonErrorCode refuse(TenonLayer shell) {
  (void)shell;
  return TENON_ERR_SUPPORT;
}

/* The function that the host calls after loading the plugin. */
TENON_EXTERN TenonErrorCode registerLayers(void) TENON_NOEXCEPT;

TenonErrorCode registerLayers(void) {
  TenonCall(TenonLayerRegister("refusing", refuse));
  return TenonLayerRegister("reaction", create);
}
