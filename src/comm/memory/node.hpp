// SPDX-License-Identifier: BSD-2-Clause
// The ranks of a communicator on this node, while they set up what they share.
#pragma once

#include "comm/mpi.hpp"
#include "sys/errors/error.hpp"

#include <string>

namespace tenon {

// The communicator of the ranks of a node. It is made and freed collectively over the parent.
struct Node {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;

  explicit Node(MPI_Comm parent);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node() { MPI_Comm_free(&comm); }

  // Runs a body on every rank of the node. Returns the reason of the lowest rank that fails, "" if
  // all succeed.
  template <class Body>
  std::string whyNot(Body body) const {
    std::string reason;
    try {
      body();
    } catch (...) {
      reason = caughtError().text();
    }
    return firstReason(reason);
  }

private:
  std::string firstReason(const std::string& mine) const;
};

} // namespace tenon
