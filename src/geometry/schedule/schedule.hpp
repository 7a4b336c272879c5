// SPDX-License-Identifier: BSD-2-Clause
// Schedule: the messages by which one rank takes part in the conversion of a tensor from one layout
// to another: the elements that it sends to and receives from each peer. A schedule is computed
// from the two layouts, without MPI. On each grid axis a layout has a property: S (split), B
// (copies), P (partial sums) or R (root); a dimension can have a halo G, or G* for contributions
// (layout.hpp). a* is the dual of layout a: B and P are exchanged, and G and G*.
//
// Rule. In a conversion from layout a to layout b, rank r sends rank s the intersection of r's box
// in a with s's box in b, if and only if
// - r and s have the same coordinate on each axis that is B in a or P in b, and
// - that coordinate is 0 on each axis that is both B in a and P in b.
// On an R axis the box of coordinates above 0 is empty.
//
// s sums the contributions that it receives. For example, from P to B on an axis of two ranks, each
// rank sends its whole box to both, which is an all-reduce; from S0 to S1, a transposition of an
// 8x8 tensor on 4 ranks, each rank sends a box of 2x2 elements to each rank. Between two grids,
// only coordinate 0 of a B axis sends, and only coordinate 0 of a P axis receives. A halo G of the
// source is ignored; a halo G of the target is filled, beyond the domain by its boundary mode. A
// halo G* of the source is folded: its contributions are added to the owned elements. A halo G* of
// the target gets zeros.
//
// The rule is symmetric under (a, b, r, s) -> (b*, a*, s, r), so the transpose of the conversion is
// the same schedule with both sides exchanged: C(a -> b)^T = C(b* -> a*).
//
// A rank's peers are listed by their position in their grid, not by their rank. All copies of an
// element therefore add their contributions in the same order, and are bitwise identical for any
// order of ranks in the grid. (The contributors to two copies can be different ranks, but these
// differ only in their coordinates on axes along which the data is repeated.)
#pragma once

#include "geometry/layout/coverage.hpp"
#include "geometry/layout/layout.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace tenon {

// The side of a conversion on which a rank is considered: it sends, or it receives.
enum class Role { Source, Target };

inline Role otherRole(Role role) {
  return role == Role::Source ? Role::Target : Role::Source;
}

// Three numberings: a position is the number of a rank in its grid, a coordinate its index along
// one grid axis, and a part the number of a block of one tensor dimension. A part determines the
// coordinates on the axes that split its dimension (Layout::partCoordinates()).

inline constexpr int kAnyCoordinate = -1; // Peers can have any coordinate on an axis.

// For a position of `layout` in its role: on each axis of `peerLayout` the only coordinate that its
// peers can have, or kAnyCoordinate. Empty if the position cannot have peers.
std::optional<std::vector<int>> peerCoordinates(const Layout& layout, int position,
                                                const Layout& peerLayout, Role role);

// True if a part of dimension `dim` has these coordinates on the axes that split the dimension.
bool liesOn(const Layout& layout, int dim, int part, const std::vector<int>& coordinates);

// Elements by their positions in some dimensions of a local array, used by index maps
// (index_map.hpp) in place of boxes. All positions are distinct.
struct ElementList {
  std::vector<int> dims;
  std::vector<Index> positions; // [entries, dims]
  std::vector<double> weights;  // [entries], or empty for weights of 1.

  Index count() const { return static_cast<Index>(positions.size() / dims.size()); }
};
using ElementListPtr = std::shared_ptr<const ElementList>;

// A box of elements that is sent. Element k of dimension d, in increasing global order, has the
// local index begin[d] + k step[d] in the arrays of source and target; the step is -1 for a
// reflection. With lists, the block is not a box in the dimensions lists.dims: extent[dims.front()]
// is the number of entries, and entry k has the local indices in row k of lists.positions in these
// dimensions.
struct ElementBlock {
  Shape extent;
  std::vector<Index> sourceBegin, targetBegin;
  std::vector<Index> sourceStep, targetStep;
  ElementListPtr sourceList = {}, targetList = {}; // Both or none, with the same weights.
  int sign = 1;                                    // Factor of all its elements, 1 or -1.
};

// A message to or from a peer, or the elements that the rank copies itself.
struct Transfer {
  int peer = -1;      // Rank in the parent communicator.
  Index elements = 0; // Number of elements of all blocks.
  std::vector<ElementBlock> blocks;
};

// The elements without a contribution, as disjoint boxes: those that become zero, and those whose
// values the user sets (boundary mode Values).
struct Gaps {
  std::vector<ElementBox> zeros, userValues;
};

// The part of one rank in a conversion. Each rank makes its own, from the same two layouts.
struct Schedule {
  // By the peer's position in the target's grid, possibly including this rank.
  std::vector<Transfer> sends;
  std::vector<Transfer> receives; // By the peer's position in the source's grid.
  Shape sourceExtent;             // Extents of the local arrays.
  Shape targetExtent;
  Gaps targetGaps;              // Target elements without a contribution.
  Gaps sourceGaps;              // Source elements without a contribution in the transpose.
  bool sumsOnReceipt = false;   // True if a target element can get several contributions.
  bool sumsOnTranspose = false; // The same for source elements in the transpose.
};

// Throws the errors of checkSameShape() and checkLinkedHalos().
Schedule makeSchedule(const Layout& from, const Layout& to, int rank);

// The schedule of a halo that each rank fills from its own elements (refill.hpp): the transfer to
// itself, if any.
Schedule makeRefill(const Layout& from, const Layout& to, int rank);

// Throws TENON_ERR_SHAPE if the shapes of a conversion differ.
void checkSameShape(const Layout& from, const Layout& to);

// Throws TENON_ERR_LAYOUT if the conversion would have to fill a linked halo G or fold a linked
// halo G*, which needs an index map. (Dropping such ghosts, and the transpose of this, are valid.)
void checkLinkedHalos(const Layout& from, const Layout& to);

// Messages and elements that a rank sends to other ranks, or receives from them.
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
