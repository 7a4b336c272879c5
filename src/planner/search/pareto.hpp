// SPDX-License-Identifier: BSD-2-Clause
// The fastest plan within a memory limit, exactly: an elimination (elimination.hpp) whose messages
// contain Pareto fronts instead of single numbers. A front has a label (bytes, seconds) for each
// partial plan, the states of some layers, that no other partial plan beats in both.
#pragma once

#include "planner/search/elimination.hpp"

#include <optional>

namespace tenon {

struct ParetoResult {
  bool finished = false; // false: the search stopped because it needed more than mostLabels labels
  std::optional<std::vector<int>> choice; // none if no plan is within the limits
};

// Searches plans within limits of both bytes and seconds.
ParetoResult fastestWithin(const CostTables& tables, double limit, double mostSeconds,
                           std::size_t mostLabels);

} // namespace tenon
