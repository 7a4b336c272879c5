// SPDX-License-Identifier: BSD-2-Clause
// What one rank shares with others in one conversion, dimension by dimension, as products of one
// factor for each.
#pragma once

#include "geometry/schedule/schedule.hpp"
#include "geometry/schedule/segments.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <tuple>

namespace tenon {

struct Flow {
  Traffic others;         // to other ranks, or from them
  Index keptElements = 0; // given by the rank to itself
};

// A flow by the outermost level of a machine that the elements cross. A unit of level l has
// unitRanks[l] consecutive ranks; levels are listed from the outermost, whose units are made of
// those of the next.
struct LevelFlow {
  std::vector<Traffic> others; // [levels + 1]: the last stays within a unit of the innermost level
  Index keptElements = 0;
};

// A bit for each axis of a grid.
using AxisMask = std::uint64_t;
inline constexpr int kMaxMaskedAxes = 64;

// What a dimension contributes to the products.
struct AlongDim {
  Traffic others;
  Index kept = 0;
  auto operator<=>(const AlongDim& other) const {
    return std::tie(others.messages, others.elements, kept) <=>
           std::tie(other.others.messages, other.others.elements, other.kept);
  }
};

// Messages and elements are products over
// dimensions, times the extents of the axes that split nothing and on which peers can have any
// coordinate.
class FlowCount {
public:
  // apart: axes on which only peers with the rank's own coordinates count. Both layouts must then
  // be on one grid.
  FlowCount(const Layout& from, const Layout& to, int rank, Role role, AxisMask apart = 0);

  bool hasPeers() const noexcept { return coordinates_.has_value(); }
  Flow flow() const;
  // Messages and elements, with what the rank gives to itself.
  Traffic all() const;
  Index keptElements() const {
    return coordinates_ ? elementsWith(theirs_.grid().position(rank_)) : 0;
  }
  LevelFlow byLevel(const std::vector<Index>& unitRanks) const;
  // The factors of one dimension; there must be peers.
  AlongDim along(int dim) const;
  // Each part that shares elements of a dimension with the rank, by its distance from the part of
  // the rank's own position, and those elements; of the channels those in a run. There must be
  // peers.
  std::vector<std::pair<Index, Index>> partsBeside(int dim, const Interval& run) const;

private:
  bool hasHalo(int dim) const { return mine_.halo(dim) || theirs_.halo(dim); }
  void keepApart(AxisMask apart);
  Traffic partsAlong(int dim) const;
  Index sharedAlong(int dim, int part) const;
  Index elementsWith(int other) const;
  Index sharedAt(int dim, int part) const;
  std::vector<int> ranksOfUnit(Index size) const;

  const Layout& mine_;
  const Layout& theirs_;
  const Role role_;
  const int rank_, position_;
  std::optional<std::vector<int>> coordinates_;
  // What the rank has of each dimension: runs where either side has a halo, else one interval.
  std::vector<std::vector<Segment>> own_;
  std::array<Interval, kMaxRank> run_;
};

// The outermost level that separates two ranks; the number of levels if none does.
std::ptrdiff_t levelBetween(int rank, int other, const std::vector<Index>& unitRanks);

} // namespace tenon
