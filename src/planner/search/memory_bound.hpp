// SPDX-License-Identifier: BSD-2-Clause
// The fastest plan within a memory limit, by a Lagrange multiplier l in seconds per byte (Everett,
// Generalized Lagrange multiplier method, Operations Research 11, 1963):
//
//  1  If even the plan with the least bytes exceeds the limit, an error names the largest layers.
//  2  For each l >= 0, min(seconds + l bytes) - l limit is a lower bound of the seconds. The l with
//      the largest bound is found from two plans, one within the limit and one above: the line
//      through their points (bytes, seconds) has slope -l, and a plan below the line replaces one
//      of the two. The best plan within the limit, improved by changes of single layers, is the
//      upper bound.
//  3  States whose min-marginal at l, minus l limit, is above the upper bound are removed: no
//      better plan contains them.
//  4  The remaining states are searched exactly, by an elimination with Pareto fronts (pareto.hpp).
//      If this needs too many labels, the gap between the two bounds is reported instead.
//
// For example, with a limit of 60 MB and two plans of (100 MB, 1 s) and (40 MB, 2.5 s), the line
// through both has l = 0.025 s/MB. If no plan is below it, the lower bound is 1 + 100 l - 60 l = 2
// s, and the best plan within the limit takes between 2 and 2.5 s.
//
// If layers have too many neighbours for an elimination, the result is a good plan with a proven
// gap (wide.hpp).
#pragma once

#include "planner/search/cost_tables.hpp"

namespace tenon {

struct BoundedPlan {
  std::vector<int> choice;
  double seconds = 0, bytes = 0;
  double gap = 0; // seconds are at most (1 + gap) times the minimum
  // By layer and state, the least seconds of all plans in which the layer has this state. Without a
  // binding limit, values up to the plan's seconds are exact, and larger values are lower bounds
  // that are also above the plan's seconds. With a binding limit all values are lower bounds.
  std::vector<std::vector<double>> minMarginals;
  double secondsPerByte = 0; // the multiplier, if the limit binds
};

// Searches with a limit in bytes; 0: none. Throws TENON_ERR_MEMORY_LIMIT if no plan is within the
// limit.
BoundedPlan fastestPlan(const CostTables& tables, double limit);

} // namespace tenon
