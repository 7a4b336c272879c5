// SPDX-License-Identifier: BSD-2-Clause
// Keeps the factors of the flows between many layouts. A factor is found by a key of 64 bits, into
// which everything that it depends on is packed: hence the limits of canHold(), and the refusal of
// more than 2^18 different dimensions.
#include "geometry/schedule/flow_table.hpp"

#include "sys/errors/error.hpp"

#include <algorithm>
#include <bit>

namespace tenon {

namespace {

// A key has a mask of axes, the numbers of two dimensions, a place and one bit for the role: 64
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
  const auto at = std::ranges::find(positions_, position);
  return at == positions_.end() ? -1 : static_cast<int>(at - positions_.begin());
}

int FlowTable::numberOf(DimKey key) {
  // What is cheap to compare finds the few candidates, which are then compared whole.
  std::vector<int>& alike =
      dimsLike_[{key.extent, key.axes, key.cuts.size(), key.halo.has_value()}];
  for (const int number : alike)
    if (dims_[number] == key)
      return number;
  const int number = static_cast<int>(dims_.size());
  if (number >> kNumberBits != 0)
    throw Error(TENON_ERR_INTERNAL, "a table of flows between too many layouts");
  alike.push_back(number);
  dims_.push_back(std::move(key));
  return number;
}

const FlowTable::Known& FlowTable::known(const Layout& layout) {
  const auto [at, isNew] = layouts_.try_emplace(layout.identity());
  Known& made = at->second;
  if (!isNew)
    return made;
  made.layout = layout;
  for (int axis = 0; axis < layout.grid().axes(); ++axis) {
    const AxisMask bit = AxisMask(1) << axis;
    const Property property = layout.property(axis);
    AxisMask& mask = property.isShard()       ? made.shard
                     : property.isBroadcast() ? made.broadcast
                     : property.isPartial()   ? made.partial
                                              : made.root;
    mask |= bit;
    if (property.isShard())
      made.splitBy[property.dim] |= bit;
  }
  for (int d = 0; d < layout.rank(); ++d)
    made.dims[d] =
        numberOf({layout.shape()[d], layout.splitAxes(d), layout.cuts(d), layout.halo(d)});
  return made;
}

// On an axis that splits the dimension a peer's coordinate is the position's own, or any: one bit
// for each such axis says which. So the mask, both dimensions, the place and the role determine the
// factor.
const AlongDim& FlowTable::along(const View& view, int dim, AxisMask apart) {
  std::uint64_t key = (view.fixed | apart) & view.theirs.splitBy[dim];
  for (const Known* one : {&view.mine, &view.theirs})
    key = key << kNumberBits | std::uint64_t(one->dims[dim]);
  key = key << kPlaceBits | std::uint64_t(view.place);
  key = key << 1 | std::uint64_t(view.role == Role::Source);
  const auto [at, isNew] = along_.try_emplace(key);
  if (isNew) {
    const bool isSource = view.role == Role::Source;
    const Layout &from = *(isSource ? view.mine : view.theirs).layout,
                 &to = *(isSource ? view.theirs : view.mine).layout;
    at->second =
        FlowCount(from, to, grid_->rank(positions_[view.place]), view.role, apart).along(dim);
  }
  return at->second;
}

Index FlowTable::extentsOf(AxisMask axes) const {
  Index extents = 1;
  for (; axes != 0; axes &= axes - 1)
    extents =
        checkedProduct(extents, grid_->extent(std::countr_zero(axes)), "contributions or copies");
  return extents;
}

AlongDim FlowTable::among(const View& view, AxisMask apart) {
  const auto& [mine, theirs, place, role, fixed] = view;
  if ((theirs.root & apart & beyondZero_[place]) != 0)
    return {};
  Traffic product{1, 1};
  Index kept = (theirs.root & beyondZero_[place]) == 0 ? 1 : 0;
  for (int d = 0; d < mine.layout->rank(); ++d) {
    const AlongDim& factor = along(view, d, apart);
    if (factor.others.messages == 0)
      return {};
    kept *= factor.kept;
    product.messages *= factor.others.messages;
    product.elements =
        checkedProduct(product.elements, factor.others.elements, "elements that a rank sends");
  }
  const Index times = extentsOf((theirs.broadcast | theirs.partial) & ~fixed & ~apart);
  return {{product.messages * times,
           checkedProduct(product.elements, times, "elements that a rank sends")},
          kept};
}

// The rule of peerCoordinates() in masks: there are no peers where the coordinate must be 0 and is
// not.
FlowTable::TableFlow FlowTable::flow(const Layout& from, const Layout& to, int place, Role role) {
  const bool isSource = role == Role::Source;
  const Known &source = known(from), &target = known(to);
  const View view{isSource ? source : target, isSource ? target : source, place, role,
                  source.broadcast | target.partial};
  const AxisMask beyond = beyondZero_[place];
  TableFlow flow;
  const AxisMask none =
      view.mine.root | (source.broadcast & target.partial) | (view.theirs.root & view.fixed);
  if ((none & beyond) != 0)
    return flow;
  // The flow of each level is the difference of two nested counts, as in countFlow() by UnitAxes.
  const AlongDim whole = among(view, 0);
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
