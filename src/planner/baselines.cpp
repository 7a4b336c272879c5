// SPDX-License-Identifier: BSD-2-Clause
#include "planner/baselines.hpp"

#include <algorithm>

namespace tenon {

namespace {

struct UniformPlan {
  Word word;
  std::vector<int> plan;
  double seconds = 0; // at least
};

std::optional<UniformPlan> uniformOf(const CostModel& model, const Word& word) {
  std::vector<int> plan;
  for (int layer = 0; layer < model.layers(); ++layer) {
    if (model.isPinned(layer)) {
      plan.push_back(0);
      continue;
    }
    Word own = word;
    if (model.spatial(layer).empty()) {
      own.channels += own.space;
      own.space = 0;
    }
    plan.push_back(model.numberOf(own));
    if (!model.fault(layer, plan.back()).empty())
      return std::nullopt;
  }
  const double seconds = secondsOf(model, plan);
  return UniformPlan{word, std::move(plan), seconds};
}

Baseline closer(const CostModel& model, const UniformPlan& uniform) {
  return {uniform.word, secondsOf(model, uniform.plan, &CostModel::closerMoveSeconds)};
}

std::optional<Baseline> baselineOf(const CostModel& model, const Word& word) {
  const auto uniform = uniformOf(model, word);
  return uniform ? std::optional(closer(model, *uniform)) : std::nullopt;
}

std::optional<Baseline> bestUniform(const CostModel& model) {
  std::vector<UniformPlan> all;
  for (const Word& word : model.words())
    if (word.channel == 'o')
      if (auto uniform = uniformOf(model, word))
        all.push_back(std::move(*uniform));
  std::stable_sort(all.begin(), all.end(), [](const UniformPlan& a, const UniformPlan& b) {
    return a.seconds < b.seconds;
  });
  std::optional<Baseline> best;
  for (const UniformPlan& uniform : all) {
    if (best && best->seconds <= uniform.seconds)
      break;
    const Baseline found = closer(model, uniform);
    if (!best || found.seconds < best->seconds)
      best = found;
  }
  return best;
}

} // namespace

Baselines baselinesOf(const CostModel& model) {
  const int axes = model.mesh().axes();
  return {.uniform = bestUniform(model),
          .batch = baselineOf(model, {.batch = axes}),
          .model = baselineOf(model, {.channels = axes}),
          .domain = baselineOf(model, {.space = axes})};
}

} // namespace tenon
