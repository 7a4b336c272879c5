// SPDX-License-Identifier: BSD-2-Clause
// For benchmarks: the processor time of work on one thread.
#pragma once

#include "bench/race.hpp"

#include <ctime>

namespace tenon::bench {

inline double processorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

// Microseconds of one call, in each of kRepetitions rounds of several; work(i) is call i of a
// round.
template <class Work>
std::vector<double> processorTimes(int calls, Work&& work) {
  std::vector<double> times;
  for (int round = 0; round < kRepetitions; ++round) {
    const double start = processorSeconds();
    for (int call = 0; call < calls; ++call)
      work(call);
    times.push_back(1e6 * (processorSeconds() - start) / calls);
  }
  return times;
}

} // namespace tenon::bench
