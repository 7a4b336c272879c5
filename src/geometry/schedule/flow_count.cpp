// SPDX-License-Identifier: BSD-2-Clause
// Counts, for each dimension, the parts of the peers' layout that share elements with a rank's
// part, and these elements. The parts are consecutive in a dimension without a halo, which costs
// one bisection in its cuts; in a dimension with a halo, each part near the rank's box is tested.
#include "geometry/schedule/flow_count.hpp"

#include "sys/errors/error.hpp"

#include <algorithm>

namespace tenon {

namespace {

// Counts the parts of a dimension without a halo that share elements with an interval, and those
// elements. Only parts with these coordinates on the axes that split the dimension count. The parts
// that overlap the interval are consecutive; they are divided by the coordinates of the splitting
// axes, the major one first, until all remaining coordinates can be any, and then counted at once.
class PartCount {
public:
  PartCount(const Layout& layout, int dim, Interval run, const std::vector<int>& coordinates)
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
  // Counts the parts in [first, last), which have the same coordinates on the splitting axes before
  // axis i.
  void add(std::ptrdiff_t i, int first, int last) {
    if (last <= first_ || last_ <= first)
      return;
    if (i == chosenAxes_)
      // No further coordinate is fixed, so every part of the range counts.
      return addAll(std::max(first, first_), std::min(last, last_));
    const int axis = layout_.splitAxes(dim_)[i], extent = layout_.grid().extent(axis);
    const int stride = (last - first) / extent, fixed = coordinates_[axis];
    if (fixed != kAnyCoordinate)
      return add(i + 1, first + fixed * stride, first + (fixed + 1) * stride);
    for (int c = 0; c < extent; ++c)
      add(i + 1, first + c * stride, first + (c + 1) * stride);
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
  std::ptrdiff_t chosenAxes_ = 0; // Number of axes up to the last with a fixed coordinate.
  int first_ = 0, last_ = 0;      // The parts that share elements with the run.
  Traffic sum_;
};

// Removes one message with that many elements from the traffic, or adds one.
void subtract(Traffic& traffic, Index elements) {
  --traffic.messages;
  traffic.elements -= elements;
}

void addMessage(Traffic& traffic, Index elements) {
  ++traffic.messages;
  traffic.elements += elements;
}

Index scaled(Index elements, Index factor) {
  return checkedProduct(elements, factor, "elements that a rank sends");
}

} // namespace

FlowCount::FlowCount(const Layout& from, const Layout& to, int rank, Role role,
                     AxisMask sameCoordinate)
    : layout_(role == Role::Source ? from : to), peerLayout_(role == Role::Source ? to : from),
      role_(role), rank_(rank), position_(layout_.grid().position(rank)),
      coordinates_(peerCoordinates(layout_, position_, peerLayout_, role)) {
  fixPeersAlong(sameCoordinate);
  if (!coordinates_)
    return;
  if (layout_.hasHalos() || peerLayout_.hasHalos())
    ownRuns_.resize(layout_.ndim());
  for (int d = 0; d < layout_.ndim(); ++d) {
    const int part = layout_.part(position_, d);
    if (hasHalo(d))
      ownRuns_[d] = partSegments(layout_, d, part, role);
    else
      owned_[d] = layout_.owned(d, part);
  }
}

// Restricts the peers to those with this rank's coordinates on these axes. There are none if peers
// must have another coordinate on one of them.
void FlowCount::fixPeersAlong(AxisMask axes) {
  for (int axis = 0; axes != 0 && coordinates_; ++axis, axes >>= 1) {
    if ((axes & 1) == 0)
      continue;
    const int own = layout_.grid().coordinate(position_, axis);
    int& fixed = (*coordinates_)[axis];
    if (fixed != kAnyCoordinate && fixed != own)
      coordinates_.reset();
    else
      fixed = own;
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
  // Initially all traffic is assigned to the outermost level. Then only the traffic inside the
  // rank's outermost unit is counted rank by rank, and reassigned to the level that it crosses.
  Traffic& outermost = flow.others.front();
  outermost = sum.others;
  if (outermost.messages > 0 && !unitRanks.empty())
    for (int other : ranksOfUnit(unitRanks.front()))
      if (const Index elements =
              other == rank_ ? 0 : sharedWithPosition(peerLayout_.grid().position(other))) {
        subtract(outermost, elements);
        addMessage(flow.others[levelBetween(rank_, other, unitRanks)], elements);
      }
  return flow;
}

std::vector<std::pair<Index, Index>> FlowCount::partsBeside(int dim, const Interval& run) const {
  std::vector<Segment> own;
  if (hasHalo(dim))
    own = ownRuns_[dim];
  else if (const Interval range = dim == kChannelDim ? intersect(owned_[dim], run) : owned_[dim];
           !range.empty())
    own = {{.local = 0, .global = range.begin, .length = range.size(), .step = 1}};
  std::vector<std::pair<Index, Index>> parts;
  for (int part : partsNear(own, peerLayout_, dim, otherRole(role_)))
    if (liesOn(peerLayout_, dim, part, *coordinates_))
      if (const Index shared =
              sharedElements(own, partSegments(peerLayout_, dim, part, otherRole(role_))))
        parts.emplace_back(part - peerLayout_.part(position_, dim), shared);
  return parts;
}

AlongDim FlowCount::along(int dim) const {
  return {partsAlong(dim), sharedInDim(dim, peerLayout_.part(position_, dim))};
}

Traffic FlowCount::all() const {
  if (!coordinates_)
    return {};
  Traffic product{1, 1};
  for (int d = 0; d < layout_.ndim(); ++d) {
    const Traffic parts = partsAlong(d);
    if (parts.messages == 0)
      return {};
    product.messages *= parts.messages;
    product.elements = scaled(product.elements, parts.elements);
  }
  // On an axis that splits nothing, and whose coordinate is not fixed, the ranks at all coordinates
  // are peers with the same elements.
  for (int axis = 0; axis < peerLayout_.grid().axes(); ++axis)
    if ((*coordinates_)[axis] == kAnyCoordinate && !peerLayout_.property(axis).isShard()) {
      product.messages *= peerLayout_.grid().extent(axis);
      product.elements = scaled(product.elements, peerLayout_.grid().extent(axis));
    }
  return product;
}

// The parts of one dimension that share elements with the rank, and the number of elements.
Traffic FlowCount::partsAlong(int dim) const {
  if (!hasHalo(dim))
    return PartCount(peerLayout_, dim, owned_[dim], *coordinates_).count();
  // A halo whose box is one run is counted like an interval if the peers have no halo.
  if (!peerLayout_.halo(dim) && ownRuns_[dim].size() == 1)
    return PartCount(peerLayout_, dim, globalRange(ownRuns_[dim].front()), *coordinates_).count();
  Traffic sum;
  for (int part : partsNear(ownRuns_[dim], peerLayout_, dim, otherRole(role_)))
    if (liesOn(peerLayout_, dim, part, *coordinates_))
      if (const Index elements = sharedInHalo(dim, part))
        addMessage(sum, elements);
  return sum;
}

// Number of elements that the rank's runs share with a part of the peers' layout, in a dimension
// with a halo; sharedInDim() is for any dimension.
Index FlowCount::sharedInHalo(int dim, int part) const {
  return sharedElements(ownRuns_[dim], partSegments(peerLayout_, dim, part, otherRole(role_)));
}

// Number of elements shared with one position of the other layout.
Index FlowCount::sharedWithPosition(int other) const {
  if (!peerLayout_.isHolder(other))
    return 0;
  for (int axis = 0; axis < peerLayout_.grid().axes(); ++axis) {
    const int fixed = (*coordinates_)[axis];
    if (fixed != kAnyCoordinate && fixed != peerLayout_.grid().coordinate(other, axis))
      return 0;
  }
  Index elements = 1;
  for (int d = 0; d < layout_.ndim() && elements > 0; ++d)
    elements *= sharedInDim(d, peerLayout_.part(other, d));
  return elements;
}

Index FlowCount::sharedInDim(int dim, int part) const {
  return hasHalo(dim) ? sharedInHalo(dim, part)
                      : intersect(owned_[dim], peerLayout_.owned(dim, part)).size();
}

// The ranks of the other layout in the rank's unit of `size` ranks. If the unit is larger than the
// grid, the grid's ranks are searched instead: the unit can contain any number of ranks outside the
// grid.
std::vector<int> FlowCount::ranksOfUnit(Index size) const {
  const Grid& grid = peerLayout_.grid();
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
  const auto isApart = [&](Index size) { return other / size != rank / size; };
  return std::ranges::find_if(unitRanks, isApart) - unitRanks.begin();
}

} // namespace tenon
