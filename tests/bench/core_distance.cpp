// SPDX-License-Identifier: BSD-2-Clause
// Measures the time that a cache line needs from one rank's core to the other's and back
// (core_distance.hpp): each rank writes a counter in shared memory (an MPI window) and waits until
// the other rank's counter has the same value.
#include "bench/core_distance.hpp"

#include <new>

namespace tenon::bench {

CoreDistance::CoreDistance(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  void* lines = nullptr;
  MPI_Win_allocate_shared(rank == 0 ? 2 * sizeof(Line) : 0, 1, MPI_INFO_NULL, comm, &lines,
                          &window_);
  MPI_Aint bytes = 0;
  int unit = 0;
  MPI_Win_shared_query(window_, 0, &bytes, &unit, &lines);
  own_ = static_cast<Line*>(lines) + rank;
  theirs_ = static_cast<Line*>(lines) + (1 - rank);
  new (own_) Line{0};
  MPI_Barrier(comm);
}

double CoreDistance::measure() {
  constexpr int kTrips = 200;
  meet(); // both ranks begin at the same time
  const double start = MPI_Wtime();
  for (int i = 0; i < kTrips; ++i)
    meet();
  return (MPI_Wtime() - start) / kTrips;
}

// One round trip: returns when both ranks have called it equally often.
void CoreDistance::meet() {
  own_->value.store(++meetings_, std::memory_order_release);
  while (theirs_->value.load(std::memory_order_acquire) < meetings_) {
  }
}

} // namespace tenon::bench
