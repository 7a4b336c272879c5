// SPDX-License-Identifier: BSD-2-Clause
// A test program with this source takes the ranks of one machine for those of several nodes, since
// the library finds nodes by MPI_Comm_split_type(). With TENON_TEST_NODES=2, the ranks 0, 2, 4, ...
// are on node 0 and 1, 3, 5, ... on node 1; with TENON_TEST_NODE_RANKS=2, the ranks 0 and 1 are on
// node 0, 2 and 3 on node 1, and so on.
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
