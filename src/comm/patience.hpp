// SPDX-License-Identifier: BSD-2-Clause
// How to wait for another process of the node: a moment by looking again at once, then by giving
// the core away each time, looking after MPI now and then, since the other may wait for a message
// of ours. Where there are more ranks than cores the moment is none.
#pragma once

#include "comm/communicator.hpp"

#include <sched.h>
#include <unistd.h>

namespace tenon {

class Patience {
public:
  explicit Patience(const Communicator& comm) : comm_(comm.mpi()) {
    static const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    looks_ = comm.arena() && comm.arena()->nodeSize() > cores ? 0 : kLooks;
  }

  // Between two looks.
  void wait() {
    if (++count_ <= looks_)
      return relax();
    sched_yield();
    if (count_ % kYieldsPerProbe == 0) {
      int found = 0;
      checkMpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE),
               "MPI_Iprobe");
    }
  }
  // What was waited for has come.
  void reset() noexcept { count_ = 0; }

private:
  static constexpr int kLooks = 2000;
  static constexpr int kYieldsPerProbe = 16;

  static void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  MPI_Comm comm_;
  int looks_ = 0;
  int count_ = 0;
};

} // namespace tenon
