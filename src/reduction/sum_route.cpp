// SPDX-License-Identifier: BSD-2-Clause
// Enumerates the routes of a conversion that sums over grid axes and also redistributes, with the
// sums as steps of their own, and selects the cheapest. For P,S0 -> B,S1 (the sum over the first
// axis of the process grid, and another split along the second), the routes are
//
//     P,S0 -> B,S0 -> B,S1                   sum first, at the layout of the source
//     P,S0 -> P,S1 -> B,S1                   sum last, at the layout of the target
//     P,S0 -> S0,S0 -> S0,S1 -> B,S1         each rank gets a share of the sum, redistributes it,
//                                            and the shares are gathered last (or shares S1)
//
// What remains after a sum is separated is again a conversion, which can contain another sum, so
// routes are found recursively.
#include "reduction/sum_route.hpp"

#include <algorithm>
#include <ranges>

namespace tenon {

namespace {

using Path = std::vector<Layout>; // a route: the layouts between source and target
// Number of sums that are separated at most: each further one multiplies the number of routes.
constexpr int kMaxSums = 2;

// Returns the axes that are P in `from` and have property `after` in `to`, in the order in which
// they split its dimension.
std::vector<int> axesSummedInto(const Layout& from, const Layout& to, Property after) {
  std::vector<int> axes;
  const auto add = [&](int axis) {
    if (from.property(axis).isPartial() && to.property(axis) == after &&
        !from.grid().isTrivial(axis))
      axes.push_back(axis);
  };
  if (after.isShard())
    std::ranges::for_each(to.splitAxes(after.dim), add);
  else
    std::ranges::for_each(std::views::iota(0, from.grid().axes()), add);
  return axes;
}

// Returns the layout with this property on all of these axes, or nothing if that is not possible
// (withProperty()).
std::optional<Layout> withAll(Layout layout, const std::vector<int>& axes, Property property,
                              const Layout* goal) {
  for (int axis : axes) {
    std::optional<Layout> next = withProperty(layout, axis, property, goal);
    if (!next)
      return std::nullopt;
    layout = std::move(*next);
  }
  return layout;
}

// One sum separated from the rest of the conversion: the layout between the two, and whether the
// sum is the first of them.
struct Separation {
  Layout between;
  bool sumsFirst;
};

// Adds all possibilities to separate one sum from the rest, at either end of the route. Axes are
// summed together if they have the same property in the target.
void addSeparations(const Layout& from, const Layout& to, std::vector<Separation>& separations) {
  std::vector<Property> targets;
  for (int axis = 0; axis < from.grid().axes(); ++axis)
    if (from.property(axis).isPartial() && !to.property(axis).isPartial() &&
        std::ranges::find(targets, to.property(axis)) == targets.end())
      targets.push_back(to.property(axis));
  for (const Property& after : targets) {
    std::vector<int> axes = axesSummedInto(from, to, after);
    if (axes.empty())
      continue;
    if (!from.hasHalos())
      if (auto summed = withAll(from, axes, after, &to); summed && sumBetween(from, *summed))
        separations.push_back({.between = std::move(*summed), .sumsFirst = true});
    // Backwards from the target, an axis can leave its dimension only if it is the minor one, so
    // the last axis is changed first.
    std::ranges::reverse(axes);
    if (!to.hasHalos())
      if (auto contributions = withAll(to, axes, Property::partial(), nullptr);
          contributions && sumBetween(*contributions, to))
        separations.push_back({.between = std::move(*contributions), .sumsFirst = false});
  }
}

// Routes in which each rank of a sum gets a share of it, redistributes the share, and gathers the
// shares last.
std::vector<Path> pathsByShares(const Layout& from, const Layout& to) {
  std::vector<Path> paths;
  const std::vector<int> axes = axesSummedInto(from, to, Property::broadcast());
  for (int d = 0; d < from.ndim() && !axes.empty() && !from.hasHalos() && !to.hasHalos(); ++d) {
    // The axes are P in `from` and B in `to`, so they can always begin to split a dimension.
    const auto first = withAll(from, axes, Property::shard(d), nullptr);
    const auto last = withAll(to, axes, Property::shard(d), nullptr);
    if (!(*first == *last))
      paths.push_back({*first, *last});
  }
  return paths;
}

// Returns the routes with at most maxSums separated sums. Where the adjoint conversion sums, the
// conversion itself copies, and it is separated likewise: these routes are those of the adjoint,
// reversed and dual.
std::vector<Path> pathsBetween(const Layout& from, const Layout& to, int maxSums) {
  std::vector<Path> paths;
  // Nothing can be separated from a conversion that does not sum, or is nothing but one sum.
  if (maxSums == 0 || !(from.grid() == to.grid()) || !mayHaveSums(from, to) || sumBetween(from, to))
    return paths;
  std::vector<Separation> separations, ofAdjoint;
  addSeparations(from, to, separations);
  addSeparations(to.dual(), from.dual(), ofAdjoint);
  for (const Separation& one : ofAdjoint)
    separations.push_back({one.between.dual(), !one.sumsFirst});
  std::vector<Path> byShares = pathsByShares(from, to);
  std::ranges::copy(byShares, std::back_inserter(paths));
  const auto add = [&](Path path) {
    if (std::ranges::find(paths, path) == paths.end())
      paths.push_back(std::move(path));
  };
  for (const auto& [between, sumsFirst] : separations) {
    // In this case one of the two parts is empty, and nothing has been separated.
    if (between == from || between == to)
      continue;
    add({between});
    std::vector<Path> rest = sumsFirst ? pathsBetween(between, to, maxSums - 1)
                                       : pathsBetween(from, between, maxSums - 1);
    for (Path& path : rest) {
      path.insert(sumsFirst ? path.begin() : path.end(), between);
      add(std::move(path));
    }
  }
  return paths;
}

} // namespace

// Whether an axis ceases to be P or becomes B; no layouts are created.
bool mayHaveSums(const Layout& from, const Layout& to) {
  if (!(from.grid() == to.grid()))
    return true;
  for (int axis = 0; axis < from.grid().axes(); ++axis)
    if (!(from.property(axis) == to.property(axis)) && !from.grid().isTrivial(axis) &&
        (from.property(axis).isPartial() || to.property(axis).isBroadcast()))
      return true;
  return false;
}

std::vector<std::vector<Layout>> pathsWithSeparateSums(const Layout& from, const Layout& to) {
  return pathsBetween(from, to, kMaxSums);
}

SumRoute cheapestSumRoute(const Layout& from, const Layout& to, Index elementBytes,
                          SumPrices& prices, const PriceOfMove& move) {
  // Returns the route through these layouts, with the price of each step.
  const auto along = [&](const Path& stops) {
    SumRoute route;
    const Layout* current = &from;
    const auto append = [&](const Layout& next) {
      const double moved = move(*current, next);
      const double seconds =
          std::min(moved, prices.seconds(*current, next, elementBytes).value_or(moved));
      route.steps.push_back({.from = *current, .to = next, .collective = {}, .seconds = seconds});
      route.seconds += seconds;
      current = &next;
    };
    std::ranges::for_each(stops, append);
    append(to);
    return route;
  };
  // Without levels all links are equal, and the direct exchange overloads none of them.
  SumRoute best = along({});
  if (prices.haveLevels())
    for (const Path& path : pathsWithSeparateSums(from, to))
      if (SumRoute route = along(path); route.seconds < best.seconds)
        best = std::move(route);
  return best;
}

} // namespace tenon
