// SPDX-License-Identifier: BSD-2-Clause
#include "comm/last_words.hpp"

#include "comm/patience.hpp"
#include "sys/random.hpp"

#include <sched.h>

namespace tenon {

namespace {

constexpr int kTag = 0; // objects have others
constexpr double kSeconds = 0.5;
constexpr int kMostRanks = 1024; // each sends to each

bool othersSpeak = false;

bool mayCallMpi() {
  int level = MPI_THREAD_SINGLE, isMain = 0;
  checkMpi(MPI_Query_thread(&level), "MPI_Query_thread");
  checkMpi(MPI_Is_thread_main(&isMain), "MPI_Is_thread_main");
  return isMain || level == MPI_THREAD_MULTIPLE;
}

void listen(std::vector<MPI_Request>& requests) {
  int all = 0;
  for (const double end = MPI_Wtime() + kSeconds; !all && MPI_Wtime() < end; sched_yield())
    checkMpi(
        MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE),
        "MPI_Testall");
}

} // namespace

FatalShare shareOf(const Communicator& comm, const std::string& text) {
  if (comm.size() == 1 || comm.size() > kMostRanks || !mayCallMpi())
    return {};
  const auto mine = static_cast<long long>(streamOf(text));
  std::vector<long long> heard(comm.size(), 0);
  std::vector<MPI_Request> requests(comm.size(), MPI_REQUEST_NULL);
  for (int r = 0; r < comm.size(); ++r) {
    if (r == comm.rank())
      continue;
    checkMpi(MPI_Irecv(&heard[r], 1, MPI_LONG_LONG, r, kTag, comm.mpi(), &requests[r]),
             "MPI_Irecv");
    checkMpi(MPI_Send(&mine, 1, MPI_LONG_LONG, r, kTag, comm.mpi()), "MPI_Send");
  }
  listen(requests);
  FatalShare share{.speaks = true, .ranks = 1, .of = comm.size()};
  for (int r = 0; r < comm.size(); ++r) {
    if (r == comm.rank() || (requests[r] != MPI_REQUEST_NULL && isTakenBack(requests[r])))
      continue;
    const bool alike = heard[r] == mine;
    share.ranks += alike ? 1 : 0;
    share.speaks = share.speaks && !(alike && r < comm.rank());
    othersSpeak = othersSpeak || !alike || r < comm.rank();
  }
  return share;
}

void awaitLastWords(bool isSpokenFor) {
  const bool waits = othersSpeak || isSpokenFor;
  for (const double end = MPI_Wtime() + 2 * kSeconds; waits && MPI_Wtime() < end;)
    sched_yield();
}

} // namespace tenon
