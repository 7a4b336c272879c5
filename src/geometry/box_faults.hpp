// SPDX-License-Identifier: BSD-2-Clause
// Why the boxes of the ranks are not the cells of a grid over a domain: a box leaves the domain, two
// boxes overlap, a range has no holder, or all is held once but the boxes are laid like bricks.
#pragma once

#include "geometry/box.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tenon {

bool isEmpty(const Box& box);

// The shape, or without one the least that has all boxes. Throws TENON_ERR_LAYOUT, naming rank and
// dimension, if all boxes are empty, or one is not within it.
Shape checkedDomain(const std::vector<Box>& boxes, const std::optional<Shape>& shape);

// For boxes in the domain that are not the cells of a grid over it: throws TENON_ERR_LAYOUT naming
// the ranks and boxes at fault.
[[noreturn]] void throwBoxFault(const std::vector<Box>& boxes, const Shape& domain);

} // namespace tenon
