// SPDX-License-Identifier: BSD-2-Clause
// Exact minimum of a sum of cost tables over one state per layer (a state is a parallelization), by
// variable elimination as in graphical models (Dechter, Bucket elimination, Artificial Intelligence
// 113, 1999; as dynamic programming for parallelizations in PaSE, IPDPS 2021). To eliminate a
// layer, all tables that contain the layer are added, and the sum is minimised over the layer's
// states. The result is a new table, the layer's message, over its neighbours: the other layers in
// these tables. For a chain a - b - c with costs A, B, C and pair tables AB, BC:
//
//   m_a(b) = min over a of A(a) + AB(a,b)
//   m_b(c) = min over b of B(b) + BC(b,c) + m_a(b)
//   least  = min over c of C(c) + m_b(c)
//
// A backward sweep computes the min-marginals: for each layer and state, the least sum of all plans
// in which the layer has this state.
#pragma once

#include "planner/search/cost_tables.hpp"

#include <functional>

namespace tenon {

struct EliminationStep {
  int layer = -1;
  std::vector<int> neighbours; // those that are eliminated later, in reverse order of elimination
  // The step that reads the message: that of neighbours.back(), the first neighbour to be
  // eliminated; -1 if there are none.
  int parent = -1;
};

// The elimination order. The message of an eliminated layer makes all its neighbours neighbours of
// each other, and its size is the product of their numbers of states. Next is always the layer with
// the fewest neighbours. In a chain each layer has at most 1 neighbour when it is eliminated; in
// residual networks, U-Nets and all series-parallel graphs at most 2. A layer with one state is not
// counted as a neighbour.
std::vector<EliminationStep> eliminationOrder(const CostTables& tables);
// The largest number of combinations of states of a layer and its neighbours in an elimination, and
// the largest number that elimination accepts.
double mostCombinations(const std::vector<EliminationStep>& order,
                        const std::function<double(int layer)>& states);
inline constexpr double kMaxCombinations = 1 << 27; // with three neighbours, 107 states each
// Throws TENON_ERR_SUPPORT if a layer and its neighbours have too many combinations of states, and
// names them.
void checkWidths(const CostTables& tables, const std::vector<EliminationStep>& order);

// Calls: the constructor, run(multiplier), then choice(), minMarginals() or best(count) for the
// results of this run.
class Elimination {
public:
  // The tables must outlive the search. A given order can be that of other tables for the same
  // layers and pairs, with more states: a problem that is restricted to fewer states reuses the
  // order of the whole problem. Throws the errors of checkWidths().
  explicit Elimination(const CostTables& tables) : Elimination(tables, eliminationOrder(tables)) {}
  Elimination(const CostTables& tables, const std::vector<EliminationStep>& order);
  // Minimises seconds + secondsPerByte bytes, and returns the minimum.
  double run(double secondsPerByte = 0);

  // Results of the last run: choice() returns the best plan, as the state of each layer. Among
  // plans with equal sums it is the one with the first states of the layers that are eliminated
  // last.
  std::vector<int> choice() const;
  std::vector<std::vector<double>> minMarginals() const;
  // At most `count` of the best plans of the last run, the best first.
  std::vector<std::vector<int>> best(int count) const;

private:
  // A table of the layer of a step and some of its neighbours, in row-major order with the layer's
  // state as the last (fastest) index.
  struct Factor {
    std::vector<int> neighbourIndices; // into the step's neighbours, increasing
    std::vector<double> values;
  };
  struct Step : EliminationStep {
    std::vector<int> sizes; // states of the neighbours
    std::vector<Factor> pairs;
    std::vector<int> children; // steps whose messages this step adds to its tables
    // Entry k: the index, among the neighbours of the parent's layer, of neighbour k of this step.
    // The parent's layer itself, the last neighbour of this step, has no entry.
    std::vector<int> indicesInParent;
    std::vector<double> unary;   // by state of the layer: seconds + secondsPerByte bytes
    std::vector<double> message; // least sums, by states of the neighbours
  };
  class Rows; // the sums of a step's tables, one row of the layer's states at a time (.cpp)

  void addPair(const PairTable& pair, const std::vector<int>& position);
  // Calls visit(index of the neighbours' states, sums of the step's tables by state of its layer).
  template <class Visit>
  void forRows(const Step& step, Visit&& visit) const;

  const CostTables& tables_;
  std::vector<Step> steps_;
  std::vector<std::vector<double>> fixed_; // by layer and state: its seconds, plus those of pairs
                                           // with layers that have one state
  double least_ = 0;
};

} // namespace tenon
