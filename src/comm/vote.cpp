// SPDX-License-Identifier: BSD-2-Clause
#include "comm/vote.hpp"

#include "comm/patience.hpp"

#include <fmt/format.h>

#include <array>
#include <new>
#include <optional>

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

// words() say who is absent.
template <class Words>
[[noreturn]] void giveUp(Communicator& comm, Words&& words, bool speaks) {
  comm.setOutOfStep();
  throw madeError([&] {
    return Error(TENON_ERR_TIMEOUT,
                 fmt::format("{}; is it called on all ranks of the communicator? "
                             "(-tenon_agree_timeout sets the time)",
                             words()));
  }).agreed(speaks);
}

std::string absenceText(const std::vector<int>& ranks, double seconds) {
  return fmt::format("after {} s {} had not arrived at a collective call that the others are in",
                     seconds, ranksText(ranks));
}

// Who did not come, and who has left before rank 0 came.
class Absent {
public:
  void addMissing(int rank) noexcept { add(missing_, rank); }
  void addGone(int rank) noexcept { add(gone_, rank); }
  bool isAnybody() const noexcept { return isAnybody_; }
  // Where there is no memory for it, in fewer words.
  std::array<char, 256> text(double seconds) const noexcept {
    std::array<char, 256> kept{};
    try {
      wholeText(seconds).copy(kept.data(), kept.size() - 1);
    } catch (const std::bad_alloc&) {
      constexpr std::string_view kShort = "some ranks were absent from a collective call";
      kShort.copy(kept.data(), kept.size() - 1);
    }
    return kept;
  }

private:
  void add(std::vector<int>& ranks, int rank) noexcept {
    isAnybody_ = true;
    try {
      ranks.push_back(rank);
    } catch (const std::bad_alloc&) { // it is not named then
    }
  }
  std::string wholeText(double seconds) const {
    return missing_.empty()
               ? fmt::format("rank 0 arrived at a collective call after {} had stopped waiting for "
                             "it",
                             ranksText(gone_))
               : absenceText(missing_, seconds);
  }

  std::vector<int> missing_, gone_;
  bool isAnybody_ = false;
};

// Rank `from` and those after it whose message has not come.
std::vector<int> unheard(const Communicator& comm, int from) {
  std::vector<int> ranks{from};
  for (int r = from + 1; r < comm.size(); ++r) {
    int found = 0;
    checkMpi(MPI_Iprobe(r, Communicator::kAgreementTag, comm.mpi(), &found, MPI_STATUS_IGNORE),
             "MPI_Iprobe");
    if (!found)
      ranks.push_back(r);
  }
  return ranks;
}

// What a rank says at last, or that it has not come until the deadline.
std::optional<Letter> hear(Communicator& comm, int rank, double deadline, Patience& patience) {
  Letter letter;
  MPI_Request request = startReceive(comm, letter, rank);
  const auto missing = [&] { return ranksText(unheard(comm, rank)); };
  if (!comesUntil(deadline, patience, request, missing) && isTakenBack(request))
    return std::nullopt;
  if (letter.presence == Presence::Waits) {
    request = startReceive(comm, letter, rank);
    receive(request);
  }
  return letter;
}

// The verdict on the ranks up to this one, from that on those before it.
void count(Ballot& verdict, const Ballot& ballot, int rank) {
  if (verdict.code != TENON_SUCCESS)
    return;
  verdict.code = ballot.code;
  if (verdict.code == TENON_SUCCESS && ballot.digest != verdict.digest)
    verdict.code = TENON_ERR_COLLECTIVE;
  verdict.rank = rank;
}

// One rank after the other, so that it needs no memory of its own: what the others are to hear may be
// that there is none.
Ballot preside(Communicator& comm, const Ballot& mine, double seconds) {
  const auto tellAll = [&](const Notice& notice) {
    for (int r = 1; r < comm.size(); ++r)
      send(comm, notice, r);
  };
  tellAll({});
  Notice notice{.verdict = mine, .timeout = {}};
  Absent absent;
  const double deadline = MPI_Wtime() + seconds;
  Patience patience(comm);
  for (int r = 1; r < comm.size(); ++r) {
    const auto letter = hear(comm, r, deadline, patience);
    if (!letter)
      absent.addMissing(r);
    else if (letter->presence == Presence::Leaves)
      absent.addGone(r);
    else
      count(notice.verdict, letter->ballot, r);
  }
  if (absent.isAnybody())
    notice.timeout = absent.text(seconds);
  tellAll(notice);
  if (absent.isAnybody())
    giveUp(
        comm, [&] { return notice.timeout.data(); }, true);
  return notice.verdict;
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
      giveUp(
          comm, [&] { return absenceText({0}, seconds); }, true);
    }
    send(comm, Letter{Presence::Stays, mine}, 0);
    verdict = startReceive(comm, notice, 0);
  }
  receive(verdict);
  if (notice.timeout.front() != 0)
    giveUp(
        comm, [&] { return notice.timeout.data(); }, false);
  return notice.verdict;
}

} // namespace

Ballot vote(Communicator& comm, const Ballot& mine, double seconds) {
  return comm.rank() == 0 ? preside(comm, mine, seconds) : attend(comm, mine, seconds);
}

} // namespace tenon
