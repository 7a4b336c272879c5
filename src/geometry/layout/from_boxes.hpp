// SPDX-License-Identifier: BSD-2-Clause
// A solver knows its own box, not a grid with cuts: this finds grid and cuts from all boxes.
#pragma once

#include "geometry/layout/layout.hpp"

#include <optional>

namespace tenon {

// boxes[r] is what rank r holds; an empty box makes r inactive. The boxes must be the places of a
// Cartesian grid that covers the shape, each held once; without a shape it is the smallest from 0
// that has all boxes. Grid axis d splits tensor dimension d. Throws TENON_ERR_LAYOUT naming the
// ranks and the boxes that do not fit.
Layout layoutFromBoxes(const std::vector<Box>& boxes, const std::optional<Shape>& shape = {});

} // namespace tenon
