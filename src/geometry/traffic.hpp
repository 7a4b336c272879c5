// SPDX-License-Identifier: BSD-2-Clause
// How much one rank moves in a conversion, counted without making its schedule: parts of dimensions
// and coordinates of axes combine freely, so messages and elements are products of one number for
// each. The work grows with the neighbours along single dimensions, not with the peers.
#pragma once

#include "geometry/schedule.hpp"

namespace tenon {

struct Flow {
  Traffic others;         // to other ranks, or from them
  Index keptElements = 0; // given by the rank to itself
};

// Counts what the schedule of one rank lists for its role.
Flow countFlow(const Layout& from, const Layout& to, int rank, Role role);

// A flow by the outermost level of a machine that the elements cross. A unit of level l has
// unitRanks[l] consecutive ranks; levels are listed from the outermost, whose units are made of
// those of the next.
struct LevelFlow {
  std::vector<Traffic> others; // [levels + 1]: the last stays within a unit of the innermost level
  Index keptElements = 0;
};

// Counts by level. The work also grows with the ranks of an outermost unit.
LevelFlow countFlow(const Layout& from, const Layout& to, int rank, Role role,
                    const std::vector<Index>& unitRanks);

// Positions of the grid that both layouts share, such that every other position sends and receives
// as one of these does. They are few: what a rank moves is a product over dimensions, and few
// numbers differ along each.
std::vector<int> unlikePositions(const Layout& from, const Layout& to);

} // namespace tenon
