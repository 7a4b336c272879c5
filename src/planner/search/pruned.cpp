// SPDX-License-Identifier: BSD-2-Clause
// Exact elimination of the few states that the bounds of a forest leave (pruned.hpp). The tables
// are restricted to these states, and results are renumbered: if states 3 and 17 of a layer remain,
// state 1 of the restricted tables is state 17. The elimination order is that of the unrestricted
// tables, so the choice among equal plans does not depend on the excluded states.
#include "planner/search/pruned.hpp"

#include <algorithm>

namespace tenon {

PrunedElimination::PrunedElimination(const CostTables& tables,
                                     const std::vector<EliminationStep>& order,
                                     const Forest& forest, double secondsPerByte, double maxSum)
    : maxSum_(maxSum * (1 + kCostRounding)), bounds_(forest.bounds()),
      candidates_(forest.upTo(maxSum_)), restricted_(tables.restrictedTo(candidates_)),
      elimination_(restricted_, order) {
  elimination_.run(secondsPerByte);
}

bool PrunedElimination::fits(const std::vector<EliminationStep>& order, const Forest& forest,
                             double maxSum) {
  const std::vector<std::vector<int>> candidates = forest.upTo(maxSum * (1 + kCostRounding));
  return mostCombinations(order, [&](int layer) { return double(candidates[layer].size()); }) <=
         kMaxCombinations;
}

std::vector<int> PrunedElimination::renumbered(std::vector<int> choice) const {
  for (std::size_t layer = 0; layer < choice.size(); ++layer)
    choice[layer] = candidates_[layer][choice[layer]];
  return choice;
}

std::vector<std::vector<int>> PrunedElimination::best(int count) const {
  std::vector<std::vector<int>> plans = elimination_.best(count);
  for (std::vector<int>& plan : plans)
    plan = renumbered(std::move(plan));
  return plans;
}

std::vector<std::vector<double>> PrunedElimination::minMarginals() const {
  std::vector<std::vector<double>> all = bounds_;
  const std::vector<std::vector<double>> exact = elimination_.minMarginals();
  for (std::size_t layer = 0; layer < all.size(); ++layer)
    for (std::size_t k = 0; k < candidates_[layer].size(); ++k)
      // An excluded plan could be better than one above the limit, so the limit is the bound then.
      all[layer][candidates_[layer][k]] = std::min(exact[layer][k], maxSum_ * (1 + kCostRounding));
  return all;
}

} // namespace tenon
