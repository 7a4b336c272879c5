// SPDX-License-Identifier: BSD-2-Clause
// Counts the messages and elements of one rank in a conversion without making its schedule. Parts
// of dimensions and coordinates of axes combine freely, so the counts are products. The work is
// proportional to the neighbours along each dimension, not to the number of peers. Counts can be
// divided by the levels of a machine (nodes, sockets, ...): a unit of a level is a set of
// consecutive ranks, such as the ranks of one node.
#pragma once

#include "geometry/schedule/flow_count.hpp"

namespace tenon {

// For each level, from the outermost, the axes that separate its units: two ranks are in the same
// unit if and only if they have the same coordinates on these axes. For example, on a 2 x 4 grid of
// the ranks 0 to 7 with nodes of 4 ranks, axis 0 separates the nodes.
struct UnitAxes {
  std::vector<AxisMask> apart = {}; // by level
  bool operator==(const UnitAxes&) const = default;

  // Empty if the units of this grid are not separated by axes.
  static std::optional<UnitAxes> of(const Grid& grid, const std::vector<Index>& unitRanks);
};

// Counts the schedule of one rank in its role.
Flow countFlow(const Layout& from, const Layout& to, int rank, Role role);

// Counts by level. The work is also proportional to the number of ranks in an outermost unit.
LevelFlow countFlow(const Layout& from, const Layout& to, int rank, Role role,
                    const std::vector<Index>& unitRanks);
// As above, for units that are separated by axes of the grid. This is faster, since it does not
// visit the ranks of a unit one by one.
LevelFlow countFlow(const Layout& from, const Layout& to, int rank, Role role,
                    const UnitAxes& units);

// Positions that represent all others: every position of the grid of both layouts sends and
// receives as many messages and elements as one of these. There are few, because traffic is a
// product over dimensions, and along each dimension the numbers differ at few parts.
std::vector<int> unlikePositions(const Layout& from, const Layout& to);
// As above, but a position has the same numbers as one of these on each level of the units, and not
// only in sum.
std::vector<int> unlikePositions(const Layout& from, const Layout& to, const UnitAxes& units);

} // namespace tenon
