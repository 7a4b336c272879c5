// SPDX-License-Identifier: BSD-2-Clause
// How much one rank moves in a conversion, counted without making its schedule: parts of dimensions
// and coordinates of axes combine freely, so messages and cells are products of one number for each.
// The work grows with the parts of single dimensions, not with the peers.
#pragma once

#include "geometry/peer_rule.hpp"
#include "geometry/schedule.hpp"

namespace tenon {

struct Flow {
  Traffic others;      // to other ranks, or from them
  Index keptCells = 0; // given by the rank to itself
};

// Of one rank in its role, between layouts without margins.
Flow countFlow(const Layout& from, const Layout& to, int rank, Role role);

} // namespace tenon
