// SPDX-License-Identifier: BSD-2-Clause
// WaitPolicy: how a rank waits for another process. Use:
//
//   for (WaitPolicy policy(comm); !isDone();)
//     policy.wait([&] { return ranksText(ranks); });   // The ranks that are waited for.
//
// In the first 20 us wait() returns after a short pause. Later calls give the core to others: they
// yield or, if another process wants the core, nap (sys/core_share.h). If there are more ranks than
// cores, they do so from the start, and if the core is wanted, after 2 us. A rank that looks at
// memory then also probes MPI now and then, which lets MPI make progress with messages of this rank
// that the other process needs. A rank that looks at MPI does neither where MPI yields in each call
// that finds nothing: two yields for a look would cost it two time slices.
//
// After -tenon_wait_warning seconds the rank prints once in which call it waits, and for which
// ranks, and continues. After -tenon_wait_limit seconds it ends the program.
#pragma once

#include "comm/communicator.hpp"
#include "sys/pause.hpp"

#include <new>

namespace tenon {

// Times in seconds; 0 means never.
struct WaitTimes {
  double warning = 60, limit = 0;
};
// Sets the times of all waits of the process.
void setWaitTimes(const WaitTimes& times);
WaitTimes waitTimesFromOptions();

// The ranks as text: "rank 3", "ranks 1,3". At most a few are named.
std::string ranksText(const std::vector<int>& ranks);
// The same if it is unknown which of the ranks are missing: "one or more of ranks 1,3".
std::string someOfText(const std::vector<int>& ranks);

// Yields the core and returns 0, or returns the length in ns of a nap to be made instead, since
// others want the core. isNewWait: the first time in a wait, whose naps are short at first.
long yieldOrNextNap(bool isNewWait) noexcept;
// Yields or naps.
void giveCoreAway() noexcept;
// A nap whose end does not depend on what is waited for.
struct Nap {
  void operator()(long nanoseconds) const noexcept;
};
// True while others want the core of this thread.
bool isCoreWanted() noexcept;
// True if the ranks of the node have a core each; false if this is unknown.
bool hasCoreForEachRank(const SharedArena* arena) noexcept;
// True if MPI yields the core in each call that finds nothing (Open MPI's mpi_yield_when_idle).
bool doesMpiYield() noexcept;

class WaitPolicy {
public:
  // What the caller tests between two calls of wait(): a flag in shared memory, or MPI, by a call
  // such as MPI_Iprobe().
  enum class Look { Memory, Mpi };
  explicit WaitPolicy(const Communicator& comm, Look look = Look::Memory)
      : WaitPolicy(comm.mpi(), look) {
    pauses_ = comm.isAloneOnNode() || hasCoreForEachRank(comm.arena().get());
  }
  // Without a Communicator the number of ranks on this node is unknown, so every call yields.
  explicit WaitPolicy(MPI_Comm comm, Look look = Look::Memory) : comm_(comm), look_(look) {}

  // Called between two tests; missing() returns the ranks that are waited for, as text. nap(ns)
  // sleeps for at most that time; it can return when the next test would succeed.
  template <class Missing, class Sleep = Nap>
  void wait(Missing&& missing, Sleep&& nap = {}) {
    ++count_;
    if (pauses_ && (count_ % kLooksPerReading != 0 || mayPause()))
      return pauseCore();
    giveWay(nap);
    if (count_ % kLooksPerClock == 0 && isLong())
      try {
        warnOrEnd(missing());
      } catch (const std::bad_alloc&) {
        // A rank that waits has buffers in messages in flight, so it cannot throw.
        warnOrEndWithoutMemory();
      }
  }

  // The part of wait() without a warning: gives the core to others.
  template <class Sleep = Nap>
  void giveWay(Sleep&& nap = {}) {
    const long length = nextNap();
    if (length > 0)
      nap(length);
    afterYield(/*hasNapped=*/length > 0);
  }

private:
  // Number of tests per reading of the clock at first, and later; and per probe of MPI.
  static constexpr std::uint64_t kLooksPerReading = 16, kLooksPerClock = 64, kLooksPerProbe = 16;

  // True until the rank has paused long enough.
  bool mayPause() noexcept;
  long nextNap() noexcept;
  void afterYield(bool hasNapped);
  void probe() const {
    int found = 0;
    checkMpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE),
             "MPI_Iprobe");
  }
  // True if a warning or the limit is due. The clock starts at the first call.
  bool isLong() noexcept;
  // Prints the warning, or, after the limit, ends the program.
  void warnOrEnd(const std::string& missing);
  void warnOrEndWithoutMemory();
  bool isOver() const noexcept; // True after the limit.

  MPI_Comm comm_;
  Look look_;
  bool pauses_ = false, isNew_ = true; // isNew_: the core was not given away in this wait so far.
  long long pausedSince_ = 0;          // The first reading of the clock, in ns.
  std::uint64_t count_ = 0;            // Calls of wait() so far.
  // Time of the first reading of the clock (0: none yet), and seconds from it until the next
  // warning or the limit is due.
  double start_ = 0, next_ = 0;
};

// Waits until all requests are complete; missing() names the ranks on which the requests depend.
// While waiting, advances the registered messages of the communicator (Pending), for which the
// other ranks can be waiting.
template <class Missing>
void waitFor(const Communicator& comm, MPI_Request* requests, std::size_t count,
             Missing&& missing) {
  const auto areDone = [&] {
    int done = 0;
    checkMpi(MPI_Testall(static_cast<int>(count), requests, &done, MPI_STATUSES_IGNORE),
             "MPI_Testall");
    return done != 0;
  };
  // MPI completes requests in its tests, so the second one can find what the first has completed.
  if (areDone() || areDone())
    return;
  WaitPolicy policy(comm, WaitPolicy::Look::Mpi);
  do {
    comm.advance();
    policy.wait(missing);
  } while (!areDone());
}

std::vector<int> othersOf(const Communicator& comm);
// True if a request is complete; it still has to be waited for.
bool isComplete(MPI_Request request);
// Cancels a receive. Returns true if its message had not arrived, and now never will; the request
// is complete in either case.
bool isTakenBack(MPI_Request& request);

} // namespace tenon
