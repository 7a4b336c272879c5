/* SPDX-License-Identifier: BSD-2-Clause */
/* 01 Hello: initialise, create a distributed tensor, compute its norm, finalise.
 *
 * What you learn: how a program begins and ends, how objects are created and destroyed, and how
 * errors are returned; that a tensor's values do not depend on the number of processes; how to read
 * options.
 *
 *   mpiexec -n 4 01_hello
 *   mpiexec -n 4 01_hello -length 1000
 *   mpiexec -n 4 01_hello -help                     the program's options
 *   mpiexec -n 4 01_hello -tenon_log_view           where time was spent
 */
#include <tenon.h>

#include <stdio.h>

/* If a call fails, TenonCall() adds this line to the trace of the error and returns its code. */
static TenonErrorCode Hello(MPI_Comm comm) {
  TenonPartition partition = NULL;
  TenonLayout layout = NULL;
  TenonDTensor x = NULL;
  TenonInt length, low, high;
  double norm;
  int rank, size;

  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  TenonCall(TenonOptionsGetInt("-", "length", &length));

  /* A partition is a process grid, and a layout distributes a tensor over it. "S0": dimension 0 of
   * the tensor is split over the only axis of the grid. */
  TenonCall(TenonPartitionCreate(comm, 1, &size, &partition));
  TenonCall(TenonLayoutCreateSharded(partition, 1, &length, "S0", &layout));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT64, &x));

  /* A random number depends only on seed, stream and global index: the tensor is the same on any
   * number of processes. */
  TenonCall(TenonDTensorFillUniform(x, 1, 0, -1, 1));
  TenonCall(TenonDTensorNorm(x, &norm));
  TenonCall(TenonDTensorGetBox(x, &low, &high));
  if (rank == 0) {
    printf("a tensor of %ld elements on %d process%s, norm %.10f\n", (long)length, size,
           size > 1 ? "es" : "", norm);
    printf("process 0 holds elements %ld to %ld\n", (long)low, (long)high - 1);
  }

  /* Destroy every object that you created, in any order: objects keep references to those they
   * need. TenonFinalize() lists the objects that were not destroyed. */
  TenonCall(TenonPartitionDestroy(&partition));
  TenonCall(TenonLayoutDestroy(&layout));
  TenonCall(TenonDTensorDestroy(&x));
  return TENON_SUCCESS;
}

/* In main() TenonCallAbort() ends the program on all processes if a call fails. */
int main(int argc, char** argv) {
  TenonCallAbort(TenonOptionsDeclare("01_hello", "length", TENON_OPTION_INT, "100",
                                     "number of elements of the tensor", NULL));
  TenonCallAbort(TenonOptionsOwnCommandLine());
  TenonCallAbort(TenonInitialize(&argc, &argv, "01 Hello: a first program\n"));
  TenonCallAbort(Hello(MPI_COMM_WORLD));
  TenonCallAbort(TenonFinalize());
  return 0;
}
