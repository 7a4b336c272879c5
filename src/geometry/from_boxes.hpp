// SPDX-License-Identifier: BSD-2-Clause
// A solver knows its own box, not a mesh with cuts: this finds mesh and cuts from all boxes.
#pragma once

#include "geometry/layout.hpp"

namespace tenon {

// boxes[r]: what rank r holds; an empty box makes r inactive. The boxes must be the cells of a
// Cartesian grid that starts at 0, each held once. Mesh axis d splits tensor dimension d.
// Throws TENON_ERR_LAYOUT naming the rank and the dimension that do not fit.
Layout layoutFromBoxes(const std::vector<Box>& boxes);

} // namespace tenon
