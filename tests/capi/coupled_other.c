/* SPDX-License-Identifier: BSD-2-Clause */
/* The program without Tenon of a coupled job, see coupled_model.c: it takes part in the division of
 * MPI_COMM_WORLD, and waits for the end of the model. */
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Comm own = MPI_COMM_NULL;
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &own);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&own);
  MPI_Finalize();
  return 0;
}
