/* SPDX-License-Identifier: BSD-2-Clause */
/* Only the last rank passes a wrong tensor to Apply. The others would wait for its messages, so
 * this is fatal: the error, with the line of the call (see CMakeLists.txt), ends the program. */
#include <tenon.h>

#include <stdio.h>

static TenonErrorCode applyWronglyOnOneRank(void) {
  const TenonInt shape[2] = {8, 3};
  int rank = 0, size = 1;
  TenonPartition all = NULL;
  TenonLayout split = NULL, copies = NULL;
  TenonLinearOp gather = NULL;
  TenonDTensor x = NULL, single = NULL, y = NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  TenonCall(TenonPartitionCreate(MPI_COMM_WORLD, 1, &size, &all));
  TenonCall(TenonLayoutCreateSharded(all, 2, shape, "S0", &split));
  TenonCall(TenonLayoutCreateSharded(all, 2, shape, "B", &copies));
  TenonCall(TenonLinearOpCreateConversion(split, copies, TENON_FLOAT64, &gather));
  TenonCall(TenonDTensorCreate(split, TENON_FLOAT64, &x));
  TenonCall(TenonDTensorCreate(split, TENON_FLOAT32, &single));
  TenonCall(TenonDTensorCreate(copies, TENON_FLOAT64, &y));
  TenonCall(TenonLinearOpApply(gather, rank == size - 1 ? single : x, y));
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  TenonCallAbort(TenonInitialize(&argc, &argv, NULL));
  TenonCallAbort(applyWronglyOnOneRank());
  printf("not reached\n");
  return 0;
}
