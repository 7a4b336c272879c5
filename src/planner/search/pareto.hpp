// SPDX-License-Identifier: BSD-2-Clause
// The fastest plan within a memory limit, exactly: an elimination whose messages are Pareto fronts
// of (bytes, seconds) instead of numbers.
#pragma once

#include "planner/search/elimination.hpp"

#include <optional>

namespace tenon {

struct ParetoResult {
  bool finished = false;                  // the number of labels was within mostLabels
  std::optional<std::vector<int>> choice; // none if no plan is within the limits
};

// Searches plans within limits of both bytes and seconds.
ParetoResult fastestWithin(const CostTables& tables, double limit, double mostSeconds,
                           std::size_t mostLabels);

} // namespace tenon
