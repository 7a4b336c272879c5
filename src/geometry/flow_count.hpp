// SPDX-License-Identifier: BSD-2-Clause
// What one rank shares with others in a conversion, dimension by dimension: messages and cells of others are
// products over dimensions, times the extents of axes that neither split nor choose.
#pragma once

#include "geometry/segments.hpp"
#include "geometry/traffic.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <tuple>

namespace tenon {

// A bit for each axis of a mesh.
using AxisMask = std::uint64_t;
inline constexpr int kMostMaskedAxes = 64;

// What a dimension contributes to the products.
struct AlongDim {
  Traffic others;
  Index kept = 0;
  auto operator<=>(const AlongDim& other) const {
    return std::tie(others.messages, others.cells, kept) <=>
           std::tie(other.others.messages, other.others.cells, other.kept);
  }
};

class FlowCount {
public:
  // apart: axes of the mesh, on which both layouts are then, whose coordinates the others share with the rank.
  FlowCount(const Layout& from, const Layout& to, int rank, Role role, AxisMask apart = 0);

  bool hasPeers() const noexcept { return coordinates_.has_value(); }
  Flow flow() const;
  // The same with what the rank gives to itself.
  Traffic all() const;
  Index keptCells() const { return coordinates_ ? cellsWith(theirs_.mesh().position(rank_)) : 0; }
  LevelFlow byLevel(const std::vector<Index>& unitRanks) const;
  // There must be peers.
  AlongDim along(int dim) const;

private:
  bool hasMargin(int dim) const { return mine_.margin(dim) || theirs_.margin(dim); }
  void keepApart(AxisMask apart);
  Traffic partsAlong(int dim) const;
  Index sharedAlong(int dim, int part) const;
  Index cellsWith(int other) const;
  Index sharedAt(int dim, int part) const;
  std::vector<int> ranksOfUnit(Index size) const;

  const Layout& mine_;
  const Layout& theirs_;
  const Role role_;
  const int rank_, position_;
  std::optional<std::vector<int>> coordinates_;
  // Per dimension, with a margin on either side and without.
  std::vector<std::vector<Segment>> own_;
  std::array<Interval, kMaxRank> run_;
};

} // namespace tenon
