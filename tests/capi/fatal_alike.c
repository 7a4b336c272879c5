/* SPDX-License-Identifier: BSD-2-Clause */
/* All ranks pass the same wrong tensor to Apply, which none can know of the others: the program
 * ends with one report. */
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
