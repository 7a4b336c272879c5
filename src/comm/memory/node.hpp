// SPDX-License-Identifier: BSD-2-Clause
// Node: the ranks of a communicator on this node, while they set up shared memory.
#pragma once

#include "comm/mpi.hpp"
#include "sys/errors/error.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace tenon {

// Why the ranks of a node do without a resource; empty if they have it. Allocates nothing, so it
// cannot fail on one rank only.
class Reason {
public:
  bool isEmpty() const noexcept { return text_.front() == 0; }
  std::string_view text() const noexcept { return text_.data(); }

private:
  friend struct Node;
  std::array<char, 256> text_{};
};

// The communicator of the ranks of a node. Creation and destruction are collective over the parent.
struct Node {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;

  explicit Node(MPI_Comm parent);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node() { MPI_Comm_free(&comm); }

  // Runs a body on every rank of the node. Returns the error text of the lowest rank that fails, or
  // an empty reason if all succeed. Throws std::bad_alloc on all ranks if a rank had no memory for
  // the body, which is an error and not a reason to do without.
  template <class Body>
  Reason whyNot(Body body) const {
    std::optional<Error> error;
    bool hasMemory = true;
    try {
      body();
    } catch (const std::bad_alloc&) {
      error = caughtError();
      hasMemory = false;
    } catch (...) {
      error = caughtError();
    }
    return firstReason(error, hasMemory);
  }

private:
  Reason firstReason(const std::optional<Error>& mine, bool hasMemory) const;
};

} // namespace tenon
