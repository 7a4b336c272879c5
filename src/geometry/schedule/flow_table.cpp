// SPDX-License-Identifier: BSD-2-Clause
// Stores the factors of the flows between many layouts. A factor depends on one dimension of both
// layouts, on the position, on the role, and on the axes on which peers have the position's
// coordinate. These are packed into a key of 64 bits:
//   [mask of axes | index of own dimension | index of the peer's dimension | place | role]
// The number of bits is the reason for the limits of canHold(), and for the error for more than
// 2^18 different dimensions (extent, splitting axes, cuts and halo).
#include "geometry/schedule/flow_table.hpp"

#include "sys/errors/error.hpp"

#include <algorithm>
#include <bit>

namespace tenon {

namespace {

// A key has a mask of axes, the indices of two dimensions, a place and one bit for the role: 64
// bits.
constexpr int kMaskBits = 24, kNumberBits = 18, kPlaceBits = 3;

} // namespace

FlowTable::FlowTable(GridPtr grid, UnitAxes units, std::vector<int> positions)
    : grid_(std::move(grid)), units_(std::move(units)), positions_(std::move(positions)) {
  if (!canHold(*grid_, units_, positions_))
    throw Error(TENON_ERR_INTERNAL, "a table of flows for too many axes, levels or positions");
  for (const int position : positions_) {
    AxisMask beyond = 0;
    for (int axis = 0; axis < grid_->axes(); ++axis)
      beyond |= AxisMask(grid_->coordinate(position, axis) != 0) << axis;
    beyondZero_.push_back(beyond);
  }
}

bool FlowTable::canHold(const Grid& grid, const UnitAxes& units,
                        const std::vector<int>& positions) {
  return grid.axes() <= kMaskBits && units.apart.size() <= kMaxLevels &&
         positions.size() <= kMaxPositions;
}

int FlowTable::placeOf(int position) const {
  const auto entry = std::ranges::find(positions_, position);
  return entry == positions_.end() ? -1 : static_cast<int>(entry - positions_.begin());
}

int FlowTable::numberOf(DimKey key) {
  // Quantities that are cheap to compare select a few candidates, which are then compared
  // completely.
  std::vector<int>& candidates =
      dimsLike_[{key.extent, key.axes, key.cuts.size(), key.halo.has_value()}];
  for (const int number : candidates)
    if (dims_[number] == key)
      return number;
  const int number = static_cast<int>(dims_.size());
  if (number >> kNumberBits != 0)
    throw Error(TENON_ERR_INTERNAL, "a table of flows between too many layouts");
  candidates.push_back(number);
  dims_.push_back(std::move(key));
  return number;
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
  for (int d = 0; d < layout.rank(); ++d)
    entry.dims[d] =
        numberOf({layout.shape()[d], layout.splitAxes(d), layout.cuts(d), layout.halo(d)});
  return entry;
}

// The factor of a dimension, counted at its first use. On an axis that splits the dimension, a peer
// has either the position's coordinate or any coordinate; one bit per such axis says which. The
// mask of these bits, both dimensions, the place and the role determine the factor.
const AlongDim& FlowTable::along(const View& view, int dim, AxisMask apart) {
  std::uint64_t key = (view.fixed | apart) & view.peer.splitBy[dim];
  for (const LayoutEntry* entry : {&view.own, &view.peer})
    key = key << kNumberBits | std::uint64_t(entry->dims[dim]);
  key = key << kPlaceBits | std::uint64_t(view.place);
  key = key << 1 | std::uint64_t(view.role == Role::Source);
  const auto [iterator, isNew] = along_.try_emplace(key);
  if (isNew) {
    const bool isSource = view.role == Role::Source;
    const Layout &from = *(isSource ? view.own : view.peer).layout,
                 &to = *(isSource ? view.peer : view.own).layout;
    iterator->second =
        FlowCount(from, to, grid_->rank(positions_[view.place]), view.role, apart).along(dim);
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

AlongDim FlowTable::among(const View& view, AxisMask apart) {
  const auto& [own, peer, place, role, fixed] = view;
  if ((peer.root & apart & beyondZero_[place]) != 0)
    return {};
  Traffic product{1, 1};
  Index kept = (peer.root & beyondZero_[place]) == 0 ? 1 : 0;
  for (int d = 0; d < own.layout->rank(); ++d) {
    const AlongDim& factor = along(view, d, apart);
    if (factor.others.messages == 0)
      return {};
    kept *= factor.kept;
    product.messages *= factor.others.messages;
    product.elements =
        checkedProduct(product.elements, factor.others.elements, "elements that a rank sends");
  }
  const Index copies = extentsOf((peer.broadcast | peer.partial) & ~fixed & ~apart);
  return {{product.messages * copies,
           checkedProduct(product.elements, copies, "elements that a rank sends")},
          kept};
}

// The rule of peerCoordinates() with masks: no peers if a coordinate must be 0 and is not.
FlowTable::TableFlow FlowTable::flow(const Layout& from, const Layout& to, int place, Role role) {
  const bool isSource = role == Role::Source;
  const LayoutEntry &source = entryOf(from), &target = entryOf(to);
  const View view{isSource ? source : target, isSource ? target : source, place, role,
                  source.broadcast | target.partial};
  const AxisMask beyond = beyondZero_[place];
  TableFlow flow;
  // The axes on which only positions with coordinate 0 have peers.
  const AxisMask mustBeZero =
      view.own.root | (source.broadcast & target.partial) | (view.peer.root & view.fixed);
  if ((mustBeZero & beyond) != 0)
    return flow;
  // The flow of each level is the difference of two nested counts, as in countFlow() with UnitAxes.
  const AlongDim whole = among(view, /*apart=*/0);
  flow.keptElements = whole.kept;
  Traffic around = whole.others;
  std::size_t level = 0;
  for (; level < units_.apart.size(); ++level) {
    const Traffic inside = among(view, units_.apart[level]).others;
    flow.others[level] = {around.messages - inside.messages, around.elements - inside.elements};
    around = inside;
  }
  flow.others[level] = {around.messages - (flow.keptElements > 0),
                        around.elements - flow.keptElements};
  return flow;
}

} // namespace tenon
