// SPDX-License-Identifier: BSD-2-Clause
// Process grids whose extents somebody gave, in a call or a file.
#pragma once

#include "geometry/grid.hpp"
#include "sys/types.hpp"

namespace tenon {

// As Grid::make(). Throws TENON_ERR_SHAPE for a grid of more processes than there are, before it lists their ranks.
GridPtr gridWithin(const std::vector<int>& extents, Index processes);

} // namespace tenon
