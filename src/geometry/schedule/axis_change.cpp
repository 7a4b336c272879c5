// SPDX-License-Identifier: BSD-2-Clause
// Changes the property of one grid axis, finds the axes that a conversion changes, recognises
// conversions that only sum or gather (sumBetween()), and merges axes that a conversion treats
// alike. A change of an axis changes lists of integers only: the pieces along a dimension's minor
// axis are consecutive in its cuts, so they are joined by deleting cuts and divided by inserting
// cuts, and other axes are not affected.
#include "geometry/schedule/axis_change.hpp"

#include "geometry/layout/cuts.hpp"

#include <algorithm>
#include <ranges>

namespace tenon {

namespace {

// The cuts of a dimension in `destination` along the first `axes` of its splitting axes.
std::vector<Index> destinationCuts(const Layout& destination, int dim, std::size_t axes) {
  std::vector<Index> cuts = destination.cuts(dim);
  const std::vector<int>& order = destination.splitAxes(dim);
  for (std::size_t i = order.size(); i > axes; --i)
    cuts = joinedCuts(cuts, destination.grid().extent(order[i - 1]));
  return cuts;
}

// Makes an axis the minor axis of a dimension, and divides its parts.
void enterDimension(LayoutSpec& spec, int axis, int dim, const Layout* destination) {
  std::vector<int>& order = spec.splitAxes[dim];
  order.push_back(axis);
  const std::vector<Index> coarse = spec.cuts[dim];
  const int pieces = spec.grid->extent(axis);
  spec.cuts[dim] = dividedCuts(coarse, pieces);
  // The cuts of `destination` are used if they divide the present parts: the last step of a path
  // then ends at the destination itself, not at a balanced layout.
  if (!destination || order.size() > destination->splitAxes(dim).size() ||
      !std::equal(order.begin(), order.end(), destination->splitAxes(dim).begin()))
    return;
  const std::vector<Index> newCuts = destinationCuts(*destination, dim, order.size());
  if (joinedCuts(newCuts, pieces) == coarse)
    spec.cuts[dim] = newCuts;
}

// True if the dimension in `fine` is that in `coarse` divided further, by axes that do not split it
// in `coarse`.
bool dividesFurther(const Layout& fine, const Layout& coarse, int dim) {
  const std::vector<int>& order = fine.splitAxes(dim);
  const std::vector<int>& outer = coarse.splitAxes(dim);
  if (order.size() < outer.size() || !std::equal(outer.begin(), outer.end(), order.begin()))
    return false;
  const int pieces = fine.parts(dim) / coarse.parts(dim);
  for (int part = 0; part < coarse.parts(dim); ++part)
    if (fine.cuts(dim)[part * pieces] != coarse.cuts(dim)[part])
      return false;
  return true;
}

// The last `count` axes that split a dimension.
std::vector<int> minorAxes(const Layout& layout, int dim, std::size_t count) {
  const std::vector<int>& order = layout.splitAxes(dim);
  return {order.end() - static_cast<std::ptrdiff_t>(count), order.end()};
}

// True if a dimension differs between the layouts only by a change of this axis: it is divided
// further by the axis in the layout in which the axis splits it, and is otherwise the same.
bool differsOnlyBy(const Layout& from, const Layout& to, int dim, int axis) {
  if (from.property(axis) == Property::shard(dim))
    return dividesFurther(from, to, dim);
  if (to.property(axis) == Property::shard(dim))
    return dividesFurther(to, from, dim);
  return from.splitAxes(dim) == to.splitAxes(dim) && from.cuts(dim) == to.cuts(dim);
}

} // namespace

std::vector<Index> joinedCuts(const std::vector<Index>& fine, int extent) {
  std::vector<Index> coarse;
  for (std::size_t i = 0; i < fine.size(); i += extent)
    coarse.push_back(fine[i]);
  return coarse;
}

std::vector<Index> dividedCuts(const std::vector<Index>& coarse, int pieces) {
  std::vector<Index> fine = {0};
  for (std::size_t part = 0; part + 1 < coarse.size(); ++part) {
    const auto cuts = balancedCuts(coarse[part + 1] - coarse[part], pieces);
    for (std::size_t i = 1; i < cuts.size(); ++i)
      fine.push_back(coarse[part] + cuts[i]);
  }
  return fine;
}

std::optional<Layout> withProperty(const Layout& layout, int axis, Property property,
                                   const Layout* destination) {
  LayoutSpec spec = layout.spec();
  const Property oldProperty = layout.property(axis);
  // An axis of one process splits nothing, so neither split orders nor cuts change.
  if (spec.grid->isTrivial(axis)) {
    spec.properties[axis] = property;
    return Layout(std::move(spec));
  }
  if (oldProperty.isShard()) {
    std::vector<int>& order = spec.splitAxes[oldProperty.dim];
    // Pieces along an axis that another axis divides further are not consecutive, and cannot be
    // joined.
    if (order.back() != axis)
      return std::nullopt;
    order.pop_back();
    spec.cuts[oldProperty.dim] = joinedCuts(spec.cuts[oldProperty.dim], spec.grid->extent(axis));
  }
  if (property.isShard())
    enterDimension(spec, axis, property.dim, destination);
  spec.properties[axis] = property;
  return Layout(std::move(spec));
}

std::vector<int> changedAxes(const Layout& from, const Layout& to) {
  if (!(from.grid() == to.grid()) || from.shape() != to.shape() || from.hasHalos() || to.hasHalos())
    return {};
  const auto changes = [&](int axis) {
    return !from.grid().isTrivial(axis) && !(from.property(axis) == to.property(axis));
  };
  const auto axisRange = std::views::iota(0, from.grid().axes());
  const auto first = std::ranges::find_if(axisRange, changes);
  if (first == axisRange.end())
    return {};
  // All other axes that change must change like the first one.
  const int firstChanged = *first;
  const auto differs = [&](int axis) {
    return changes(axis) && !(from.property(axis) == from.property(firstChanged) &&
                              to.property(axis) == to.property(firstChanged));
  };
  if (std::ranges::any_of(axisRange, differs))
    return {};
  // In each dimension nothing else may change: it is only joined or divided by these axes.
  for (int d = 0; d < from.ndim(); ++d)
    if (!differsOnlyBy(from, to, d, firstChanged))
      return {};
  std::vector<int> axes;
  std::ranges::copy_if(axisRange, std::back_inserter(axes), changes);
  const Property before = from.property(firstChanged), after = to.property(firstChanged);
  // In a conversion from S to S the axes act as one axis only if they are in the same order in both
  // dimensions. The result is in this order.
  if (before.isShard() && after.isShard() &&
      minorAxes(from, before.dim, axes.size()) != minorAxes(to, after.dim, axes.size()))
    return {};
  if (before.isShard())
    return minorAxes(from, before.dim, axes.size());
  return after.isShard() ? minorAxes(to, after.dim, axes.size()) : axes;
}

std::vector<Index> pieceCuts(const Layout& split, int position, int dim, int pieces) {
  const int first = split.part(position, dim) / pieces * pieces;
  std::vector<Index> cuts;
  for (int piece = 0; piece <= pieces; ++piece)
    cuts.push_back(split.cuts(dim)[first + piece] - split.cuts(dim)[first]);
  return cuts;
}

namespace {

// The axes that are P in one layout and have the property `after` in the other, if nothing else
// differs.
std::vector<int> summedInto(const Layout& from, const Layout& to, Property after) {
  std::vector<int> axes;
  if (from.hasHalos() || from.grid().axes() != to.grid().axes())
    return axes;
  LayoutSpec spec = from.spec();
  for (int axis = 0; axis < from.grid().axes(); ++axis)
    if (from.property(axis).isPartial() && to.property(axis) == after) {
      axes.push_back(axis);
      spec.properties[axis] = after;
    }
  // With these axes changed, the layouts must be equal, including cuts and split orders: otherwise
  // the conversion does more than sum.
  if (!axes.empty() && !(Layout(std::move(spec)) == to))
    axes.clear();
  return axes;
}

std::optional<SumChange> plainSum(const Layout& from, const Layout& to) {
  if (auto axes = summedInto(from, to, Property::broadcast()); !axes.empty())
    return SumChange{.axes = std::move(axes), .goal = SumGoal::All};
  if (auto axes = summedInto(from, to, Property::root()); !axes.empty())
    return SumChange{.axes = std::move(axes), .goal = SumGoal::First};
  auto axes = changedAxes(from, to);
  if (axes.empty() || !from.property(axes.front()).isPartial() ||
      !to.property(axes.front()).isShard())
    return std::nullopt;
  const int dim = to.property(axes.front()).dim;
  return SumChange{.axes = std::move(axes), .goal = SumGoal::Share, .dim = dim};
}

} // namespace

std::optional<SumChange> sumBetween(const Layout& from, const Layout& to) {
  if (from.grid().axes() != to.grid().axes())
    return std::nullopt;
  // Most conversions neither sum nor gather, which the properties show without making a layout.
  bool sums = false, gathers = false;
  for (int axis = 0; axis < from.grid().axes(); ++axis) {
    const Property before = from.property(axis), after = to.property(axis);
    const bool changes = !(before == after);
    sums = sums || (changes && before.isPartial());
    gathers = gathers || (changes && after.isBroadcast());
  }
  std::optional<SumChange> sum;
  if (sums)
    sum = plainSum(from, to);
  // A gather is the transpose of a sum: S or R -> B is P -> S or R between the duals.
  if (!sum && gathers && (sum = plainSum(to.dual(), from.dual())))
    sum->isTransposed = true;
  return sum;
}

namespace {

// True if b comes directly after a in the order of the dimension that both split, or if they split
// none.
bool isNextSplitAxis(const Layout& layout, int a, int b) {
  if (!layout.property(a).isShard())
    return true;
  const std::vector<int>& order = layout.splitAxes(layout.property(a).dim);
  const auto next = std::find(order.begin(), order.end(), a) + 1;
  return next != order.end() && *next == b;
}

bool areMergeable(const Layout& layout, int a, int b) {
  return layout.property(a) == layout.property(b) && isNextSplitAxis(layout, a, b);
}

using Groups = std::vector<std::vector<int>>; // The axes of each merged axis, slowest first.

// Merges two groups of which one follows the other; returns false if there are none.
bool joinTwo(Groups& groups, const Layout& from, const Layout& to) {
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (std::size_t j = 0; j < groups.size(); ++j) {
      const int last = groups[i].back(), first = groups[j].front();
      if (i == j || !areMergeable(from, last, first) || !areMergeable(to, last, first))
        continue;
      groups[i].insert(groups[i].end(), groups[j].begin(), groups[j].end());
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(j));
      return true;
    }
  return false;
}

// The grid with one axis per group, and every rank at the position of its merged coordinates.
GridPtr gridOf(const Grid& grid, const Groups& groups) {
  std::vector<int> extents, ranks(grid.size());
  for (const std::vector<int>& axes : groups)
    extents.push_back(grid.extentOf(axes));
  for (int position = 0; position < grid.size(); ++position) {
    int newPosition = 0;
    for (std::size_t i = 0; i < groups.size(); ++i)
      newPosition = newPosition * extents[i] + grid.coordinateOn(position, groups[i]);
    ranks[newPosition] = grid.rank(position);
  }
  return Grid::make(std::move(extents), std::move(ranks));
}

} // namespace

AxisMerge::AxisMerge(const Layout& from, const Layout& to) : old_(from.gridPtr()) {
  for (int axis = 0; axis < old_->axes(); ++axis)
    if (!old_->isTrivial(axis))
      groups_.push_back({axis});
  // A group grows only at its ends, so merging two at a time until none match finds all merges.
  while (joinTwo(groups_, from, to)) {
  }
  merged_ = gridOf(*old_, groups_);
}

Layout AxisMerge::merged(const Layout& layout) const {
  LayoutSpec spec = layout.spec();
  spec.grid = merged_;
  spec.properties.clear();
  for (std::vector<int>& order : spec.splitAxes)
    order.clear();
  for (const std::vector<int>& axes : groups_)
    spec.properties.push_back(layout.property(axes.front()));
  for (int d = 0; d < layout.ndim(); ++d)
    for (int axis : layout.splitAxes(d))
      for (std::size_t i = 0; i < groups_.size(); ++i)
        if (groups_[i].front() == axis)
          spec.splitAxes[d].push_back(static_cast<int>(i));
  return Layout(std::move(spec));
}

Layout AxisMerge::unmerged(const Layout& layout) const {
  LayoutSpec spec = layout.spec();
  spec.grid = old_;
  spec.properties.resize(old_->axes());
  for (std::size_t i = 0; i < groups_.size(); ++i)
    for (int axis : groups_[i])
      spec.properties[axis] = layout.property(static_cast<int>(i));
  for (int d = 0; d < layout.ndim(); ++d) {
    spec.splitAxes[d].clear();
    for (int mergedAxis : layout.splitAxes(d))
      spec.splitAxes[d].insert(spec.splitAxes[d].end(), groups_[mergedAxis].begin(),
                               groups_[mergedAxis].end());
  }
  return Layout(std::move(spec));
}

} // namespace tenon
