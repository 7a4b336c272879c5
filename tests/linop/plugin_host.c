/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: plugin_host PLUGIN Tests operator types from plugins: loads a shared library
 * (plugin_weigh.c), which registers the type "weigh", and uses an operator of this type in a
 * composition with operators of the library. The result is compared with weights computed here. */
#include "support/load_plugin.h"

#include <tenon.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 5, COLUMNS = 2 };

static TenonErrorCode createLayouts(TenonLayout* root, TenonLayout* rows) {
  const TenonInt shape[2] = {ROWS, COLUMNS};
  TenonPartition partition = NULL;
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  TenonCall(TenonPartitionCreate(MPI_COMM_WORLD, 1, &size, &partition));
  TenonCall(TenonLayoutCreateSharded(partition, 2, shape, "R", root));
  TenonCall(TenonLayoutCreateSharded(partition, 2, shape, "S0", rows));
  return TenonPartitionDestroy(&partition);
}

/* scatter, weigh, gather: on the root, row i of the result is 10 (i + 1) times that of the input.
 */
static TenonErrorCode createChain(TenonLayout root, TenonLayout rows, TenonLinearOp* chain) {
  double unit = 10;
  TenonLinearOp ops[3] = {NULL, NULL, NULL};
  int i;
  TenonCall(TenonLinearOpCreatePrimitive(root, "scatter", 0, 0, TENON_FLOAT64, &ops[0]));
  TenonCall(
      TenonLinearOpCreateType(rows, rows, TENON_FLOAT64, TENON_FLOAT64, "weigh", &unit, &ops[1]));
  unit = 0; /* the operator has its own copy */
  TenonCall(TenonLinearOpCreatePrimitive(rows, "gather", 0, -1, TENON_FLOAT64, &ops[2]));
  TenonCall(TenonLinearOpCreateComposition(3, ops, chain));
  for (i = 0; i < 3; ++i)
    TenonCall(TenonLinearOpDestroy(&ops[i]));
  return TENON_SUCCESS;
}

static TenonErrorCode checkChain(TenonLinearOp chain, TenonLayout root) {
  double forward = 0, adjoint = 1;
  TenonDTensor x = NULL, y = NULL;
  const void* array = NULL;
  TenonInt cells = 0, i;
  TenonCall(TenonLinearOpTestAdjoint(chain, 1, TENON_TRUE, &forward, &adjoint, NULL));
  CHECK(forward == adjoint);
  TenonCall(TenonDTensorCreate(root, TENON_FLOAT64, &x));
  TenonCall(TenonDTensorCreate(root, TENON_FLOAT64, &y));
  TenonCall(TenonDTensorFillConstant(x, 1));
  TenonCall(TenonLinearOpApply(chain, x, y));
  TenonCall(TenonDTensorGetLocalSize(y, &cells));
  TenonCall(TenonDTensorGetArrayRead(y, TENON_FLOAT64, &array));
  for (i = 0; i < cells; ++i)
    CHECK(((const double*)array)[i] == 10. * (double)(i / COLUMNS + 1));
  TenonCall(TenonDTensorRestoreArrayRead(y, &array));
  TenonCall(TenonDTensorDestroy(&x));
  return TenonDTensorDestroy(&y);
}

/* An error in the plugin's create function is returned on all ranks. */
static TenonErrorCode checkRefusal(TenonLayout rows) {
  double unit = 1;
  TenonLinearOp op = NULL;
  TenonErrorCode code;
  TenonCall(TenonPushErrorHandler(TenonReturnErrorHandler, NULL));
  code = TenonLinearOpCreateType(rows, rows, TENON_FLOAT32, TENON_FLOAT32, "weigh", &unit, &op);
  CHECK(code == TENON_ERR_DATATYPE && op == NULL);
  return TenonPopErrorHandler();
}

static TenonErrorCode run(const char* path) {
  TenonLayout root = NULL, rows = NULL;
  TenonLinearOp chain = NULL;
  TenonCall(loadPlugin(path, "registerOperators"));
  TenonCall(createLayouts(&root, &rows));
  TenonCall(createChain(root, rows, &chain));
  TenonCall(checkChain(chain, root));
  TenonCall(checkRefusal(rows));
  TenonCall(TenonLinearOpDestroy(&chain));
  TenonCall(TenonLayoutDestroy(&root));
  return TenonLayoutDestroy(&rows);
}

int main(int argc, char** argv) {
  TenonCallAbort(TenonInitialize(&argc, &argv, "tries a plugin"));
  CHECK(argc == 2);
  TenonCallAbort(run(argv[1]));
  TenonCallAbort(TenonFinalize());
  return EXIT_SUCCESS;
}
