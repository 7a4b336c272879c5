// SPDX-License-Identifier: BSD-2-Clause
// Lines of a process grid: the ranks that take part in a collective or a sum along some of its
// axes. For example, on the 2 x 3 grid of the ranks 0 1 2 / 3 4 5, the line of position 4 along
// axis 1 is {3, 4, 5}, and along axis 0 it is {1, 4}.
#pragma once

#include "geometry/layout/grid.hpp"

#include <vector>

namespace tenon {

// Returns the ranks that differ from a position only on these axes, in the order of coordinates,
// with the first axis slowest.
std::vector<int> lineOf(const Grid& grid, const std::vector<int>& axes, int position);

} // namespace tenon
