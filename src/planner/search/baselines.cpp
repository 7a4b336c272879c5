// SPDX-License-Identifier: BSD-2-Clause
// Prices plans whose layers all have the same process grid (baselines.hpp). The best of them is
// found by lower bounds first: in their order, grids are priced until the next bound is above the
// best price.
#include "planner/search/baselines.hpp"

#include <algorithm>

namespace tenon {

namespace {

struct UniformPlan { // all layers have the same parallelization
  Parallelization parallelization;
  std::vector<int> plan;
  double seconds = 0; // a lower bound
};

std::optional<UniformPlan> uniformOf(const CostModel& model,
                                     const Parallelization& parallelization) {
  std::vector<int> plan;
  for (int layer = 0; layer < model.layers(); ++layer) {
    if (model.isPinned(layer)) { // a pinned end has a single parallelization
      plan.push_back(0);
      continue;
    }
    Parallelization own = parallelization;
    // A fully connected layer has no space to split; its output channels are split instead, as in
    // the papers.
    if (model.spatial(layer).empty()) {
      own.outputs += own.space;
      own.space = 0;
    }
    plan.push_back(model.numberOf(own));
    if (!model.fault(layer, plan.back()).empty())
      return std::nullopt;
  }
  const double seconds = secondsOf(model, plan);
  return UniformPlan{
      .parallelization = parallelization, .plan = std::move(plan), .seconds = seconds};
}

Baseline priced(const CostModel& model, const UniformPlan& uniform) {
  return {.parallelization = uniform.parallelization,
          .seconds = secondsOf(model, uniform.plan, Precision::Close)};
}

std::optional<Baseline> baselineOf(const CostModel& model, const Parallelization& parallelization) {
  const auto uniform = uniformOf(model, parallelization);
  return uniform ? std::optional(priced(model, *uniform)) : std::nullopt;
}

std::optional<Baseline> bestUniform(const CostModel& model) {
  std::vector<UniformPlan> all;
  for (const Parallelization& parallelization : model.parallelizations())
    if (parallelization.inputs == 0)
      if (auto uniform = uniformOf(model, parallelization))
        all.push_back(std::move(*uniform));
  std::stable_sort(all.begin(), all.end(), [](const UniformPlan& a, const UniformPlan& b) {
    return a.seconds < b.seconds;
  });
  std::optional<Baseline> best;
  for (const UniformPlan& uniform : all) {
    // Sorted by lower bounds: the remaining ones cannot be faster.
    if (best && best->seconds <= uniform.seconds)
      break;
    const Baseline found = priced(model, uniform);
    if (!best || found.seconds < best->seconds)
      best = found;
  }
  return best;
}

} // namespace

Baselines baselinesOf(const CostModel& model) {
  const int axes = model.grid().axes();
  return {.uniform = bestUniform(model),
          .batch = baselineOf(model, {.batch = axes}),
          .model = baselineOf(model, {.outputs = axes}),
          .domain = baselineOf(model, {.space = axes})};
}

} // namespace tenon
