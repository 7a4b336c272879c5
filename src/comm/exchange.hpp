// SPDX-License-Identifier: BSD-2-Clause
// Exchange: rounds of non-blocking point-to-point messages. One rank uses it for its messages to
// and from any number of ranks:
//
//   startReceives()
//   startSend(i)           for each message that this rank sends, once its data is in memory
//   waitReceive(i, piece)  for each piece of each message that it receives, or nextReceive() as
//                          often as there are pieces, in the order in which they arrive
//   waitSends()            the memory of the messages can then be written again
//
// MPI requests are created in each round, or once as persistent requests. Messages of both kinds
// match, so the sender and the receiver can use different kinds. Between rounds the memory of a
// message can be replaced, unless requests are persistent. Messages larger than pieceBytes are
// divided into pieces. An index `i` counts the messages in the order of the constructor's list.
#pragma once

#include "comm/communicator.hpp"
#include "sys/types.hpp"

#include <optional>

namespace tenon {

struct Message {
  int peer = -1; // The rank to which it is sent, or from which it is received.
  std::byte* data = nullptr;
  Index bytes = 0;
};

class Exchange {
public:
  // The largest piece of a message, since MPI counts bytes in an int.
  static constexpr Index kMaxPieceBytes = Index(1) << 30;

  // Both sides of a message must divide it into pieces of the same size.
  Exchange(CommPtr comm, int tag, std::vector<Message> sends, std::vector<Message> receives,
           Index pieceBytes = kMaxPieceBytes);
  // Frees persistent requests; no round can be in flight.
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // The memory of a message in the following rounds.
  void placeSend(int index, std::byte* data) { sends_[index].data = data; }
  void placeReceive(int index, std::byte* data) { receives_[index].data = data; }
  // Creates persistent requests for the following rounds, whose messages stay where they are.
  // If some are small, all are sent without, which is faster.
  void makePersistent();

  void startReceives();
  void startSend(int index);
  // Starts all sends, with one MPI call if their requests are persistent.
  void startSends();
  void waitSends();

  // The pieces of each message, in order.
  int piecesOfSend(int index) const { return sendRequests_.pieces(index); }
  int piecesOfReceive(int index) const { return receiveRequests_.pieces(index); }
  Message pieceOfSend(int index, int piece) const { return pieceOf(sends_[index], piece); }
  Message pieceOfReceive(int index, int piece) const { return pieceOf(receives_[index], piece); }
  void startSend(int index, int piece);
  void waitReceive(int index, int piece);
  int piecesOfReceives() const { return receiveRequests_.count(); }
  // Waits for any piece, and returns each of the piecesOfReceives() pieces of a round once.
  struct Arrival {
    int index, piece;
    bool isLast; // True for the last piece of its message.
  };
  Arrival nextReceive();
  // As nextReceive(), but returns nothing instead of waiting if no other piece has arrived.
  std::optional<Arrival> receivedPiece();

private:
  // The requests of all messages in one array, which MPI takes in one call.
  struct RequestList {
    std::vector<MPI_Request> all;
    std::vector<int> first = {0}; // Of each message its first request, then the end.
    int count() const { return static_cast<int>(all.size()); }
    int pieces(int index) const { return first[index + 1] - first[index]; }
    MPI_Request& of(int index, int piece) { return all[first[index] + piece]; }
  };
  RequestList requestsFor(const std::vector<Message>& messages) const;
  Message pieceOf(const Message& message, int piece) const;
  bool hasNewArrivals();
  bool hasPersistentSends() const { return isPersistent_ && !sendsAtOnce_; }

  CommPtr comm_;
  int tag_;
  Index pieceBytes_;
  std::vector<Message> sends_, receives_;
  RequestList sendRequests_, receiveRequests_;
  bool isPersistent_ = false;
  bool sendsAtOnce_ = false; // Persistent requests are those of receives only.
  // Of the round in flight: by receive, its pieces that nextReceive() has not returned; the
  // requests that have completed, and how many of them nextReceive() has returned.
  std::vector<int> missing_, completed_;
  int arrived_ = 0, returned_ = 0;
};

} // namespace tenon
