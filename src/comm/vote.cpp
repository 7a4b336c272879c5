// SPDX-License-Identifier: BSD-2-Clause
#include "comm/vote.hpp"

#include "comm/patience.hpp"
#include "sys/error.hpp"

#include <fmt/format.h>

#include <array>

namespace tenon {

namespace {

enum class Presence : long long { Waits, Stays, Leaves };

// From another rank to rank 0.
struct Letter {
  Presence presence = Presence::Waits;
  Ballot ballot;
};

// From rank 0 to another: "here", then the verdict.
struct Notice {
  Ballot verdict;
  std::array<char, 256> timeout{}; // what went wrong; empty where there is a verdict
};

template <class Message>
void send(Communicator& comm, const Message& message, int to) {
  checkMpi(
      MPI_Send(&message, sizeof message, MPI_BYTE, to, Communicator::kAgreementTag, comm.mpi()),
      "MPI_Send");
}

template <class Message>
MPI_Request startReceive(Communicator& comm, Message& message, int from) {
  MPI_Request request = MPI_REQUEST_NULL;
  checkMpi(MPI_Irecv(&message, sizeof message, MPI_BYTE, from, Communicator::kAgreementTag,
                     comm.mpi(), &request),
           "MPI_Irecv");
  return request;
}

bool hasCome(MPI_Request& request) {
  int done = 0;
  checkMpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

// Looks once at least: requests that share a deadline must not miss it for one that is late.
template <class Missing>
bool comesUntil(double deadline, Patience& patience, MPI_Request& request, Missing missing) {
  for (;;) {
    if (hasCome(request))
      return true;
    if (MPI_Wtime() >= deadline)
      return false;
    patience.wait(missing);
  }
}

// Of whom it is known that they send.
void receive(MPI_Request& request) {
  while (!hasCome(request))
    sched_yield();
}

[[noreturn]] void giveUp(Communicator& comm, const std::string& what, bool speaks) {
  comm.setOutOfStep();
  throw Error(TENON_ERR_TIMEOUT, fmt::format("{}; is it called on all ranks of the communicator? "
                                             "(-tenon_agree_timeout sets the time)",
                                             what))
      .agreed(speaks);
}

std::string absenceText(const std::vector<int>& ranks, double seconds) {
  return fmt::format("after {} s {} had not arrived at a collective call that the others are in",
                     seconds, ranksText(ranks));
}

// What rank 0 hears of one other.
struct Heard {
  Letter letter;
  MPI_Request request = MPI_REQUEST_NULL;
};

// Who did not come, and who has left before rank 0 came.
struct Absent {
  std::vector<int> missing, gone;

  std::string text(double seconds) const {
    return missing.empty() ? fmt::format("rank 0 arrived at a collective call after {} had stopped "
                                         "waiting for it",
                                         ranksText(gone))
                           : absenceText(missing, seconds);
  }
};

Absent collect(Communicator& comm, std::vector<Heard>& all, double seconds) {
  const auto missing = [&] {
    std::vector<int> ranks;
    for (int r = 1; r < comm.size(); ++r)
      if (!isComplete(all[r].request))
        ranks.push_back(r);
    return ranksText(ranks);
  };
  const double deadline = MPI_Wtime() + seconds;
  Patience patience(comm);
  Absent absent;
  for (int r = 1; r < comm.size(); ++r) {
    Heard& heard = all[r];
    if (!comesUntil(deadline, patience, heard.request, missing) && isTakenBack(heard.request)) {
      absent.missing.push_back(r);
      continue;
    }
    if (heard.letter.presence == Presence::Waits) {
      heard.request = startReceive(comm, heard.letter, r);
      receive(heard.request);
    }
    if (heard.letter.presence == Presence::Leaves)
      absent.gone.push_back(r);
  }
  return absent;
}

Ballot firstFailure(const std::vector<Heard>& all, Ballot verdict) {
  for (int r = 1; r < static_cast<int>(all.size()) && verdict.code == TENON_SUCCESS; ++r) {
    const Ballot& ballot = all[r].letter.ballot;
    const bool disagrees = ballot.digest != verdict.digest;
    verdict.code = ballot.code;
    if (verdict.code == TENON_SUCCESS && disagrees)
      verdict.code = TENON_ERR_COLLECTIVE;
    verdict.rank = r;
  }
  return verdict;
}

Ballot preside(Communicator& comm, const Ballot& mine, double seconds) {
  std::vector<Heard> all(comm.size());
  for (int r = 1; r < comm.size(); ++r)
    all[r].request = startReceive(comm, all[r].letter, r);
  const auto tellAll = [&](const Notice& notice) {
    for (int r = 1; r < comm.size(); ++r)
      send(comm, notice, r);
  };
  tellAll({});
  const Absent absent = collect(comm, all, seconds);
  if (absent.missing.empty() && absent.gone.empty()) {
    const Ballot verdict = firstFailure(all, mine);
    tellAll({.verdict = verdict, .timeout = {}});
    return verdict;
  }
  Notice notice;
  const std::string text = absent.text(seconds);
  text.copy(notice.timeout.data(), notice.timeout.size() - 1);
  tellAll(notice);
  giveUp(comm, text, true);
}

Ballot attend(Communicator& comm, const Ballot& mine, double seconds) {
  Notice here, notice;
  MPI_Request arrival = startReceive(comm, here, 0);
  MPI_Request verdict = MPI_REQUEST_NULL;
  const bool isHere = hasCome(arrival);
  if (isHere)
    verdict = startReceive(comm, notice, 0);
  // A verdict without this rank's ballot is that it came too late.
  if (!isHere || !hasCome(verdict))
    send(comm, Letter{isHere ? Presence::Stays : Presence::Waits, mine}, 0);
  if (!isHere) {
    Patience patience(comm);
    const bool comes =
        comesUntil(MPI_Wtime() + seconds, patience, arrival, [] { return std::string("rank 0"); });
    if (!comes && isTakenBack(arrival)) {
      send(comm, Letter{Presence::Leaves, mine}, 0);
      giveUp(comm, absenceText({0}, seconds), true);
    }
    send(comm, Letter{Presence::Stays, mine}, 0);
    verdict = startReceive(comm, notice, 0);
  }
  receive(verdict);
  if (notice.timeout.front() != 0)
    giveUp(comm, notice.timeout.data(), false);
  return notice.verdict;
}

} // namespace

Ballot vote(Communicator& comm, const Ballot& mine, double seconds) {
  return comm.rank() == 0 ? preside(comm, mine, seconds) : attend(comm, mine, seconds);
}

} // namespace tenon
