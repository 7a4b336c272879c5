// SPDX-License-Identifier: BSD-2-Clause
// Search of tables whose layers have too many neighbours for elimination, as in dense blocks: a
// good plan, and a bound of its distance from the best one.
//
// Costs are moved between the tables of layers and of pairs, without a change of the sum of any
// plan (reparametrisation), by the sweeps of Globerson and Jaakkola (Fixing max-product, NIPS
// 2007). The sum of the minima of all tables is a lower bound of every plan, and each sweep can
// only increase it. Elimination then finds the best plan among the states with the least bounds, as
// many states as elimination can process. If these are all states that the bounds do not exclude,
// the plan is optimal.
#pragma once

#include "planner/search/elimination.hpp"

namespace tenon {

struct WideResult {
  std::vector<int> choice;
  double least = 0; // no plan has a smaller sum
  // By layer and state: no plan with this state has a smaller sum.
  std::vector<std::vector<double>> bounds;
};

// Minimises seconds + secondsPerByte bytes, starting from a known plan.
WideResult searchWide(const CostTables& tables, double secondsPerByte, std::vector<int> known);

} // namespace tenon
