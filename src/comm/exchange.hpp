// SPDX-License-Identifier: BSD-2-Clause
// The point-to-point transport: one round of non-blocking messages between fixed buffers. Its
// requests are made anew in each round, or once, as persistent requests. Both kinds match each
// other, so that ranks need not agree on one.
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
  enum class Requests { EachRound, Persistent };
  // A message above this size travels in pieces, since MPI counts in int.
  static constexpr Index kPieceBytes = Index(1) << 30;

  Exchange(CommPtr comm, int tag, std::vector<Message> sends, std::vector<Message> receives,
           Requests requests = Requests::EachRound);
  // Frees persistent requests; no round may be under way.
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void startReceives();
  void startSend(int index);
  void waitReceive(int index);
  void waitSends();

private:
  using RequestList = std::vector<MPI_Request>; // one for each piece of a message
  static std::vector<RequestList> requestsFor(const std::vector<Message>& messages);
  void makePersistent();
  void freePersistent(std::vector<RequestList>& requests);

  CommPtr comm_;
  int tag_;
  Requests kind_;
  std::vector<Message> sends_, receives_;
  std::vector<RequestList> sendRequests_, receiveRequests_;
};

} // namespace tenon
