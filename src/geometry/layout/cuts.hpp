// SPDX-License-Identifier: BSD-2-Clause
// Cuts: the monotone list 0 = c0 <= c1 <= ... <= cn = extent that divides a tensor dimension.
#pragma once

#include "geometry/layout/box.hpp"

namespace tenon {

// Balanced parts: the first (extent mod parts) are longer by one.
std::vector<Index> balancedCuts(Index extent, int parts);

// Divides the extent in balanced parts by the major axis, then each part by the next axis: a
// collective along the minor axis stays inside one part of the major axis. parts: numbers of parts,
// major first; none gives one part.
std::vector<Index> nestedCuts(Index extent, const std::vector<int>& parts);

// The same cuts of a dimension that has become longer or shorter at its end: the last part that is
// not empty gets what is more.
std::vector<Index> cutsOfExtent(std::vector<Index> cuts, Index extent);

// Throws TENON_ERR_LAYOUT unless cuts are monotone from 0 to extent in the given number of parts.
void checkCuts(const std::vector<Index>& cuts, Index extent, int parts, int dim);

} // namespace tenon
