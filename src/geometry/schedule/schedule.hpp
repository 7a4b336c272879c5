// SPDX-License-Identifier: BSD-2-Clause
// The messages of a conversion: which elements one rank sends to whom and receives from whom, as
// data, for any number of ranks and without MPI.
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
// A rank's peers are listed by their position in their own side's grid, not by their number. The
// peers that contribute to an element and those that contribute to a copy of it differ only on axes
// where each copy has a contributor of its own. So copies add the same contributions in the same
// order and are bitwise identical, whichever rank is where in the grid.
#pragma once

#include "geometry/layout/coverage.hpp"
#include "geometry/layout/layout.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace tenon {

// The rule above, seen from one grid position: on which coordinates of the other side's grid its
// peers are.

enum class Role { Source, Target };

inline Role otherRole(Role role) {
  return role == Role::Source ? Role::Target : Role::Source;
}

inline constexpr int kAnyCoordinate = -1;

// For a position of `mine` in its role, the only coordinate that its peers in `theirs` can have on
// each axis, or kAnyCoordinate. None if the position cannot have a peer.
std::optional<std::vector<int>> peerCoordinates(const Layout& mine, int position,
                                                const Layout& theirs, Role role);

// Whether a part has these coordinates on the axes that split its dimension.
bool liesOn(const Layout& layout, int dim, int part, const std::vector<int>& coordinates);

// Elements by their positions in some dimensions of a local array: an index map (index_map.hpp) has
// such lists where a conversion has boxes. No two entries have the same position.
struct ElementList {
  std::vector<int> dims;
  std::vector<Index> positions; // [entries, dims]
  std::vector<double> weights;  // [entries], or none, which stands for ones

  Index count() const { return static_cast<Index>(positions.size() / dims.size()); }
};
using ElementListPtr = std::shared_ptr<const ElementList>;

// A box of elements that is sent. Its elements are counted in rising global order in every
// dimension; begin and step say where they are in the local arrays of source and target. A
// reflection runs backwards (step -1). With lists, entries are counted along the first dimension of
// the lists, and their positions stand for begin and step in all dimensions of the lists.
struct ElementBlock {
  Shape extent;
  std::vector<Index> sourceBegin, targetBegin;
  std::vector<Index> sourceStep, targetStep;
  ElementListPtr sourceList = {}, targetList = {}; // both or none, with the same weights
  int sign = 1;                                    // the factor of all its elements, 1 or -1
};

struct Transfer {
  int peer = -1; // rank of the parent communicator
  Index elements = 0;
  std::vector<ElementBlock> blocks;
};

// The elements that nobody sends, as disjoint boxes: zeros, and those whose values the user
// supplies.
struct Gaps {
  std::vector<ElementBox> zeros, userValues;
};

struct Schedule {
  // By the peer's position in the target's grid; the rank itself may be among them.
  std::vector<Transfer> sends;
  std::vector<Transfer> receives; // by the peer's position in the source's grid
  Shape sourceExtent;             // of the local arrays
  Shape targetExtent;
  Gaps targetGaps;              // target elements that nobody contributes to
  Gaps sourceGaps;              // source elements that the transpose contributes nothing to
  bool sumsOnReceipt = false;   // a target element can get several contributions
  bool sumsOnTranspose = false; // likewise for the source elements of the transpose
};

// Throws as checkSameShape() and checkLinkedHalos() do.
Schedule makeSchedule(const Layout& from, const Layout& to, int rank);

// Of a halo that each rank fills from what it holds itself (refill.hpp): the rank's own transfer,
// if any.
Schedule makeRefill(const Layout& from, const Layout& to, int rank);

// Throws TENON_ERR_SHAPE if the shapes of a conversion differ.
void checkSameShape(const Layout& from, const Layout& to);

// Throws TENON_ERR_LAYOUT if the conversion would have to fill a linked halo, or to fold one: it
// would write zeros, or lose contributions. (Dropping such ghosts, and its transpose, are
// conversions.)
void checkLinkedHalos(const Layout& from, const Layout& to);

// Messages and elements that a rank sends to others, or receives from them.
struct Traffic {
  Index messages = 0;
  Index elements = 0;

  Traffic& operator+=(const Traffic& more) {
    messages += more.messages;
    elements += more.elements;
    return *this;
  }
};
Traffic sentTraffic(const Schedule& schedule, int rank);
Traffic receivedTraffic(const Schedule& schedule, int rank);

} // namespace tenon
