// SPDX-License-Identifier: BSD-2-Clause
// Node: the ranks of a communicator that run on one node, while they set up memory that they share.
// Used by SharedArena::make() and DeviceArena. Either all ranks of a node get the resource or none
// does, so each step of the set-up is run by whyNot(), which combines its outcomes:
//
//   const Node node(comm);                                // collective over comm
//   const Reason reason = node.whyNot([&] { create(); }); // collective over the node
//   if (!reason.isEmpty())
//     return withoutSharedMemory(reason.text());          // the same on all ranks of the node
#pragma once

#include "comm/mpi.hpp"
#include "sys/errors/error.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace tenon {

// Why the ranks of a node do without a resource, as a text that ends with a zero byte; empty if
// they have the resource. Its size is fixed: an allocation for a received text could fail on one
// rank only, which would then leave the set-up while the other ranks wait for it in MPI.
class Reason {
public:
  bool isEmpty() const noexcept { return text_.front() == 0; }
  std::string_view text() const noexcept { return text_.data(); }

private:
  friend struct Node;
  std::array<char, 256> text_{};
};

// The communicator of the ranks of a node. Creation is collective over the parent, destruction over
// the ranks of the node.
struct Node {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1; // In comm.

  explicit Node(MPI_Comm parent);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node() { MPI_Comm_free(&comm); }

  // Runs a body on every rank of the node; collective over it. Returns the error text of the lowest
  // rank whose body throws, or an empty reason if all succeed: the same on all ranks. If a body
  // throws std::bad_alloc, whyNot() throws std::bad_alloc on all ranks, since a failed allocation
  // on the heap is an error of the program, and not a reason to continue without shared memory.
  template <class Body>
  Reason whyNot(Body body) const {
    std::optional<Error> error;
    bool heapSufficed = true;
    try {
      body();
    } catch (const std::bad_alloc&) {
      error = caughtError();
      heapSufficed = false;
    } catch (...) {
      error = caughtError();
    }
    return firstReason(error, heapSufficed);
  }

private:
  // `mine` is the error of this rank's body, if any; heapSufficed is false if it was
  // std::bad_alloc.
  Reason firstReason(const std::optional<Error>& mine, bool heapSufficed) const;
};

} // namespace tenon
