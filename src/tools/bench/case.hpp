// SPDX-License-Identifier: BSD-2-Clause
// The data movements that `tenon bench` times, each with the corresponding MPI call.
#pragma once

#include "tools/check/values.hpp"

#include <tenon.h>

#include <functional>
#include <vector>

namespace tenon::tools {

// Timing on all ranks: medians, in seconds, of the slowest rank's time.

using Work = std::function<void()>;

// Returns the median time of each function in `works`. Each of `repeat` rounds times all of them,
// one after the other, and repeats a function until the time is long compared with a clock tick
// and a barrier. Collective on all ranks.
std::vector<double> medians(const std::vector<Work>& works, int repeat);

// Limits of the machine: half a round trip of 8 bytes between ranks 0 and 1; bytes per second of
// messages between them, and of memcpy on all ranks at once.
struct Limits {
  double latency, messages, memory;
  // Lower bound of the time to signal and copy `bytes` bytes.
  double of(double bytes) const { return latency + bytes / memory; }
};
Limits measureLimits(int repeat);

// One data movement: Tenon's operator, which make() creates, and MPI calls with the same effect.
struct BenchCase {
  const char* name;
  double bytes; // of input or output, whichever is larger; maximum over the ranks
  std::function<LinearOp()> make;
  std::function<Values()> given, expected; // this rank's elements of input and output
  const char* peerName;                    // the MPI call, "MPI_Allgather"
  // Computes this rank's elements of the output from those of the input, with MPI calls.
  std::function<void(const double* x, double* y)> peer;
};

// The cases with tensors of about `bytes` bytes on the rank that has the most. Collective.
std::vector<BenchCase> benchCases(Index bytes);

} // namespace tenon::tools
