// SPDX-License-Identifier: BSD-2-Clause
// The least sum of tables of numbers over a state of each layer, exactly, by eliminating layer
// after layer: min-plus products of the tables that have the layer, minimised over its states, are
// a new table of its neighbours. A sweep back over the steps gives the min-marginals: for each
// layer and state the least sum of all plans that use it.
#pragma once

#include "planner/search/cost_tables.hpp"

#include <functional>

namespace tenon {

// The order in which layers are eliminated from a sum of tables. Taking out a layer joins its
// neighbours, and the layer with the fewest goes first: chains have width 1, and residual networks,
// U-Nets and all series-parallel graphs width 2. A layer with one state is nobody's neighbour.

struct EliminationStep {
  int layer = -1;
  std::vector<int> neighbours; // those that are eliminated later, the last of them first
  int parent = -1;             // the step of the neighbour that is eliminated first; -1: none
};

std::vector<EliminationStep> eliminationOrder(const CostTables& tables);
// The most combinations of states of a layer and its neighbours, and of those that elimination
// takes.
double mostCombinations(const std::vector<EliminationStep>& order,
                        const std::function<double(int layer)>& states);
inline constexpr double kMaxCombinations = 1 << 27; // with three neighbours, 107 states each
// Throws TENON_ERR_SUPPORT naming a layer and its neighbours whose states have too many
// combinations.
void checkWidths(const CostTables& tables, const std::vector<EliminationStep>& order);

class Elimination {
public:
  // Searches seconds + secondsPerByte bytes. The tables must outlive the search. The order may be
  // that of tables with more states. Throws TENON_ERR_SUPPORT as checkWidths() does.
  explicit Elimination(const CostTables& tables) : Elimination(tables, eliminationOrder(tables)) {}
  Elimination(const CostTables& tables, const std::vector<EliminationStep>& order);
  double run(double secondsPerByte = 0);

  // Results of the last run. Among equal plans choice() has the first state of the layers that are
  // eliminated last.
  std::vector<int> choice() const;
  std::vector<std::vector<double>> minMarginals() const;
  // The best plans of the last run, `count` at most, the best first.
  std::vector<std::vector<int>> best(int count) const;

private:
  // A table of the layer of a step and of some of its neighbours, the layer's states fastest.
  struct Factor {
    std::vector<int> at; // places among the neighbours, rising
    std::vector<double> values;
  };
  struct Step : EliminationStep {
    std::vector<int> sizes; // states of the neighbours
    std::vector<Factor> pairs;
    std::vector<int> children;  // steps whose messages this one reads
    std::vector<int> messageAt; // its message's other neighbours among those of the parent
    std::vector<double> unary, message;
  };
  class Rows;

  void addPair(const PairTable& pair, const std::vector<int>& position);
  // Calls visit(index of the neighbours' states, sums of the step's tables by state of its layer).
  template <class Visit>
  void forRows(const Step& step, Visit&& visit) const;

  const CostTables& tables_;
  std::vector<Step> steps_;
  std::vector<std::vector<double>> fixed_; // seconds beside neighbours of one state
  double least_ = 0;
};

} // namespace tenon
