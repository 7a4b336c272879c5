// SPDX-License-Identifier: BSD-2-Clause
// Exact elimination of large tables: a forest's bounds leave the states that can be in a plan of at
// most a given sum, and only these are eliminated. Networks have hundreds of parallelizations for
// each layer, of which a dozen are left, and elimination takes the third power of their number.
#pragma once

#include "planner/search/elimination.hpp"
#include "planner/search/forest.hpp"

namespace tenon {

class PrunedElimination {
public:
  // The plans of at most `most` seconds + secondsPerByte bytes, of which there must be one. The
  // forest must have run with the same multiplier, on the same tables; the order is theirs, too.
  PrunedElimination(const CostTables& tables, const std::vector<EliminationStep>& order,
                    const Forest& forest, double secondsPerByte, double most);

  // Whether what it would eliminate is narrow enough.
  static bool fits(const std::vector<EliminationStep>& order, const Forest& forest, double most);

  // As those of Elimination, by the states of the whole tables.
  std::vector<int> choice() const { return whole(elimination_.choice()); }
  std::vector<std::vector<int>> best(int count) const;
  // Exact up to `most`; of states that are in no such plan they are lower bounds, above `most` too.
  std::vector<std::vector<double>> minMarginals() const;

private:
  std::vector<int> whole(std::vector<int> choice) const;

  double most_;
  const std::vector<std::vector<double>>& bounds_;
  std::vector<std::vector<int>> kept_;
  CostTables rest_;
  Elimination elimination_;
};

} // namespace tenon
