// SPDX-License-Identifier: BSD-2-Clause
// Finds the ranks of a node by MPI, and makes their outcomes one. Sharing memory is an
// all-or-nothing matter on a node: a rank that went on alone would wait for postings that nobody
// makes.
#include "comm/memory/node.hpp"

namespace tenon {

Node::Node(MPI_Comm parent) {
  int key = 0;
  checkMpi(MPI_Comm_rank(parent, &key), "MPI_Comm_rank");
  checkMpi(MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, key, MPI_INFO_NULL, &comm),
           "MPI_Comm_split_type");
  checkMpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  checkMpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
}

std::string Node::firstReason(const std::string& mine) const {
  int speaker = mine.empty() ? size : rank;
  checkMpi(MPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (speaker == size)
    return {};
  // A text of fixed length needs one broadcast, and no memory that may be missing.
  std::string text = mine.substr(0, 255);
  text.resize(256);
  checkMpi(MPI_Bcast(text.data(), 256, MPI_CHAR, speaker, comm), "MPI_Bcast");
  return text.substr(0, text.find('\0'));
}

} // namespace tenon
