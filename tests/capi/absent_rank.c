/* SPDX-License-Identifier: BSD-2-Clause */
/* The last rank leaves out the call that the argument names: "initialize", "apply" or "finalize".
 * The others say so, and with -tenon_wait_limit end the program. */
#include <tenon.h>

#include <stdio.h>
#include <string.h>

enum { kLimits = 5 }; /* words */

static TenonErrorCode gather(int takesPart) {
  const TenonInt shape[2] = {8, 3};
  int size = 1;
  TenonPartition all = NULL;
  TenonLayout split = NULL, copies = NULL;
  TenonLinearOp gather = NULL;
  TenonDTensor x = NULL, y = NULL;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  TenonCall(TenonPartitionCreate(MPI_COMM_WORLD, 1, &size, &all));
  TenonCall(TenonLayoutCreateSharded(all, 2, shape, "S0", &split));
  TenonCall(TenonLayoutCreateSharded(all, 2, shape, "B", &copies));
  TenonCall(TenonLinearOpCreateConversion(split, copies, TENON_FLOAT64, &gather));
  TenonCall(TenonObjectSetName((TenonObject)gather, "gather"));
  TenonCall(TenonDTensorCreate(split, TENON_FLOAT64, &x));
  TenonCall(TenonDTensorCreate(copies, TENON_FLOAT64, &y));
  if (takesPart)
    TenonCall(TenonLinearOpApply(gather, x, y));
  TenonCall(TenonDTensorDestroy(&y));
  TenonCall(TenonDTensorDestroy(&x));
  TenonCall(TenonLinearOpDestroy(&gather));
  TenonCall(TenonLayoutDestroy(&copies));
  TenonCall(TenonLayoutDestroy(&split));
  TenonCall(TenonPartitionDestroy(&all));
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  const char* name;
  int rank = 0, size = 1, isAbsent = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  isAbsent = rank == size - 1;
  name = argv[1];
  if (isAbsent) { /* without the limits, which are the first options: the others speak first */
    argc -= kLimits;
    argv += kLimits;
  }
  if (isAbsent && strcmp(name, "initialize") == 0)
    MPI_Barrier(MPI_COMM_WORLD); /* the others are not in one */
  TenonCallAbort(TenonInitialize(&argc, &argv, NULL));
  TenonCallAbort(gather(!isAbsent || strcmp(name, "apply") != 0));
  if (isAbsent && strcmp(name, "finalize") == 0)
    MPI_Barrier(MPI_COMM_WORLD); /* the others are not in one */
  TenonCallAbort(TenonFinalize());
  printf("came to the end\n");
  return 0;
}
