// SPDX-License-Identifier: BSD-2-Clause
// Counts flows as products of one factor for each dimension, and keeps the factors of many layouts.
// A factor is found by a key of 64 bits, into which everything that it depends on is packed: hence
// the limits of canHold(), and the refusal of more than 2^18 different dimensions.
#include "geometry/flow_table.hpp"

#include "sys/errors/error.hpp"

#include <algorithm>
#include <bit>

namespace tenon {

namespace {

// Counts the parts of a dimension without a halo that share elements with an interval, and those
// elements. Such parts follow each other, so that those on consecutive coordinates are counted at
// once.
class TileCount {
public:
  TileCount(const Layout& layout, int dim, Interval run, const std::vector<int>& coordinates)
      : layout_(layout), dim_(dim), run_(run), coordinates_(coordinates) {
    const std::vector<int>& axes = layout.splitAxes(dim);
    const auto isFixed = [&](int axis) { return coordinates[axis] != kAnyCoordinate; };
    chosenAxes_ = std::find_if(axes.rbegin(), axes.rend(), isFixed).base() - axes.begin();
  }

  Traffic count() {
    if (run_.empty())
      return {};
    const std::vector<Index>& cuts = layout_.cuts(dim_);
    first_ = static_cast<int>(std::ranges::upper_bound(cuts, run_.begin) - cuts.begin()) - 1;
    last_ = static_cast<int>(std::ranges::lower_bound(cuts, run_.end) - cuts.begin());
    add(0, 0, layout_.parts(dim_));
    return sum_;
  }

private:
  // The parts from first to last, which differ in the coordinates from the splitting axis i on.
  void add(std::ptrdiff_t i, int first, int last) {
    if (last <= first_ || last_ <= first)
      return;
    if (i == chosenAxes_)
      // No coordinate is fixed from here on, so every part of the range counts.
      return addAll(std::max(first, first_), std::min(last, last_));
    const int axis = layout_.splitAxes(dim_)[i], extent = layout_.grid().extent(axis);
    const int each = (last - first) / extent, fixed = coordinates_[axis];
    if (fixed != kAnyCoordinate)
      return add(i + 1, first + fixed * each, first + (fixed + 1) * each);
    for (int c = 0; c < extent; ++c)
      add(i + 1, first + c * each, first + (c + 1) * each);
  }

  void addAll(int first, int last) {
    const std::vector<Index>& cuts = layout_.cuts(dim_);
    sum_.messages += layout_.ownersAmong(dim_, first, last);
    sum_.elements += intersect(run_, {cuts[first], cuts[last]}).size();
  }

  const Layout& layout_;
  const int dim_;
  const Interval run_;
  const std::vector<int>& coordinates_;
  std::ptrdiff_t chosenAxes_ = 0; // up to the last whose coordinate is fixed
  int first_ = 0, last_ = 0;      // the parts that share elements with the run
  Traffic sum_;
};

void take(Traffic& traffic, Index elements) {
  --traffic.messages;
  traffic.elements -= elements;
}

void give(Traffic& traffic, Index elements) {
  ++traffic.messages;
  traffic.elements += elements;
}

Index times(Index elements, Index factor) {
  return checkedProduct(elements, factor, "elements that a rank sends");
}

} // namespace

FlowCount::FlowCount(const Layout& from, const Layout& to, int rank, Role role, AxisMask apart)
    : mine_(role == Role::Source ? from : to), theirs_(role == Role::Source ? to : from),
      role_(role), rank_(rank), position_(mine_.grid().position(rank)),
      coordinates_(peerCoordinates(mine_, position_, theirs_, role)) {
  keepApart(apart);
  if (!coordinates_)
    return;
  if (mine_.hasHalos() || theirs_.hasHalos())
    own_.resize(mine_.rank());
  for (int d = 0; d < mine_.rank(); ++d) {
    const int part = mine_.part(position_, d);
    if (hasHalo(d))
      own_[d] = partSegments(mine_, d, part, role);
    else
      run_[d] = mine_.owned(d, part);
  }
}

void FlowCount::keepApart(AxisMask apart) {
  for (int axis = 0; apart != 0 && coordinates_; ++axis, apart >>= 1) {
    if ((apart & 1) == 0)
      continue;
    const int own = mine_.grid().coordinate(position_, axis);
    int& only = (*coordinates_)[axis];
    if (only != kAnyCoordinate && only != own)
      coordinates_.reset();
    else
      only = own;
  }
}

Flow FlowCount::flow() const {
  Flow flow;
  if (!coordinates_)
    return flow;
  flow.others = all();
  flow.keptElements = keptElements();
  flow.others.messages -= flow.keptElements > 0;
  flow.others.elements -= flow.keptElements;
  return flow;
}

std::ptrdiff_t levelBetween(int rank, int other, const std::vector<Index>& unitRanks) {
  const auto parts = [&](Index size) { return other / size != rank / size; };
  return std::ranges::find_if(unitRanks, parts) - unitRanks.begin();
}

LevelFlow FlowCount::byLevel(const std::vector<Index>& unitRanks) const {
  const Flow sum = flow();
  LevelFlow flow{std::vector<Traffic>(unitRanks.size() + 1), sum.keptElements};
  // Everything is taken to cross the outermost level at first. Only what stays within the rank's
  // own outermost unit is then counted rank by rank, and moved to the level that it crosses.
  Traffic& outermost = flow.others.front();
  outermost = sum.others;
  if (outermost.messages > 0 && !unitRanks.empty())
    for (int other : ranksOfUnit(unitRanks.front()))
      if (const Index elements =
              other == rank_ ? 0 : elementsWith(theirs_.grid().position(other))) {
        take(outermost, elements);
        give(flow.others[levelBetween(rank_, other, unitRanks)], elements);
      }
  return flow;
}

std::vector<std::pair<Index, Index>> FlowCount::partsBeside(int dim, const Interval& run) const {
  std::vector<Segment> own;
  if (hasHalo(dim))
    own = own_[dim];
  else if (const Interval all = dim == kChannelDim ? intersect(run_[dim], run) : run_[dim];
           !all.empty())
    own = {{0, all.begin, all.size(), 1}};
  std::vector<std::pair<Index, Index>> parts;
  for (int part : partsNear(own, theirs_, dim, otherRole(role_)))
    if (liesOn(theirs_, dim, part, *coordinates_))
      if (const Index shared =
              sharedElements(own, partSegments(theirs_, dim, part, otherRole(role_))))
        parts.emplace_back(part - theirs_.part(position_, dim), shared);
  return parts;
}

AlongDim FlowCount::along(int dim) const {
  return {partsAlong(dim), sharedAt(dim, theirs_.part(position_, dim))};
}

Traffic FlowCount::all() const {
  if (!coordinates_)
    return {};
  Traffic product{1, 1};
  for (int d = 0; d < mine_.rank(); ++d) {
    const Traffic parts = partsAlong(d);
    if (parts.messages == 0)
      return {};
    product.messages *= parts.messages;
    product.elements = times(product.elements, parts.elements);
  }
  for (int axis = 0; axis < theirs_.grid().axes(); ++axis)
    if ((*coordinates_)[axis] == kAnyCoordinate && !theirs_.property(axis).isShard()) {
      product.messages *= theirs_.grid().extent(axis);
      product.elements = times(product.elements, theirs_.grid().extent(axis));
    }
  return product;
}

// The parts of one dimension that share elements with the rank, and those elements.
Traffic FlowCount::partsAlong(int dim) const {
  if (!hasHalo(dim))
    return TileCount(theirs_, dim, run_[dim], *coordinates_).count();
  // A halo whose box is one run is an interval to a side without a halo, and is counted as one.
  if (!theirs_.halo(dim) && own_[dim].size() == 1)
    return TileCount(theirs_, dim, globalRange(own_[dim].front()), *coordinates_).count();
  Traffic sum;
  for (int part : partsNear(own_[dim], theirs_, dim, otherRole(role_)))
    if (liesOn(theirs_, dim, part, *coordinates_))
      if (const Index elements = sharedAlong(dim, part))
        give(sum, elements);
  return sum;
}

Index FlowCount::sharedAlong(int dim, int part) const {
  return sharedElements(own_[dim], partSegments(theirs_, dim, part, otherRole(role_)));
}

// The elements shared with one position of the other side.
Index FlowCount::elementsWith(int other) const {
  if (!theirs_.isHolder(other))
    return 0;
  for (int axis = 0; axis < theirs_.grid().axes(); ++axis) {
    const int only = (*coordinates_)[axis];
    if (only != kAnyCoordinate && only != theirs_.grid().coordinate(other, axis))
      return 0;
  }
  Index elements = 1;
  for (int d = 0; d < mine_.rank() && elements > 0; ++d)
    elements *= sharedAt(d, theirs_.part(other, d));
  return elements;
}

Index FlowCount::sharedAt(int dim, int part) const {
  return hasHalo(dim) ? sharedAlong(dim, part)
                      : intersect(run_[dim], theirs_.owned(dim, part)).size();
}

// The ranks of the other side that are in the rank's own unit of `size` ranks. A unit larger than
// the grid is not listed itself: it can have any number of ranks that the grid does not have.
std::vector<int> FlowCount::ranksOfUnit(Index size) const {
  const Grid& grid = theirs_.grid();
  std::vector<int> ranks;
  if (size > grid.size()) {
    std::ranges::copy_if(grid.ranks(), std::back_inserter(ranks),
                         [&](int other) { return other / size == rank_ / size; });
    return ranks;
  }
  const Index first = rank_ / size * size;
  for (Index other = first; other < first + size; ++other)
    ranks.push_back(static_cast<int>(other));
  return ranks;
}

namespace {

// A key has a mask of axes, the numbers of two dimensions, a place and one bit for the role: 64
// bits.
constexpr int kMaskBits = 24, kNumberBits = 18, kPlaceBits = 3;

// For each axis, the difference between the ranks of neighbours along it; none if that depends on
// where they are.
std::optional<std::vector<int>> rankStrides(const Grid& grid) {
  std::vector<int> strides;
  for (int axis = 0; axis < grid.axes(); ++axis) {
    std::vector<int> coordinates(grid.axes(), 0);
    coordinates[axis] = grid.extent(axis) > 1 ? 1 : 0;
    strides.push_back(grid.rank(grid.positionAt(coordinates)) - grid.rank(0));
  }
  for (int position = 0; position < grid.size(); ++position) {
    int rank = grid.rank(0);
    for (int axis = 0; axis < grid.axes(); ++axis)
      rank += strides[axis] * grid.coordinate(position, axis);
    if (rank != grid.rank(position))
      return std::nullopt;
  }
  return strides;
}

} // namespace

// Along an axis either all ranks share a unit or each is in a unit of its own: the latter if the
// unit's size divides the axis's stride. The ranks along all other axes together must not leave the
// unit in which rank(0) is, as they would by a carry; `within` is the place of the last of them in
// it.
std::optional<UnitAxes> UnitAxes::of(const Grid& grid, const std::vector<Index>& unitRanks) {
  UnitAxes units;
  if (unitRanks.empty())
    return units;
  const auto strides = rankStrides(grid);
  if (!strides || grid.axes() > kMostMaskedAxes)
    return std::nullopt;
  for (const Index ranks : unitRanks) {
    AxisMask apart = 0;
    Index within = grid.rank(0) % ranks;
    for (int axis = 0; axis < grid.axes(); ++axis) {
      if (grid.extent(axis) > 1 && (*strides)[axis] % ranks == 0)
        apart |= AxisMask(1) << axis;
      else
        within += Index(grid.extent(axis) - 1) * (*strides)[axis];
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
  if (from.hasModesByChannel() || to.hasModesByChannel()) {
    const Grid& grid = from.grid();
    const int own = grid.position(rank);
    // The first level on whose axes the peer is elsewhere.
    return listedFlow(from, to, rank, role, units.apart.size(), [&](int peer) {
      const auto isApart = [&](AxisMask apart) {
        for (int axis = 0; axis < grid.axes(); ++axis)
          if ((apart >> axis & 1) != 0 &&
              grid.coordinate(own, axis) != grid.coordinate(grid.position(peer), axis))
            return true;
        return false;
      };
      return std::ranges::find_if(units.apart, isApart) - units.apart.begin();
    });
  }
  const FlowCount whole(from, to, rank, role);
  flow.keptElements = whole.keptElements();
  // Units are nested, so that the traffic which crosses a level is the difference of two counts.
  Traffic around = whole.all();
  for (std::size_t level = 0; level < units.apart.size(); ++level) {
    const Traffic inside = FlowCount(from, to, rank, role, units.apart[level]).all();
    flow.others[level] = {around.messages - inside.messages, around.elements - inside.elements};
    around = inside;
  }
  flow.others.back() = {around.messages - (flow.keptElements > 0),
                        around.elements - flow.keptElements};
  return flow;
}

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
  return grid.axes() <= kMaskBits && units.apart.size() <= kMostLevels &&
         positions.size() <= kMostPositions;
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
    extents = checkedProduct(extents, grid_->extent(std::countr_zero(axes)), "addends or copies");
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
