// SPDX-License-Identifier: BSD-2-Clause
// For benchmarks on one thread: times several methods for the same work by their processor time.
// They take turns, each with one call that is not timed before the timed ones.
#pragma once

#include "bench/processor_time.hpp"

#include <functional>
#include <string>
#include <vector>

namespace tenon::bench {

constexpr int kTurns = 21;

// One of the methods that are compared.
struct Method {
  std::string name;
  std::function<void()> run;
  int calls;
  std::vector<double> seconds; // of a call, in each turn
};

inline void takeTurns(std::vector<Method>& methods) {
  for (int turn = 0; turn < kTurns; ++turn)
    for (std::size_t i = 0; i < methods.size(); ++i) {
      Method& m = methods[(i + std::size_t(turn)) % methods.size()];
      m.run();
      const double start = processorSeconds();
      for (int call = 0; call < m.calls; ++call)
        m.run();
      m.seconds.push_back((processorSeconds() - start) / m.calls);
    }
}

} // namespace tenon::bench
