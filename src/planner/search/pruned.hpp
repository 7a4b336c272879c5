// SPDX-License-Identifier: BSD-2-Clause
// Exact elimination (elimination.hpp) of tables with many states. A layer can have hundreds of
// states (parallelizations), and the cost of elimination grows with the third power of their
// number. The bounds of a forest (forest.hpp) therefore exclude all states that are in no plan of
// at most a given sum, which leaves about a dozen per layer. Only the remaining states are
// eliminated.
#pragma once

#include "planner/search/elimination.hpp"
#include "planner/search/forest.hpp"

namespace tenon {

class PrunedElimination {
public:
  // Considers the plans of at most `most` seconds + secondsPerByte bytes; there must be at least
  // one. The forest must have run with the same multiplier on the same tables, and `order`
  // must belong to these tables.
  PrunedElimination(const CostTables& tables, const std::vector<EliminationStep>& order,
                    const Forest& forest, double secondsPerByte, double most);

  // Whether the remaining states are few enough for elimination.
  static bool fits(const std::vector<EliminationStep>& order, const Forest& forest, double most);

  // Results of Elimination, in states of the whole tables.
  std::vector<int> choice() const { return whole(elimination_.choice()); }
  std::vector<std::vector<int>> best(int count) const;
  // Values up to `most` are exact. Larger values are lower bounds, of states that are in no plan of
  // at most `most`.
  std::vector<std::vector<double>> minMarginals() const;

private:
  std::vector<int> whole(std::vector<int> choice) const;

  double most_;
  const std::vector<std::vector<double>>& bounds_;
  std::vector<std::vector<int>> candidates_;
  CostTables rest_;
  Elimination elimination_;
};

} // namespace tenon
