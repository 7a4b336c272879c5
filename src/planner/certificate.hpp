// SPDX-License-Identifier: BSD-2-Clause
// The best plan by exact prices, where a model's prices of moves are lower bounds. The moves of the plan found are
// looked at closely, and it is searched again with what was found, until nothing new is. The plan is then
// the best of all, since the others cost no less than the tables say.
#pragma once

#include "planner/cost_model.hpp"
#include "planner/memory_bound.hpp"

namespace tenon {

struct CertifiedPlan {
  BoundedPlan plan; // its states are places in the lists of words
  int rounds = 1;   // searches
  // The best plans within the limit, this one first; by prices that are nearly always exact. Where the
  // limit binds there may be fewer.
  std::vector<std::vector<int>> best = {};
};

// memoryLimit in bytes; 0: none. Throws TENON_ERR_SHAPE if no plan is within the limit.
CertifiedPlan certifiedPlan(const CostModel& model, const WordLists& words, double memoryLimit,
                            int count = 1);

} // namespace tenon
