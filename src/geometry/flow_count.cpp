// SPDX-License-Identifier: BSD-2-Clause
#include "geometry/flow_count.hpp"

#include <algorithm>

namespace tenon {

namespace {

// The parts of a dimension without a margin that share cells with an interval, and those cells. Such
// parts are one after the other, so that those on consecutive coordinates are counted at once.
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
      return addAll(std::max(first, first_), std::min(last, last_));
    const int axis = layout_.splitAxes(dim_)[i], extent = layout_.mesh().extent(axis);
    const int each = (last - first) / extent, fixed = coordinates_[axis];
    if (fixed != kAnyCoordinate)
      return add(i + 1, first + fixed * each, first + (fixed + 1) * each);
    for (int c = 0; c < extent; ++c)
      add(i + 1, first + c * each, first + (c + 1) * each);
  }

  void addAll(int first, int last) {
    const std::vector<Index>& cuts = layout_.cuts(dim_);
    sum_.messages += layout_.ownersAmong(dim_, first, last);
    sum_.cells += intersect(run_, {cuts[first], cuts[last]}).size();
  }

  const Layout& layout_;
  const int dim_;
  const Interval run_;
  const std::vector<int>& coordinates_;
  std::ptrdiff_t chosenAxes_ = 0; // up to the last whose coordinate is fixed
  int first_ = 0, last_ = 0;      // the parts that share cells with the run
  Traffic sum_;
};

void take(Traffic& traffic, Index cells) {
  --traffic.messages;
  traffic.cells -= cells;
}

void give(Traffic& traffic, Index cells) {
  ++traffic.messages;
  traffic.cells += cells;
}

Index times(Index cells, Index factor) {
  return checkedProduct(cells, factor, "cells that a rank sends");
}

} // namespace

FlowCount::FlowCount(const Layout& from, const Layout& to, int rank, Role role, AxisMask apart)
    : mine_(role == Role::Source ? from : to), theirs_(role == Role::Source ? to : from),
      role_(role), rank_(rank), position_(mine_.mesh().position(rank)),
      coordinates_(peerCoordinates(mine_, position_, theirs_, role)) {
  keepApart(apart);
  if (!coordinates_)
    return;
  if (mine_.hasMargins() || theirs_.hasMargins())
    own_.resize(mine_.rank());
  for (int d = 0; d < mine_.rank(); ++d) {
    const int part = mine_.part(position_, d);
    if (hasMargin(d))
      own_[d] = partSegments(mine_, d, part, role);
    else
      run_[d] = mine_.owned(d, part);
  }
}

void FlowCount::keepApart(AxisMask apart) {
  for (int axis = 0; apart != 0 && coordinates_; ++axis, apart >>= 1) {
    if ((apart & 1) == 0)
      continue;
    const int own = mine_.mesh().coordinate(position_, axis);
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
  flow.keptCells = keptCells();
  flow.others.messages -= flow.keptCells > 0;
  flow.others.cells -= flow.keptCells;
  return flow;
}

namespace {

std::size_t levelBetween(int rank, int other, const std::vector<Index>& unitRanks) {
  const auto parts = [&](Index size) { return other / size != rank / size; };
  return std::ranges::find_if(unitRanks, parts) - unitRanks.begin();
}

} // namespace

LevelFlow FlowCount::byLevel(const std::vector<Index>& unitRanks) const {
  const Flow sum = flow();
  LevelFlow flow{std::vector<Traffic>(unitRanks.size() + 1), sum.keptCells};
  Traffic& outermost = flow.others.front();
  outermost = sum.others;
  if (outermost.messages > 0 && !unitRanks.empty())
    for (int other : ranksOfUnit(unitRanks.front()))
      if (const Index cells = other == rank_ ? 0 : cellsWith(theirs_.mesh().position(other))) {
        take(outermost, cells);
        give(flow.others[levelBetween(rank_, other, unitRanks)], cells);
      }
  return flow;
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
    product.cells = times(product.cells, parts.cells);
  }
  for (int axis = 0; axis < theirs_.mesh().axes(); ++axis)
    if ((*coordinates_)[axis] == kAnyCoordinate && !theirs_.property(axis).isShard()) {
      product.messages *= theirs_.mesh().extent(axis);
      product.cells = times(product.cells, theirs_.mesh().extent(axis));
    }
  return product;
}

// The parts of one dimension with shared cells, and those cells.
Traffic FlowCount::partsAlong(int dim) const {
  if (!hasMargin(dim))
    return TileCount(theirs_, dim, run_[dim], *coordinates_).count();
  if (!theirs_.margin(dim) && own_[dim].size() == 1)
    return TileCount(theirs_, dim, globalRange(own_[dim].front()), *coordinates_).count();
  Traffic sum;
  for (int part : partsNear(own_[dim], theirs_, dim, otherRole(role_)))
    if (liesOn(theirs_, dim, part, *coordinates_))
      if (const Index cells = sharedAlong(dim, part))
        give(sum, cells);
  return sum;
}

Index FlowCount::sharedAlong(int dim, int part) const {
  return sharedCells(own_[dim], partSegments(theirs_, dim, part, otherRole(role_)));
}

// Those shared with one position of the other side.
Index FlowCount::cellsWith(int other) const {
  if (!theirs_.isHolder(other))
    return 0;
  for (int axis = 0; axis < theirs_.mesh().axes(); ++axis) {
    const int only = (*coordinates_)[axis];
    if (only != kAnyCoordinate && only != theirs_.mesh().coordinate(other, axis))
      return 0;
  }
  Index cells = 1;
  for (int d = 0; d < mine_.rank() && cells > 0; ++d)
    cells *= sharedAt(d, theirs_.part(other, d));
  return cells;
}

Index FlowCount::sharedAt(int dim, int part) const {
  return hasMargin(dim) ? sharedAlong(dim, part)
                        : intersect(run_[dim], theirs_.owned(dim, part)).size();
}

// The ranks of the other side that are in the own unit of a level.
std::vector<int> FlowCount::ranksOfUnit(Index size) const {
  const Mesh& mesh = theirs_.mesh();
  std::vector<int> ranks;
  if (size > mesh.size()) {
    std::ranges::copy_if(mesh.ranks(), std::back_inserter(ranks),
                         [&](int other) { return other / size == rank_ / size; });
    return ranks;
  }
  const Index first = rank_ / size * size;
  for (Index other = first; other < first + size; ++other)
    ranks.push_back(static_cast<int>(other));
  return ranks;
}

} // namespace tenon
