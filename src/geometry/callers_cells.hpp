// SPDX-License-Identifier: BSD-2-Clause
// The cells of a margin that are the caller's: those beyond a side of mode Values in at least one
// dimension, corners included.
#pragma once

#include "geometry/coverage.hpp"
#include "geometry/layout.hpp"

namespace tenon {

// Whether a side of some dimension is the caller's.
bool hasCallersSide(const Layout& layout);

// The caller's cells in the array of a mesh position as disjoint boxes, none of them empty.
std::vector<CellBox> callersCells(const Layout& layout, int position);

} // namespace tenon
