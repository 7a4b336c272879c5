// SPDX-License-Identifier: BSD-2-Clause
// FlowCount counts the messages and elements that one rank sends (role Source) or receives (role
// Target) in a conversion between two layouts, without a list of them. The elements shared by two
// ranks are the intersection of two boxes, so the counts are products with one factor per
// dimension. For example, if a rank's part overlaps 2 parts of the other layout in dimension 0 and
// 3 in dimension 1, it has 6 peers. The peers of a rank are the ranks that it sends to or receives
// from. Prices of conversions (machine/price.hpp) are computed from these counts.
#pragma once

#include "geometry/schedule/schedule.hpp"
#include "geometry/schedule/segments.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <tuple>

namespace tenon {

struct Flow {
  Traffic others;         // To other ranks, or from them; not to the rank itself.
  Index keptElements = 0; // Elements that the rank sends to itself.
};

// A flow, divided by the level of the machine (nodes, sockets, ...) that separates the two ranks of
// a message. A unit of level l, such as one node, has unitRanks[l] consecutive ranks. Levels are
// listed from the outermost one, and a unit of a level consists of units of the next level. A
// message is counted at the outermost level at which its ranks are in different units.
struct LevelFlow {
  // [levels + 1]; the last entry is the traffic inside a unit of the innermost level.
  std::vector<Traffic> others;
  Index keptElements = 0;
};

// One bit per axis of a grid.
using AxisMask = std::uint64_t;
inline constexpr int kMaxMaskedAxes = 64;

// The factors of one dimension.
struct AlongDim {
  // All parts of the other layout that share elements with the rank's part, its own part there
  // included, and these elements.
  Traffic all;
  Index kept = 0; // elements that the rank's part shares with its own part in the other layout
  auto operator<=>(const AlongDim& other) const {
    return std::tie(all.messages, all.elements, kept) <=>
           std::tie(other.all.messages, other.all.elements, other.kept);
  }
};

// Messages and elements are products over dimensions, times the extents of the axes that split
// nothing and on which peers can have any coordinate.
class FlowCount {
public:
  // Only peers with this rank's coordinates on the axes `sameCoordinate` are counted. If there are
  // such axes, both layouts must be on one grid.
  FlowCount(const Layout& from, const Layout& to, int rank, Role role, AxisMask sameCoordinate = 0);

  bool hasPeers() const noexcept { return coordinates_.has_value(); }
  Flow flow() const;
  // Messages and elements, including those from the rank to itself.
  Traffic all() const;
  Index keptElements() const {
    return coordinates_ ? sharedWithPosition(peerLayout_.grid().position(rank_)) : 0;
  }
  LevelFlow byLevel(const std::vector<Index>& unitRanks) const;
  // The factor of one dimension. hasPeers() must be true.
  AlongDim along(int dim) const;
  // The parts of the other layout that share elements with this rank in a dimension: the number of
  // the part minus that of the rank's own part there, and the number of shared elements. `run` is
  // for boundary modes that differ by channel: one run of channels (forEachChannelRun()), to which
  // a channel dimension without a halo is restricted. hasPeers() must be true.
  std::vector<std::pair<Index, Index>> partsBeside(int dim, const Interval& run) const;

private:
  bool hasHalo(int dim) const { return layout_.halo(dim) || peerLayout_.halo(dim); }
  void fixPeersAlong(AxisMask axes);
  Traffic partsAlong(int dim) const;
  Index sharedInHalo(int dim, int part) const;
  Index sharedInDim(int dim, int part) const;
  Index sharedWithPosition(int other) const;
  std::vector<int> ranksOfUnit(Index size) const;

  const Layout& layout_;
  const Layout& peerLayout_;
  const Role role_;
  const int rank_, position_;
  std::optional<std::vector<int>>
      coordinates_; // Of the peers, by peerCoordinates(); none: no peers.
  // The rank's elements by dimension: ownRuns_ if either layout has a halo there, else owned_.
  std::vector<std::vector<Segment>> ownRuns_;
  std::array<Interval, kMaxDims> owned_;
};

// The outermost level at which two ranks are in different units; the number of levels if there is
// none.
std::ptrdiff_t levelBetween(int rank, int other, const std::vector<Index>& unitRanks);

} // namespace tenon
