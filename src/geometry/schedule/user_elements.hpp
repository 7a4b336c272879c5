// SPDX-License-Identifier: BSD-2-Clause
// The halo elements that the user supplies: in at least one dimension they are beyond a side with
// the boundary mode Values (this includes corners). A conversion does not change them. For example,
// in one dimension of extent 8 with the mode Values on both sides, the box [-2, 5) has the user's
// elements -2 and -1.
#pragma once

#include "geometry/layout/coverage.hpp"
#include "geometry/layout/layout.hpp"

namespace tenon {

// True if some dimension has a side of mode Values.
bool hasUserSide(const Layout& layout);

// Divides the box of one dimension, in local indices: `covered` are the elements that the user does
// not supply, `gaps` are those that the user supplies.
Coverage besideUsers(const Halo& halo, Index extent, Interval box);

// The user's elements in the array of a grid position, as disjoint nonempty boxes.
std::vector<ElementBox> userElements(const Layout& layout, int position);

// The layout of a single number that is put into all user elements of `layout`. Along the axes that
// split `layout` the number is replicated, since each rank needs it; on other axes it has the
// property of `layout`, as the elements have.
Layout boundaryScalar(const Layout& layout);

} // namespace tenon
