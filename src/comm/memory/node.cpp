// SPDX-License-Identifier: BSD-2-Clause
// Finds the ranks of a node by MPI, and combines their outcomes. Either all ranks of a node share
// memory or none: a rank that used it alone would wait for postings that no rank makes.
#include "comm/memory/node.hpp"

#include <new>

namespace tenon {

Node::Node(MPI_Comm parent) {
  int key = 0;
  checkMpi(MPI_Comm_rank(parent, &key), "MPI_Comm_rank");
  checkMpi(MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, key, MPI_INFO_NULL, &comm),
           "MPI_Comm_split_type");
  checkMpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  checkMpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
}

Reason Node::firstReason(const std::optional<Error>& mine, bool hasMemory) const {
  int minima[2] = {mine ? rank : size, hasMemory ? 1 : 0};
  checkMpi(MPI_Allreduce(MPI_IN_PLACE, minima, 2, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  const auto [speaker, allHaveMemory] = minima;
  if (!allHaveMemory)
    throw std::bad_alloc();
  Reason reason;
  if (speaker == size)
    return reason;
  // A text of fixed size needs one broadcast and no allocation.
  if (mine)
    mine->text().copy(reason.text_.data(), reason.text_.size() - 1);
  checkMpi(MPI_Bcast(reason.text_.data(), static_cast<int>(reason.text_.size()), MPI_CHAR, speaker,
                     comm),
           "MPI_Bcast");
  return reason;
}

} // namespace tenon
