// SPDX-License-Identifier: BSD-2-Clause
// Finds process grid and cuts from the boxes of all ranks: a solver knows its own box only.
// gatherBoxes() in comm/layout_object.hpp gathers the boxes, and every rank then calls
// layoutFromBoxes(). For example, rank 0 owns [0,4) x [0,6) and rank 1 owns [4,7) x [0,6): the
// shape is [7,6], the process grid 2 x 1, and the cuts are 0, 4, 7 and 0, 6.
#pragma once

#include "geometry/layout/layout.hpp"

#include <optional>

namespace tenon {

// boxes[r] is the box of rank r; a rank with an empty box is inactive. The boxes must be the blocks
// of a Cartesian grid that covers the shape, each owned once. Without a shape, it is the smallest
// shape that contains all boxes. Grid axis d splits tensor dimension d. Throws TENON_ERR_LAYOUT
// with the ranks and boxes that do not fit.
Layout layoutFromBoxes(const std::vector<Box>& boxes, const std::optional<Shape>& shape = {});

} // namespace tenon
