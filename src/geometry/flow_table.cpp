// SPDX-License-Identifier: BSD-2-Clause
#include "geometry/flow_table.hpp"

#include "sys/error.hpp"

#include <algorithm>
#include <bit>

namespace tenon {

namespace {

constexpr int kMaskBits = 24, kNumberBits = 18, kPlaceBits = 3; // of the keys of factors

// How far apart ranks are that are neighbours on each axis; none if that depends on where they are.
std::optional<std::vector<int>> rankStrides(const Mesh& mesh) {
  std::vector<int> strides;
  for (int axis = 0; axis < mesh.axes(); ++axis) {
    std::vector<int> coordinates(mesh.axes(), 0);
    coordinates[axis] = mesh.extent(axis) > 1 ? 1 : 0;
    strides.push_back(mesh.rank(mesh.positionAt(coordinates)) - mesh.rank(0));
  }
  for (int position = 0; position < mesh.size(); ++position) {
    int rank = mesh.rank(0);
    for (int axis = 0; axis < mesh.axes(); ++axis)
      rank += strides[axis] * mesh.coordinate(position, axis);
    if (rank != mesh.rank(position))
      return std::nullopt;
  }
  return strides;
}

} // namespace

// Along an axis ranks either share a unit or are all in units of their own. A carry from the axes within a unit
// would leave it.
std::optional<UnitAxes> UnitAxes::of(const Mesh& mesh, const std::vector<Index>& unitRanks) {
  UnitAxes units;
  if (unitRanks.empty())
    return units;
  const auto strides = rankStrides(mesh);
  if (!strides || mesh.axes() > kMostMaskedAxes)
    return std::nullopt;
  for (const Index ranks : unitRanks) {
    AxisMask apart = 0;
    Index within = mesh.rank(0) % ranks;
    for (int axis = 0; axis < mesh.axes(); ++axis) {
      if (mesh.extent(axis) > 1 && (*strides)[axis] % ranks == 0)
        apart |= AxisMask(1) << axis;
      else
        within += Index(mesh.extent(axis) - 1) * (*strides)[axis];
      if ((*strides)[axis] < 0)
        return std::nullopt;
    }
    if (within >= ranks)
      return std::nullopt;
    units.apart.push_back(apart);
  }
  return units;
}

LevelFlow countFlow(const Layout& from, const Layout& to, int rank, Role role,
                    const UnitAxes& units) {
  LevelFlow flow{std::vector<Traffic>(units.apart.size() + 1), 0};
  const FlowCount whole(from, to, rank, role);
  flow.keptCells = whole.keptCells();
  Traffic around = whole.all();
  for (std::size_t level = 0; level < units.apart.size(); ++level) {
    const Traffic inside = FlowCount(from, to, rank, role, units.apart[level]).all();
    flow.others[level] = {around.messages - inside.messages, around.cells - inside.cells};
    around = inside;
  }
  flow.others.back() = {around.messages - (flow.keptCells > 0), around.cells - flow.keptCells};
  return flow;
}

FlowTable::FlowTable(MeshPtr mesh, UnitAxes units, std::vector<int> positions)
    : mesh_(std::move(mesh)), units_(std::move(units)), positions_(std::move(positions)) {
  if (!canHold(*mesh_, units_, positions_))
    throw Error(TENON_ERR_INTERNAL, "a table of flows for too many axes, levels or positions");
  for (const int position : positions_) {
    AxisMask beyond = 0;
    for (int axis = 0; axis < mesh_->axes(); ++axis)
      beyond |= AxisMask(mesh_->coordinate(position, axis) != 0) << axis;
    beyondZero_.push_back(beyond);
  }
}

bool FlowTable::canHold(const Mesh& mesh, const UnitAxes& units,
                        const std::vector<int>& positions) {
  return mesh.axes() <= kMaskBits && units.apart.size() <= kMostLevels &&
         positions.size() <= kMostPositions;
}

int FlowTable::placeOf(int position) const {
  const auto at = std::ranges::find(positions_, position);
  return at == positions_.end() ? -1 : static_cast<int>(at - positions_.begin());
}

int FlowTable::numberOf(DimKey key) {
  std::vector<int>& alike =
      dimsLike_[{key.extent, key.axes, key.cuts.size(), key.margin.has_value()}];
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
  const auto [at, isNew] = layouts_.try_emplace(&layout.spec());
  Known& made = at->second;
  if (!isNew)
    return made;
  made.layout = layout;
  for (int axis = 0; axis < layout.mesh().axes(); ++axis) {
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
        numberOf({layout.shape()[d], layout.splitAxes(d), layout.cuts(d), layout.margin(d)});
  return made;
}

// A peer's coordinates on axes that split its dimension are the position's own, or any.
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
        FlowCount(from, to, mesh_->rank(positions_[view.place]), view.role, apart).along(dim);
  }
  return at->second;
}

Index FlowTable::extentsOf(AxisMask axes) const {
  Index extents = 1;
  for (; axes != 0; axes &= axes - 1)
    extents = checkedProduct(extents, mesh_->extent(std::countr_zero(axes)), "addends or copies");
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
    product.cells = checkedProduct(product.cells, factor.others.cells, "cells that a rank sends");
  }
  const Index times = extentsOf((theirs.broadcast | theirs.partial) & ~fixed & ~apart);
  return {
      {product.messages * times, checkedProduct(product.cells, times, "cells that a rank sends")},
      kept};
}

// By the rule of peerCoordinates().
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
  const AlongDim whole = among(view, 0);
  flow.keptCells = whole.kept;
  Traffic around = whole.others;
  std::size_t level = 0;
  for (; level < units_.apart.size(); ++level) {
    const Traffic inside = among(view, units_.apart[level]).others;
    flow.others[level] = {around.messages - inside.messages, around.cells - inside.cells};
    around = inside;
  }
  flow.others[level] = {around.messages - (flow.keptCells > 0), around.cells - flow.keptCells};
  return flow;
}

} // namespace tenon
