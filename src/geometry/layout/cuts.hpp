// SPDX-License-Identifier: BSD-2-Clause
// Cuts (split points): the list 0 = c0 <= c1 <= ... <= cn = extent that divides a tensor dimension
// into n parts; part i has the indices ci to c(i+1) - 1. For example, 10 elements in 4 balanced
// parts have the cuts 0, 3, 6, 8, 10; nested for a major axis of 2 and a minor axis of 2 processes
// they are 0, 3, 5, 8, 10.
#pragma once

#include "geometry/layout/box.hpp"

namespace tenon {

// Balanced parts: the first (extent mod parts) are larger by one.
std::vector<Index> balancedCuts(Index extent, int parts);

// Divides the extent into balanced parts for the major axis, then each part for the next axis, so a
// collective along the minor axis is inside one part of the major axis. `parts` are the numbers of
// parts, major axis first; an empty list means one part.
std::vector<Index> nestedCuts(Index extent, const std::vector<int>& parts);

// The cuts after a change of extent: a longer dimension extends its last nonempty part, a shorter
// one truncates.
std::vector<Index> cutsOfExtent(std::vector<Index> cuts, Index extent);

// Throws TENON_ERR_LAYOUT unless the cuts are non-decreasing from 0 to extent, in `parts` parts.
void checkCuts(const std::vector<Index>& cuts, Index extent, int parts, int dim);

} // namespace tenon
