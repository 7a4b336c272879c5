// SPDX-License-Identifier: BSD-2-Clause
#include "planner/plan_search.hpp"

#include "planner/certificate.hpp"
#include "planner/timeline.hpp"
#include "sys/error.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

int planLayerNamed(const CostModel& model, const std::string& name) {
  std::vector<std::string> names;
  for (int layer = 0; layer < model.layers() && !model.isPinned(layer); ++layer)
    names.push_back(model.names()[layer]);
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end())
    throw Error(TENON_ERR_ARG, fmt::format("the network has no layer '{}'; did you mean '{}'?",
                                           name, nearest(name, names)));
  return static_cast<int>(at - names.begin());
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

constexpr int kReplayed = 16;

// Makes the plan that is fastest with overlap the plan.
void replay(const CostModel& model, const WordLists& words, double overlap, CertifiedPlan& found,
            FoundPlan& result) {
  for (const std::vector<int>& choice : found.best) {
    std::vector<int> plan;
    double bytes = 0;
    for (int layer = 0; layer < model.layers(); ++layer) {
      plan.push_back(words[layer][choice[layer]]);
      bytes += model.layerBytes(layer, plan.back());
    }
    const double seconds = secondsOverlapped(model, plan, overlap);
    if (result.overlapped && *result.overlapped <= seconds)
      continue;
    result.overlapped = seconds;
    result.seconds = secondsOf(model, plan, &CostModel::closerMoveSeconds);
    result.bytes = bytes;
    found.plan.choice = choice;
  }
}

} // namespace

FoundPlan findPlan(const CostModel& model, const FixedWords& fixed, double memoryLimit,
                   double overlap) {
  WordLists words = legalWords(model);
  for (const auto& [name, text] : fixed) {
    const int layer = planLayerNamed(model, name);
    words[layer] = {model.parse(layer, text)};
  }
  CertifiedPlan certified = certifiedPlan(model, words, memoryLimit, overlap > 0 ? kReplayed : 1);
  const BoundedPlan& best = certified.plan;
  FoundPlan found{.grid = model.mesh().grid(),
                  .seconds = best.seconds,
                  .bytes = best.bytes,
                  .overlapped = {},
                  .gap = best.gap,
                  .rounds = certified.rounds,
                  .baselines = baselinesOf(model),
                  .layers = {}};
  if (overlap > 0)
    replay(model, words, overlap, certified, found);
  for (int layer = 0; layer < model.layers() && !model.isPinned(layer); ++layer)
    found.layers.push_back(
        plannedLayer(model, layer, words[layer], best.choice[layer], best.minMarginals[layer]));
  return found;
}

} // namespace tenon
