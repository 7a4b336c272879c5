/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: plugin_layer_host PLUGIN
 *
 * Loads plugin_layer.c as a shared object and uses its layer type "reaction" by name, as node of a
 * graph y = x + reaction(x), which is one explicit time step of size 1. Values and derivatives are
 * compared with numbers that are computed by hand, on four layouts of the input. */
#include "support/load_plugin.h"

#include <tenon.h>
#include <tenon/ext/layer.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 7, COLUMNS = 3 };

static TenonErrorCode createLayout(const char* properties, TenonLayout* layout) {
  const TenonInt shape[2] = {ROWS, COLUMNS};
  TenonPartition partition = NULL;
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  TenonCall(TenonPartitionCreate(MPI_COMM_WORLD, 1, &size, &partition));
  TenonCall(TenonLayoutCreateSharded(partition, 2, shape, properties, layout));
  return TenonPartitionDestroy(&partition);
}

/* Graph: node 0 is the reaction of the input (number -1), node 1 adds the input and node 0. */
static TenonErrorCode createStep(TenonLayer* step, TenonLayer* reaction) {
  const int input = -1, both[2] = {-1, 0};
  TenonLayer add = NULL;
  TenonCall(TenonLayerCreateType(MPI_COMM_WORLD, "reaction", reaction));
  TenonCall(TenonLayerCreateType(MPI_COMM_WORLD, "add", &add));
  TenonCall(TenonLayerCreateType(MPI_COMM_WORLD, "graph", step));
  TenonCall(TenonLayerSetDataType(*step, TENON_FLOAT64));
  TenonCall(TenonLayerGraphAddNode(*step, *reaction, 1, &input, NULL));
  TenonCall(TenonLayerGraphAddNode(*step, add, 2, both, NULL));
  return TenonLayerDestroy(&add);
}

/* x = 1/4 and rate = 2 everywhere: y = 1/4 + 2 * 1/4 * 3/4 = 5/8. */
static TenonErrorCode checkForward(TenonLayer step, TenonDTensor x, TenonDTensor y) {
  const void* array = NULL;
  TenonInt cells = 0, i;
  TenonCall(TenonDTensorFillConstant(x, 0.25));
  TenonCall(TenonLayerApply(step, x, y));
  TenonCall(TenonDTensorGetLocalSize(y, &cells));
  TenonCall(TenonDTensorGetArrayRead(y, TENON_FLOAT64, &array));
  for (i = 0; i < cells; ++i)
    CHECK(((const double*)array)[i] == 0.625);
  return TenonDTensorRestoreArrayRead(y, &array);
}

/* For the cotangent dy = 1: dx = 1 + 2 (1 - 2/4) = 2, and the rate's gradient is the sum of
 * x (1 - x) = 3/16 over the cells. The tangent of (dx, drate) = (1, 1) is 2 + 3/16. */
static TenonErrorCode checkDerivatives(TenonLayer step, TenonDTensor x, TenonDTensor y) {
  TenonDTensor dy = NULL, dx = NULL, direction = NULL, gradient = NULL, ones = NULL;
  TenonLayout layout = NULL;
  double norm = 0, sum = 0;
  TenonCall(TenonLayerGetParameterTangent(step, 0, &direction));
  TenonCall(TenonDTensorFillConstant(direction, 1));
  TenonCall(TenonDTensorGetLayout(x, &layout));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT64, &ones));
  TenonCall(TenonDTensorFillConstant(ones, 1));
  TenonCall(TenonLayerApplyTangent(step, ones, y));
  TenonCall(TenonDTensorNorm(y, &norm));
  CHECK(fabs(norm - 2.1875 * sqrt(ROWS * COLUMNS)) < 1e-12);

  TenonCall(TenonLayerCreateOutputCotangent(step, 0, &dy));
  TenonCall(TenonLayerCreateInputCotangent(step, 0, &dx));
  TenonCall(TenonDTensorFillConstant(dy, 1));
  TenonCall(TenonLayerApplyAdjoint(step, dy, dx));
  TenonCall(TenonDTensorPairing(ones, dx, &sum));
  CHECK(fabs(sum - 2 * ROWS * COLUMNS) < 1e-12);
  TenonCall(TenonLayerGetParameterGradient(step, 0, &gradient));
  TenonCall(TenonDTensorPairing(direction, gradient, &sum));
  CHECK(fabs(sum - 3. / 16 * ROWS * COLUMNS) < 1e-12);

  TenonCall(TenonLayoutDestroy(&layout));
  TenonCall(TenonDTensorDestroy(&gradient));
  TenonCall(TenonDTensorDestroy(&ones));
  TenonCall(TenonDTensorDestroy(&direction));
  TenonCall(TenonDTensorDestroy(&dx));
  return TenonDTensorDestroy(&dy);
}

static TenonErrorCode checkOn(const char* properties) {
  TenonLayer step = NULL, reaction = NULL;
  TenonLayout layout = NULL;
  TenonDTensor x = NULL, y = NULL, rate = NULL;
  void* context = NULL;
  TenonCall(createLayout(properties, &layout));
  TenonCall(createStep(&step, &reaction));
  TenonCall(TenonLayerSetUp(step, layout));
  TenonCall(TenonLayerGetParameter(step, 0, &rate));
  TenonCall(TenonDTensorFillConstant(rate, 2));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT64, &x));
  TenonCall(TenonLayerCreateOutput(step, 0, &y));
  TenonCall(checkForward(step, x, y));
  TenonCall(checkDerivatives(step, x, y));
  TenonCall(TenonLayerShellGetContext(reaction, &context));
  CHECK(*(int*)context == 1); /* the number of calls of apply() */
  TenonCall(TenonDTensorDestroy(&rate));
  TenonCall(TenonDTensorDestroy(&x));
  TenonCall(TenonDTensorDestroy(&y));
  TenonCall(TenonLayoutDestroy(&layout));
  TenonCall(TenonLayerDestroy(&reaction));
  return TenonLayerDestroy(&step);
}

static TenonErrorCode checkRefusals(void) {
  TenonLayer layer = NULL;
  TenonDTensor value = NULL;
  TenonCall(TenonPushErrorHandler(TenonReturnErrorHandler, NULL));
  CHECK(TenonLayerCreateType(MPI_COMM_WORLD, "raection", &layer) == TENON_ERR_TYPE);
  CHECK(TenonLayerCreateType(MPI_COMM_WORLD, "refusing", &layer) == TENON_ERR_SUPPORT);
  CHECK(TenonLayerRegister("tanh", NULL) == TENON_ERR_NULL);
  CHECK(layer == NULL);
  CHECK(TenonLayerCreateType(MPI_COMM_WORLD, "reaction", &layer) == TENON_SUCCESS);
  CHECK(TenonLayerShellGetTensor(layer, TENON_SHELL_PARAMETER, 0, &value) == TENON_ERR_STATE);
  CHECK(TenonLayerDestroy(&layer) == TENON_SUCCESS);
  CHECK(TenonLayerCreateType(MPI_COMM_WORLD, "tanh", &layer) == TENON_SUCCESS);
  CHECK(TenonLayerShellSetWorkspace(layer, 8) == TENON_ERR_TYPE);
  CHECK(TenonLayerDestroy(&layer) == TENON_SUCCESS);
  return TenonPopErrorHandler();
}

int main(int argc, char** argv) {
  TenonCallAbort(TenonInitialize(&argc, &argv, "tries a plugin"));
  CHECK(argc == 2);
  TenonCallAbort(loadPlugin(argv[1], "registerLayers"));
  TenonCallAbort(checkOn("S0"));
  TenonCallAbort(checkOn("S1"));
  TenonCallAbort(checkOn("B"));
  TenonCallAbort(checkOn("R"));
  TenonCallAbort(checkRefusals());
  TenonCallAbort(TenonFinalize());
  return EXIT_SUCCESS;
}
