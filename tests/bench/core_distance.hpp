// SPDX-License-Identifier: BSD-2-Clause
// CoreDistance: the distance of two ranks' cores, as the time that a cache line needs from one to
// the other and back. On a virtual machine it changes while a program runs, since the host moves
// virtual processors between cores.
#pragma once

#include <tenon/mpi.h>

#include <atomic>

namespace tenon::bench {

class CoreDistance {
public:
  // Collective over the two ranks of comm, which are on one node.
  explicit CoreDistance(MPI_Comm comm);
  CoreDistance(const CoreDistance&) = delete;
  CoreDistance& operator=(const CoreDistance&) = delete;
  ~CoreDistance() { MPI_Win_free(&window_); }

  // The mean of some hundred round trips, in seconds. Collective.
  double measure();

private:
  struct alignas(128) Line {
    std::atomic<long> value;
  };
  void meet();

  MPI_Win window_ = MPI_WIN_NULL;
  Line *own_ = nullptr, *theirs_ = nullptr;
  long meetings_ = 0;
};

} // namespace tenon::bench
