// SPDX-License-Identifier: BSD-2-Clause
// A* with lazy prices (route_search.hpp). An edge can be taken from the queue twice: first with a
// lower bound, after which it is priced and queued again, and then with its price. Ties are broken
// by the number of steps and by the order in which edges were created, so all ranks find the same
// route.
#include "machine/route_search.hpp"

#include "geometry/schedule/axis_change.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tenon {

namespace {

// Returns the number of ranks in either grid.
int ranksOn(const Grid& some, const Grid& others) {
  const auto isNew = [&](int rank) { return some.position(rank) < 0; };
  return some.size() +
         (some == others ? 0 : static_cast<int>(std::ranges::count_if(others.ranks(), isNew)));
}

} // namespace

LeastPrice::LeastPrice(const Layout& from, const Layout& to, Index elementBytes,
                       const LinkRates& rates)
    : latency_(rates.latency), bandwidth_(rates.bandwidth), copyBandwidth_(rates.copyBandwidth) {
  for (const LevelRates& level : rates.levels) {
    latency_ = std::min(latency_, level.latency);
    bandwidth_ = std::max(bandwidth_, level.bandwidth);
  }
  latency_ += rates.overhead;
  bytes_ = static_cast<double>(elements(from.shape())) * static_cast<double>(elementBytes) /
           ranksOn(from.grid(), to.grid());
}

LeastPrice::Spread LeastPrice::spreadOf(const Layout& layout) {
  return spreadOf(layout, -1, {});
}

LeastPrice::Spread LeastPrice::spreadOf(const Layout& layout, int axis, Property property) {
  Spread spread;
  for (int a = 0; a < layout.grid().axes(); ++a) {
    const Property current = a == axis ? property : layout.property(a);
    const double extent = layout.grid().extent(a);
    if (current.isPartial())
      spread.contributions *= extent;
    if (current.isBroadcast())
      spread.copies *= extent;
  }
  spread.held = spread.contributions * spread.copies;
  return spread;
}

double LeastPrice::seconds(const Spread& from, const Spread& to) const {
  // Data received per rank: the copies that the target needs, less the data that is there. If
  // contributions are summed, no rank has an element of the result; if copies are made, each
  // contribution is sent. All numbers count whole tensors.
  const bool sums = from.contributions > 1 && to.contributions == 1;
  const bool repeats = to.copies > 1 && from.copies == 1;
  const double received = to.copies - (sums ? 0 : from.held);
  const double sent = from.contributions - (repeats ? 0 : to.held);
  const double moved = std::max({received, sent, 0.0});
  const double copied = moved + std::max(moved, to.held);
  const double bound = bytes_ * (moved / bandwidth_ + copied / copyBandwidth_);
  return moved > 0 && bytes_ > 0 ? std::max(bound, latency_) : bound;
}

namespace {

// Bound on the work of a search.
constexpr int kMaxNodes = 96;
constexpr double kUnknown = std::numeric_limits<double>::infinity(); // cost before any path
constexpr double kClearly = 1 + 1e-9; // exceeds the rounding of sums of prices

} // namespace

RouteSearch::RouteSearch(const Layout& from, const Layout& to, Index elementBytes,
                         const RoutePolicy& policy)
    : elementBytes_(elementBytes), policy_(policy), least_(from, to, elementBytes, policy.rates) {
  const double direct =
      priceOfExchange(from, to, elementBytes, policy.rates, Sampling::Sampled).seconds;
  // At first the goal is reached by the direct exchange. In mode Auto another path must cost less
  // than kRouteGain times as much; in other modes any path replaces it.
  nodes_.push_back({.layout = from, .leastToGoal = 0, .cost = 0});
  nodes_.push_back(
      {.layout = to,
       .leastToGoal = 0,
       .cost = policy.mode == RouteMode::Auto ? kRouteGain * direct : kUnknown,
       .steps = 1,
       .parent = kStart,
       .step = RouteStep{.from = from, .to = to, .collective = {}, .seconds = direct}});
}

Route RouteSearch::run() {
  expand(kStart);
  for (int expanded = 1; expanded < kMaxNodes && !queue_.empty();) {
    Edge edge = pop();
    // Since the edge was queued, a better path to the goal or to the edge's end may have been
    // found.
    if (isHopeless(leastOf(edge)) || !isBetter(edge))
      continue;
    if (!edge.exact) {
      makeExact(edge);
      push(std::move(edge));
      continue;
    }
    relax(edge);
    expand(edge.to);
    ++expanded;
  }
  return pathToGoal();
}

// Edges: directly to the goal, and to layouts one change away from the node; from the start also to
// those one change before the goal, on the other grid.
void RouteSearch::expand(int node) {
  const Layout current = nodes_[node].layout, goal = nodes_[kGoal].layout;
  if (policy_.mode != RouteMode::Chain || node != kStart)
    addEdge(node, goal);
  addChanges(node, current);
  if (node != kStart)
    return;
  addShares();
  if (!(current.grid() == goal.grid()))
    addChanges(node, goal);
}

// Adds edges from the start of a sum over several axes to layouts with shares on all of its ranks,
// such as P,P -> S0,S0 for the sum P,P -> B,B. Changes of one axis lead there only in two steps,
// through S0,P.
void RouteSearch::addShares() {
  const Layout current = nodes_[kStart].layout, goal = nodes_[kGoal].layout;
  const std::vector<int> axes = changedAxes(current, goal);
  if (axes.size() < 2 || !current.property(axes.front()).isPartial() ||
      !goal.property(axes.front()).isBroadcast())
    return;
  for (int d = 0; d < current.ndim(); ++d) {
    if (current.shape()[d] == 1)
      continue;
    Layout shares = current;
    for (int axis : axes)
      // An axis with P can be split over any dimension.
      shares = *withProperty(shares, axis, Property::shard(d));
    addEdge(kStart, shares);
  }
}

// Adds edges to layouts that differ from `changed` on one axis.
void RouteSearch::addChanges(int node, const Layout& changed) {
  const Layout current = nodes_[node].layout, goal = nodes_[kGoal].layout;
  const auto start = LeastPrice::spreadOf(current), end = LeastPrice::spreadOf(goal);
  const Layout* cutAs = changed.grid() == goal.grid() ? &goal : nullptr;
  for (int axis = 0; axis < changed.grid().axes(); ++axis)
    for (Property property : choices(changed, axis)) {
      const auto between = LeastPrice::spreadOf(changed, axis, property);
      const double leastCost = least_.seconds(start, between) + least_.seconds(between, end);
      if (isHopeless(nodes_[node].cost + leastCost))
        continue;
      const auto next = withProperty(changed, axis, property, cutAs);
      if (next && !(*next == goal))
        addEdge(node, *next);
    }
}

void RouteSearch::addEdge(int from, const Layout& to) {
  const Layout source = nodes_[from].layout;
  Edge edge{.from = from,
            .to = nodeOf(to),
            .steps = nodes_[from].steps + 1,
            .order = edges_++,
            .costBefore = nodes_[from].cost,
            .exchange = exchangeCost(source, to, Sampling::First, kUnknown),
            .collective =
                priceAsCollective(source, to, elementBytes_, policy_.rates, Sampling::Sampled)};
  // A step changes one axis; changes of several axes at once are found where they have been merged.
  if (edge.collective && edge.collective->axes.size() > 1)
    edge.collective.reset();
  edge.exact = edge.collective && costOf(*edge.collective) < edge.exchange;
  if (isHopeless(leastOf(edge)) || !isBetter(edge))
    return;
  if (edge.to != kGoal)
    return push(std::move(edge));
  makeExact(edge); // gives an early bound on the best path
  if (isBetter(edge))
    relax(edge);
}

bool RouteSearch::isBetter(const Edge& edge) const {
  const Node& node = nodes_[edge.to];
  return std::tuple(costOf(edge), edge.steps) < std::tuple(node.cost, node.steps);
}

// Computes the price as far as it matters: it stops once the edge cannot improve any path.
void RouteSearch::makeExact(Edge& edge) const {
  if (edge.exact)
    return;
  const Node &from = nodes_[edge.from], &to = nodes_[edge.to];
  const double useless = std::min(nodes_[kGoal].cost - to.leastToGoal, to.cost) - edge.costBefore;
  edge.exchange = exchangeCost(from.layout, to.layout, Sampling::Sampled, kClearly * useless);
  edge.exact = true;
}

// Stores the edge as the last step of the best known path to the edge's end.
void RouteSearch::relax(const Edge& edge) {
  Node& node = nodes_[edge.to];
  node.cost = costOf(edge);
  node.steps = edge.steps;
  node.parent = edge.from;
  node.step = stepOf(edge);
}

// In the mode `collective`, an exchange with messages is not allowed.
double RouteSearch::exchangeCost(const Layout& from, const Layout& to, Sampling sampling,
                                 double enough) const {
  const ExchangePrice price =
      priceOfExchange(from, to, elementBytes_, policy_.rates, sampling, enough);
  return policy_.mode == RouteMode::Collective && !price.local ? kUnknown : price.seconds;
}

double RouteSearch::costOf(const CollectivePrice& collective) const {
  return policy_.mode == RouteMode::Collective ? collective.seconds
                                               : kCollectiveHandicap * collective.seconds;
}

double RouteSearch::costOf(const Edge& edge) const {
  const double collectiveCost = edge.collective ? costOf(*edge.collective) : kUnknown;
  return edge.costBefore + std::min(edge.exchange, collectiveCost);
}

bool RouteSearch::comesAfter(const Edge& first, const Edge& second) const {
  return std::tuple(guessOf(first), first.steps, first.order) >
         std::tuple(guessOf(second), second.steps, second.order);
}

void RouteSearch::push(Edge edge) {
  queue_.push_back(std::move(edge));
  std::ranges::push_heap(queue_, [this](const Edge& a, const Edge& b) { return comesAfter(a, b); });
}

RouteSearch::Edge RouteSearch::pop() {
  std::ranges::pop_heap(queue_, [this](const Edge& a, const Edge& b) { return comesAfter(a, b); });
  Edge edge = std::move(queue_.back());
  queue_.pop_back();
  return edge;
}

RouteStep RouteSearch::stepOf(const Edge& edge) const {
  RouteStep step{.from = nodes_[edge.from].layout, .to = nodes_[edge.to].layout, .collective = {}};
  step.seconds = edge.exchange;
  if (edge.collective && costOf(*edge.collective) < edge.exchange) {
    step.collective = edge.collective->kind;
    step.axes = edge.collective->axes;
    step.tree = edge.collective->tree;
    step.seconds = edge.collective->seconds;
  }
  return step;
}

// Layouts are compared with all nodes, of which there are few.
int RouteSearch::nodeOf(const Layout& layout) {
  const auto existing = std::ranges::find_if(nodes_, [&](const Node& node) {
    return node.layout == layout && node.layout.grid() == layout.grid();
  });
  if (existing != nodes_.end())
    return static_cast<int>(existing - nodes_.begin());
  const auto spread = LeastPrice::spreadOf(layout);
  nodes_.push_back(
      {.layout = layout,
       .leastToGoal = least_.seconds(spread, LeastPrice::spreadOf(nodes_[kGoal].layout)),
       .cost = kUnknown});
  return static_cast<int>(nodes_.size()) - 1;
}

// All shardings of dimensions with more than one index, B, and the properties of both ends.
std::vector<Property> RouteSearch::choices(const Layout& layout, int axis) const {
  std::vector<Property> list;
  if (layout.grid().extent(axis) == 1)
    return list;
  for (int d = 0; d < layout.ndim(); ++d)
    if (layout.shape()[d] > 1)
      list.push_back(Property::shard(d));
  list.push_back(Property::broadcast());
  for (int end : {kStart, kGoal})
    if (nodes_[end].layout.grid() == layout.grid())
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
