// SPDX-License-Identifier: BSD-2-Clause
// The point-to-point transport: one round of non-blocking messages between fixed buffers.
#pragma once

#include "comm/communicator.hpp"
#include "sys/types.hpp"

namespace tenon {

struct Message {
  int peer = -1;
  std::byte* data = nullptr;
  Index bytes = 0;
};

class Exchange {
public:
  // A message above this size travels in pieces, since MPI counts in int.
  static constexpr Index kPieceBytes = Index(1) << 30;

  Exchange(CommPtr comm, int tag, std::vector<Message> sends, std::vector<Message> receives);

  void startReceives();
  void startSend(int index);
  void waitReceive(int index);
  void waitSends();

private:
  using Requests = std::vector<MPI_Request>;
  static std::vector<Requests> requestsFor(const std::vector<Message>& messages);

  CommPtr comm_;
  int tag_;
  std::vector<Message> sends_, receives_;
  std::vector<Requests> sendRequests_, receiveRequests_;
};

} // namespace tenon
