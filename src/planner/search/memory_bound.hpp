// SPDX-License-Identifier: BSD-2-Clause
// The fastest plan within a memory limit, in four steps:
//   - If the least bytes of all layers together exceed the limit, throw an error that names the
// largest layers.
//   - Find the multiplier l that maximises min(seconds + l bytes) - l limit, a lower bound: two
// plans, one within the limit and one above, define the next l, until no plan is below both.
// Changes of single layers turn these plans into an upper bound.
//   - Remove the states whose min-marginal at l is above the upper bound: no better plan has them.
//   - Run an exact elimination with fronts (pareto.hpp) on the remaining states. It stops at too
// many labels, and the gap between the bounds is then known.
//
// If layers have too many neighbours for elimination, the plan is a good one with a known gap
// (wide.hpp).
#pragma once

#include "planner/search/cost_tables.hpp"

namespace tenon {

struct BoundedPlan {
  std::vector<int> choice;
  double seconds = 0, bytes = 0;
  double gap = 0; // seconds are at most (1 + gap) times the minimum
  // By layer and state the least seconds of plans with it: exact if no limit binds and the value is
  // at most that of the plan; otherwise a lower bound, which is above the plan's seconds if no
  // limit binds.
  std::vector<std::vector<double>> minMarginals;
  double secondsPerByte = 0; // the multiplier, if the limit binds
};

// Searches with a limit in bytes; 0: none. Throws TENON_ERR_MEMORY_LIMIT if no plan is within the
// limit.
BoundedPlan fastestPlan(const CostTables& tables, double limit);

} // namespace tenon
