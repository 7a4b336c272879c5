// SPDX-License-Identifier: BSD-2-Clause
// Several candidates to compute one thing, the fastest of which only a measurement shows. Ranks
// that hold copies of a result must take the same candidate, so that whoever sets kernels up
// compares the times of all ranks between the two calls.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tenon {

using Nanoseconds = std::uint64_t;
constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

class Autotuner {
public:
  virtual ~Autotuner() = default;
  // How long each candidate takes here, as many numbers on all ranks: all 0 where there is nothing
  // to compare, kNever for a candidate that cannot be taken. No failure of a candidate is an error.
  virtual std::vector<Nanoseconds> measure() = 0;
  // Takes the candidates by the times of the ranks that are slowest in each. A rank on which that
  // candidate does not exist, which can only be one that had nothing to compare, takes its first.
  virtual void choose(std::span<const Nanoseconds> slowest) = 0;
  bool areDone() const noexcept { return areDone_; }

protected:
  bool areDone_ = false; // one of the candidates is taken
};

// The fastest; of those that are nearly as fast the first, so that noise decides nothing.
inline std::size_t fastestOf(std::span<const Nanoseconds> times) {
  std::size_t best = 0;
  for (std::size_t candidate = 1; candidate < times.size(); ++candidate)
    if (double(times[candidate]) < 0.95 * double(times[best]))
      best = candidate;
  return best;
}

} // namespace tenon
