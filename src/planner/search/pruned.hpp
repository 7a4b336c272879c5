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
  // Considers the plans whose sum, seconds + secondsPerByte bytes, is at most `maxSum`; there must
  // be at least one such plan. The forest must have run with the same multiplier on the same
  // tables, and `order` must belong to these tables.
  PrunedElimination(const CostTables& tables, const std::vector<EliminationStep>& order,
                    const Forest& forest, double secondsPerByte, double maxSum);

  // Whether the remaining states are few enough for elimination.
  static bool fits(const std::vector<EliminationStep>& order, const Forest& forest, double maxSum);

  // Results of Elimination. States have the numbers of the unrestricted tables.
  std::vector<int> choice() const { return renumbered(elimination_.choice()); }
  std::vector<std::vector<int>> best(int count) const;
  // Values up to `maxSum` are exact. A larger value is a lower bound, and its state is in no plan
  // with a sum of at most `maxSum`.
  std::vector<std::vector<double>> minMarginals() const;

private:
  // The states of a plan of the restricted tables in the numbers of the unrestricted tables.
  std::vector<int> renumbered(std::vector<int> choice) const;

  double maxSum_;
  const std::vector<std::vector<double>>& bounds_;
  std::vector<std::vector<int>> candidates_; // by layer: its states with bounds up to maxSum_
  CostTables restricted_;                    // to the candidates
  Elimination elimination_;
};

} // namespace tenon
