// SPDX-License-Identifier: BSD-2-Clause
// Searches a plan of a network whose layers have too many neighbours for exact elimination, and a
// lower bound of all plans (wide.hpp). Costs are moved between the tables of layers and pairs
// without changing the sum of any plan (reparametrisation). For one pair, a sweep adds the costs of
// both layers to the pair, takes the minimum of each row and column, and returns half of it to each
// layer:
//
//   layers a: 1 4, b: 0 3; pair 2 0 / 0 1        bound 1 + 0 + 0 = 1
//   all in the pair: 3 4 / 4 8                   least 3: the bound has grown to 3
//
// The sum of the minima of all tables is a lower bound after any number of sweeps, since it is
// summed again from the moved costs. Sweeps end when the bound hardly grows.
#include "planner/search/wide.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace tenon {

namespace {

constexpr int kMaxSweeps = 300, kSweepsAtATime = 10;
constexpr double kMinGrowth = 1e-6; // minimal relative growth of the bound by kSweepsAtATime sweeps
// Limit of the combinations of states of a layer and its neighbours in an elimination.
constexpr double kMaxOfElimination = 1 << 22;
constexpr int kMaxRounds = 4; // of eliminations, each from the better plan of the one before

double leastOf(const std::vector<double>& values) {
  return *std::ranges::min_element(values);
}

// Costs of layers and pairs, moved between them without changing the sum of any plan.
class MovedCosts {
public:
  MovedCosts(const CostTables& tables, double secondsPerByte) : own_(tables.seconds) {
    for (int layer = 0; layer < tables.layers(); ++layer)
      for (std::size_t k = 0; k < own_[layer].size(); ++k)
        own_[layer][k] += secondsPerByte * tables.bytes[layer][k];
    std::map<std::pair<int, int>, std::size_t> known; // several pairs of two layers are merged
    for (const PairTable& pair : tables.pairs) {
      const auto [entry, isNew] = known.try_emplace({pair.from, pair.to}, pairs_.size());
      if (isNew)
        pairs_.push_back(pair);
      else
        std::ranges::transform(pairs_[entry->second].seconds, pair.seconds,
                               pairs_[entry->second].seconds.begin(), std::plus<>());
    }
  }

  void sweep() {
    for (PairTable& pair : pairs_)
      share(pair);
  }

  double bound() const {
    double sum = 0;
    for (const std::vector<double>& layer : own_)
      sum += leastOf(layer);
    for (const PairTable& pair : pairs_)
      sum += leastOf(pair.seconds);
    return sum;
  }

  std::vector<std::vector<double>> bounds() const {
    std::vector<std::vector<double>> all = own_;
    const double least = bound();
    for (std::vector<double>& layer : all)
      for (const double own = leastOf(layer); double& value : layer)
        value += least - own;
    for (const PairTable& pair : pairs_) {
      const double ofPair = leastOf(pair.seconds);
      const auto [rows, columns] = leastOfLines(pair);
      for (std::size_t k = 0; k < rows.size(); ++k)
        all[pair.from][k] += rows[k] - ofPair;
      for (std::size_t k = 0; k < columns.size(); ++k)
        all[pair.to][k] += columns[k] - ofPair;
    }
    return all;
  }

private:
  using Lines = std::pair<std::vector<double>, std::vector<double>>;

  // The least value of each row (state of `from`) and of each column (state of `to`).
  Lines leastOfLines(const PairTable& pair) const {
    const std::size_t columns = own_[pair.to].size();
    constexpr double kEndless = std::numeric_limits<double>::infinity();
    Lines least{std::vector<double>(own_[pair.from].size(), kEndless),
                std::vector<double>(columns, kEndless)};
    for (std::size_t at = 0; at < pair.seconds.size(); ++at) {
      double &row = least.first[at / columns], &column = least.second[at % columns];
      row = std::min(row, pair.seconds[at]);
      column = std::min(column, pair.seconds[at]);
    }
    return least;
  }

  // Both layers add their costs to the pair; then each receives half of the least sum for each of
  // its states.
  void share(PairTable& pair) {
    std::vector<double>&from = own_[pair.from], &to = own_[pair.to];
    const std::size_t columns = to.size();
    for (std::size_t at = 0; at < pair.seconds.size(); ++at)
      pair.seconds[at] += from[at / columns] + to[at % columns];
    std::tie(from, to) = leastOfLines(pair);
    for (std::vector<double>* side : {&from, &to})
      for (double& value : *side)
        value /= 2;
    for (std::size_t at = 0; at < pair.seconds.size(); ++at)
      pair.seconds[at] -= from[at / columns] + to[at % columns];
  }

  std::vector<std::vector<double>> own_; // by layer and state
  std::vector<PairTable> pairs_;
};

// For each layer at most `count` states with the least bounds, of at most `most`, sorted by number;
// those of the plan are included.
std::vector<std::vector<int>> leastStates(const std::vector<std::vector<double>>& bounds,
                                          const std::vector<int>& plan, double most,
                                          std::size_t count) {
  std::vector<std::vector<int>> candidates;
  for (std::size_t layer = 0; layer < bounds.size(); ++layer) {
    const std::vector<double>& layerBounds = bounds[layer];
    std::vector<int> states;
    for (int state = 0; state < static_cast<int>(layerBounds.size()); ++state)
      if (state != plan[layer] && layerBounds[state] <= most)
        states.push_back(state);
    std::ranges::stable_sort(states, {}, [&](int state) { return layerBounds[state]; });
    states.resize(std::min(states.size(), count - 1));
    states.push_back(plan[layer]);
    std::ranges::sort(states);
    candidates.push_back(std::move(states));
  }
  return candidates;
}

// Whether elimination can process these tables.
bool isNarrow(const CostTables& tables) {
  return mostCombinations(eliminationOrder(tables), [&](int layer) {
           return double(tables.states(layer));
         }) <= kMaxOfElimination;
}

// Sweeps until the lower bound grows no more, and returns it.
double sweptBound(MovedCosts& moved) {
  double bound = moved.bound();
  for (int sweeps = 0; sweeps < kMaxSweeps; sweeps += kSweepsAtATime) {
    for (int sweep = 0; sweep < kSweepsAtATime; ++sweep)
      moved.sweep();
    const double before = std::exchange(bound, moved.bound());
    if (bound - before <= kMinGrowth * bound)
      break;
  }
  return bound;
}

// The states with the least bounds, as many of each layer as elimination accepts: a bisection.
std::vector<std::vector<int>> mostCandidates(const CostTables& tables, const WideResult& found,
                                             double most, std::size_t mostStates) {
  std::size_t few = 1, many = mostStates + 1;
  std::vector<std::vector<int>> candidates;
  for (std::size_t count = mostStates; few + 1 < many || candidates.empty();
       count = (few + many) / 2) {
    auto trial = leastStates(found.bounds, found.choice, most, count);
    const bool fits = isNarrow(tables.restrictedTo(trial));
    (fits ? few : many) = count;
    if (fits)
      candidates = std::move(trial);
    if (fits && count == mostStates)
      break;
  }
  return candidates;
}

// The best plan of the candidates, in states of the whole tables.
std::vector<int> bestOfCandidates(const CostTables& tables, double secondsPerByte,
                                  const std::vector<std::vector<int>>& candidates) {
  const CostTables rest = tables.restrictedTo(candidates);
  Elimination elimination(rest);
  elimination.run(secondsPerByte);
  std::vector<int> plan = elimination.choice();
  for (std::size_t layer = 0; layer < plan.size(); ++layer)
    plan[layer] = candidates[layer][plan[layer]];
  return plan;
}

} // namespace

WideResult searchWide(const CostTables& tables, double secondsPerByte, std::vector<int> known) {
  MovedCosts moved(tables, secondsPerByte);
  const double bound = sweptBound(moved);
  WideResult found{.choice = std::move(known), .least = bound, .bounds = moved.bounds()};
  const auto sumOf = [&](const std::vector<int>& plan) {
    return tables.secondsOf(plan) + secondsPerByte * tables.bytesOf(plan);
  };
  std::size_t mostStates = 1;
  for (const std::vector<double>& layer : found.bounds)
    mostStates = std::max(mostStates, layer.size());
  for (int round = 0; round < kMaxRounds; ++round) {
    const double sum = sumOf(found.choice), most = sum * (1 + kCostRounding);
    const auto all = leastStates(found.bounds, found.choice, most, mostStates);
    const auto candidates = mostCandidates(tables, found, most, mostStates);
    std::vector<int> plan = bestOfCandidates(tables, secondsPerByte, candidates);
    const bool isBetter = sumOf(plan) < sum * (1 - kCostRounding);
    if (isBetter)
      found.choice = std::move(plan);
    if (candidates == all) { // no state was excluded that could be better
      found.least = sumOf(found.choice);
      break;
    }
    if (!isBetter)
      break;
  }
  found.least = std::min(found.least, sumOf(found.choice)); // but for rounding
  return found;
}

} // namespace tenon
