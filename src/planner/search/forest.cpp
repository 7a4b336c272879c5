// SPDX-License-Identifier: BSD-2-Clause
// Computes lower bounds of the sums of all plans with a given state of a layer (forest.hpp), along
// a spanning forest of the network's graph. A network with a skip connection from a to c,
//
//   a --- b --- c        edges of the forest: a-b, b-c
//    \_________/         pair that closes a cycle: a-c, counted as min over c of AC(a,c)
//
// A pair that closes a cycle contributes to one of its layers only, with the minimum of each row of
// its table: nothing is counted twice, and the sum can only become smaller. run() sends messages
// from the leaves of each tree to its root and back; a message is, for each state of the layer that
// receives it, the least sum over the layer that sends it and the layers behind that.
#include "planner/search/forest.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tenon {

namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();
// Each change lowers the sum of a plan; the limit ends cycles that rounding can cause.
constexpr int kMaxForestSweeps = 20;

// The root of a layer's tree in a disjoint-set structure; shortens the path to it.
int rootOf(std::vector<int>& parentOf, int layer) {
  while (parentOf[layer] != layer)
    layer = parentOf[layer] = parentOf[parentOf[layer]];
  return layer;
}

std::size_t indexOfLeast(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::ranges::min_element(values) - values.begin());
}

} // namespace

Forest::Forest(const CostTables& tables)
    : tables_(tables), edgesOf_(tables.layers()), pairsOf_(tables.layers()) {
  for (int layer = 0; layer < tables.layers(); ++layer)
    closing_.emplace_back(tables.states(layer), 0.0);
  std::vector<int> parentOf(tables.layers());
  std::iota(parentOf.begin(), parentOf.end(), 0);
  for (std::size_t p = 0; p < tables.pairs.size(); ++p) {
    const PairTable& pair = tables.pairs[p];
    pairsOf_[pair.from].push_back(static_cast<int>(p));
    pairsOf_[pair.to].push_back(static_cast<int>(p));
    const int a = rootOf(parentOf, pair.from), b = rootOf(parentOf, pair.to);
    const auto known = std::ranges::find_if(
        edges_, [&](const Edge& edge) { return edge.from == pair.from && edge.to == pair.to; });
    // The edge of the forest that has this pair's table: a new one if the pair joins two trees, or
    // an existing one between the same layers.
    edgeOf_.push_back(a != b ? static_cast<int>(edges_.size())
                             : static_cast<int>(known - edges_.begin()));
    if (a != b) { // The pair joins two trees: an edge of the forest.
      parentOf[a] = b;
      edgesOf_[pair.from].push_back(static_cast<int>(edges_.size()));
      edgesOf_[pair.to].push_back(static_cast<int>(edges_.size()));
      edges_.push_back({.from = pair.from, .to = pair.to, .joined = {}, .seconds = &pair.seconds});
    } else if (known != edges_.end()) { // The layers are joined by an edge: the tables are added.
      if (known->joined.empty())
        known->joined = *known->seconds;
      std::ranges::transform(known->joined, pair.seconds, known->joined.begin(), std::plus<>());
    } else { // The pair closes a cycle: the minimum of each row is added to the layer `from`.
      edgeOf_.back() = -1;
      const std::size_t columns = tables.states(pair.to);
      for (int state = 0; state < tables.states(pair.from); ++state) {
        const auto row = pair.seconds.begin() + static_cast<std::ptrdiff_t>(state * columns);
        closing_[pair.from][state] +=
            *std::min_element(row, row + static_cast<std::ptrdiff_t>(columns));
      }
    }
  }
  for (Edge& edge : edges_)
    if (!edge.joined.empty())
      edge.seconds = &edge.joined;
  std::vector<int> all(tables.layers());
  std::iota(all.begin(), all.end(), 0);
  visits_ = visitsFrom(std::move(all));
}

// Returns all layers in an order in which each follows the neighbour from which it is reached. A
// root that is reached from another root is skipped.
std::vector<Forest::Visit> Forest::visitsFrom(std::vector<int> roots) const {
  std::vector<Visit> visits;
  std::vector<bool> isReached(tables_.layers(), false);
  std::size_t next = 0;
  for (int root : roots) {
    if (isReached[root])
      continue;
    isReached[root] = true;
    visits.push_back({.layer = root});
    for (; next < visits.size(); ++next)
      for (int number : edgesOf_[visits[next].layer]) {
        const Edge& edge = edges_[number];
        const int layer = visits[next].layer, other = edge.from == layer ? edge.to : edge.from;
        if (isReached[other])
          continue;
        isReached[other] = true;
        visits.push_back({.layer = other, .parent = layer, .edge = number});
      }
  }
  return visits;
}

// For each state of the other layer: the minimum over the source layer's states of value + seconds
// of the edge.
std::vector<double> Forest::across(const Edge& edge, int source,
                                   const std::vector<double>& values) const {
  const std::size_t rows = tables_.states(edge.from), columns = tables_.states(edge.to);
  const double* seconds = edge.seconds->data();
  std::vector<double> least(source == edge.from ? columns : rows, kEndless);
  if (source == edge.from)
    for (std::size_t i = 0; i < rows; ++i, seconds += columns)
      for (std::size_t k = 0; k < columns; ++k)
        least[k] = std::min(least[k], values[i] + seconds[k]);
  else
    for (std::size_t i = 0; i < rows; ++i, seconds += columns) {
      // Four accumulators, which avoid a chain of dependent comparisons.
      double lanes[4] = {kEndless, kEndless, kEndless, kEndless};
      std::size_t k = 0;
      for (; k + 4 <= columns; k += 4)
        for (int lane = 0; lane < 4; ++lane)
          lanes[lane] = std::min(lanes[lane], values[k + lane] + seconds[k + lane]);
      for (; k < columns; ++k)
        lanes[0] = std::min(lanes[0], values[k] + seconds[k]);
      least[i] = std::min(std::min(lanes[0], lanes[1]), std::min(lanes[2], lanes[3]));
    }
  return least;
}

// The state of the target layer that is best for a given state of the other layer.
int Forest::bestAcross(const Edge& edge, int target, int state,
                       const std::vector<double>& values) const {
  const std::size_t columns = tables_.states(edge.to);
  std::vector<double> sums(values);
  for (std::size_t k = 0; k < sums.size(); ++k)
    sums[k] += (*edge.seconds)[target == edge.to ? state * columns + k : k * columns + state];
  return static_cast<int>(indexOfLeast(sums));
}

// The cost of a layer plus the messages of all its edges except one.
std::vector<double> Forest::sumAt(int layer, int exceptEdge) const {
  std::vector<double> sum = own_[layer];
  for (int edge : edgesOf_[layer]) {
    const std::vector<double>& part = edges_[edge].from == layer ? toFrom_[edge] : toTo_[edge];
    if (edge != exceptEdge && !part.empty())
      std::ranges::transform(sum, part, sum.begin(), std::plus<>());
  }
  return sum;
}

void Forest::run(double secondsPerByte) {
  own_ = tables_.seconds;
  for (int layer = 0; layer < tables_.layers(); ++layer)
    for (std::size_t k = 0; k < own_[layer].size(); ++k)
      own_[layer][k] += closing_[layer][k] + secondsPerByte * tables_.bytes[layer][k];
  toFrom_.assign(edges_.size(), {});
  toTo_.assign(edges_.size(), {});
  const auto send = [&](int number, int source) {
    const Edge& edge = edges_[number];
    (source == edge.from ? toTo_ : toFrom_)[number] = across(edge, source, sumAt(source, number));
  };
  for (auto visit = visits_.rbegin(); visit != visits_.rend(); ++visit)
    if (visit->edge >= 0)
      send(visit->edge, visit->layer);
  for (const Visit& visit : visits_)
    if (visit.edge >= 0)
      send(visit.edge, visit.parent);
  // The trees are independent, and each adds its least sum to the sums of the others.
  std::vector<int> treeOf(tables_.layers(), -1);
  std::vector<double> leastOf(tables_.layers(), 0);
  double sum = 0;
  bounds_.assign(tables_.layers(), {});
  for (const Visit& visit : visits_) {
    bounds_[visit.layer] = sumAt(visit.layer, /*exceptEdge=*/-1);
    const bool isRoot = visit.edge < 0;
    treeOf[visit.layer] = isRoot ? visit.layer : treeOf[visit.parent];
    if (isRoot)
      sum += leastOf[visit.layer] = *std::ranges::min_element(bounds_[visit.layer]);
  }
  elsewhere_.clear();
  for (int layer = 0; layer < tables_.layers(); ++layer) {
    elsewhere_.push_back(sum - leastOf[treeOf[layer]]);
    for (double& bound : bounds_[layer])
      bound += elsewhere_[layer];
  }
}

Forest::PairSides Forest::sidesOf(int pair) const {
  const PairTable& table = tables_.pairs[pair];
  if (const int number = edgeOf_[pair]; number >= 0) {
    PairSides sides{.from = sumAt(table.from, number),
                    .to = sumAt(table.to, number),
                    .seconds = edges_[number].seconds->data()};
    for (double& seconds : sides.from)
      seconds += elsewhere_[table.from];
    return sides;
  }
  // The bound of a state contains the minimum of its row, which is subtracted here.
  PairSides sides{.from = bounds_[table.from],
                  .to = std::vector<double>(tables_.states(table.to), 0.0),
                  .seconds = table.seconds.data()};
  const std::size_t columns = tables_.states(table.to);
  for (std::size_t state = 0; state < sides.from.size(); ++state) {
    const auto row = table.seconds.begin() + static_cast<std::ptrdiff_t>(state * columns);
    sides.from[state] -= *std::min_element(row, row + static_cast<std::ptrdiff_t>(columns));
  }
  return sides;
}

std::vector<int> Forest::goodPlan(int layer, int state) const {
  std::vector<int> plan(tables_.layers(), 0), roots(tables_.layers() + 1, layer);
  std::iota(roots.begin() + 1, roots.end(), 0);
  for (const Visit& visit : visitsFrom(std::move(roots))) {
    // A root has no edge to a parent, and -1 excludes none.
    const std::vector<double> sum = sumAt(visit.layer, visit.edge);
    if (visit.edge < 0)
      plan[visit.layer] = visit.layer == layer ? state : static_cast<int>(indexOfLeast(sum));
    else
      plan[visit.layer] = bestAcross(edges_[visit.edge], visit.layer, plan[visit.parent], sum);
  }
  improve(plan, layer);
  return plan;
}

std::vector<int> Forest::goodPlan() const {
  std::vector<int> plan = goodPlan(0, static_cast<int>(indexOfLeast(bounds_.front())));
  improve(plan, /*fixed=*/-1);
  return plan;
}

// Gives one layer after the other its best state for the states of all others, except the layer
// `fixed`, until nothing changes.
void Forest::improve(std::vector<int>& plan, int fixed) const {
  bool isChanged = true;
  for (int sweep = 0; isChanged && sweep < kMaxForestSweeps; ++sweep) {
    isChanged = false;
    for (int layer = 0; layer < tables_.layers(); ++layer) {
      if (layer == fixed)
        continue;
      std::vector<double> sums = own_[layer];
      // own_ contains the minima of pairs that close cycles. The tables of all pairs are added
      // below as they are, so the minima are subtracted.
      for (std::size_t k = 0; k < sums.size(); ++k)
        sums[k] -= closing_[layer][k];
      for (int number : pairsOf_[layer]) {
        const PairTable& pair = tables_.pairs[number];
        const std::size_t columns = tables_.states(pair.to);
        for (std::size_t k = 0; k < sums.size(); ++k)
          sums[k] += pair.seconds[pair.from == layer ? k * columns + plan[pair.to]
                                                     : plan[pair.from] * columns + k];
      }
      const std::size_t best = indexOfLeast(sums);
      if (sums[best] < sums[plan[layer]] * (1 - kCostRounding)) {
        plan[layer] = static_cast<int>(best);
        isChanged = true;
      }
    }
  }
}

std::vector<std::vector<int>> Forest::upTo(double maxSum) const {
  std::vector<std::vector<int>> candidates(bounds_.size());
  for (std::size_t layer = 0; layer < bounds_.size(); ++layer)
    for (std::size_t state = 0; state < bounds_[layer].size(); ++state)
      if (bounds_[layer][state] <= maxSum)
        candidates[layer].push_back(static_cast<int>(state));
  return candidates;
}

} // namespace tenon
