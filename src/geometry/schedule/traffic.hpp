// SPDX-License-Identifier: BSD-2-Clause
// How much one rank moves in a conversion, counted without making its schedule: parts of dimensions
// and coordinates of axes combine freely, so messages and elements are products of one number for
// each. The work grows with the neighbours along single dimensions, not with the peers.
#pragma once

#include "geometry/schedule/flow_count.hpp"

namespace tenon {

// For each level, from the outermost, the axes that tell its units apart: all ranks of a unit have
// the same coordinates on them, and no other ranks have these.
struct UnitAxes {
  std::vector<AxisMask> apart = {};
  bool operator==(const UnitAxes&) const = default;

  // None if no axes tell the units of this grid apart.
  static std::optional<UnitAxes> of(const Grid& grid, const std::vector<Index>& unitRanks);
};

// Counts what the schedule of one rank lists for its role.
Flow countFlow(const Layout& from, const Layout& to, int rank, Role role);

// Counts by level. The work also grows with the ranks of an outermost unit.
LevelFlow countFlow(const Layout& from, const Layout& to, int rank, Role role,
                    const std::vector<Index>& unitRanks);
// The same for units that axes tell apart.
LevelFlow countFlow(const Layout& from, const Layout& to, int rank, Role role,
                    const UnitAxes& units);

// Positions of the grid that both layouts share, such that every other position sends and receives
// as one of these does. They are few: what a rank moves is a product over dimensions, and few
// numbers differ along each.
std::vector<int> unlikePositions(const Layout& from, const Layout& to);
// Positions that are alike on all levels too.
std::vector<int> unlikePositions(const Layout& from, const Layout& to, const UnitAxes& units);

} // namespace tenon
