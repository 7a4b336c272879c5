// SPDX-License-Identifier: BSD-2-Clause
// Which nodes of a network are run again for its adjoint, so that what it holds is within a limit.
// The layers have their layouts by then: this is a stage behind the search for these.
//
// A value that is kept goes if its writers are run again, from what is kept before them. What runs
// again is in the memory that passes share, until the last derivative has read it, so that this
// grows while what is kept shrinks. For several bounds of the one the other is brought down
// greedily, by the bytes that go for a second of kernels and messages; each step is counted as a
// run finds it (run_memory.hpp). The fastest that fits is taken, and what it can do without is kept
// after all. That is a heuristic: it may miss what would fit, or be faster.
#pragma once

#include "planner/prices/run_memory.hpp"

#include <optional>
#include <set>

namespace tenon {

struct Recomputation {
  std::vector<bool> nodes = {};
  double seconds = 0; // of what runs again
};

class RecomputationSearch {
public:
  // The seconds of an Apply of each node's kernels, and of each operator. Some nodes are run again
  // in any case.
  RecomputationSearch(RunMemory& memory, std::vector<double> kernels, std::vector<double> operators,
                      std::vector<bool> always, int rank);
  // So that the rank takes no more; none where that was not found. The memory is then as that runs.
  std::optional<Recomputation> within(double bytes);
  // The least bytes of the rank that were seen.
  double least() const noexcept { return least_; }

private:
  using Nodes = std::vector<bool>;
  struct State {
    Nodes nodes;
    double saved = 0, shared = 0, seconds = 0;
  };
  // A value that need not be kept if these nodes run again.
  struct Candidate {
    ValueId value;
    Nodes nodes;
    double bytes = 0, seconds = 0;
  };
  State evaluate(Nodes nodes);
  double secondsAgain() const;
  std::vector<Candidate> candidates(const State& state) const;
  void collect(ValueId v, const MapList& now, Candidate& of, std::set<ValueId>& seen) const;
  static Nodes first(const std::vector<Candidate>& open, double tooMuch, std::size_t most);
  std::optional<State> reduced(double most, double shared, double seconds);
  State spared(State state, double most);

  RunMemory& memory_;
  std::vector<double> kernels_, operators_;
  Nodes always_;
  int rank_;
  std::vector<bool> may_;                 // by value: can be run again
  std::vector<std::vector<int>> writers_; // by value: maps
  double fixed_ = 0, least_ = 0, alwaysSeconds_ = 0;
};

} // namespace tenon
