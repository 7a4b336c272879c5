// SPDX-License-Identifier: BSD-2-Clause
#include "geometry/axis_change.hpp"

#include "geometry/cuts.hpp"

namespace tenon {

namespace {

// How `goal` cuts a dimension along the first `axes` of those that split it.
std::vector<Index> goalCuts(const Layout& goal, int dim, std::size_t axes) {
  std::vector<Index> cuts = goal.cuts(dim);
  const std::vector<int>& order = goal.splitAxes(dim);
  for (std::size_t i = order.size(); i > axes; --i)
    cuts = joinedCuts(cuts, goal.mesh().extent(order[i - 1]));
  return cuts;
}

void enterDimension(LayoutSpec& spec, int axis, int dim, const Layout* goal) {
  std::vector<int>& order = spec.splitAxes[dim];
  order.push_back(axis);
  const std::vector<Index> coarse = spec.cuts[dim];
  const int pieces = spec.mesh->extent(axis);
  spec.cuts[dim] = dividedCuts(coarse, pieces);
  if (!goal || order.size() > goal->splitAxes(dim).size() ||
      !std::equal(order.begin(), order.end(), goal->splitAxes(dim).begin()))
    return;
  const std::vector<Index> wanted = goalCuts(*goal, dim, order.size());
  if (joinedCuts(wanted, pieces) == coarse)
    spec.cuts[dim] = wanted;
}

// Whether the dimension of one layout is that of the other divided further by the axis.
bool dividesFurther(const Layout& fine, const Layout& coarse, int dim, int axis) {
  const std::vector<int>& order = fine.splitAxes(dim);
  return !order.empty() && order.back() == axis &&
         std::equal(order.begin(), order.end() - 1, coarse.splitAxes(dim).begin(),
                    coarse.splitAxes(dim).end()) &&
         joinedCuts(fine.cuts(dim), fine.mesh().extent(axis)) == coarse.cuts(dim);
}

bool dimensionFollows(const Layout& from, const Layout& to, int dim, int axis) {
  const bool leaves = from.property(axis) == Property::shard(dim);
  const bool enters = to.property(axis) == Property::shard(dim);
  if (leaves)
    return dividesFurther(from, to, dim, axis);
  if (enters)
    return dividesFurther(to, from, dim, axis);
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
                                   const Layout* goal) {
  LayoutSpec spec = layout.spec();
  const Property now = layout.property(axis);
  if (now.isShard()) {
    std::vector<int>& order = spec.splitAxes[now.dim];
    if (order.back() != axis)
      return std::nullopt;
    order.pop_back();
    spec.cuts[now.dim] = joinedCuts(spec.cuts[now.dim], spec.mesh->extent(axis));
  }
  if (property.isShard())
    enterDimension(spec, axis, property.dim, goal);
  spec.properties[axis] = property;
  return Layout(std::move(spec));
}

std::optional<int> changedAxis(const Layout& from, const Layout& to) {
  if (!(from.mesh() == to.mesh()) || from.shape() != to.shape() || from.hasMargins() ||
      to.hasMargins())
    return std::nullopt;
  int axis = -1, changes = 0;
  for (int a = 0; a < from.mesh().axes(); ++a)
    if (!(from.property(a) == to.property(a))) {
      axis = a;
      ++changes;
    }
  if (changes != 1)
    return std::nullopt;
  for (int d = 0; d < from.rank(); ++d)
    if (!dimensionFollows(from, to, d, axis))
      return std::nullopt;
  return axis;
}

} // namespace tenon
