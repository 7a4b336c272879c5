// SPDX-License-Identifier: BSD-2-Clause
// The halo elements whose values the user supplies: those beyond a side of mode Values in at least
// one dimension, corners included.
#pragma once

#include "geometry/layout/coverage.hpp"
#include "geometry/layout/layout.hpp"

namespace tenon {

// Whether some dimension has a side of mode Values.
bool hasUserSide(const Layout& layout);

// Divides the box of one dimension: covered are the elements that are not the user's, gaps those
// that are.
Coverage besideUsers(const Halo& halo, Index extent, Interval box);

// The user's elements in the array of a grid position as disjoint boxes, none of them empty.
std::vector<ElementBox> userElements(const Layout& layout, int position);

// The layout of one number that is to be put into the user's elements of `layout`: it is replicated
// along the axes that split `layout` and has the property of `layout` along the others, so that
// each rank has what its own elements take.
Layout boundaryScalar(const Layout& layout);

} // namespace tenon
