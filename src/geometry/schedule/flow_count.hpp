// SPDX-License-Identifier: BSD-2-Clause
// FlowCount: counts the messages and elements that one rank sends (role Source) or receives (role
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
  Traffic others;         // To other ranks, or from them.
  Index keptElements = 0; // Elements that the rank sends to itself.
};

// A flow, divided by the outermost level of the machine that its messages cross (nodes, sockets,
// ...). A unit of level l has unitRanks[l] consecutive ranks. Levels are listed from the outermost
// one; a unit of a level consists of units of the next level.
struct LevelFlow {
  // [levels + 1]; the last entry is the traffic inside a unit of the innermost level.
  std::vector<Traffic> others;
  Index keptElements = 0;
};

// One bit per axis of a grid.
using AxisMask = std::uint64_t;
inline constexpr int kMaxMaskedAxes = 64;

// The factor of a dimension: the number of the peers' parts that share elements with the rank's
// part, and the number of these elements; and the number of elements that it shares with the part
// of the rank itself in the other layout.
struct AlongDim {
  Traffic others;
  Index kept = 0;
  auto operator<=>(const AlongDim& other) const {
    return std::tie(others.messages, others.elements, kept) <=>
           std::tie(other.others.messages, other.others.elements, other.kept);
  }
};

// Messages and elements are products over dimensions, times the extents of the axes that split
// nothing and on which peers can have any coordinate.
class FlowCount {
public:
  // Only peers with this rank's coordinates on the axes `apart` are counted. Both layouts must then
  // be on one grid.
  FlowCount(const Layout& from, const Layout& to, int rank, Role role, AxisMask apart = 0);

  bool hasPeers() const noexcept { return coordinates_.has_value(); }
  Flow flow() const;
  // Messages and elements, including those from the rank to itself.
  Traffic all() const;
  Index keptElements() const {
    return coordinates_ ? elementsWith(peerLayout_.grid().position(rank_)) : 0;
  }
  LevelFlow byLevel(const std::vector<Index>& unitRanks) const;
  // The factor of one dimension. hasPeers() must be true.
  AlongDim along(int dim) const;
  // The parts of a dimension that share elements with this rank: distance from the part of the
  // rank's own position, and number of shared elements. Of the channel dimension only a run is
  // counted. hasPeers() must be true.
  std::vector<std::pair<Index, Index>> partsBeside(int dim, const Interval& run) const;

private:
  bool hasHalo(int dim) const { return layout_.halo(dim) || peerLayout_.halo(dim); }
  void keepApart(AxisMask apart);
  Traffic partsAlong(int dim) const;
  Index sharedAlong(int dim, int part) const;
  Index elementsWith(int other) const;
  Index sharedAt(int dim, int part) const;
  std::vector<int> ranksOfUnit(Index size) const;

  const Layout& layout_;
  const Layout& peerLayout_;
  const Role role_;
  const int rank_, position_;
  std::optional<std::vector<int>> coordinates_; // Of peers, by peerCoordinates().
  // The rank's elements by dimension: runs if either layout has a halo, otherwise one interval.
  std::vector<std::vector<Segment>> own_;
  std::array<Interval, kMaxRank> run_;
};

// The outermost level that separates two ranks, or the number of levels.
std::ptrdiff_t levelBetween(int rank, int other, const std::vector<Index>& unitRanks);

} // namespace tenon
