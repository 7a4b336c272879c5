// SPDX-License-Identifier: BSD-2-Clause
#include "geometry/peer_rule.hpp"

namespace tenon {

namespace {

// The property that holds a copy or an addend which only one of several peers may use: B at the
// source, P at the target.
bool repeats(const Layout& layout, int axis, Role role) {
  return role == Role::Source ? layout.property(axis).isBroadcast()
                              : layout.property(axis).isPartial();
}

// Between two meshes.
bool takesPart(const Layout& mine, int position, Role role) {
  for (int axis = 0; axis < mine.mesh().axes(); ++axis)
    if (repeats(mine, axis, role) && mine.mesh().coordinate(position, axis) != 0)
      return false;
  return true;
}

// The coordinate on one axis of the same mesh; none if the own one is excluded.
std::optional<int> ownCoordinate(const Layout& mine, int position, const Layout& theirs, int axis,
                                 Role role) {
  const int own = mine.mesh().coordinate(position, axis);
  const bool weRepeat = repeats(mine, axis, role);
  const bool theyRepeat = repeats(theirs, axis, otherRole(role));
  if (weRepeat && theyRepeat && own != 0)
    return std::nullopt;
  return weRepeat || theyRepeat ? own : kAnyCoordinate;
}

} // namespace

std::optional<std::vector<int>> peerCoordinates(const Layout& mine, int position,
                                                const Layout& theirs, Role role) {
  const Mesh& mesh = theirs.mesh();
  const bool sameMesh = &mine.mesh() == &mesh || mine.mesh() == mesh;
  if (!mine.isHolder(position) || (!sameMesh && !takesPart(mine, position, role)))
    return std::nullopt;
  std::vector<int> coordinates(mesh.axes(), kAnyCoordinate);
  for (int axis = 0; axis < mesh.axes(); ++axis) {
    int& coordinate = coordinates[axis];
    if (sameMesh) {
      const auto own = ownCoordinate(mine, position, theirs, axis, role);
      if (!own)
        return std::nullopt;
      coordinate = *own;
    } else if (repeats(theirs, axis, otherRole(role))) {
      coordinate = 0;
    }
    if (theirs.property(axis).isRoot()) {
      if (coordinate > 0)
        return std::nullopt;
      coordinate = 0;
    }
  }
  return coordinates;
}

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

} // namespace tenon
