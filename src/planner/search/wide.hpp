// SPDX-License-Identifier: BSD-2-Clause
// The search of tables whose layers have too many neighbours for elimination, as in dense blocks: a
// plan that is good, and how far from the best one it is at most.
//
// Costs move between layers and pairs without changing the sum of any plan, by the sweeps of
// Globerson and Jaakkola (Fixing max-product, NIPS 2007): the sum of the least of each, which
// bounds all plans, only grows. Elimination then finds the best plan of the states whose bounds are
// least, as many as it can take. Where it can take all states that bounds leave, the plan is the
// best.
#pragma once

#include "planner/search/elimination.hpp"

namespace tenon {

struct WideResult {
  std::vector<int> choice;
  double least = 0; // no plan has a smaller sum
  // By layer and state: no plan with this state has a smaller sum.
  std::vector<std::vector<double>> bounds;
};

// Searches seconds + secondsPerByte bytes, from a plan that is known.
WideResult searchWide(const CostTables& tables, double secondsPerByte, std::vector<int> known);

} // namespace tenon
