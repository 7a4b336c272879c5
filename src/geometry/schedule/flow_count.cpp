// SPDX-License-Identifier: BSD-2-Clause
// Counts the parts that share elements with a rank along each dimension. Dimensions without a halo
// cost one search in their cuts, those with one a look at each part near it.
#include "geometry/schedule/flow_count.hpp"

#include "sys/errors/error.hpp"

#include <algorithm>

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

std::ptrdiff_t levelBetween(int rank, int other, const std::vector<Index>& unitRanks) {
  const auto parts = [&](Index size) { return other / size != rank / size; };
  return std::ranges::find_if(unitRanks, parts) - unitRanks.begin();
}

} // namespace tenon
