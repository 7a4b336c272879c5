// SPDX-License-Identifier: BSD-2-Clause
// Interface of a kernel that has several implementations (candidates) and picks the fastest by
// measurement: convolutions by cuDNN. It is called when a layer is set up. Candidates round
// differently, so ranks that hold copies of one result must pick the same candidate. The choice
// therefore has two steps with a reduction over these ranks between them:
//     times = tuner.measure();                            // local, on every rank
//     MPI_Allreduce(times, slowest, MPI_MAX, ...);        // by the caller, the layer
//     tuner.choose(slowest);                              // local, the same result on every rank
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tenon {

using Nanoseconds = std::uint64_t;
// The time of a candidate that cannot run.
constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

// The choice that a kernel has between several algorithms. Set-up measures all of them, and ranks
// choose alike.
class Autotuner {
public:
  virtual ~Autotuner() = default;
  // Time of each candidate on this rank. The list has the same length on all ranks: all entries are
  // 0 if this rank has nothing to compare, and kNever marks a candidate that cannot run. A failed
  // candidate is not an error.
  virtual std::vector<Nanoseconds> measure() = 0;
  // Selects the candidate whose slowest rank is fastest. A rank that had nothing to compare and
  // lacks that candidate uses its first one.
  virtual void choose(std::span<const Nanoseconds> slowest) = 0;
  bool areDone() const noexcept { return areDone_; }

protected:
  bool areDone_ = false; // a candidate has been chosen
};

// The fastest candidate, or the first of those within 5 % of it, to keep noise out of the choice.
inline std::size_t fastestOf(std::span<const Nanoseconds> times) {
  std::size_t best = 0;
  for (std::size_t candidate = 1; candidate < times.size(); ++candidate)
    if (double(times[candidate]) < 0.95 * double(times[best]))
      best = candidate;
  return best;
}

} // namespace tenon
