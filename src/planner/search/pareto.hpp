// SPDX-License-Identifier: BSD-2-Clause
// The fastest plan within a memory limit, exactly: an elimination (elimination.hpp) whose messages
// contain Pareto fronts instead of single numbers. A partial plan gives a state to some of the
// layers, and its label has its bytes and seconds. A front contains the labels that no other label
// beats in both bytes and seconds. Called by the search within memory (memory_bound.hpp).
#pragma once

#include "planner/search/elimination.hpp"

#include <optional>

namespace tenon {

struct ParetoResult {
  bool finished = false; // false: the search stopped because it needed more than maxLabels labels
  std::optional<std::vector<int>> choice; // none if no plan is within the limits
};

// Searches plans with at most maxBytes and at most maxSeconds.
ParetoResult fastestWithin(const CostTables& tables, double maxBytes, double maxSeconds,
                           std::size_t maxLabels);

} // namespace tenon
