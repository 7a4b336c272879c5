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

// Sweeps end when kSweepsAtATime of them raise the bound by less than kMinGrowth, relatively, or
// after kMaxSweeps, which limits the time if the bound grows slowly.
constexpr int kMaxSweeps = 300, kSweepsAtATime = 10;
constexpr double kMinGrowth = 1e-6;
// Limit of the combinations of states of a layer and its neighbours in an elimination, which needs
// time and memory for each of them.
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

  // A lower bound of the sums of all plans.
  double bound() const {
    double sum = 0;
    for (const std::vector<double>& layer : own_)
      sum += leastOf(layer);
    for (const PairTable& pair : pairs_)
      sum += leastOf(pair.seconds);
    return sum;
  }

  // By layer and state: a lower bound of the sums of the plans with this state. It is bound() with
  // the minimum of each of the layer's tables replaced by the minimum over the entries of the
  // state.
  std::vector<std::vector<double>> bounds() const {
    std::vector<std::vector<double>> all = own_;
    const double boundOfAll = bound();
    for (std::vector<double>& layer : all)
      for (const double leastOfLayer = leastOf(layer); double& value : layer)
        value += boundOfAll - leastOfLayer;
    for (const PairTable& pair : pairs_) {
      const double leastOfPair = leastOf(pair.seconds);
      const auto [rows, columns] = leastOfLines(pair);
      for (std::size_t k = 0; k < rows.size(); ++k)
        all[pair.from][k] += rows[k] - leastOfPair;
      for (std::size_t k = 0; k < columns.size(); ++k)
        all[pair.to][k] += columns[k] - leastOfPair;
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
    for (std::size_t entry = 0; entry < pair.seconds.size(); ++entry) {
      double &row = least.first[entry / columns], &column = least.second[entry % columns];
      row = std::min(row, pair.seconds[entry]);
      column = std::min(column, pair.seconds[entry]);
    }
    return least;
  }

  // Both layers add their costs to the pair; then each receives half of the least sum for each of
  // its states.
  void share(PairTable& pair) {
    std::vector<double>&from = own_[pair.from], &to = own_[pair.to];
    const std::size_t columns = to.size();
    for (std::size_t entry = 0; entry < pair.seconds.size(); ++entry)
      pair.seconds[entry] += from[entry / columns] + to[entry % columns];
    std::tie(from, to) = leastOfLines(pair);
    for (std::vector<double>* side : {&from, &to})
      for (double& value : *side)
        value /= 2;
    for (std::size_t entry = 0; entry < pair.seconds.size(); ++entry)
      pair.seconds[entry] -= from[entry / columns] + to[entry % columns];
  }

  std::vector<std::vector<double>> own_; // by layer and state
  std::vector<PairTable> pairs_;
};

// For each layer: the state of the plan, and the other states with the least bounds, of which none
// exceeds `maxBound`; at most `count` states in all, sorted by number.
std::vector<std::vector<int>> leastStates(const std::vector<std::vector<double>>& bounds,
                                          const std::vector<int>& plan, double maxBound,
                                          std::size_t count) {
  std::vector<std::vector<int>> candidates;
  for (std::size_t layer = 0; layer < bounds.size(); ++layer) {
    const std::vector<double>& layerBounds = bounds[layer];
    std::vector<int> states;
    for (int state = 0; state < static_cast<int>(layerBounds.size()); ++state)
      if (state != plan[layer] && layerBounds[state] <= maxBound)
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

// The states with the least bounds, as many of each layer as elimination accepts. Their number is
// found by bisection: `fitting` states per layer are few enough, `tooMany` are not. (One state per
// layer always fits.)
std::vector<std::vector<int>> mostCandidates(const CostTables& tables, const WideResult& found,
                                             double maxBound, std::size_t mostStates) {
  std::size_t fitting = 1, tooMany = mostStates + 1;
  std::vector<std::vector<int>> candidates;
  for (std::size_t count = mostStates; fitting + 1 < tooMany || candidates.empty();
       count = (fitting + tooMany) / 2) {
    auto trial = leastStates(found.bounds, found.choice, maxBound, count);
    const bool fits = isNarrow(tables.restrictedTo(trial));
    (fits ? fitting : tooMany) = count;
    if (fits)
      candidates = std::move(trial);
    if (fits && count == mostStates)
      break;
  }
  return candidates;
}

// The best plan that has only candidate states, in the numbers that the unrestricted tables give to
// states.
std::vector<int> bestOfCandidates(const CostTables& tables, double secondsPerByte,
                                  const std::vector<std::vector<int>>& candidates) {
  const CostTables restricted = tables.restrictedTo(candidates);
  Elimination elimination(restricted);
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
    const double sum = sumOf(found.choice), maxBound = sum * (1 + kCostRounding);
    const auto all = leastStates(found.bounds, found.choice, maxBound, mostStates);
    const auto candidates = mostCandidates(tables, found, maxBound, mostStates);
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
  found.least = std::min(found.least, sumOf(found.choice)); // rounding could make it larger
  return found;
}

} // namespace tenon
