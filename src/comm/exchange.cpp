// SPDX-License-Identifier: BSD-2-Clause
// Divides messages into pieces that MPI can count, and starts and completes their requests. The
// receives of a round are started before its sends, so most messages find their buffer posted.
// Waits are loops of tests, since the warning of a long wait names the ranks that have not sent.
#include "comm/exchange.hpp"

#include "comm/agreement/wait_policy.hpp"
#include "sys/log/log.hpp"

#include <algorithm>

namespace tenon {

namespace {

void startAll(std::vector<MPI_Request>& requests) {
  checkMpi(MPI_Startall(static_cast<int>(requests.size()), requests.data()), "MPI_Startall");
}

// The ranks whose messages are not complete, as text: "rank 3".
std::string pendingText(const std::vector<Message>& messages,
                        const std::vector<std::vector<MPI_Request>>& requests) {
  std::vector<int> peers;
  for (std::size_t i = 0; i < messages.size(); ++i)
    if (!std::all_of(requests[i].begin(), requests[i].end(), isComplete))
      peers.push_back(messages[i].peer);
  return ranksText(peers);
}

} // namespace

Exchange::Exchange(CommPtr comm, int tag, std::vector<Message> sends, std::vector<Message> receives,
                   Requests requests, Index pieceBytes)
    : comm_(std::move(comm)), tag_(tag), kind_(requests), pieceBytes_(pieceBytes),
      sends_(std::move(sends)), receives_(std::move(receives)), sendRequests_(requestsFor(sends_)),
      receiveRequests_(requestsFor(receives_)) {
  if (kind_ == Requests::Persistent)
    makePersistent();
}

Exchange::~Exchange() {
  // After MPI_Finalize the requests no longer exist and must not be freed.
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (kind_ == Requests::EachRound || finalized)
    return;
  freePersistent(sendRequests_);
  freePersistent(receiveRequests_);
}

std::vector<Exchange::RequestList>
Exchange::requestsFor(const std::vector<Message>& messages) const {
  std::vector<RequestList> requests;
  for (const Message& m : messages)
    requests.emplace_back((m.bytes + pieceBytes_ - 1) / pieceBytes_, MPI_REQUEST_NULL);
  return requests;
}

Message Exchange::pieceOf(const Message& message, int piece) const {
  const Index begin = piece * pieceBytes_;
  return {message.peer, message.data + begin, std::min(pieceBytes_, message.bytes - begin)};
}

void Exchange::makePersistent() {
  const auto make = [&](const auto& messages, auto& requests, auto* init, const char* name) {
    for (std::size_t i = 0; i < messages.size(); ++i)
      for (std::size_t n = 0; n < requests[i].size(); ++n) {
        const Message piece = pieceOf(messages[i], static_cast<int>(n));
        checkMpi(init(piece.data, static_cast<int>(piece.bytes), MPI_BYTE, piece.peer, tag_,
                      comm_->mpi(), &requests[i][n]),
                 name);
      }
  };
  make(sends_, sendRequests_, MPI_Send_init, "MPI_Send_init");
  make(receives_, receiveRequests_, MPI_Recv_init, "MPI_Recv_init");
}

void Exchange::freePersistent(std::vector<RequestList>& requests) {
  for (RequestList& list : requests)
    for (MPI_Request& request : list)
      if (request != MPI_REQUEST_NULL)
        MPI_Request_free(&request);
}

void Exchange::startReceives() {
  for (std::size_t i = 0; i < receives_.size(); ++i) {
    // One call starts all pieces of a persistent receive.
    if (kind_ == Requests::Persistent) {
      startAll(receiveRequests_[i]);
      continue;
    }
    for (int n = 0; n < piecesOfReceive(static_cast<int>(i)); ++n) {
      const Message piece = pieceOf(receives_[i], n);
      checkMpi(MPI_Irecv(piece.data, static_cast<int>(piece.bytes), MPI_BYTE, piece.peer, tag_,
                         comm_->mpi(), &receiveRequests_[i][n]),
               "MPI_Irecv");
    }
  }
}

void Exchange::startSend(int index) {
  for (int n = 0; n < piecesOfSend(index); ++n)
    startSend(index, n);
}

void Exchange::startSend(int index, int piece) {
  MPI_Request& request = sendRequests_[index][piece];
  const Message message = pieceOfSend(index, piece);
  if (kind_ == Requests::Persistent)
    checkMpi(MPI_Start(&request), "MPI_Start");
  else
    checkMpi(MPI_Isend(message.data, static_cast<int>(message.bytes), MPI_BYTE, message.peer, tag_,
                       comm_->mpi(), &request),
             "MPI_Isend");
  // The log counts messages, not pieces.
  if (piece == 0)
    logMessage(sends_[index].bytes);
}

void Exchange::waitReceive(int index, int piece) {
  waitFor(*comm_, &receiveRequests_[index][piece], 1,
          [&] { return pendingText(receives_, receiveRequests_); });
}

void Exchange::waitSends() {
  for (RequestList& requests : sendRequests_)
    waitFor(*comm_, requests.data(), requests.size(),
            [&] { return pendingText(sends_, sendRequests_); });
}

} // namespace tenon
