// SPDX-License-Identifier: BSD-2-Clause
#include "machine/route_search.hpp"

#include "geometry/axis_change.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tenon {

namespace {

constexpr int kMostNodes = 96;
constexpr double kUnknown = std::numeric_limits<double>::infinity();
// The rates are rough, so what is simpler is kept unless it is clearly dearer: one exchange rather
// than a path, and messages of our own rather than a collective whose inside MPI chooses.
constexpr double kGain = 0.8;
constexpr double kHandicap = 1.25;

Index largestPart(const Layout& layout) {
  Index cells = 1;
  for (int d = 0; d < layout.rank(); ++d) {
    Index most = 0;
    for (int part = 0; part < layout.parts(d); ++part)
      most = std::max(most, layout.owned(d, part).size());
    cells *= most;
  }
  return cells;
}

} // namespace

RouteSearch::RouteSearch(const Layout& from, const Layout& to, Index cellBytes,
                         const RoutePolicy& policy)
    : cellBytes_(cellBytes), policy_(policy) {
  double direct = 0;
  RouteStep step = directStep(from, to, &direct);
  nodes_.push_back({from, 0, 0, -1, std::nullopt});
  nodes_.push_back(
      {to, policy.mode == RouteMode::Auto ? kGain * direct : kUnknown, 1, kStart, std::move(step)});
}

Route RouteSearch::run() {
  for (int expanded = 0; expanded < kMostNodes; ++expanded) {
    const int node = nearest();
    if (node < 0 || node == kGoal)
      break;
    nodes_[node].done = true;
    expand(node);
  }
  return pathToGoal();
}

int RouteSearch::nearest() const {
  int best = -1;
  const auto rankOf = [&](int i) { return std::tuple(nodes_[i].cost, nodes_[i].steps, i); };
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i)
    if (!nodes_[i].done && nodes_[i].cost < kUnknown && (best < 0 || rankOf(i) < rankOf(best)))
      best = i;
  return best;
}

void RouteSearch::expand(int node) {
  const Layout here = nodes_[node].layout, goal = nodes_[kGoal].layout;
  if (policy_.mode != RouteMode::Chain || node != kStart)
    relax(node, goal);
  for (const Layout& next : changesOf(here))
    if (!(next == goal))
      relax(node, next);
  if (node == kStart && !(here.mesh() == goal.mesh()))
    for (const Layout& last : changesOf(goal))
      relax(node, last);
}

void RouteSearch::relax(int node, const Layout& to) {
  double cost = 0;
  std::optional<RouteStep> step = edge(nodes_[node].layout, to, &cost);
  cost += nodes_[node].cost;
  const int steps = nodes_[node].steps + 1;
  if (!step || cost >= nodes_[kGoal].cost)
    return;
  const auto known = std::find_if(nodes_.begin(), nodes_.end(),
                                  [&](const Node& other) { return other.layout == to; });
  if (known == nodes_.end()) {
    nodes_.push_back({to, cost, steps, node, std::move(step)});
  } else if (!known->done && std::tie(cost, steps) < std::tie(known->cost, known->steps)) {
    known->cost = cost;
    known->steps = steps;
    known->parent = node;
    known->step = std::move(step);
  }
}

RouteStep RouteSearch::directStep(const Layout& from, const Layout& to, double* cost) const {
  const ExchangePrice price = priceOfExchange(from, to, cellBytes_, policy_.rates);
  const bool refused = policy_.mode == RouteMode::Collective && !price.local;
  *cost = refused ? kUnknown : price.seconds;
  return {.from = from, .to = to, .collective = {}, .seconds = price.seconds};
}

std::optional<RouteStep> RouteSearch::collectiveStep(const Layout& from, const Layout& to,
                                                     double* cost) const {
  const std::optional<int> axis = changedAxis(from, to);
  if (!axis)
    return std::nullopt;
  const auto kind = collectiveBetween(from, to, *axis);
  const Index cells = std::max(largestPart(from), largestPart(to));
  const int ranks = from.mesh().extent(*axis);
  if (!kind || ranks == 1 || cells > std::numeric_limits<int>::max()) // MPI counts in int
    return std::nullopt;
  const Index bytes = cells * cellBytes_;
  const double price = priceOfCollective(*kind, ranks, bytes, policy_.rates);
  *cost = policy_.mode == RouteMode::Collective ? price : kHandicap * price;
  const bool sums = kind == CollectiveKind::Reduce || kind == CollectiveKind::AllReduce;
  return RouteStep{.from = from,
                   .to = to,
                   .collective = kind,
                   .axes = {*axis},
                   .tree = sums && sumsByTree(*kind, ranks, bytes, policy_.rates),
                   .seconds = price};
}

std::optional<RouteStep> RouteSearch::edge(const Layout& from, const Layout& to,
                                           double* cost) const {
  RouteStep exchange = directStep(from, to, cost);
  double other = kUnknown;
  std::optional<RouteStep> collective = collectiveStep(from, to, &other);
  if (collective && other < *cost) {
    *cost = other;
    return collective;
  }
  return *cost < kUnknown ? std::optional(std::move(exchange)) : std::nullopt;
}

std::vector<Layout> RouteSearch::changesOf(const Layout& layout) const {
  const Layout& goal = nodes_[kGoal].layout;
  std::vector<Layout> changes;
  for (int axis = 0; axis < layout.mesh().axes(); ++axis)
    for (Property property : choices(layout, axis))
      if (auto next =
              withProperty(layout, axis, property, layout.mesh() == goal.mesh() ? &goal : nullptr))
        changes.push_back(std::move(*next));
  return changes;
}

std::vector<Property> RouteSearch::choices(const Layout& layout, int axis) const {
  std::vector<Property> list;
  if (layout.mesh().extent(axis) == 1)
    return list;
  for (int d = 0; d < layout.rank(); ++d)
    if (layout.shape()[d] > 1)
      list.push_back(Property::shard(d));
  list.push_back(Property::broadcast());
  for (int end : {kStart, kGoal})
    if (nodes_[end].layout.mesh() == layout.mesh())
      list.push_back(nodes_[end].layout.property(axis));
  std::erase(list, layout.property(axis));
  return list;
}

Route RouteSearch::pathToGoal() const {
  Route route;
  for (int node = kGoal; node != kStart; node = nodes_[node].parent)
    if (const std::optional<RouteStep>& step = nodes_[node].step)
      route.insert(route.begin(), *step);
  return route;
}

} // namespace tenon
