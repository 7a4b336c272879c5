/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: absent_rank CALL -tenon_wait_warning S -tenon_wait_limit S [OPTION ...]
 *
 * All ranks make collective calls, except that the last rank does not make one of them: CALL is
 * "initialize", "apply" or "finalize". The other ranks must report which rank they wait for, and
 * end the program after the limit. In place of "initialize" and "finalize" the last rank waits in a
 * barrier; in place of "apply" it continues with the calls that follow. */
#include <tenon.h>

#include <stdio.h>
#include <string.h>

enum { LIMIT_WORDS = 5 }; /* CALL and the two limits with their values */

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
  if (isAbsent) { /* without limits, and therefore only the other ranks report */
    argc -= LIMIT_WORDS;
    argv += LIMIT_WORDS;
  }
  if (isAbsent && strcmp(name, "initialize") == 0)
    MPI_Barrier(MPI_COMM_WORLD); /* the others do not call it: waits until they end the program */
  TenonCallAbort(TenonInitialize(&argc, &argv, NULL));
  TenonCallAbort(gather(!isAbsent || strcmp(name, "apply") != 0));
  if (isAbsent && strcmp(name, "finalize") == 0)
    MPI_Barrier(MPI_COMM_WORLD); /* the others do not call it: waits until they end the program */
  TenonCallAbort(TenonFinalize());
  printf("came to the end\n");
  return 0;
}
