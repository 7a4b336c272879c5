// SPDX-License-Identifier: BSD-2-Clause
// With TENON_TEST_NODES=N a program that has this source takes the ranks of one machine for those of N nodes, among
// which they are dealt in turn.
#include "comm/mpi.hpp"

#include <cstdlib>

extern "C" int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                                   MPI_Comm* part) {
  const char* const nodes = std::getenv("TENON_TEST_NODES");
  if (!nodes)
    return PMPI_Comm_split_type(comm, type, key, info, part);
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return PMPI_Comm_split(comm, rank % std::atoi(nodes), key, part);
}
