// SPDX-License-Identifier: BSD-2-Clause
// Makes process grids with extents from a call or a file, which are checked before memory is
// allocated.
#pragma once

#include "geometry/layout/grid.hpp"
#include "sys/types.hpp"

namespace tenon {

// Makes a grid like Grid::make(). Throws TENON_ERR_SHAPE, before ranks are listed, if the grid
// needs more than `processes` processes.
GridPtr gridWithin(const std::vector<int>& extents, Index processes);

} // namespace tenon
