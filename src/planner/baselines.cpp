// SPDX-License-Identifier: BSD-2-Clause
#include "planner/baselines.hpp"

namespace tenon {

namespace {

std::optional<Baseline> uniformOf(const CostModel& model, const Word& word) {
  std::vector<int> plan;
  for (int layer = 0; layer < model.layers(); ++layer) {
    Word own = word;
    if (model.spatial(layer).empty()) {
      own.channels += own.space;
      own.space = 0;
    }
    plan.push_back(model.numberOf(own));
    if (!model.fault(layer, plan.back()).empty())
      return std::nullopt;
  }
  return Baseline{word, secondsOf(model, plan)};
}

} // namespace

Baselines baselinesOf(const CostModel& model) {
  const int axes = model.mesh().axes();
  Baselines found;
  for (const Word& word : model.words()) {
    if (word.channel != 'o')
      continue;
    const auto one = uniformOf(model, word);
    if (one && (!found.uniform || one->seconds < found.uniform->seconds))
      found.uniform = one;
  }
  found.batch = uniformOf(model, {.batch = axes});
  found.model = uniformOf(model, {.channels = axes});
  found.domain = uniformOf(model, {.space = axes});
  return found;
}

} // namespace tenon
