// SPDX-License-Identifier: BSD-2-Clause
// Lower bounds of the sums of all plans with a given state, by a spanning forest of the network's
// graph. The pairs of layers in the forest are counted exactly. A pair that closes a cycle, such as
// the third pair of a triangle, is counted as the minimum of its table for each state of one layer,
// which can only lower the sum. One pass over each table computes the bounds, whereas elimination
// combines tables. Elimination then needs only the few states whose bounds are at most the sum of a
// known plan.
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
  // A good, not necessarily optimal, plan in which the layer has this state: the best plan of the
  // forest, improved by changes of other layers, one at a time, while the sum decreases.
  std::vector<int> goodPlan(int layer, int state) const;
  // A good plan, as above, in which layer 0 has the state with the least bound; then all layers are
  // improved, layer 0 included.
  std::vector<int> goodPlan() const;
  // By layer: the states whose bounds are at most `maxSum`.
  std::vector<std::vector<int>> upTo(double maxSum) const;
  // Calls visit(pair, state of from, state of to) for the pairs of states whose bounds are at most
  // `maxSum`.
  template <class Visit>
  void visitUpTo(double maxSum, Visit&& visit) const {
    const std::vector<std::vector<int>> candidates = upTo(maxSum);
    for (std::size_t p = 0; p < tables_.pairs.size(); ++p) {
      const PairTable& pair = tables_.pairs[p];
      const PairSides sides = sidesOf(static_cast<int>(p));
      for (int from : candidates[pair.from]) {
        const double* seconds =
            sides.seconds + static_cast<std::size_t>(from) * tables_.states(pair.to);
        for (int to : candidates[pair.to])
          if (sides.from[from] + seconds[to] + sides.to[to] <= maxSum)
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

  // For a pair of layers, by state of each of the two: the least sum of everything except the pair
  // itself.
  struct PairSides {
    std::vector<double> from, to;
    const double* seconds = nullptr;
  };
  PairSides sidesOf(int pair) const;
  // The message that an edge sends from one of its layers, and the best state at its other end.
  std::vector<double> across(const Edge& edge, int source, const std::vector<double>& values) const;
  int bestAcross(const Edge& edge, int target, int state, const std::vector<double>& values) const;
  std::vector<Visit> visitsFrom(std::vector<int> roots) const;
  std::vector<double> sumAt(int layer, int exceptEdge) const;
  void improve(std::vector<int>& plan, int fixed) const;

  const CostTables& tables_;
  std::vector<Edge> edges_;
  std::vector<std::vector<int>> edgesOf_;    // by layer
  std::vector<std::vector<double>> closing_; // by layer and state: minima of the pairs that close
                                             // cycles
  std::vector<std::vector<int>> pairsOf_;    // by layer
  std::vector<int> edgeOf_;                  // by pair; -1: the pair closes a cycle
  std::vector<Visit> visits_;                // all layers, each after its parent
  // Results of the last run, by layer and state: the layer's own cost with closing_, and the
  // bounds.
  std::vector<std::vector<double>> own_, bounds_;
  std::vector<double> elsewhere_; // by layer: the least sum of all trees but its own
  std::vector<std::vector<double>> toFrom_, toTo_; // by edge: contribution of the opposite side to
                                                   // each end
};

} // namespace tenon
