// SPDX-License-Identifier: BSD-2-Clause
// The ranks of a communicator on this node, while they set up what they share.
#pragma once

#include "comm/mpi.hpp"
#include "sys/errors/error.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace tenon {

// Why the ranks of a node do without something; empty if they have it. It allocates nothing, so
// that the ranks stay in step.
class Reason {
public:
  bool isEmpty() const noexcept { return text_.front() == 0; }
  std::string_view text() const noexcept { return text_.data(); }

private:
  friend struct Node;
  std::array<char, 256> text_{};
};

// The communicator of the ranks of a node. It is made and freed collectively over the parent.
struct Node {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;

  explicit Node(MPI_Comm parent);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node() { MPI_Comm_free(&comm); }

  // Runs a body on every rank of the node. Returns the reason of the lowest rank that fails, or
  // nothing if all succeed; throws std::bad_alloc on all ranks if a rank had no memory for the
  // body, which is no reason to do without.
  template <class Body>
  Reason whyNot(Body body) const {
    std::optional<Error> mine;
    bool hasMemory = true;
    try {
      body();
    } catch (const std::bad_alloc&) {
      mine = caughtError();
      hasMemory = false;
    } catch (...) {
      mine = caughtError();
    }
    return firstReason(mine, hasMemory);
  }

private:
  Reason firstReason(const std::optional<Error>& mine, bool hasMemory) const;
};

} // namespace tenon
