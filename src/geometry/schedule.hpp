// SPDX-License-Identifier: BSD-2-Clause
// Who sends which cells to whom, as data, for one rank of any number, without MPI.
//
// Converting layout a to layout b, rank r sends the intersection of its box in a with s's box in b
// to rank s if and only if r and s have the same coordinate on every axis whose source is B or
// whose target is P, and that coordinate is 0 where both hold; s sums what it receives. Between two
// grids a B axis sends from coordinate 0 and a P axis receives at coordinate 0. A halo G is
// trimmed at the source and filled by its boundary's extension at the target; a halo G* is folded
// back at the source and embedded at the target.
//
// The definition is symmetric under (a, b, r, s) -> (b*, a*, s, r), so the conversion's transpose
// is the same schedule with both sides exchanged: C(a -> b)^T = C(b* -> a*).
//
// A rank's peers are listed by their position in their own side's grid, not by their number. Those that
// give to one cell and to its copies have the same coordinates but on axes where each copy has its own
// giver; so copies add the same addends in the same order, and have the same bits, wherever the grid
// has which rank.
#pragma once

#include "geometry/coverage.hpp"
#include "geometry/layout.hpp"

#include <optional>

namespace tenon {

// The rule of a conversion (schedule.hpp), seen from one grid position: on which coordinates of the
// other side's grid its peers are.

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

// One box of cells that moves. Its cells are counted in rising global order in every dimension;
// begin and step say where they lie in the local arrays of source and target. A reflection runs
// backwards (step -1).
struct CellBlock {
  Shape extent;
  std::vector<Index> sourceBegin, targetBegin;
  std::vector<Index> sourceStep, targetStep;
};

struct Transfer {
  int peer = -1; // rank of the parent communicator
  Index cells = 0;
  std::vector<CellBlock> blocks;
};

// Cells that get nothing, as disjoint boxes: zeros, and those whose values are the caller's.
struct Gaps {
  std::vector<CellBox> zeros, callers;
};

struct Schedule {
  // By the peer's position in the target's grid; the rank itself may be among them.
  std::vector<Transfer> sends;
  std::vector<Transfer> receives; // by the peer's position in the source's grid
  Shape sourceExtent;             // of the local arrays
  Shape targetExtent;
  Gaps targetGaps;              // target cells that nobody contributes to
  Gaps sourceGaps;              // source cells that the transpose contributes nothing to
  bool sumsOnReceipt = false;   // a target cell may get several addends
  bool sumsOnTranspose = false; // likewise for the source cells of the transpose
};

Schedule makeSchedule(const Layout& from, const Layout& to, int rank);

// Cells and messages that a rank sends to others.
struct Traffic {
  Index messages = 0;
  Index cells = 0;
};
Traffic sentTraffic(const Schedule& schedule, int rank);
Traffic receivedTraffic(const Schedule& schedule, int rank);

} // namespace tenon
