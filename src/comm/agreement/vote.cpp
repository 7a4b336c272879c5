// SPDX-License-Identifier: BSD-2-Clause
// The vote of vote.hpp. Messages are few and short, and looked for rather than waited for, and none
// is left over for a later vote: where the tree has stalled and all come after all, each rank still
// sends and receives what the tree has it send and receive.
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

// Messages of the tree, and those between rank 0 and another rank by itself.
constexpr int kTreeTag = Communicator::kAgreementTag, kCallTag = Communicator::kCallTag;

// What another rank answers to rank 0.
struct Envelope {
  bool leaves = false;
  Ballot ballot;
};

struct Decision {
  Ballot verdict;
  std::array<char, 256> timeout{}; // what went wrong; empty where there is a verdict
};

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

// The first failure of two.
Ballot firstFailure(const Ballot& a, const Ballot& b) {
  if (a.code == TENON_SUCCESS || b.code == TENON_SUCCESS)
    return a.code == TENON_SUCCESS ? b : a;
  return a.rank < b.rank ? a : b;
}

// One vote of one rank. It needs no memory: what the ranks are to hear may be that there is none.
class Round {
public:
  Round(Communicator& comm, const Ballot& mine, double seconds)
      : comm_(comm), mine_(mine), seconds_(seconds), policy_(comm) {}

  Ballot preside();
  Ballot attend();

private:
  // How long the tree may take before rank 0 calls: a small part of the timeout, and so long that
  // it calls for ranks that are absent, and hardly ever for those that are slow.
  static constexpr double kLongestStall = 10;
  double stall() const { return std::min(kLongestStall, seconds_ / 8); }

  template <class Any>
  void send(int tag, const Any& message, int to) {
    checkMpi(MPI_Send(&message, sizeof message, MPI_BYTE, to, tag, comm_.mpi()), "MPI_Send");
  }
  // Looks twice, since the first look may only let MPI take in what has come.
  bool isThere(int tag, int from) const {
    int found = 0;
    for (int look = 0; look < 2 && !found; ++look)
      checkMpi(MPI_Iprobe(from, tag, comm_.mpi(), &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
    return found != 0;
  }
  // Whether a message is there, which is received then.
  template <class Any>
  bool hasCome(int tag, int from, Any& message) {
    if (!isThere(tag, from))
      return false;
    checkMpi(
        MPI_Recv(&message, sizeof message, MPI_BYTE, from, tag, comm_.mpi(), MPI_STATUS_IGNORE),
        "MPI_Recv");
    return true;
  }
  // Waits for a message that is known to be sent.
  template <class Any>
  void receive(int tag, int from, Any& message) {
    while (!hasCome(tag, from, message))
      sched_yield();
  }
  // Waits for a message that is known to be sent unless rank 0 calls; whether it has come.
  bool comesBeforeCall(int from, Ballot& message) {
    for (Ballot call;; sched_yield()) {
      if (hasCome(kTreeTag, from, message))
        return true;
      if (hasCome(kCallTag, 0, call))
        return false;
    }
  }
  void sendDown(const Ballot& ballot, const VoteTree& tree) {
    for (int child : tree.children(comm_.rank()))
      if (child >= 0)
        send(kTreeTag, ballot, child);
  }
  // The rank below that is to report next; -1 if all have.
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
  std::optional<Envelope> hear(int rank);
  Ballot callAll();
  bool hearHere();
  Ballot answer();

  Communicator& comm_;
  Ballot mine_;
  double seconds_, start_ = MPI_Wtime();
  WaitPolicy policy_;
  VoteTree up_{comm_.size(), VoteTree::Order::Ranks},
      down_{comm_.size(), VoteTree::Order::Mirrored};
  // What this rank has done of its part of the first tree: heard and passed on "here", received so
  // many ballots, and sent its own.
  bool isHeard_ = false, hasReported_ = false;
  std::size_t reports_ = 0;
};

// Rank `from` and those after it that have not answered the call.
std::vector<int> Round::unheard(int from) const {
  std::vector<int> ranks{from};
  for (int r = from + 1; r < comm_.size(); ++r)
    if (!isThere(kCallTag, r))
      ranks.push_back(r);
  return ranks;
}

// Rank 0: whether the ballots of all come up the tree before it stalls. A rank that speaks for
// itself before it is called has left.
bool Round::isTreeComplete() {
  Ballot first;
  for (; nextReport() >= 0; ++reports_)
    while (!hasCome(kTreeTag, nextReport(), first)) {
      if (MPI_Wtime() >= start_ + stall() || isThere(kCallTag, MPI_ANY_SOURCE))
        return false;
      policy_.wait([&] { return someOfText(othersOf(comm_)); });
    }
  mine_ = firstFailure(mine_, first);
  return true;
}

// What a rank answers; none if it has not by the deadline. Rank 0 reads the clock before it looks:
// a rank must not miss the deadline because of one before it that is late, nor because rank 0 has
// been stopped in the meantime.
std::optional<Envelope> Round::hear(int rank) {
  for (Envelope envelope;;) {
    const bool isLastLook = MPI_Wtime() >= start_ + seconds_;
    if (hasCome(kCallTag, rank, envelope))
      return envelope;
    if (isLastLook)
      return std::nullopt;
    policy_.wait([&] { return ranksText(unheard(rank)); });
  }
}

// Rank 0, where the tree has stalled: it asks each rank by itself.
Ballot Round::callAll() {
  for (int r = 1; r < comm_.size(); ++r)
    send(kCallTag, mine_, r);
  Decision decision{.verdict = mine_};
  Absent absent;
  for (int r = 1; r < comm_.size(); ++r) {
    const auto envelope = hear(r);
    if (!envelope)
      absent.addMissing(r);
    else if (envelope->leaves)
      absent.addGone(r);
    else
      decision.verdict = firstFailure(decision.verdict, envelope->ballot);
  }
  if (absent.isAnybody())
    decision.timeout = absent.text(seconds_);
  for (int r = 1; r < comm_.size(); ++r)
    send(kCallTag, decision, r);
  if (absent.isAnybody())
    giveUp(
        comm_, [&] { return decision.timeout.data(); }, true);
  receiveReports();
  return decision.verdict;
}

Ballot Round::preside() {
  sendDown(mine_, up_);
  if (!isTreeComplete())
    return callAll();
  sendDown(mine_, down_);
  return mine_;
}

// Another rank waits for "here", passes it on, and compares its text with that of rank 0. It
// returns whether "here" has come down the tree; else rank 0 has called. Without either it leaves,
// after a last look.
bool Round::hearHere() {
  const double deadline = start_ + seconds_ + stall();
  bool isCalled = false;
  for (Ballot here;;) {
    const bool isLastLook = MPI_Wtime() >= deadline;
    isHeard_ = hasCome(kTreeTag, up_.parent(comm_.rank()), here);
    isCalled = !isHeard_ && hasCome(kCallTag, 0, here);
    if (isHeard_ || isCalled) {
      if (mine_.code == TENON_SUCCESS && mine_.digest != here.digest)
        mine_.code = TENON_ERR_COLLECTIVE;
      sendDown(here, up_);
      return isHeard_;
    }
    if (isLastLook) {
      send(kCallTag, Envelope{true, mine_}, 0);
      giveUp(
          comm_, [&] { return absenceText({0}, seconds_); }, true);
    }
    policy_.wait([] { return std::string("rank 0"); });
  }
}

// Another rank, which rank 0 has called, says that it is there and waits for the decision. If that
// has come already, this rank has come too late, and rank 0 listens no longer. Else it does its
// part of the tree, so that all messages on which others count are sent, and, if all succeed,
// received.
Ballot Round::answer() {
  Decision decision;
  if (!hasCome(kCallTag, 0, decision)) {
    if (!hasReported_)
      send(kTreeTag, mine_, up_.parent(comm_.rank()));
    send(kCallTag, Envelope{false, mine_}, 0);
    receive(kCallTag, 0, decision);
  }
  if (decision.timeout.front() != 0)
    giveUp(
        comm_, [&] { return decision.timeout.data(); }, false);
  if (Ballot here; !isHeard_)
    receive(kTreeTag, up_.parent(comm_.rank()), here);
  receiveReports();
  return decision.verdict;
}

Ballot Round::attend() {
  if (!hearHere())
    return answer();
  Ballot first = mine_;
  for (Ballot report; nextReport() >= 0; ++reports_) {
    if (!comesBeforeCall(nextReport(), report))
      return answer();
    first = firstFailure(first, report);
  }
  send(kTreeTag, first, up_.parent(comm_.rank()));
  hasReported_ = true;
  Ballot verdict;
  if (!comesBeforeCall(down_.parent(comm_.rank()), verdict))
    return answer();
  sendDown(verdict, down_);
  return verdict;
}

} // namespace

double agreeTimeout(std::optional<Error>& failure) noexcept {
  // What was read last, at first the default: an agreement must not fail for want of memory when
  // all that it concludes is done.
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
  Round round(comm, mine, seconds);
  return comm.rank() == 0 ? round.preside() : round.attend();
}

} // namespace tenon
