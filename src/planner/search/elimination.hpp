// SPDX-License-Identifier: BSD-2-Clause
// Exact minimum of a sum of tables over one state per layer, by eliminating one layer after the
// other: the min-plus product of the tables that contain the layer, minimised over its states, is a
// new table of its neighbours. A backward sweep computes the min-marginals: for each layer and
// state, the least sum of all plans that use it.
#pragma once

#include "planner/search/cost_tables.hpp"

#include <functional>

namespace tenon {

// The elimination order. Eliminating a layer joins its neighbours, and the layer with the fewest
// neighbours is next: chains have width 1; residual networks, U-Nets and all series-parallel graphs
// have width 2. A layer with one state is not counted as a neighbour.

struct EliminationStep {
  int layer = -1;
  std::vector<int> neighbours; // those that are eliminated later, in reverse order of elimination
  int parent = -1;             // step of the neighbour that is eliminated first; -1: none
};

std::vector<EliminationStep> eliminationOrder(const CostTables& tables);
// The largest number of combinations of states of a layer and its neighbours in an elimination, and
// the largest number that elimination accepts.
double mostCombinations(const std::vector<EliminationStep>& order,
                        const std::function<double(int layer)>& states);
inline constexpr double kMaxCombinations = 1 << 27; // with three neighbours, 107 states each
// Throws TENON_ERR_SUPPORT if a layer and its neighbours have too many combinations of states, and
// names them.
void checkWidths(const CostTables& tables, const std::vector<EliminationStep>& order);

class Elimination {
public:
  // Minimises seconds + secondsPerByte bytes. The tables must outlive the search. The order can be
  // that of tables with more states. Throws the errors of checkWidths().
  explicit Elimination(const CostTables& tables) : Elimination(tables, eliminationOrder(tables)) {}
  Elimination(const CostTables& tables, const std::vector<EliminationStep>& order);
  double run(double secondsPerByte = 0);

  // Results of the last run. Among equal plans choice() returns the one with the first states of
  // the layers that are eliminated last.
  std::vector<int> choice() const;
  std::vector<std::vector<double>> minMarginals() const;
  // At most `count` of the best plans of the last run, the best first.
  std::vector<std::vector<int>> best(int count) const;

private:
  // A table of a step's layer and some of its neighbours; the layer's states are the fastest index.
  struct Factor {
    std::vector<int> at; // positions among the neighbours, increasing
    std::vector<double> values;
  };
  struct Step : EliminationStep {
    std::vector<int> sizes; // states of the neighbours
    std::vector<Factor> pairs;
    std::vector<int> children;  // steps whose messages this one reads
    std::vector<int> messageAt; // positions of the message's other neighbours among those of the
                                // parent
    std::vector<double> unary, message;
  };
  class Rows;

  void addPair(const PairTable& pair, const std::vector<int>& position);
  // Calls visit(index of the neighbours' states, sums of the step's tables by state of its layer).
  template <class Visit>
  void forRows(const Step& step, Visit&& visit) const;

  const CostTables& tables_;
  std::vector<Step> steps_;
  std::vector<std::vector<double>> fixed_; // seconds, including the pairs with layers of one state
  double least_ = 0;
};

} // namespace tenon
