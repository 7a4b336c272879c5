/* SPDX-License-Identifier: BSD-2-Clause */
/* All ranks pass a float32 tensor to an operator for float64. Apply does not compare its arguments
 * between ranks, so no rank knows that the others have the same error: it is fatal, and the program
 * must end with one report, which counts the ranks. */
#include <tenon.h>

#include <stdio.h>

static TenonErrorCode applyWrongly(void) {
  const TenonInt shape[2] = {8, 3};
  int size = 1;
  TenonPartition all = NULL;
  TenonLayout split = NULL;
  TenonLinearOp copy = NULL;
  TenonDTensor x = NULL, single = NULL;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  TenonCall(TenonPartitionCreate(MPI_COMM_WORLD, 1, &size, &all));
  TenonCall(TenonLayoutCreateSharded(all, 2, shape, "S0", &split));
  TenonCall(TenonLinearOpCreateConversion(split, split, TENON_FLOAT64, &copy));
  TenonCall(TenonDTensorCreate(split, TENON_FLOAT64, &x));
  TenonCall(TenonDTensorCreate(split, TENON_FLOAT32, &single));
  TenonCall(TenonLinearOpApply(copy, single, x));
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  TenonCallAbort(TenonInitialize(&argc, &argv, NULL));
  TenonCallAbort(applyWrongly());
  printf("not reached\n");
  return 0;
}
