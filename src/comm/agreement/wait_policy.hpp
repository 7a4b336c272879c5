// SPDX-License-Identifier: BSD-2-Clause
// How to wait for another process: a moment by looking again at once, then by giving the core away
// each time, looking after MPI now and then, since the other may wait for a message of ours. Where
// there are more ranks than cores, it gives the core away at once.
//
// The clock is read only after many looks, so that short waits do not pay for it. After
// -tenon_wait_warning seconds the rank says once in which call it waits, and for whom, and goes on;
// after -tenon_wait_limit seconds it ends the program.
#pragma once

#include "comm/communicator.hpp"
#include "sys/pause.hpp"

#include <sched.h>
#include <unistd.h>

#include <new>

namespace tenon {

// Times in seconds; 0 for never.
struct WaitTimes {
  double warning = 60, limit = 0;
};
// Sets the times of all waits of the process.
void setWaitTimes(const WaitTimes& times);
WaitTimes waitTimesFromOptions();

// The ranks as text: "rank 3", "ranks 1,3". At most a few are named.
std::string ranksText(const std::vector<int>& ranks);
// The text where it is not known which of the ranks are missing.
std::string someOfText(const std::vector<int>& ranks);

class WaitPolicy {
public:
  explicit WaitPolicy(const Communicator& comm) : WaitPolicy(comm.mpi()) {
    static const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (comm.isAloneOnNode() || (comm.arena() && comm.arena()->nodeSize() <= cores))
      looks_ = kLooks;
  }
  explicit WaitPolicy(MPI_Comm comm) : comm_(comm) {}

  // To be called between two looks; missing() names the ranks that are waited for.
  template <class Missing>
  void wait(Missing&& missing) {
    if (++count_ <= looks_)
      return pauseCore();
    sched_yield();
    if (count_ % kYieldsPerProbe == 0)
      probe();
    if (count_ % kYieldsPerClock == 0 && isLong())
      try {
        tell(missing());
      } catch (const std::bad_alloc&) {
        // A rank that waits has buffers in messages, and must not leave.
        tellWithoutMemory();
      }
  }

private:
  // How many looks there are before the core is given away for the first time; then how often, in
  // looks, MPI works and the clock is read.
  static constexpr std::uint64_t kLooks = 2000, kYieldsPerProbe = 16, kYieldsPerClock = 64;

  void probe() const {
    int found = 0;
    checkMpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE),
             "MPI_Iprobe");
  }
  // Whether there is something to tell. The clock starts at the first call.
  bool isLong() noexcept;
  void tell(const std::string& missing);
  void tellWithoutMemory();
  bool isOver() const noexcept;

  MPI_Comm comm_;
  std::uint64_t looks_ = 0, count_ = 0;
  double start_ = 0, next_ = 0;
};

// Waits for requests of a communicator; missing() names the ranks on which they depend. Copies from
// a device can be what the other rank waits for, so they are looked after in the meantime.
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
// Whether a request is complete, which it stays until it is waited for.
bool isComplete(MPI_Request request);
// Cancels a receive. Whether its message had not come yet, and now never will; the request is over
// either way.
bool isTakenBack(MPI_Request& request);

} // namespace tenon
