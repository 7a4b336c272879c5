// SPDX-License-Identifier: BSD-2-Clause
// The rule of a conversion (schedule.hpp), seen from one mesh position: on which coordinates of the
// other side's mesh its peers are.
#pragma once

#include "geometry/layout.hpp"

#include <optional>

namespace tenon {

enum class Role { Source, Target };

inline Role otherRole(Role role) {
  return role == Role::Source ? Role::Target : Role::Source;
}

inline constexpr int kAnyCoordinate = -1;

// For a position of `mine`, in its role: the only coordinate that its peers in `theirs` may have on
// each axis, or kAnyCoordinate; none if there cannot be a peer.
std::optional<std::vector<int>> peerCoordinates(const Layout& mine, int position,
                                                const Layout& theirs, Role role);

// Whether a part lies on such coordinates of the axes that split its dimension.
bool liesOn(const Layout& layout, int dim, int part, const std::vector<int>& coordinates);

} // namespace tenon
