// SPDX-License-Identifier: BSD-2-Clause
// Lower bounds of the least sums by a spanning forest. Pairs of layers that close a cycle count
// with their minimum; the least sum for each state is then exact along the remaining trees. This
// needs one pass over each table, whereas elimination needs products of tables. Elimination then
// runs on the few states that can occur in a plan as good as a known one.
#pragma once

#include "planner/search/cost_tables.hpp"

namespace tenon {

class Forest {
public:
  // The tables must outlive the forest.
  explicit Forest(const CostTables& tables);

  // Computes the bounds of seconds + secondsPerByte bytes.
  void run(double secondsPerByte = 0);
  // By layer and state, after run(): no plan with this state has a smaller sum.
  const std::vector<std::vector<double>>& bounds() const noexcept { return bounds_; }
  // A good plan with this state: the best plan of the forest, in which single other layers are then
  // changed while that reduces the sum.
  std::vector<int> goodPlan(int layer, int state) const;
  // The same for the state with the least bound.
  std::vector<int> goodPlan() const;
  // The states whose bounds are at most `most`.
  std::vector<std::vector<int>> upTo(double most) const;
  // Calls visit(pair, state of from, state of to) for the pairs of states whose bounds are at most
  // `most`.
  template <class Visit>
  void visitUpTo(double most, Visit&& visit) const {
    const std::vector<std::vector<int>> candidates = upTo(most);
    for (std::size_t p = 0; p < tables_.pairs.size(); ++p) {
      const PairTable& pair = tables_.pairs[p];
      const PairSides sides = sidesOf(static_cast<int>(p));
      for (int from : candidates[pair.from]) {
        const double* seconds =
            sides.seconds + static_cast<std::size_t>(from) * tables_.states(pair.to);
        for (int to : candidates[pair.to])
          if (sides.from[from] + seconds[to] + sides.to[to] <= most)
            visit(p, from, to);
      }
    }
  }

private:
  // The pairs between two layers, of which one is the parent of the other.
  struct Edge {
    int from = 0, to = 0;       // layers, as in the tables
    std::vector<double> joined; // sum of several pairs; empty for a single pair
    const std::vector<double>* seconds = nullptr;
  };
  struct Visit {
    int layer = 0, parent = -1, edge = -1;
  };

  // The sums of both layers of a pair, without the pair itself.
  struct PairSides {
    std::vector<double> from, to;
    const double* seconds = nullptr;
  };
  PairSides sidesOf(int pair) const;
  std::vector<double> across(const Edge& edge, int source, const std::vector<double>& values) const;
  int bestAcross(const Edge& edge, int target, int state, const std::vector<double>& values) const;
  std::vector<Visit> visitsFrom(std::vector<int> roots) const;
  std::vector<double> sumAt(int layer, int without) const;
  void improve(std::vector<int>& plan, int fixed) const;

  const CostTables& tables_;
  std::vector<Edge> edges_;
  std::vector<std::vector<int>> edgesOf_;    // by layer
  std::vector<std::vector<double>> closing_; // by layer and state: minima of the pairs that close
                                             // cycles
  std::vector<std::vector<int>> pairsOf_;    // by layer
  std::vector<int> edgeOf_;                  // by pair; -1: the pair closes a cycle
  std::vector<Visit> visits_;                // all layers, each after its parent
  // Results of the last run.
  std::vector<std::vector<double>> own_, bounds_;
  std::vector<double> elsewhere_;                  // by layer: the least sums of the other trees
  std::vector<std::vector<double>> toFrom_, toTo_; // by edge: contribution of the opposite side to
                                                   // each end
};

} // namespace tenon
