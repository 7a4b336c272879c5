// SPDX-License-Identifier: BSD-2-Clause
#include "comm/exchange.hpp"

#include "sys/log.hpp"

#include <algorithm>

namespace tenon {

namespace {

int pieceBytes(const Message& message, std::size_t piece) {
  const Index begin = static_cast<Index>(piece) * Exchange::kPieceBytes;
  return static_cast<int>(std::min(Exchange::kPieceBytes, message.bytes - begin));
}

} // namespace

Exchange::Exchange(CommPtr comm, int tag, std::vector<Message> sends, std::vector<Message> receives)
    : comm_(std::move(comm)), tag_(tag), sends_(std::move(sends)), receives_(std::move(receives)),
      sendRequests_(requestsFor(sends_)), receiveRequests_(requestsFor(receives_)) {}

std::vector<Exchange::Requests> Exchange::requestsFor(const std::vector<Message>& messages) {
  std::vector<Requests> requests;
  for (const Message& m : messages)
    requests.emplace_back((m.bytes + kPieceBytes - 1) / kPieceBytes, MPI_REQUEST_NULL);
  return requests;
}

void Exchange::startReceives() {
  for (std::size_t i = 0; i < receives_.size(); ++i)
    for (std::size_t piece = 0; piece < receiveRequests_[i].size(); ++piece)
      checkMpi(MPI_Irecv(receives_[i].data + piece * kPieceBytes, pieceBytes(receives_[i], piece),
                         MPI_BYTE, receives_[i].peer, tag_, comm_->mpi(),
                         &receiveRequests_[i][piece]),
               "MPI_Irecv");
}

void Exchange::startSend(int index) {
  const Message& message = sends_[index];
  for (std::size_t piece = 0; piece < sendRequests_[index].size(); ++piece)
    checkMpi(MPI_Isend(message.data + piece * kPieceBytes, pieceBytes(message, piece), MPI_BYTE,
                       message.peer, tag_, comm_->mpi(), &sendRequests_[index][piece]),
             "MPI_Isend");
  logMessage(message.bytes);
}

void Exchange::waitReceive(int index) {
  Requests& requests = receiveRequests_[index];
  checkMpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
           "MPI_Waitall");
}

void Exchange::waitSends() {
  for (Requests& requests : sendRequests_)
    checkMpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
             "MPI_Waitall");
}

} // namespace tenon
