// SPDX-License-Identifier: BSD-2-Clause
// Lines of a process grid: the ranks that a collective or a sum along some of its axes joins.
#pragma once

#include "geometry/layout/grid.hpp"

#include <vector>

namespace tenon {

// The ranks that differ from a position on these axes only, by rising coordinates, the first axis
// slowest.
std::vector<int> lineOf(const Grid& grid, const std::vector<int>& axes, int position);

} // namespace tenon
