// SPDX-License-Identifier: BSD-2-Clause
// Table of flows between many layouts on one grid, for the planner, which needs the flow between
// many pairs of layouts. A flow is the number of messages and elements that a rank sends or
// receives in a conversion: a product with one factor per tensor dimension (flow_count.hpp). A
// factor depends on that dimension of both layouts (extent, splitting axes, cuts, halo: DimKey), on
// the rank's position, on the role, and on the axes on which peers must have the position's
// coordinates. The layouts of a search differ in few dimensions, so the same factors recur; each is
// counted once and stored.
#pragma once

#include "geometry/schedule/traffic.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>

namespace tenon {

// The table for one grid, filled as flows are requested.
class FlowTable {
public:
  // kMaxLevels limits the size of TableFlow, which allocates nothing. A position has 3 bits of a
  // key (flow_table.cpp).
  static constexpr int kMaxLevels = 7, kMaxPositions = 8;
  // The flow to other ranks by level, as LevelFlow (traffic.hpp), but without allocated memory, and
  // the elements that the rank keeps. The flow of a level is the difference of two products: with
  // peers in the same unit of the level outside it, and with peers in the same unit of this level.
  struct TableFlow {
    std::array<Traffic, kMaxLevels + 1> others;
    Index keptElements = 0;
  };

  // A table for a few positions of the grid. Throws TENON_ERR_INTERNAL unless canHold() is true.
  FlowTable(GridPtr grid, UnitAxes units, std::vector<int> positions);
  static bool canHold(const Grid& grid, const UnitAxes& units, const std::vector<int>& positions);

  const Grid& grid() const noexcept { return *grid_; }
  const UnitAxes& units() const noexcept { return units_; }
  const std::vector<int>& positions() const noexcept { return positions_; }
  // Index of a position in positions(), or -1.
  int positionIndexOf(int position) const;
  // The flow of positions()[positionIndex] between layouts on this grid, whose boundary modes must
  // not differ by channel: a factor belongs to one dimension.
  TableFlow flow(const Layout& from, const Layout& to, int positionIndex, Role role);

private:
  // The data of a layout on which flows depend.
  struct LayoutEntry {
    std::optional<Layout> layout; // Retained, so no other layout can get its address.
    AxisMask broadcast = 0, partial = 0, root = 0, shard = 0;
    std::array<AxisMask, kMaxDims> splitBy{};
    std::array<int, kMaxDims> dims{}; // Indices of its dimensions in dims_.
  };
  // A dimension of a layout: everything on which its factors depend.
  struct DimKey {
    Index extent;
    std::vector<int> axes;
    std::vector<Index> cuts;
    std::optional<Halo> halo;
    bool operator==(const DimKey&) const = default;
  };

  const LayoutEntry& entryOf(const Layout& layout);
  int dimIndexOf(DimKey key);
  // The arguments of a factor: a position in its role, its own layout and the layout of its peers.
  struct Sides {
    const LayoutEntry &own, &peer;
    int positionIndex;
    Role role;
    AxisMask fixed; // Axes on which all peers have the position's coordinate, by the properties.
  };
  // In the next two functions, only peers with the position's coordinates on the axes
  // `sameCoordinate` count: those in the same unit of a level (UnitAxes).
  const AlongDim& along(const Sides& sides, int dim, AxisMask sameCoordinate);
  // The product over all dimensions, including the position itself as a peer.
  AlongDim among(const Sides& sides, AxisMask sameCoordinate);
  // The product of the extents of these axes.
  Index extentsOf(AxisMask axes) const;

  GridPtr grid_;
  UnitAxes units_;
  std::vector<int> positions_;
  std::vector<AxisMask>
      nonzeroCoordinates_; // By index in positions_: axes on which the coordinate is not 0.
  std::unordered_map<const void*, LayoutEntry> layouts_;
  // Indices in dims_ of the dimensions with this extent, splitting axes, number of cuts, and halo
  // or none.
  std::map<std::tuple<Index, std::vector<int>, std::size_t, bool>, std::vector<int>> dimsLike_;
  std::vector<DimKey> dims_;                          // All different dimensions.
  std::unordered_map<std::uint64_t, AlongDim> along_; // Factors; along() makes the keys.
};

} // namespace tenon
