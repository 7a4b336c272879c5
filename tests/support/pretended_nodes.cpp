// SPDX-License-Identifier: BSD-2-Clause
// A program that has this source takes the ranks of one machine for those of several nodes: with
// TENON_TEST_NODES=N of N nodes, among which they are dealt in turn; with TENON_TEST_NODE_RANKS=N
// of nodes of N ranks, one after the other.
#include "comm/mpi.hpp"

#include <cstdlib>

extern "C" int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                                   MPI_Comm* part) {
  const char* const nodes = std::getenv("TENON_TEST_NODES");
  const char* const ranks = std::getenv("TENON_TEST_NODE_RANKS");
  if (!nodes && !ranks)
    return PMPI_Comm_split_type(comm, type, key, info, part);
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int node = nodes ? rank % std::atoi(nodes) : rank / std::atoi(ranks);
  return PMPI_Comm_split(comm, node, key, part);
}
