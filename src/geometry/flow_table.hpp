// SPDX-License-Identifier: BSD-2-Clause
// Flows as products over dimensions (traffic.hpp), from one conversion to many:
//
//   FlowCount   what one rank shares with others in one conversion, dimension by dimension.
//   UnitAxes    units of a machine whose ranks have the same coordinates on some axes, as on a grid
//               that follows the machine's levels. No single rank has to be looked at there: what
//               stays within a unit is what goes to others with these coordinates.
//   FlowTable   flows between many layouts on one grid. Such layouts differ in few of their
//               dimensions, so the factors of their flows recur, and each is counted once.
#pragma once

#include "geometry/segments.hpp"
#include "geometry/traffic.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>

namespace tenon {

// A bit for each axis of a grid.
using AxisMask = std::uint64_t;
inline constexpr int kMostMaskedAxes = 64;

// What a dimension contributes to the products.
struct AlongDim {
  Traffic others;
  Index kept = 0;
  auto operator<=>(const AlongDim& other) const {
    return std::tie(others.messages, others.elements, kept) <=>
           std::tie(other.others.messages, other.others.elements, other.kept);
  }
};

// What one rank shares with others in a conversion. Messages and elements are products over
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
  // Each part that shares elements of a dimension with the rank, by its distance from the part of the
  // rank's own position, and those elements; of the channels those in a run. There must be peers.
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

// For each level, from the outermost, the axes that tell its units apart: all ranks of a unit have
// the same coordinates on them, and no other ranks have these.
struct UnitAxes {
  std::vector<AxisMask> apart = {};
  bool operator==(const UnitAxes&) const = default;

  // None if no axes tell the units of this grid apart.
  static std::optional<UnitAxes> of(const Grid& grid, const std::vector<Index>& unitRanks);
};

// The outermost level that separates two ranks; the number of levels if none does.
std::ptrdiff_t levelBetween(int rank, int other, const std::vector<Index>& unitRanks);

// A flow by level, as the schedule lists it; levelOf(peer) is the level that a message crosses. It serves
// boundary modes that differ by channel: there several runs of channels can have one peer, so that its
// message is not counted by a product.
LevelFlow listedFlow(const Layout& from, const Layout& to, int rank, Role role, std::size_t levels,
                     const std::function<std::ptrdiff_t(int peer)>& levelOf);

// countFlow() of traffic.hpp by level, for units that axes tell apart.
LevelFlow countFlow(const Layout& from, const Layout& to, int rank, Role role,
                    const UnitAxes& units);
// unlikePositions() of traffic.hpp, for positions that are alike on all levels too.
std::vector<int> unlikePositions(const Layout& from, const Layout& to, const UnitAxes& units);

class FlowTable {
public:
  static constexpr int kMostLevels = 7, kMostPositions = 8;
  // A LevelFlow that allocates nothing.
  struct TableFlow {
    std::array<Traffic, kMostLevels + 1> others;
    Index keptElements = 0;
  };

  // A table for a few positions of the grid. Throws TENON_ERR_INTERNAL unless it canHold() them.
  FlowTable(GridPtr grid, UnitAxes units, std::vector<int> positions);
  static bool canHold(const Grid& grid, const UnitAxes& units, const std::vector<int>& positions);

  const Grid& grid() const noexcept { return *grid_; }
  const UnitAxes& units() const noexcept { return units_; }
  const std::vector<int>& positions() const noexcept { return positions_; }
  // The place of a position in positions(); -1 if it is not among them.
  int placeOf(int position) const;
  // The flow of the position at a place, between layouts on this grid whose boundary modes are those of
  // all channels.
  TableFlow flow(const Layout& from, const Layout& to, int place, Role role);

private:
  // A layout, as far as flows can tell.
  struct Known {
    std::optional<Layout> layout; // kept, so that no other layout comes to have its address
    AxisMask broadcast = 0, partial = 0, root = 0, shard = 0;
    std::array<AxisMask, kMaxRank> splitBy{};
    std::array<int, kMaxRank> dims{}; // the numbers of its dimensions in dims_
  };
  struct DimKey {
    Index extent;
    std::vector<int> axes;
    std::vector<Index> cuts;
    std::optional<Halo> halo;
    bool operator==(const DimKey&) const = default;
  };

  const Known& known(const Layout& layout);
  int numberOf(DimKey key);
  // What one position does in a role.
  struct View {
    const Known &mine, &theirs;
    int place;
    Role role;
    AxisMask fixed; // axes on which its peers have coordinates of their own choice
  };
  const AlongDim& along(const View& view, int dim, AxisMask apart);
  Index extentsOf(AxisMask axes) const;
  // The product over all dimensions, with the position itself among its peers.
  AlongDim among(const View& view, AxisMask apart);

  GridPtr grid_;
  UnitAxes units_;
  std::vector<int> positions_;
  std::vector<AxisMask> beyondZero_; // by place: axes on which the coordinate is not 0
  std::unordered_map<const void*, Known> layouts_;
  std::map<std::tuple<Index, std::vector<int>, std::size_t, bool>, std::vector<int>> dimsLike_;
  std::vector<DimKey> dims_;
  std::unordered_map<std::uint64_t, AlongDim> along_;
};

} // namespace tenon
