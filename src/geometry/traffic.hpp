// SPDX-License-Identifier: BSD-2-Clause
// How much one rank moves in a conversion, counted without making its schedule: parts of dimensions
// and coordinates of axes combine freely, so messages and cells are products of one number for each.
// The work grows with the neighbours along single dimensions, not with the peers.
#pragma once

#include "geometry/peer_rule.hpp"
#include "geometry/schedule.hpp"

namespace tenon {

struct Flow {
  Traffic others;      // to other ranks, or from them
  Index keptCells = 0; // given by the rank to itself
};

// Of one rank in its role: what its schedule lists.
Flow countFlow(const Layout& from, const Layout& to, int rank, Role role);

// The same traffic with others, by the outermost level of a machine that it crosses. A unit of level l has
// unitRanks[l] ranks in a row, from the outermost level, whose units are made of those of the next.
// [levels + 1]: the last is what stays within a unit of the innermost level. The work grows with the
// ranks of an outermost unit too.
std::vector<Traffic> countFlowByLevel(const Layout& from, const Layout& to, int rank, Role role,
                                      const std::vector<Index>& unitRanks);

} // namespace tenon
