// SPDX-License-Identifier: BSD-2-Clause
// The fastest plan whose bytes are within a limit, in four steps:
//
//   - If the least bytes of all layers are above the limit, that is an error that names them.
//   - The multiplier l for which min(seconds + l bytes) - l limit, a lower bound, is largest: two
//     plans, one within the limit and one not, give the next l, until no plan lies below both.
//     Repaired by changes of single layers they give an upper bound.
//   - States whose min-marginal at l is above the upper bound are in no better plan, and go.
//   - Exact elimination with fronts (pareto.hpp) on what is left. With too many labels it stops,
//     and the gap between the bounds is known.
//
// Where layers have too many neighbours for elimination, the plan is a good one, and the gap is
// known likewise (wide.hpp).
#pragma once

#include "planner/search/cost_tables.hpp"

namespace tenon {

struct BoundedPlan {
  std::vector<int> choice;
  double seconds = 0, bytes = 0;
  double gap = 0; // seconds are at most 1 + gap times the least
  // By layer and state the least seconds with it, exact where they are at most those of the plan
  // and no limit binds; else lower bounds, which then are above them.
  std::vector<std::vector<double>> minMarginals;
  double secondsPerByte = 0; // the multiplier, where the limit binds
};

// Searches with a limit in bytes, or without one if it is 0. Throws TENON_ERR_MEMORY_LIMIT if no
// plan is within the limit.
BoundedPlan fastestPlan(const CostTables& tables, double limit);

} // namespace tenon
