// SPDX-License-Identifier: BSD-2-Clause
// How to wait for another process: a moment by looking again at once, then by giving the core away
// each time, looking after MPI now and then, since the other may wait for a message of ours. Where
// there are more ranks than cores the moment is none.
//
// The clock is read only after many looks, so that short waits do not pay for it. After
// -tenon_wait_warning seconds the rank says once in which call it waits, and for whom, and goes on;
// after -tenon_wait_limit seconds it ends the program.
#pragma once

#include "comm/communicator.hpp"

#include <sched.h>
#include <unistd.h>

#include <new>

namespace tenon {

// Seconds; 0: never.
struct WaitTimes {
  double warning = 60, limit = 0;
};
// Of all waits of the process.
void setWaitTimes(const WaitTimes& times);
WaitTimes waitTimesFromOptions();

// "rank 3", "ranks 1,3": a few of them at most.
std::string ranksText(const std::vector<int>& ranks);
// Where it is not known who of them is missing.
std::string someOfText(const std::vector<int>& ranks);

class Patience {
public:
  explicit Patience(const Communicator& comm) : Patience(comm.mpi()) {
    static const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (comm.isAloneOnNode() || (comm.arena() && comm.arena()->nodeSize() <= cores))
      looks_ = kLooks;
  }
  explicit Patience(MPI_Comm comm) : comm_(comm) {}

  // Between two looks; missing() names who is waited for.
  template <class Missing>
  void wait(Missing&& missing) {
    if (++count_ <= looks_)
      return relax();
    sched_yield();
    if (count_ % kYieldsPerProbe == 0)
      probe();
    if (count_ % kYieldsPerClock == 0 && isLong())
      try {
        tell(missing());
      } catch (const std::bad_alloc&) { // who waits has buffers in messages, and must not leave
        tellWithoutMemory();
      }
  }

private:
  static constexpr std::uint64_t kLooks = 2000, kYieldsPerProbe = 16, kYieldsPerClock = 64;

  static void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
  void probe() const {
    int found = 0;
    checkMpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE),
             "MPI_Iprobe");
  }
  // Whether there is something to tell; the first time that it is asked the clock starts.
  bool isLong() noexcept;
  void tell(const std::string& missing);
  void tellWithoutMemory();
  bool isOver() const noexcept;

  MPI_Comm comm_;
  std::uint64_t looks_ = 0, count_ = 0;
  double start_ = 0, next_ = 0;
};

// Waits for requests of a communicator; missing() names the ranks on which they depend.
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
  for (Patience patience(comm); !areDone();) {
    comm.advance();
    patience.wait(missing);
  }
}

std::vector<int> othersOf(const Communicator& comm);
// Whether a request is complete, which it stays until it is waited for.
bool isComplete(MPI_Request request);
// Whether the message of a receive had not come yet, and now never will. The request is over either way.
bool isTakenBack(MPI_Request& request);

} // namespace tenon
