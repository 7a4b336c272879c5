// SPDX-License-Identifier: BSD-2-Clause
// The two votes of vote.hpp. Messages are few and short, and none may be left over for a later
// vote: every receive that was started is either met or taken back, and whether it could be taken
// back decides what a rank says next.
#include "comm/agreement/vote.hpp"

#include "comm/agreement/patience.hpp"
#include "sys/errors/error.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <vector>

namespace tenon {

namespace {

enum class Presence : long long { Waits, Stays, Leaves };

// What another rank sends to rank 0.
struct Letter {
  Presence presence = Presence::Waits;
  Ballot ballot;
};

// What rank 0 sends to another rank: "here", then the verdict.
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

// Waits for a request until the deadline. It looks once at least: requests that share a deadline
// must not miss it because of one that is late.
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

// Waits for a message that is known to be sent.
void receive(MPI_Request& request) {
  while (!hasCome(request))
    sched_yield();
}

// Fails with the timeout; words() say which ranks are absent.
template <class Words>
[[noreturn]] void giveUp(Communicator& comm, Words&& words, bool speaks) {
  comm.setOutOfStep();
  throw madeError(TENON_ERR_TIMEOUT, [&] {
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

// The ranks that did not come, and those that had left before rank 0 came. Both lists can run out
// of memory, and then name fewer ranks.
class Absent {
public:
  void addMissing(int rank) noexcept { add(missing_, rank); }
  void addGone(int rank) noexcept { add(gone_, rank); }
  bool isAnybody() const noexcept { return isAnybody_; }
  // The text, in fewer words where there is no memory for it.
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
    } catch (const std::bad_alloc&) { // the rank is not named then
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

// What a rank says at last; none if it has not come by the deadline.
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

// Counts a ballot: makes the verdict on the ranks up to this one from that on those before it.
void count(Ballot& verdict, const Ballot& ballot, int rank) {
  if (verdict.code != TENON_SUCCESS)
    return;
  verdict.code = ballot.code;
  if (verdict.code == TENON_SUCCESS && ballot.digest != verdict.digest)
    verdict.code = TENON_ERR_COLLECTIVE;
  verdict.rank = rank;
}

// Rank 0. It hears one rank after the other, so that it needs no memory of its own: what the others
// are to hear may be that there is none.
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

// The other ranks. "Here" that has come before the ballot is sent saves a message, as the rank then
// stays in any case.
Ballot attend(Communicator& comm, const Ballot& mine, double seconds) {
  Notice here, notice;
  MPI_Request arrival = startReceive(comm, here, 0);
  MPI_Request verdict = MPI_REQUEST_NULL;
  const bool isHere = hasCome(arrival);
  if (isHere)
    verdict = startReceive(comm, notice, 0);
  // A verdict that is there before this rank has sent its ballot says that it came too late, and
  // rank 0 listens no longer.
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

double agreeTimeout(std::optional<Error>& failure) noexcept {
  // What was read last, at first the default: an agreement must not fail for want of memory when all
  // that it concludes is done.
  static std::atomic<double> last{300};
  try {
    last = options().getReal("", "agree_timeout");
  } catch (const std::bad_alloc&) { // the time that was read last will do
  } catch (...) {
    if (!failure)
      failure = caughtError();
  }
  return last;
}

Ballot vote(Communicator& comm, const Ballot& mine, double seconds) {
  return comm.rank() == 0 ? preside(comm, mine, seconds) : attend(comm, mine, seconds);
}

// The vote on a communicator of which there is no copy yet.

namespace {

// The two operations of a rank. They outlive the call where somebody was absent: the attribute of
// the parent owns them then.
struct Arrival {
  MPI_Request come = MPI_REQUEST_NULL, voted = MPI_REQUEST_NULL;
  int vote = 0, all = 0;
  Arrival* next = nullptr; // of those that are kept for good
};

// That of a rank without memory, which has to come as well, to say so.
Arrival reserve;
std::atomic<bool> isReserveTaken{false};

struct EndArrival {
  void operator()(Arrival* arrival) const noexcept {
    if (arrival != &reserve)
      return delete arrival;
    reserve = {};
    isReserveTaken = false;
  }
};
using ArrivalPtr = std::unique_ptr<Arrival, EndArrival>;

ArrivalPtr makeArrival() {
  if (auto* made = new (std::nothrow) Arrival)
    return ArrivalPtr(made);
  if (isReserveTaken.exchange(true))
    throw std::bad_alloc();
  return ArrivalPtr(&reserve);
}

// Frees the operations with the parent, if they are complete. If not, MPI still has their buffers,
// which are kept for good.
int release(MPI_Comm, int, void* value, void*) {
  static Arrival* kept = nullptr;
  static std::mutex mutex;
  ArrivalPtr arrival(static_cast<Arrival*>(value));
  if (arrival->voted != MPI_REQUEST_NULL) {
    const std::scoped_lock lock(mutex);
    arrival->next = std::exchange(kept, arrival.get());
    static_cast<void>(arrival.release());
  }
  return MPI_SUCCESS;
}

int keyval() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    checkMpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, release, &made, nullptr),
             "MPI_Comm_create_keyval");
    return made;
  }();
  return key;
}

void checkInStep(MPI_Comm parent) {
  void* value = nullptr;
  int found = 0;
  checkMpi(MPI_Comm_get_attr(parent, keyval(), static_cast<void*>(&value), &found),
           "MPI_Comm_get_attr");
  if (found)
    throw Error(
        TENON_ERR_STATE,
        "ranks were absent from the first call on this communicator, so it can no longer be "
        "used; create the objects on another communicator");
}

// Waits until the request is complete, or until the deadline; returns whether it is complete.
bool comes(MPI_Comm parent, MPI_Request& request, double deadline) {
  int size = 0, done = 0;
  checkMpi(MPI_Comm_size(parent, &size), "MPI_Comm_size");
  for (Patience patience(parent);;) {
    checkMpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done || MPI_Wtime() >= deadline)
      return done != 0;
    patience.wait([&] {
      std::vector<int> ranks(size);
      std::iota(ranks.begin(), ranks.end(), 0);
      return someOfText(ranks);
    });
  }
}

// A rank's vote: 0 after its patience, the code of its error, or that it goes on.
constexpr int kNoPatience = 0, kGoesOn = std::numeric_limits<int>::max();

// The error of that code, by which no rank goes on: this rank's own, or another's.
[[noreturn]] void failAlike(TenonErrorCode code, const std::optional<Error>& mine) {
  const bool isMine = mine && mine->code() == code;
  throw madeError(code, [&] {
    return isMine ? Error(*mine)
                  : Error(code, fmt::format("another rank could not begin to use the "
                                            "communicator: {}",
                                            errorSentence(code)));
  }).agreed(isMine);
}

// The lowest of the votes of all ranks.
int lowestVote(MPI_Comm parent, int mine, double seconds) {
  ArrivalPtr arrival = makeArrival();
  checkMpi(MPI_Ibarrier(parent, &arrival->come), "MPI_Ibarrier");
  const bool haveCome = comes(parent, arrival->come, MPI_Wtime() + seconds);
  arrival->vote = haveCome ? mine : kNoPatience;
  checkMpi(
      MPI_Iallreduce(&arrival->vote, &arrival->all, 1, MPI_INT, MPI_MIN, parent, &arrival->voted),
      "MPI_Iallreduce");
  if (haveCome)
    comes(parent, arrival->voted, std::numeric_limits<double>::infinity());
  if (arrival->all != kNoPatience)
    return arrival->all;
  checkMpi(MPI_Comm_set_attr(parent, keyval(), arrival.get()), "MPI_Comm_set_attr");
  static_cast<void>(arrival.release());
  return kNoPatience;
}

} // namespace

void awaitAllRanks(MPI_Comm parent, std::optional<Error> mine) {
  const double seconds = agreeTimeout(mine);
  int isInter = 0, size = 0;
  checkMpi(MPI_Comm_test_inter(parent, &isInter), "MPI_Comm_test_inter");
  if (isInter)
    throw Error(TENON_ERR_ARG, "comm is an intercommunicator; pass an intracommunicator, such as "
                               "MPI_Intercomm_merge() makes of it");
  checkInStep(parent);
  checkMpi(MPI_Comm_size(parent, &size), "MPI_Comm_size");
  const int vote = mine ? mine->code() : kGoesOn;
  const int lowest = size == 1 ? vote : lowestVote(parent, vote, seconds);
  if (lowest == kNoPatience)
    throw madeError(TENON_ERR_TIMEOUT, [&] {
      return Error(TENON_ERR_TIMEOUT,
                   fmt::format("after {} s some of the {} ranks of the communicator had not "
                               "arrived at the first collective call on it; is it called on all "
                               "of its ranks? (-tenon_agree_timeout sets the time)",
                               seconds, size));
    }).agreed(true);
  if (lowest != kGoesOn)
    failAlike(static_cast<TenonErrorCode>(lowest), mine);
}

} // namespace tenon
