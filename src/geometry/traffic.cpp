// SPDX-License-Identifier: BSD-2-Clause
#include "geometry/traffic.hpp"

#include <algorithm>

namespace tenon {

namespace {

// Whether a part lies on the given coordinates of the axes that split its dimension.
bool liesOn(const Layout& layout, int dim, int part, const std::vector<int>& coordinates) {
  const std::vector<int>& axes = layout.splitAxes(dim);
  for (std::size_t i = axes.size(); i-- > 0;) {
    const int extent = layout.mesh().extent(axes[i]);
    const int wanted = coordinates[axes[i]];
    if (wanted != kAnyCoordinate && wanted != part % extent)
      return false;
    part /= extent;
  }
  return true;
}

// The parts of one dimension that share cells with an interval, and those cells. Parts are in
// order, so they are a run of parts.
Traffic sharedParts(const Layout& theirs, int dim, Interval own,
                    const std::vector<int>& coordinates) {
  Traffic sum;
  if (own.empty())
    return sum;
  const std::vector<Index>& cuts = theirs.cuts(dim);
  const auto after = std::upper_bound(cuts.begin() + 1, cuts.end(), own.begin);
  for (int part = static_cast<int>(after - cuts.begin()) - 1;
       part < theirs.parts(dim) && cuts[part] < own.end; ++part) {
    const Interval shared = intersect(own, theirs.owned(dim, part));
    if (shared.empty() || !liesOn(theirs, dim, part, coordinates))
      continue;
    ++sum.messages;
    sum.cells += shared.size();
  }
  return sum;
}

Index keptCells(const Layout& mine, int position, const Layout& theirs, int otherPosition,
                const std::vector<int>& coordinates) {
  if (!theirs.isHolder(otherPosition))
    return 0;
  for (int axis = 0; axis < theirs.mesh().axes(); ++axis)
    if (coordinates[axis] != kAnyCoordinate &&
        coordinates[axis] != theirs.mesh().coordinate(otherPosition, axis))
      return 0;
  Index cells = 1;
  for (int d = 0; d < mine.rank(); ++d) {
    const Interval shared = intersect(mine.owned(d, mine.part(position, d)),
                                      theirs.owned(d, theirs.part(otherPosition, d)));
    cells *= shared.empty() ? 0 : shared.size();
  }
  return cells;
}

} // namespace

Flow countFlow(const Layout& from, const Layout& to, int rank, Role role) {
  const Layout& mine = role == Role::Source ? from : to;
  const Layout& theirs = role == Role::Source ? to : from;
  const int position = mine.mesh().position(rank);
  const auto coordinates = peerCoordinates(mine, position, theirs, role);
  if (!coordinates)
    return {};
  Flow flow{.others = {1, 1}};
  for (int d = 0; d < mine.rank(); ++d) {
    const Traffic parts =
        sharedParts(theirs, d, mine.owned(d, mine.part(position, d)), *coordinates);
    flow.others.messages *= parts.messages;
    flow.others.cells *= parts.cells;
  }
  for (int axis = 0; axis < theirs.mesh().axes(); ++axis)
    if ((*coordinates)[axis] == kAnyCoordinate && !theirs.property(axis).isShard()) {
      flow.others.messages *= theirs.mesh().extent(axis);
      flow.others.cells = checkedProduct(flow.others.cells, theirs.mesh().extent(axis),
                                         "the number of elements that a rank sends");
    }
  flow.keptCells = keptCells(mine, position, theirs, theirs.mesh().position(rank), *coordinates);
  flow.others.messages -= flow.keptCells > 0;
  flow.others.cells -= flow.keptCells;
  return flow;
}

} // namespace tenon
