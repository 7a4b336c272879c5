/* SPDX-License-Identifier: BSD-2-Clause */
/* The program calls MPI_Finalize before TenonFinalize. After that, calls that need MPI must return
 * an error which says so, and objects can still be destroyed; the same is tested after
 * TenonFinalize. */
#include <tenon.h>
#include <tenon/ext/fortran.h>

#include "support/check.h"

#include <string.h>

static const TenonInt shape[2] = {8, 3};

static TenonPartition all;
static TenonLayout split, copies;
static TenonLinearOp gather;
static TenonDTensor x, y;

static TenonErrorCode createObjects(void) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  TenonCall(TenonPartitionCreate(MPI_COMM_WORLD, 1, &size, &all));
  TenonCall(TenonLayoutCreateSharded(all, 2, shape, "S0", &split));
  TenonCall(TenonLayoutCreateSharded(all, 2, shape, "B", &copies));
  TenonCall(TenonLinearOpCreateConversion(split, copies, TENON_FLOAT64, &gather));
  TenonCall(TenonDTensorCreate(split, TENON_FLOAT64, &x));
  TenonCall(TenonDTensorCreate(copies, TENON_FLOAT64, &y));
  TenonCall(TenonLinearOpBind(gather, x, y));
  TenonCall(TenonLinearOpApply(gather, x, y));
  return TENON_SUCCESS;
}

static void expectStateError(TenonErrorCode code, const char* words) {
  char text[512] = "";
  CHECK(code == TENON_ERR_STATE);
  CHECK(TenonGetLastError(NULL, text, sizeof text, NULL) == TENON_SUCCESS);
  CHECK(strstr(text, words) != NULL);
}

/* Calls that need MPI, on objects that still exist. The message must contain the words. */
static void expectRefusals(const char* words) {
  TenonLayout layout = NULL;
  double norm = 0;
  TenonPartition partition = NULL;
  const int size = 1;
  expectStateError(TenonLinearOpApply(gather, x, y), words);
  expectStateError(TenonLayoutCreateSharded(all, 2, shape, "B", &layout), words);
  expectStateError(TenonDTensorNorm(y, &norm), words);
  expectStateError(TenonPartitionCreate(MPI_COMM_WORLD, 1, &size, &partition), words);
}

int main(int argc, char** argv) {
  TenonBool isInitialized = TENON_TRUE;
  MPI_Comm comm = MPI_COMM_NULL;
  TenonCallAbort(TenonPushErrorHandler(TenonReturnErrorHandler, NULL));
  expectStateError(TenonCommFromFortran(0, &comm), "MPI is not initialised");
  MPI_Init(&argc, &argv);
  TenonCallAbort(TenonInitialize(&argc, &argv, NULL));
  TenonCallAbort(createObjects());
  MPI_Finalize();
  expectStateError(TenonCommFromFortran(0, &comm), "MPI is finalised");
  expectRefusals("MPI was finalised before Tenon");
  CHECK(TenonInitialized(&isInitialized) == TENON_SUCCESS && !isInitialized);
  expectStateError(TenonInitialize(&argc, &argv, NULL), "MPI was finalised");
  CHECK(TenonDTensorDestroy(&x) == TENON_SUCCESS && x == NULL);
  expectStateError(TenonFinalize(), "call TenonFinalize() before MPI_Finalize()");
  expectStateError(TenonFinalize(), "not initialised");
  expectStateError(TenonDTensorNorm(y, &(double){0}), "not initialised");
  CHECK(TenonDTensorDestroy(&y) == TENON_SUCCESS);
  CHECK(TenonLinearOpDestroy(&gather) == TENON_SUCCESS);
  CHECK(TenonLayoutDestroy(&split) == TENON_SUCCESS);
  CHECK(TenonLayoutDestroy(&copies) == TENON_SUCCESS);
  CHECK(TenonPartitionDestroy(&all) == TENON_SUCCESS);
  CHECK(TenonPopErrorHandler() == TENON_SUCCESS);
  puts("all refused");
  TenonCallAbort(TenonFinalize()); /* ends the process without a signal */
  puts("not reached");
  return 0;
}
