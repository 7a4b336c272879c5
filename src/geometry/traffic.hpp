// SPDX-License-Identifier: BSD-2-Clause
// How much one rank moves in a conversion, counted without making its schedule: parts of dimensions
// and coordinates of axes combine freely, so messages and cells are products of one number for each.
// The work grows with the neighbours along single dimensions, not with the peers.
#pragma once

#include "geometry/schedule.hpp"

namespace tenon {

struct Flow {
  Traffic others;      // to other ranks, or from them
  Index keptCells = 0; // given by the rank to itself
};

// Of one rank in its role: what its schedule lists.
Flow countFlow(const Layout& from, const Layout& to, int rank, Role role);

// By the outermost level of a machine that the cells cross. A unit of level l has unitRanks[l] ranks in a
// row; levels are listed from the outermost, and its units are made of those of the next.
struct LevelFlow {
  std::vector<Traffic> others; // [levels + 1]: the last stays within a unit of the innermost level
  Index keptCells = 0;
};

// The work grows with the ranks of an outermost unit too.
LevelFlow countFlow(const Layout& from, const Layout& to, int rank, Role role,
                    const std::vector<Index>& unitRanks);

// Positions of a grid on which both layouts are, such that each other one sends and receives as one of them
// does: what a rank moves is a product over dimensions, and few numbers differ along each.
std::vector<int> unlikePositions(const Layout& from, const Layout& to);

} // namespace tenon
