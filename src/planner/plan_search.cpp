// SPDX-License-Identifier: BSD-2-Clause
#include "planner/plan_search.hpp"

#include "planner/memory_bound.hpp"
#include "sys/error.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

int planLayerNamed(const CostModel& model, const std::string& name) {
  const auto at = std::find(model.names().begin(), model.names().end(), name);
  if (at == model.names().end())
    throw Error(TENON_ERR_ARG, fmt::format("the network has no layer '{}'; did you mean '{}'?",
                                           name, nearest(name, model.names())));
  return static_cast<int>(at - model.names().begin());
}

PlannedLayer plannedLayer(const CostModel& model, int layer, const std::vector<int>& words,
                          int state, const std::vector<double>& minMarginals) {
  PlannedLayer made{.name = model.names()[layer],
                    .letters = model.text(layer, words[state]),
                    .parts = model.parts(layer, words[state]),
                    .bytes = model.layerBytes(layer, words[state]),
                    .runnerUp = {}};
  int second = -1;
  for (int s = 0; s < static_cast<int>(words.size()); ++s)
    if (s != state && (second < 0 || minMarginals[s] < minMarginals[second]))
      second = s;
  if (second >= 0) {
    made.runnerUp = model.text(layer, words[second]);
    made.runnerUpSeconds = minMarginals[second];
  }
  return made;
}

// Whether the moves of a plan cost no more than the tables say; else they say so now. The first solution
// of which this is true is the best of all, since the others cost no less than the tables say.
bool isCertified(const CostModel& model, const WordLists& words, const std::vector<int>& choice,
                 CostTables& tables) {
  bool isTrue = true;
  for (std::size_t m = 0; m < tables.pairs.size(); ++m) {
    PairTable& pair = tables.pairs[m];
    const int from = choice[pair.from], to = choice[pair.to];
    double& known = pair.seconds[std::size_t(from) * tables.states(pair.to) + to];
    const double closer = model.closerMoveSeconds(static_cast<int>(m), words[pair.from][from],
                                                  words[pair.to][to], known);
    if (closer > known * (1 + kCostRounding)) {
      known = closer;
      isTrue = false;
    }
  }
  return isTrue;
}

} // namespace

FoundPlan findPlan(const CostModel& model, const FixedWords& fixed, double memoryLimit) {
  WordLists words = legalWords(model);
  for (const auto& [name, text] : fixed) {
    const int layer = planLayerNamed(model, name);
    words[layer] = {model.parse(layer, text)};
  }
  CostTables tables = tablesOf(model, words);
  BoundedPlan best = fastestPlan(tables, memoryLimit);
  int rounds = 1;
  for (; !isCertified(model, words, best.choice, tables); ++rounds)
    best = fastestPlan(tables, memoryLimit);
  FoundPlan found{.seconds = best.seconds,
                  .bytes = best.bytes,
                  .gap = best.gap,
                  .rounds = rounds,
                  .baselines = baselinesOf(model),
                  .layers = {}};
  for (int layer = 0; layer < model.layers(); ++layer)
    found.layers.push_back(
        plannedLayer(model, layer, words[layer], best.choice[layer], best.minMarginals[layer]));
  return found;
}

} // namespace tenon
