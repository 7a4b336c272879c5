/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: mpiexec -n N coupled_model with_comm|world [OPTION ...] : -n M coupled_other
 *
 * A model of a coupled job that shares MPI_COMM_WORLD with a program without Tenon. It initialises
 * Tenon on its own communicator, and its ranks use a field; or on MPI_COMM_WORLD, which the other
 * program never does: the model then says so after 10 s, and is ended by -tenon_wait_limit. Then
 * MPI's clock shows 10 ms more in each call, by which these seconds take no time. */
#include "support/check.h"

#include <tenon.h>

#include <string.h>

static int isOnWorld = 0;

/* In place of MPI's own, for the library too. */
double MPI_Wtime(void) {
  static double now = 1;
  now += 0.01;
  return isOnWorld ? now : PMPI_Wtime();
}

/* A field on the ranks of the model. */
static TenonErrorCode useRanks(MPI_Comm own) {
  const TenonInt shape[1] = {4};
  int size = 1;
  double norm = 0;
  TenonPartition all = NULL;
  TenonLayout split = NULL;
  TenonDTensor x = NULL;
  MPI_Comm_size(own, &size);
  TenonCall(TenonPartitionCreate(own, 1, &size, &all));
  TenonCall(TenonLayoutCreateSharded(all, 1, shape, "S0", &split));
  TenonCall(TenonDTensorCreate(split, TENON_FLOAT64, &x));
  TenonCall(TenonDTensorFillConstant(x, 3));
  TenonCall(TenonDTensorNorm(x, &norm));
  CHECK(norm == 6); /* the root of 4 times 9 */
  TenonCall(TenonDTensorDestroy(&x));
  TenonCall(TenonLayoutDestroy(&split));
  return TenonPartitionDestroy(&all);
}

int main(int argc, char** argv) {
  MPI_Comm own = MPI_COMM_NULL;
  int rank = 0;
  MPI_Init(&argc, &argv);
  CHECK(argc > 1);
  isOnWorld = strcmp(argv[1], "world") == 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, 1, rank, &own);
  if (isOnWorld)
    TenonCallAbort(TenonInitialize(&argc, &argv, NULL));
  else
    TenonCallAbort(TenonInitializeWithComm(own, &argc, &argv, NULL));
  TenonCallAbort(useRanks(own));
  TenonCallAbort(TenonFinalize());
  MPI_Comm_free(&own);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0)
    puts("the model has ended");
  return 0;
}
