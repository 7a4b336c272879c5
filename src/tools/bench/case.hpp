// SPDX-License-Identifier: BSD-2-Clause
// The movements that `tenon bench` times, each with the MPI call that does the same.
#pragma once

#include "tools/check/values.hpp"

#include <tenon.h>

#include <functional>
#include <vector>

namespace tenon::tools {

// Timing on all ranks: medians, in seconds, of the slowest rank's time.

using Work = std::function<void()>;

// For each work the median over `repeat` rounds, in which the works take turns. A round repeats
// each work as often as makes it longer than the clock and a barrier. Collective on all ranks.
std::vector<double> medians(const std::vector<Work>& works, int repeat);

// What the machine allows: half a round trip of 8 bytes between ranks 0 and 1; bytes a second of
// messages between them, and of memcpy on all ranks at once.
struct Limits {
  double latency, messages, memory;
  // The least time in which something of so many bytes can be told of and copied.
  double of(double bytes) const { return latency + bytes / memory; }
};
Limits measureLimits(int repeat);

struct BenchCase {
  const char* name;
  double bytes; // of input or output, whichever is larger, on the rank that holds most
  std::function<LinearOp()> make;
  std::function<Values()> given, expected; // this rank's elements of input and output
  const char* peerName;
  // Moves this rank's elements of the input to those of the output by MPI's own means.
  std::function<void(const double* x, double* y)> peer;
};

// The cases with tensors of about so many bytes on the rank that holds most. Collective.
std::vector<BenchCase> benchCases(Index bytes);

} // namespace tenon::tools
