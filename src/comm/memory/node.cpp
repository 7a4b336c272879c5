// SPDX-License-Identifier: BSD-2-Clause
// Finds the ranks of a node by MPI, and combines the outcomes of a step of their set-up of shared
// memory. Either all ranks of a node share memory or none: a rank that used it alone would poll it
// for data that the other ranks send by MPI instead.
#include "comm/memory/node.hpp"

#include <new>

namespace tenon {

Node::Node(MPI_Comm parent) {
  int parentRank = 0;
  checkMpi(MPI_Comm_rank(parent, &parentRank), "MPI_Comm_rank");
  // The ranks of the node keep the order of their ranks in the parent.
  checkMpi(MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, parentRank, MPI_INFO_NULL, &comm),
           "MPI_Comm_split_type");
  checkMpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  checkMpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
}

Reason Node::firstReason(const std::optional<Error>& mine, bool heapSufficed) const {
  // One reduction gives the lowest rank that failed (`size` if none did), and whether all bodies
  // had enough memory on the heap.
  int minima[2] = {mine ? rank : size, heapSufficed ? 1 : 0};
  checkMpi(MPI_Allreduce(MPI_IN_PLACE, minima, 2, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  const auto [firstFailed, heapSufficedOnAll] = minima;
  if (!heapSufficedOnAll)
    throw std::bad_alloc();
  Reason reason;
  if (firstFailed == size)
    return reason;
  // Each failed rank fills in its own text, and the text of firstFailed replaces it. The size is
  // fixed, so the ranks that receive need neither its length nor an allocation.
  if (mine)
    mine->text().copy(reason.text_.data(), reason.text_.size() - 1);
  checkMpi(MPI_Bcast(reason.text_.data(), static_cast<int>(reason.text_.size()), MPI_CHAR,
                     firstFailed, comm),
           "MPI_Bcast");
  return reason;
}

} // namespace tenon
