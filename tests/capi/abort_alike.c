/* SPDX-License-Identifier: BSD-2-Clause */
/* An error that all ranks know of is printed by rank 0, and each of them ends the program: the
 * others not before it is printed. */
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
