// SPDX-License-Identifier: BSD-2-Clause
#include "comm/exchange.hpp"

#include "comm/patience.hpp"
#include "sys/log.hpp"

#include <algorithm>

namespace tenon {

namespace {

int pieceBytes(const Message& message, std::size_t piece) {
  const Index begin = static_cast<Index>(piece) * Exchange::kPieceBytes;
  return static_cast<int>(std::min(Exchange::kPieceBytes, message.bytes - begin));
}

// call(piece's address, its bytes, its request) for each piece of a message.
template <class Call>
void forEachPiece(const Message& message, std::vector<MPI_Request>& requests, const char* name,
                  Call call) {
  for (std::size_t piece = 0; piece < requests.size(); ++piece)
    checkMpi(call(message.data + piece * Exchange::kPieceBytes, pieceBytes(message, piece),
                  &requests[piece]),
             name);
}

void startAll(std::vector<MPI_Request>& requests) {
  checkMpi(MPI_Startall(static_cast<int>(requests.size()), requests.data()), "MPI_Startall");
}

// "rank 3": the peers of messages that are not complete.
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
                   Requests requests)
    : comm_(std::move(comm)), tag_(tag), kind_(requests), sends_(std::move(sends)),
      receives_(std::move(receives)), sendRequests_(requestsFor(sends_)),
      receiveRequests_(requestsFor(receives_)) {
  if (kind_ == Requests::Persistent)
    makePersistent();
}

Exchange::~Exchange() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (kind_ == Requests::EachRound || finalized)
    return;
  freePersistent(sendRequests_);
  freePersistent(receiveRequests_);
}

std::vector<Exchange::RequestList> Exchange::requestsFor(const std::vector<Message>& messages) {
  std::vector<RequestList> requests;
  for (const Message& m : messages)
    requests.emplace_back((m.bytes + kPieceBytes - 1) / kPieceBytes, MPI_REQUEST_NULL);
  return requests;
}

void Exchange::makePersistent() {
  for (std::size_t i = 0; i < sends_.size(); ++i)
    forEachPiece(sends_[i], sendRequests_[i], "MPI_Send_init",
                 [&](std::byte* data, int bytes, MPI_Request* request) {
                   return MPI_Send_init(data, bytes, MPI_BYTE, sends_[i].peer, tag_, comm_->mpi(),
                                        request);
                 });
  for (std::size_t i = 0; i < receives_.size(); ++i)
    forEachPiece(receives_[i], receiveRequests_[i], "MPI_Recv_init",
                 [&](std::byte* data, int bytes, MPI_Request* request) {
                   return MPI_Recv_init(data, bytes, MPI_BYTE, receives_[i].peer, tag_,
                                        comm_->mpi(), request);
                 });
}

void Exchange::freePersistent(std::vector<RequestList>& requests) {
  for (RequestList& list : requests)
    for (MPI_Request& request : list)
      if (request != MPI_REQUEST_NULL)
        MPI_Request_free(&request);
}

void Exchange::startReceives() {
  for (std::size_t i = 0; i < receives_.size(); ++i)
    if (kind_ == Requests::Persistent)
      startAll(receiveRequests_[i]);
    else
      forEachPiece(receives_[i], receiveRequests_[i], "MPI_Irecv",
                   [&](std::byte* data, int bytes, MPI_Request* request) {
                     return MPI_Irecv(data, bytes, MPI_BYTE, receives_[i].peer, tag_, comm_->mpi(),
                                      request);
                   });
}

void Exchange::startSend(int index) {
  const Message& message = sends_[index];
  if (kind_ == Requests::Persistent)
    startAll(sendRequests_[index]);
  else
    forEachPiece(message, sendRequests_[index], "MPI_Isend",
                 [&](std::byte* data, int bytes, MPI_Request* request) {
                   return MPI_Isend(data, bytes, MPI_BYTE, message.peer, tag_, comm_->mpi(),
                                    request);
                 });
  logMessage(message.bytes);
}

void Exchange::waitReceive(int index) {
  RequestList& requests = receiveRequests_[index];
  waitFor(*comm_, requests.data(), requests.size(),
          [&] { return pendingText(receives_, receiveRequests_); });
}

void Exchange::waitSends() {
  for (RequestList& requests : sendRequests_)
    waitFor(*comm_, requests.data(), requests.size(),
            [&] { return pendingText(sends_, sendRequests_); });
}

} // namespace tenon
