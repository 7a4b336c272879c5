// SPDX-License-Identifier: BSD-2-Clause
// Finds process grid and cuts from the boxes of all ranks: a solver knows its own box only.
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
