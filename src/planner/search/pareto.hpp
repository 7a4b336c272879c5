// SPDX-License-Identifier: BSD-2-Clause
// The fastest plan within a limit of bytes, exactly: an elimination whose messages are fronts of
// (bytes, seconds) instead of numbers, and each label of a front is beaten by no other in both.
#pragma once

#include "planner/search/elimination.hpp"

#include <optional>

namespace tenon {

struct ParetoResult {
  bool finished = false;                  // the number of labels sufficed
  std::optional<std::vector<int>> choice; // none if no plan is within the limits
};

// Looks for plans within both limits, of bytes and of seconds.
ParetoResult fastestWithin(const CostTables& tables, double limit, double mostSeconds,
                           std::size_t mostLabels);

} // namespace tenon
