/* SPDX-License-Identifier: BSD-2-Clause */
/* A process grid of 1000 processes is refused on all ranks with the same error. TenonCallAbort()
 * then prints it once, on rank 0, and ends the program; the other ranks end only after it is
 * printed. */
#include <tenon.h>

#include <stdio.h>

int main(int argc, char** argv) {
  const int tooMany = 1000;
  TenonPartition partition = NULL;

  TenonCallAbort(TenonInitialize(&argc, &argv, NULL));
  TenonCallAbort(TenonPartitionCreate(MPI_COMM_WORLD, 1, &tooMany, &partition));
  printf("not reached\n");
  return 0;
}
