// SPDX-License-Identifier: BSD-2-Clause
// Lines of a process grid: the ranks that take part in a collective or a sum along some of its
// axes.
#pragma once

#include "geometry/layout/grid.hpp"

#include <vector>

namespace tenon {

// Returns the ranks that differ from a position only on these axes, in the order of coordinates,
// with the first axis slowest.
std::vector<int> lineOf(const Grid& grid, const std::vector<int>& axes, int position);

} // namespace tenon
