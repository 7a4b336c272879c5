// SPDX-License-Identifier: BSD-2-Clause
// Process grids whose extents come from outside, by a call or a file.
#pragma once

#include "geometry/layout/grid.hpp"
#include "sys/types.hpp"

namespace tenon {

// Makes a grid as Grid::make() does. Throws TENON_ERR_SHAPE, before any rank is listed, if the grid
// needs more processes than there are.
GridPtr gridWithin(const std::vector<int>& extents, Index processes);

} // namespace tenon
