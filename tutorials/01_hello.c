/* SPDX-License-Identifier: BSD-2-Clause */
/* 01 Hello: begin, make one distributed tensor, ask it something, end.
 *
 * What you learn: the life of a program, of an object, and of an error code; that a tensor's values
 * do not depend on how many processes hold it; where options come from.
 *
 *   mpiexec -n 4 01_hello
 *   mpiexec -n 4 01_hello -cells 1000
 *   mpiexec -n 4 01_hello -tenon_help 01_hello      the program's options
 *   mpiexec -n 4 01_hello -tenon_log_view           where time went
 */
#include <tenon.h>

#include <stdio.h>

/* TenonCall() returns the error code of a call that failed, and adds this line to its trace. */
static TenonErrorCode Hello(MPI_Comm comm) {
  TenonPartition partition = NULL;
  TenonLayout layout = NULL;
  TenonDTensor x = NULL;
  TenonInt cells, low, high;
  double norm;
  int rank, size;

  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  TenonCall(TenonOptionsGetInt("-", "cells", &cells));

  /* A partition arranges processes, a layout says how a tensor lies on them, S0: its dimension 0
   * split over the only axis of the partition. */
  TenonCall(TenonPartitionCreate(comm, 1, &size, &partition));
  TenonCall(TenonLayoutCreateSharded(partition, 1, &cells, "S0", &layout));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT64, &x));

  /* Random numbers go by global position: any number of processes draws the same tensor. */
  TenonCall(TenonDTensorFillUniform(x, 1, 0, -1, 1));
  TenonCall(TenonDTensorNorm(x, &norm));
  TenonCall(TenonDTensorGetBox(x, &low, &high));
  if (rank == 0) {
    printf("a tensor of %ld cells on %d process%s, norm %.10f\n", (long)cells, size,
           size > 1 ? "es" : "", norm);
    printf("process 0 holds cells %ld to %ld\n", (long)low, (long)high - 1);
  }

  /* What was created is destroyed, in any order: objects keep what they need. TenonFinalize() names
   * what was forgotten. */
  TenonCall(TenonPartitionDestroy(&partition));
  TenonCall(TenonLayoutDestroy(&layout));
  TenonCall(TenonDTensorDestroy(&x));
  return TENON_SUCCESS;
}

/* TenonCallAbort() ends the program on all processes instead: main has nobody to return to. */
int main(int argc, char** argv) {
  TenonCallAbort(TenonOptionsDeclare("01_hello", "cells", TENON_OPTION_INT, "100",
                                     "length of the tensor", NULL));
  TenonCallAbort(TenonInitialize(&argc, &argv, "01 Hello: the life of a program\n"));
  TenonCallAbort(Hello(MPI_COMM_WORLD));
  TenonCallAbort(TenonFinalize());
  return 0;
}
