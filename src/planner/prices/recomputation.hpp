// SPDX-License-Identifier: BSD-2-Clause
// Chooses the nodes of a network that run again for the adjoint, to keep the memory within a limit.
// It runs after the search, when the layers have their layouts.
//
// A saved value can be discarded if the maps that write it run again in the adjoint, from values
// saved before. Recomputed values use the memory that passes share, until the last derivative has
// read them. So the shared memory grows while the saved memory shrinks. The search tries several
// bounds of the shared memory. For each, it greedily discards the values that free the most bytes
// per second of kernels and messages, and counts each step as in a run (run_memory.hpp). The
// fastest result within the limit is chosen, and values are saved again as far as the limit allows.
// This is a heuristic: it can miss a solution that fits or is faster.
#pragma once

#include "planner/prices/run_memory.hpp"

#include <optional>
#include <set>

namespace tenon {

// The nodes that run again.
struct Recomputation {
  std::vector<bool> nodes = {};
  double seconds = 0; // of the nodes that run again
};

// The search for one plan, on the rank that needs most.
class RecomputationSearch {
public:
  // The seconds of Apply of each node's kernels, and of each operator. Nodes with `always` run
  // again in any case.
  RecomputationSearch(RunMemory& memory, std::vector<double> kernels, std::vector<double> operators,
                      std::vector<bool> always, int rank);
  // Finds a recomputation with which the rank needs at most `bytes`; none if none was found. The
  // memory is then in this state.
  std::optional<Recomputation> within(double bytes);
  // The least bytes of the rank that were found.
  double least() const noexcept { return least_; }

private:
  using Nodes = std::vector<bool>;
  // The bytes and seconds if these nodes run again: saved activations, and temporary values, which
  // share memory.
  struct State {
    Nodes nodes;
    double saved = 0, shared = 0, seconds = 0;
  };
  // A value that need not be saved if these nodes run again.
  struct Candidate {
    ValueId value;
    Nodes nodes;
    double bytes = 0, seconds = 0;
  };
  State evaluate(Nodes nodes);
  double secondsAgain() const;
  std::vector<Candidate> candidates(const State& state) const;
  void collect(ValueId v, const MapList& now, Candidate& candidate, std::set<ValueId>& seen) const;
  static Nodes firstCandidates(const std::vector<Candidate>& list, double tooMuch,
                               std::size_t most);
  std::optional<State> reduced(double most, double shared, double seconds);
  State spared(State state, double most);

  RunMemory& memory_;
  std::vector<double> kernels_, operators_;
  Nodes always_;
  int rank_;
  std::vector<bool> canRecompute_;        // by value: whether it can be recomputed
  std::vector<std::vector<int>> writers_; // by value: the maps that write it
  double fixed_ = 0;                      // bytes that do not depend on recomputation
  double least_ = 0;                      // the least bytes that were found
  double alwaysSeconds_ = 0;              // of the nodes that run again in any case
};

} // namespace tenon
