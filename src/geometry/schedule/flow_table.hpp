// SPDX-License-Identifier: BSD-2-Clause
// Flows between many layouts on one grid. Such layouts differ in few of their dimensions, so the
// factors of their flows recur, and each is counted once.
#pragma once

#include "geometry/schedule/traffic.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>

namespace tenon {

class FlowTable {
public:
  static constexpr int kMaxLevels = 7, kMaxPositions = 8;
  // A LevelFlow that allocates nothing.
  struct TableFlow {
    std::array<Traffic, kMaxLevels + 1> others;
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
  // The flow of the position at a place, between layouts on this grid whose boundary modes are
  // those of all channels.
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
