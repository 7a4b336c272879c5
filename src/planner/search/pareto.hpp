// SPDX-License-Identifier: BSD-2-Clause
// The fastest plan within a limit of bytes, exactly: elimination with fronts of (bytes, seconds), each of
// whose labels no other beats in both, in place of numbers.
#pragma once

#include "planner/search/elimination.hpp"

#include <optional>

namespace tenon {

struct ParetoResult {
  bool finished = false;                  // within so many labels
  std::optional<std::vector<int>> choice; // none: nothing is within the limit
};

// Plans that take more than `mostSeconds` are not looked for.
ParetoResult fastestWithin(const CostTables& tables, double limit, double mostSeconds,
                           std::size_t mostLabels);

} // namespace tenon
