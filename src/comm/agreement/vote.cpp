// SPDX-License-Identifier: BSD-2-Clause
// The vote of vote.hpp: messages "here", ballots and the verdict along a tree of ranks, and, if the
// tree stalls, a direct call of rank 0 to each rank. Messages are probed for, since a blocking
// receive has no time limit. No message remains for a later vote: if the tree has stalled but all
// ranks arrive in the end, each rank still sends and receives its messages of the tree.
#include "comm/agreement/vote.hpp"

#include "comm/agreement/vote_tree.hpp"
#include "comm/agreement/wait_policy.hpp"
#include "sys/errors/error.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

namespace {

// Tags of messages along the tree, and of those between rank 0 and another rank directly.
constexpr int kTreeTag = Communicator::kAgreementTag, kCallTag = Communicator::kCallTag;

// The answer of another rank to the call of rank 0, or "I leave" (leaves = true) before a call.
struct Envelope {
  bool leaves = false;
  Ballot ballot;
};

// The message of rank 0 that ends a vote after a call.
struct Decision {
  Ballot verdict;
  std::array<char, 256> timeout{}; // Text of the timeout; empty if there is a verdict.
};

// Throws the timeout error. absence() returns the text about the absent ranks. isPrinter is true on
// a rank that prints the error, if it ends the program: rank 0, or a rank that leaves.
template <class Absence>
[[noreturn]] void giveUp(Communicator& comm, Absence&& absence, bool isPrinter) {
  comm.setOutOfStep();
  throw madeError(TENON_ERR_TIMEOUT, [&] {
    return Error(TENON_ERR_TIMEOUT,
                 fmt::format("{}; is it called on all ranks of the communicator? "
                             "(-tenon_agree_timeout sets the time)",
                             absence()));
  }).agreed(isPrinter);
}

std::string absenceText(const std::vector<int>& ranks, double seconds) {
  return fmt::format("after {} s {} had not arrived at a collective call that the others are in",
                     seconds, ranksText(ranks));
}

// The ranks that did not arrive (missing), and those that left before rank 0 arrived (gone). A rank
// without memory names fewer of these ranks.
class Absent {
public:
  void addMissing(int rank) noexcept { add(missing_, rank); }
  void addGone(int rank) noexcept { add(gone_, rank); }
  bool isAny() const noexcept { return isAny_; }
  // The text, or a shorter one without memory.
  std::array<char, 256> text(double seconds) const noexcept {
    std::array<char, 256> buffer{};
    try {
      wholeText(seconds).copy(buffer.data(), buffer.size() - 1);
    } catch (const std::bad_alloc&) {
      constexpr std::string_view kShort = "some ranks were absent from a collective call";
      kShort.copy(buffer.data(), buffer.size() - 1);
    }
    return buffer;
  }

private:
  void add(std::vector<int>& ranks, int rank) noexcept {
    isAny_ = true;
    try {
      ranks.push_back(rank);
    } catch (const std::bad_alloc&) { // The rank is then not named.
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
  bool isAny_ = false;
};

// The ballot with a failure; if both have one, that of the lower rank.
Ballot firstFailure(const Ballot& a, const Ballot& b) {
  if (a.code == TENON_SUCCESS || b.code == TENON_SUCCESS)
    return a.code == TENON_SUCCESS ? b : a;
  return a.rank < b.rank ? a : b;
}

// One vote of one rank. Allocates nothing, since the failure to report can be a lack of memory.
class Round {
public:
  Round(Communicator& comm, const Ballot& ownBallot, double seconds)
      : comm_(comm), ownBallot_(ownBallot), seconds_(seconds),
        policy_(comm, WaitPolicy::Look::Mpi) {}

  Ballot runRankZero();
  Ballot runOtherRank();

private:
  // Time that the tree can take before rank 0 calls the ranks, in seconds: a small part of the
  // timeout, but long enough that ranks which are merely slow hardly ever cause a call.
  static constexpr double kMaxStall = 10;
  double stall() const { return std::min(kMaxStall, seconds_ / 8); }

  template <class Any>
  void send(int tag, const Any& message, int to) {
    checkMpi(MPI_Send(&message, sizeof message, MPI_BYTE, to, tag, comm_.mpi()), "MPI_Send");
  }
  // Probes twice, since the first probe can merely let MPI receive the message internally.
  bool hasMessage(int tag, int from) const {
    int hasFound = 0;
    for (int look = 0; look < 2 && !hasFound; ++look)
      checkMpi(MPI_Iprobe(from, tag, comm_.mpi(), &hasFound, MPI_STATUS_IGNORE), "MPI_Iprobe");
    return hasFound != 0;
  }
  // Receives a message if one has arrived; returns true if so.
  template <class Any>
  bool tryReceive(int tag, int from, Any& message) {
    if (!hasMessage(tag, from))
      return false;
    checkMpi(
        MPI_Recv(&message, sizeof message, MPI_BYTE, from, tag, comm_.mpi(), MPI_STATUS_IGNORE),
        "MPI_Recv");
    return true;
  }
  // Waits for a message that has been or will be sent.
  template <class Any>
  void receive(int tag, int from, Any& message) {
    while (!tryReceive(tag, from, message))
      policy_.giveWay();
  }
  // Waits for a message that will be sent unless rank 0 calls; returns true if it has arrived.
  bool arrivesBeforeCall(int from, Ballot& message) {
    for (Ballot call;; policy_.giveWay()) {
      if (tryReceive(kTreeTag, from, message))
        return true;
      if (tryReceive(kCallTag, 0, call))
        return false;
    }
  }
  void sendDown(const Ballot& ballot, const VoteTree& tree) {
    for (int child : tree.children(comm_.rank()))
      if (child >= 0)
        send(kTreeTag, ballot, child);
  }
  // The child in the tree whose ballot is to be received next, or -1.
  int nextReport() const {
    const auto below = up_.children(comm_.rank());
    return reports_ < below.size() ? below[reports_] : -1;
  }
  void receiveReports() {
    for (Ballot report; nextReport() >= 0; ++reports_)
      receive(kTreeTag, nextReport(), report);
  }

  std::vector<int> unheard(int from) const;
  bool isTreeComplete();
  std::optional<Envelope> awaitAnswer(int rank);
  Ballot callAll();
  bool awaitHere();
  Ballot answer();

  Communicator& comm_;
  Ballot ownBallot_;
  double seconds_, start_ = MPI_Wtime();
  WaitPolicy policy_;
  VoteTree up_{comm_.size(), VoteTree::Order::Ranks},
      down_{comm_.size(), VoteTree::Order::Mirrored};
  // Progress of this rank in the tree up_: true if it has received and passed on "here", true if it
  // has sent its ballot, and the number of children's ballots received.
  bool hasHere_ = false, hasReported_ = false;
  std::size_t reports_ = 0;
};

// The ranks from `from` on that have not answered the call.
std::vector<int> Round::unheard(int from) const {
  std::vector<int> ranks{from};
  for (int r = from + 1; r < comm_.size(); ++r)
    if (!hasMessage(kCallTag, r))
      ranks.push_back(r);
  return ranks;
}

// Rank 0: returns true if the ballots of all ranks arrive before the tree stalls, and adds their
// first failure to its own ballot. Rank 0 has one child in the tree, whose ballot is that of all
// other ranks. A direct message before the call means that its sender has left.
bool Round::isTreeComplete() {
  Ballot first;
  for (; nextReport() >= 0; ++reports_)
    while (!tryReceive(kTreeTag, nextReport(), first)) {
      if (MPI_Wtime() >= start_ + stall() || hasMessage(kCallTag, MPI_ANY_SOURCE))
        return false;
      policy_.wait([&] { return someOfText(othersOf(comm_)); });
    }
  ownBallot_ = firstFailure(ownBallot_, first);
  return true;
}

// The answer of a rank, or nothing if there is none at the deadline. The clock is read before the
// probe: a rank's answer must not count as late because an earlier rank was late, or because this
// process was suspended in the meantime.
std::optional<Envelope> Round::awaitAnswer(int rank) {
  for (Envelope envelope;;) {
    const bool isLastProbe = MPI_Wtime() >= start_ + seconds_;
    if (tryReceive(kCallTag, rank, envelope))
      return envelope;
    if (isLastProbe)
      return std::nullopt;
    policy_.wait([&] { return ranksText(unheard(rank)); });
  }
}

// Rank 0, after the tree has stalled: asks each rank directly.
Ballot Round::callAll() {
  for (int r = 1; r < comm_.size(); ++r)
    send(kCallTag, ownBallot_, r);
  Decision decision{.verdict = ownBallot_};
  Absent absent;
  for (int r = 1; r < comm_.size(); ++r) {
    const auto envelope = awaitAnswer(r);
    if (!envelope)
      absent.addMissing(r);
    else if (envelope->leaves)
      absent.addGone(r);
    else
      decision.verdict = firstFailure(decision.verdict, envelope->ballot);
  }
  if (absent.isAny())
    decision.timeout = absent.text(seconds_);
  for (int r = 1; r < comm_.size(); ++r)
    send(kCallTag, decision, r);
  if (absent.isAny())
    giveUp(
        comm_, [&] { return decision.timeout.data(); }, /*isPrinter=*/true);
  receiveReports();
  return decision.verdict;
}

Ballot Round::runRankZero() {
  sendDown(ownBallot_, up_);
  if (!isTreeComplete())
    return callAll();
  sendDown(ownBallot_, down_);
  return ownBallot_;
}

// Another rank: waits for "here", passes it on, and compares its digest with that of rank 0.
// Returns true if "here" came down the tree, false if rank 0 has called. Without either it leaves,
// after a last probe.
bool Round::awaitHere() {
  const double deadline = start_ + seconds_ + stall();
  bool isCalled = false;
  for (Ballot digestOfRankZero;;) {
    const bool isLastProbe = MPI_Wtime() >= deadline;
    hasHere_ = tryReceive(kTreeTag, up_.parent(comm_.rank()), digestOfRankZero);
    isCalled = !hasHere_ && tryReceive(kCallTag, 0, digestOfRankZero);
    if (hasHere_ || isCalled) {
      if (ownBallot_.code == TENON_SUCCESS && ownBallot_.digest != digestOfRankZero.digest)
        ownBallot_.code = TENON_ERR_COLLECTIVE;
      sendDown(digestOfRankZero, up_);
      return hasHere_;
    }
    if (isLastProbe) {
      send(kCallTag, Envelope{.leaves = true, .ballot = ownBallot_}, 0);
      giveUp(
          comm_, [&] { return absenceText({0}, seconds_); }, /*isPrinter=*/true);
    }
    policy_.wait([] { return std::string("rank 0"); });
  }
}

// Another rank, after the call of rank 0: answers, and waits for the decision. If the decision has
// already arrived, this rank is too late, and rank 0 does not wait for its answer. Otherwise the
// rank first sends its ballot up the tree, since its parent waits for it. If all ranks succeed, it
// also receives the messages of the tree that were sent to it.
Ballot Round::answer() {
  Decision decision;
  if (!tryReceive(kCallTag, 0, decision)) {
    if (!hasReported_)
      send(kTreeTag, ownBallot_, up_.parent(comm_.rank()));
    send(kCallTag, Envelope{.leaves = false, .ballot = ownBallot_}, 0);
    receive(kCallTag, 0, decision);
  }
  if (decision.timeout.front() != 0)
    giveUp(
        comm_, [&] { return decision.timeout.data(); }, /*isPrinter=*/false);
  if (Ballot here; !hasHere_)
    receive(kTreeTag, up_.parent(comm_.rank()), here);
  receiveReports();
  return decision.verdict;
}

Ballot Round::runOtherRank() {
  if (!awaitHere())
    return answer();
  Ballot first = ownBallot_;
  for (Ballot report; nextReport() >= 0; ++reports_) {
    if (!arrivesBeforeCall(nextReport(), report))
      return answer();
    first = firstFailure(first, report);
  }
  send(kTreeTag, first, up_.parent(comm_.rank()));
  hasReported_ = true;
  Ballot verdict;
  if (!arrivesBeforeCall(down_.parent(comm_.rank()), verdict))
    return answer();
  sendDown(verdict, down_);
  return verdict;
}

} // namespace

double agreeTimeout(std::optional<Error>& failure) noexcept {
  // The value read last, initially the default: an agreement must not fail for lack of memory after
  // all that it concludes has been done.
  static std::atomic<double> last{300};
  try {
    last = options().getReal("", "agree_timeout");
  } catch (const std::bad_alloc&) { // Without memory, the value read last is used.
  } catch (...) {
    if (!failure)
      failure = caughtError();
  }
  return last;
}

Ballot vote(Communicator& comm, const Ballot& mine, double seconds) {
  Round round(comm, mine, seconds);
  return comm.rank() == 0 ? round.runRankZero() : round.runOtherRank();
}

} // namespace tenon
