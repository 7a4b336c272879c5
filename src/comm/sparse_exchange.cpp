// SPDX-License-Identifier: BSD-2-Clause
// First the lengths, whose room is there before: each is sent synchronously, and a rank whose
// lengths have all been received enters a barrier that does not block, and goes on receiving until
// all are in it (Hoefler, Siebert and Lumsdaine, PPoPP 2010). Then all ranks take memory for the
// messages, or none does, and these go as ever.
#include "comm/sparse_exchange.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/agreement/wait_policy.hpp"

#include <fmt/format.h>

#include <limits>

namespace tenon {

namespace {

// What a call needs besides the messages themselves.
struct Rooms {
  std::vector<Index> lengths,
      arriving; // of the messages to other ranks; by rank, of those from them
  std::vector<MPI_Request> requests;
};

// Receives a length if one is there.
bool receiveLength(const Communicator& comm, int tag, std::vector<Index>& arriving) {
  int isThere = 0;
  MPI_Status status;
  checkMpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm.mpi(), &isThere, &status), "MPI_Iprobe");
  if (isThere)
    checkMpi(MPI_Recv(&arriving[status.MPI_SOURCE], 1, MPI_INT64_T, status.MPI_SOURCE, tag,
                      comm.mpi(), MPI_STATUS_IGNORE),
             "MPI_Recv");
  return isThere != 0;
}

void exchangeLengths(const Communicator& comm, int tag, const SparseMessages& sends, Rooms& rooms) {
  std::size_t sent = 0;
  for (const auto& [peer, data] : sends)
    if (peer != comm.rank()) {
      rooms.lengths[sent] = static_cast<Index>(data.size());
      checkMpi(MPI_Issend(&rooms.lengths[sent], 1, MPI_INT64_T, peer, tag, comm.mpi(),
                          &rooms.requests[sent]),
               "MPI_Issend");
      ++sent;
    }
  MPI_Request barrier = MPI_REQUEST_NULL;
  bool isIn = false;
  WaitPolicy policy(comm);
  for (int isOver = 0; !isOver;) {
    if (receiveLength(comm, tag, rooms.arriving))
      continue;
    if (isIn) {
      checkMpi(MPI_Test(&barrier, &isOver, MPI_STATUS_IGNORE), "MPI_Test");
    } else {
      int areReceived = 0;
      checkMpi(MPI_Testall(static_cast<int>(sent), rooms.requests.data(), &areReceived,
                           MPI_STATUSES_IGNORE),
               "MPI_Testall");
      if (areReceived) {
        checkMpi(MPI_Ibarrier(comm.mpi(), &barrier), "MPI_Ibarrier");
        isIn = true;
      }
    }
    if (!isOver) {
      comm.advance();
      policy.wait([&] { return someOfText(othersOf(comm)); });
    }
  }
}

} // namespace

SparseMessages sparseExchange(Communicator& comm, SparseMessages sends) {
  const int tag = comm.nextTag();
  Rooms rooms = collectively(comm, [&] {
    for (const auto& [peer, data] : sends)
      if (data.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw Error(
            TENON_ERR_SUPPORT,
            fmt::format("{} numbers for rank {} are more than a message holds, 2^31 - 1; divide "
                        "the lists among more processes",
                        data.size(), peer));
    const auto size = static_cast<std::size_t>(comm.size());
    return Rooms{std::vector<Index>(sends.size()), std::vector<Index>(size, 0),
                 std::vector<MPI_Request>(sends.size(), MPI_REQUEST_NULL)};
  });
  exchangeLengths(comm, tag, sends, rooms);
  SparseMessages received = collectively(comm, [&] {
    SparseMessages made;
    for (int peer = 0; peer < comm.size(); ++peer)
      if (rooms.arriving[peer] > 0)
        made[peer].resize(static_cast<std::size_t>(rooms.arriving[peer]));
    rooms.requests.assign(made.size() + sends.size(), MPI_REQUEST_NULL);
    return made;
  });
  std::size_t started = 0;
  for (auto& [peer, data] : received)
    checkMpi(MPI_Irecv(data.data(), static_cast<int>(data.size()), MPI_INT64_T, peer, tag,
                       comm.mpi(), &rooms.requests[started++]),
             "MPI_Irecv");
  for (auto& [peer, data] : sends)
    if (peer != comm.rank() && !data.empty())
      checkMpi(MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_INT64_T, peer, tag,
                         comm.mpi(), &rooms.requests[started++]),
               "MPI_Isend");
  waitFor(comm, rooms.requests.data(), started, [&] { return someOfText(othersOf(comm)); });
  if (const auto own = sends.find(comm.rank()); own != sends.end() && !own->second.empty())
    received.insert(sends.extract(own));
  return received;
}

} // namespace tenon
