// SPDX-License-Identifier: BSD-2-Clause
// Exchange: rounds of non-blocking point-to-point messages between fixed buffers. One rank uses it
// for its messages to and from any number of ranks:
//
//   startReceives()
//   startSend(i)           for each message that this rank sends, once its data is in the buffer
//   waitReceive(i, piece)  for each piece of each message that it receives
//   waitSends()            the buffers can then be filled again
//
// MPI requests are created in each round, or once as persistent requests. Messages of both kinds
// match, so the sender and the receiver can use different kinds. Messages larger than pieceBytes
// are divided into pieces. An index `i` counts the messages in the order of the constructor's list.
#pragma once

#include "comm/communicator.hpp"
#include "sys/types.hpp"

namespace tenon {

struct Message {
  int peer = -1; // The rank to which it is sent, or from which it is received.
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
