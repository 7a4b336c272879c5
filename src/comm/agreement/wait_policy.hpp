// SPDX-License-Identifier: BSD-2-Clause
// WaitPolicy: how a rank waits for another process. Use:
//
//   for (WaitPolicy policy(comm); !isDone();)
//     policy.wait([&] { return ranksText(ranks); });   // The ranks that are waited for.
//
// The first 2000 calls of wait() return after a short pause. Later calls yield the core, and every
// 16th call probes MPI, which lets MPI make progress with messages of this rank that the other
// process needs. If there are more ranks than cores, the core is yielded from the start.
//
// Every 64th call reads the clock. After -tenon_wait_warning seconds the rank prints once in which
// call it waits, and for which ranks, and continues. After -tenon_wait_limit seconds it ends the
// program.
#pragma once

#include "comm/communicator.hpp"
#include "sys/pause.hpp"

#include <sched.h>
#include <unistd.h>

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

class WaitPolicy {
public:
  explicit WaitPolicy(const Communicator& comm) : WaitPolicy(comm.mpi()) {
    static const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (comm.isAloneOnNode() || (comm.arena() && comm.arena()->nodeSize() <= cores))
      pausesBeforeYield_ = kPausesBeforeYield;
  }
  // Without a Communicator the number of ranks on this node is unknown, so every call yields.
  explicit WaitPolicy(MPI_Comm comm) : comm_(comm) {}

  // Called between two tests; missing() returns the ranks that are waited for, as text.
  template <class Missing>
  void wait(Missing&& missing) {
    if (++count_ <= pausesBeforeYield_)
      return pauseCore();
    sched_yield();
    if (count_ % kYieldsPerProbe == 0)
      probe();
    if (count_ % kYieldsPerClock == 0 && isLong())
      try {
        warnOrEnd(missing());
      } catch (const std::bad_alloc&) {
        // A rank that waits has buffers in messages in flight, so it cannot throw.
        warnOrEndWithoutMemory();
      }
  }

private:
  // Number of tests before the core is first yielded; then the number of yields per probe of MPI,
  // and per read of the clock.
  static constexpr std::uint64_t kPausesBeforeYield = 2000, kYieldsPerProbe = 16,
                                 kYieldsPerClock = 64;

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
  std::uint64_t pausesBeforeYield_ = 0, count_ = 0; // count_: calls of wait() so far.
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
  if (areDone())
    return;
  for (WaitPolicy policy(comm); !areDone();) {
    comm.advance();
    policy.wait(missing);
  }
}

std::vector<int> othersOf(const Communicator& comm);
// True if a request is complete; it still has to be waited for.
bool isComplete(MPI_Request request);
// Cancels a receive. Returns true if its message had not arrived, and now never will; the request
// is complete in either case.
bool isTakenBack(MPI_Request& request);

} // namespace tenon
