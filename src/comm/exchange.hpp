// SPDX-License-Identifier: BSD-2-Clause
// Exchange: rounds of non-blocking point-to-point messages between fixed buffers. Calls of a round:
// startReceives(), startSend() for each message, waitReceive() for each piece, waitSends(). MPI
// requests are created in each round, or once as persistent requests. Messages of both kinds match,
// so the sender and the receiver can use different kinds. Large messages are divided into pieces.
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
  // The largest piece of a message, since MPI counts bytes in an int.
  static constexpr Index kMaxPieceBytes = Index(1) << 30;

  // Both sides of a message must divide it into pieces of the same size.
  Exchange(CommPtr comm, int tag, std::vector<Message> sends, std::vector<Message> receives,
           Requests requests = Requests::EachRound, Index pieceBytes = kMaxPieceBytes);
  // Frees persistent requests; no round can be in flight.
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void startReceives();
  void startSend(int index);
  void waitSends();

  // The pieces of each message, in order.
  int piecesOfSend(int index) const { return static_cast<int>(sendRequests_[index].size()); }
  int piecesOfReceive(int index) const { return static_cast<int>(receiveRequests_[index].size()); }
  Message pieceOfSend(int index, int piece) const { return pieceOf(sends_[index], piece); }
  Message pieceOfReceive(int index, int piece) const { return pieceOf(receives_[index], piece); }
  void startSend(int index, int piece);
  void waitReceive(int index, int piece);

private:
  using RequestList = std::vector<MPI_Request>; // One request per piece of a message.
  std::vector<RequestList> requestsFor(const std::vector<Message>& messages) const;
  Message pieceOf(const Message& message, int piece) const;
  void makePersistent();
  void freePersistent(std::vector<RequestList>& requests);

  CommPtr comm_;
  int tag_;
  Requests kind_;
  Index pieceBytes_;
  std::vector<Message> sends_, receives_;
  std::vector<RequestList> sendRequests_, receiveRequests_;
};

} // namespace tenon
