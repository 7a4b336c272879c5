// SPDX-License-Identifier: BSD-2-Clause
// Stores the factors of the flows between many layouts. A factor depends on one dimension of both
// layouts, on the position, on the role, and on the axes on which peers have the position's
// coordinate. These are packed into a key of 64 bits:
//   [mask of axes | index of own dimension | of the peer's dimension | of the position | role]
// A mask of axes has bit a for axis a: axes 0 and 2 are the mask 5.
// The number of bits is the reason for the limits of axes and positions in canHold(), and for the
// error for more than 2^18 different dimensions (extent, splitting axes, cuts and halo).
#include "geometry/schedule/flow_table.hpp"

#include "sys/errors/error.hpp"

#include <algorithm>
#include <bit>

namespace tenon {

namespace {

// With two dimensions and one bit for the role, 24 + 2 * 18 + 3 + 1 = 64 bits.
constexpr int kMaskBits = 24, kDimBits = 18, kPositionBits = 3;

} // namespace

FlowTable::FlowTable(GridPtr grid, UnitAxes units, std::vector<int> positions)
    : grid_(std::move(grid)), units_(std::move(units)), positions_(std::move(positions)) {
  if (!canHold(*grid_, units_, positions_))
    throw Error(TENON_ERR_INTERNAL, "a table of flows for too many axes, levels or positions");
  for (const int position : positions_) {
    AxisMask nonzero = 0;
    for (int axis = 0; axis < grid_->axes(); ++axis)
      nonzero |= AxisMask(grid_->coordinate(position, axis) != 0) << axis;
    nonzeroCoordinates_.push_back(nonzero);
  }
}

bool FlowTable::canHold(const Grid& grid, const UnitAxes& units,
                        const std::vector<int>& positions) {
  return grid.axes() <= kMaskBits && units.apart.size() <= kMaxLevels &&
         positions.size() <= kMaxPositions;
}

int FlowTable::positionIndexOf(int position) const {
  const auto entry = std::ranges::find(positions_, position);
  return entry == positions_.end() ? -1 : static_cast<int>(entry - positions_.begin());
}

int FlowTable::dimIndexOf(DimKey key) {
  // Quantities that are cheap to compare select a few candidates, which are then compared
  // completely.
  std::vector<int>& candidates =
      dimsLike_[{key.extent, key.axes, key.cuts.size(), key.halo.has_value()}];
  for (const int index : candidates)
    if (dims_[index] == key)
      return index;
  const int newIndex = static_cast<int>(dims_.size());
  if (newIndex >> kDimBits != 0)
    throw Error(TENON_ERR_INTERNAL, "a table of flows between too many layouts");
  candidates.push_back(newIndex);
  dims_.push_back(std::move(key));
  return newIndex;
}

const FlowTable::LayoutEntry& FlowTable::entryOf(const Layout& layout) {
  const auto [iterator, isNew] = layouts_.try_emplace(layout.identity());
  LayoutEntry& entry = iterator->second;
  if (!isNew)
    return entry;
  entry.layout = layout;
  for (int axis = 0; axis < layout.grid().axes(); ++axis) {
    const AxisMask bit = AxisMask(1) << axis;
    const Property property = layout.property(axis);
    AxisMask& mask = property.isShard()       ? entry.shard
                     : property.isBroadcast() ? entry.broadcast
                     : property.isPartial()   ? entry.partial
                                              : entry.root;
    mask |= bit;
    if (property.isShard())
      entry.splitBy[property.dim] |= bit;
  }
  for (int d = 0; d < layout.ndim(); ++d)
    entry.dims[d] =
        dimIndexOf({layout.shape()[d], layout.splitAxes(d), layout.cuts(d), layout.halo(d)});
  return entry;
}

// The factor of a dimension, counted at its first use. On an axis that splits the dimension, a peer
// has either the position's coordinate or any coordinate; one bit per such axis says which. The
// mask of these bits, both dimensions, the position and the role determine the factor.
const AlongDim& FlowTable::along(const Sides& sides, int dim, AxisMask sameCoordinate) {
  std::uint64_t key = (sides.fixed | sameCoordinate) & sides.peer.splitBy[dim];
  for (const LayoutEntry* entry : {&sides.own, &sides.peer})
    key = key << kDimBits | std::uint64_t(entry->dims[dim]);
  key = key << kPositionBits | std::uint64_t(sides.positionIndex);
  key = key << 1 | std::uint64_t(sides.role == Role::Source);
  const auto [iterator, isNew] = along_.try_emplace(key);
  if (isNew) {
    const bool isSource = sides.role == Role::Source;
    const Layout &from = *(isSource ? sides.own : sides.peer).layout,
                 &to = *(isSource ? sides.peer : sides.own).layout;
    iterator->second = FlowCount(from, to, grid_->rank(positions_[sides.positionIndex]), sides.role,
                                 sameCoordinate)
                           .along(dim);
  }
  return iterator->second;
}

Index FlowTable::extentsOf(AxisMask axes) const {
  Index extents = 1;
  for (; axes != 0; axes &= axes - 1)
    extents =
        checkedProduct(extents, grid_->extent(std::countr_zero(axes)), "contributions or copies");
  return extents;
}

// Two boxes meet where their intervals meet in each dimension, so the numbers of messages and of
// elements are products over the dimensions: with 2 peers along rows and 3 along columns there are
// 6.
AlongDim FlowTable::among(const Sides& sides, AxisMask sameCoordinate) {
  const auto& [own, peer, positionIndex, role, fixed] = sides;
  // On an R axis only coordinate 0 has data, so a position with another coordinate has no peer with
  // its own.
  if ((peer.root & sameCoordinate & nonzeroCoordinates_[positionIndex]) != 0)
    return {};
  Traffic product{1, 1};
  // The position keeps elements only if it has data in the peers' layout, which needs coordinate 0
  // on all R axes.
  Index kept = (peer.root & nonzeroCoordinates_[positionIndex]) == 0 ? 1 : 0;
  for (int d = 0; d < own.layout->ndim(); ++d) {
    const AlongDim& factor = along(sides, d, sameCoordinate);
    if (factor.all.messages == 0)
      return {};
    kept *= factor.kept;
    product.messages *= factor.all.messages;
    product.elements =
        checkedProduct(product.elements, factor.all.elements, "elements that a rank sends");
  }
  // Axes that split nothing and fix no coordinate: the ranks along them are peers with the same
  // elements, as in FlowCount::all().
  const Index copies = extentsOf((peer.broadcast | peer.partial) & ~fixed & ~sameCoordinate);
  return {{product.messages * copies,
           checkedProduct(product.elements, copies, "elements that a rank sends")},
          kept};
}

// The rule of peerCoordinates() with masks: no peers if a coordinate must be 0 and is not.
FlowTable::TableFlow FlowTable::flow(const Layout& from, const Layout& to, int positionIndex,
                                     Role role) {
  const bool isSource = role == Role::Source;
  const LayoutEntry &source = entryOf(from), &target = entryOf(to);
  const Sides sides{isSource ? source : target, isSource ? target : source, positionIndex, role,
                    source.broadcast | target.partial};
  const AxisMask nonzero = nonzeroCoordinates_[positionIndex];
  TableFlow flow;
  // The axes on which only positions with coordinate 0 have peers: this position has data
  // only there; or, from copies to contributions (B to P), the others would send the same again; or
  // its peers, which have the same coordinate, have data only there.
  const AxisMask mustBeZero =
      sides.own.root | (source.broadcast & target.partial) | (sides.peer.root & sides.fixed);
  if ((mustBeZero & nonzero) != 0)
    return flow;
  // The flow of each level is the difference of two nested counts, as in countFlow() with UnitAxes:
  // for nodes in a machine, the messages to all ranks less those to ranks of the own node.
  const AlongDim whole = among(sides, /*sameCoordinate=*/0);
  flow.keptElements = whole.kept;
  Traffic around = whole.all;
  std::size_t level = 0;
  for (; level < units_.apart.size(); ++level) {
    const Traffic inside = among(sides, units_.apart[level]).all;
    flow.others[level] = {around.messages - inside.messages, around.elements - inside.elements};
    around = inside;
  }
  // Within the innermost unit, the rank itself was counted among its peers.
  flow.others[level] = {around.messages - (flow.keptElements > 0),
                        around.elements - flow.keptElements};
  return flow;
}

} // namespace tenon
