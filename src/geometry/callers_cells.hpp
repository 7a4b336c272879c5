// SPDX-License-Identifier: BSD-2-Clause
// The cells of a halo that are the caller's: those beyond a side of mode Values in at least one
// dimension, corners included.
#pragma once

#include "geometry/coverage.hpp"
#include "geometry/layout.hpp"

namespace tenon {

// Whether a side of some dimension is the caller's.
bool hasCallersSide(const Layout& layout);

// Of one dimension's box: covered are the cells that are not the caller's, gaps those that are.
Coverage besideCallers(const Halo& halo, Index extent, Interval box);

// The caller's cells in the array of a grid position as disjoint boxes, none of them empty.
std::vector<CellBox> callersCells(const Layout& layout, int position);

// One number on the layout's grid so that each rank has what it adds to its cells: a copy along the
// axes that split the layout, along the others as the layout itself.
Layout boundaryScalar(const Layout& layout);

} // namespace tenon
