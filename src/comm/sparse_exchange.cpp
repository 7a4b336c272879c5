// SPDX-License-Identifier: BSD-2-Clause
// Each rank knows to which ranks it sends, but not from which it receives. Three phases:
//   1. Lengths: each rank sends the length of each list by MPI_Issend. When its sends have
//      completed, that is, are received, it enters MPI_Ibarrier, and continues to receive until
//      the barrier completes: all lengths have then arrived (Hoefler, Siebert and Lumsdaine, PPoPP
//      2010).
//   2. Each rank allocates memory for the lists, and all ranks agree that none has failed.
//   3. The lists are sent.
// Memory for phase 1 is allocated before it begins. A failed allocation therefore never leaves
// other ranks waiting.
#include "comm/sparse_exchange.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/agreement/wait_policy.hpp"

#include <fmt/format.h>

#include <limits>

namespace tenon {

namespace {

// Buffers of a call except the lists: the lengths of the sent lists, in the order of their peers,
// and of the received lists, by rank (0 if the rank sends none).
struct Buffers {
  std::vector<Index> sentLengths, receivedLengths;
  std::vector<MPI_Request> requests;
};

// Receives one length if a message is available; returns true if so.
bool receiveLength(const Communicator& comm, int tag, std::vector<Index>& receivedLengths) {
  int hasMessage = 0;
  MPI_Status status;
  checkMpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm.mpi(), &hasMessage, &status), "MPI_Iprobe");
  if (hasMessage)
    checkMpi(MPI_Recv(&receivedLengths[status.MPI_SOURCE], 1, MPI_INT64_T, status.MPI_SOURCE, tag,
                      comm.mpi(), MPI_STATUS_IGNORE),
             "MPI_Recv");
  return hasMessage != 0;
}

// Phase 1. Synchronous sends complete only when they are received, so a rank enters the barrier
// once all its lengths have been received. The barrier completes when all ranks have entered it:
// then no length is on its way, and each rank knows that it has received all of its own.
void exchangeLengths(const Communicator& comm, int tag, const SparseMessages& sends,
                     Buffers& buffers) {
  std::size_t sent = 0;
  for (const auto& [peer, data] : sends)
    if (peer != comm.rank()) {
      buffers.sentLengths[sent] = static_cast<Index>(data.size());
      checkMpi(MPI_Issend(&buffers.sentLengths[sent], 1, MPI_INT64_T, peer, tag, comm.mpi(),
                          &buffers.requests[sent]),
               "MPI_Issend");
      ++sent;
    }
  MPI_Request barrier = MPI_REQUEST_NULL;
  bool inBarrier = false;
  WaitPolicy policy(comm, WaitPolicy::Look::Mpi);
  for (int isDone = 0; !isDone;) {
    if (receiveLength(comm, tag, buffers.receivedLengths))
      continue;
    if (inBarrier) {
      checkMpi(MPI_Test(&barrier, &isDone, MPI_STATUS_IGNORE), "MPI_Test");
    } else {
      int sendsAreDone = 0;
      checkMpi(MPI_Testall(static_cast<int>(sent), buffers.requests.data(), &sendsAreDone,
                           MPI_STATUSES_IGNORE),
               "MPI_Testall");
      if (sendsAreDone) {
        checkMpi(MPI_Ibarrier(comm.mpi(), &barrier), "MPI_Ibarrier");
        inBarrier = true;
      }
    }
    if (!isDone) {
      comm.advance();
      policy.wait([&] { return someOfText(othersOf(comm)); });
    }
  }
}

} // namespace

SparseMessages sparseExchange(Communicator& comm, SparseMessages sends) {
  const int tag = comm.nextTag();
  Buffers buffers = collectively(comm, [&] {
    for (const auto& [peer, data] : sends)
      if (data.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw Error(
            TENON_ERR_SUPPORT,
            fmt::format("{} numbers for rank {} are more than a message holds, 2^31 - 1; divide "
                        "the lists among more processes",
                        data.size(), peer));
    const auto size = static_cast<std::size_t>(comm.size());
    return Buffers{.sentLengths = std::vector<Index>(sends.size()),
                   .receivedLengths = std::vector<Index>(size, 0),
                   .requests = std::vector<MPI_Request>(sends.size(), MPI_REQUEST_NULL)};
  });
  exchangeLengths(comm, tag, sends, buffers);
  SparseMessages received = collectively(comm, [&] {
    SparseMessages messages;
    for (int peer = 0; peer < comm.size(); ++peer)
      if (buffers.receivedLengths[peer] > 0)
        messages[peer].resize(static_cast<std::size_t>(buffers.receivedLengths[peer]));
    buffers.requests.assign(messages.size() + sends.size(), MPI_REQUEST_NULL);
    return messages;
  });
  std::size_t started = 0;
  for (auto& [peer, data] : received)
    checkMpi(MPI_Irecv(data.data(), static_cast<int>(data.size()), MPI_INT64_T, peer, tag,
                       comm.mpi(), &buffers.requests[started++]),
             "MPI_Irecv");
  for (auto& [peer, data] : sends)
    if (peer != comm.rank() && !data.empty())
      checkMpi(MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_INT64_T, peer, tag,
                         comm.mpi(), &buffers.requests[started++]),
               "MPI_Isend");
  waitFor(comm, buffers.requests.data(), started, [&] { return someOfText(othersOf(comm)); });
  // Empty lists are not sent: the length 0 has told the receiver that there is none. The list for
  // this rank itself is moved.
  if (const auto own = sends.find(comm.rank()); own != sends.end() && !own->second.empty())
    received.insert(sends.extract(own));
  return received;
}

} // namespace tenon
