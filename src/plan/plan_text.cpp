// SPDX-License-Identifier: BSD-2-Clause
#include "plan/plan_text.hpp"

#include "sys/error.hpp"

namespace tenon {

namespace {

constexpr std::pair<const char*, std::optional<Baseline> Baselines::*> kBaselines[] = {
    {"uniform", &Baselines::uniform},
    {"batch", &Baselines::batch},
    {"model", &Baselines::model},
    {"domain", &Baselines::domain}};

Json asJson(const PlannedLayer& layer) {
  return {{"name", layer.name},
          {"word", layer.letters},
          {"batch", layer.parts.batch},
          {"channels", layer.parts.channels},
          {"space", layer.parts.space},
          {"spatial", layer.parts.spatial},
          {"bytes", layer.bytes},
          {"runner_up", layer.runnerUp},
          {"runner_up_seconds", layer.runnerUpSeconds}};
}

Json asJson(const Baseline& baseline) {
  const Word& word = baseline.word;
  return {{"seconds", baseline.seconds},
          {"axes", std::vector{word.batch, word.channels, word.space}},
          {"channel", std::string(1, word.channel)}};
}

Json asJson(const Mesh& grid) {
  return {{"extents", grid.extents()}, {"processes", grid.ranks()}};
}

MeshPtr gridFrom(const JsonView& view) {
  view.allow({"extents", "processes"});
  std::vector<int> extents, ranks;
  for (const JsonView& extent : view.at("extents").list())
    extents.push_back(extent.smallInteger(1));
  for (const JsonView& rank : view.at("processes").list())
    ranks.push_back(rank.smallInteger(0));
  try {
    return Mesh::make(extents, ranks);
  } catch (const Error& error) {
    view.fail(error.text());
  }
}

PlannedLayer layerFrom(const JsonView& view) {
  view.allow({"name", "word", "batch", "channels", "space", "spatial", "bytes", "runner_up",
              "runner_up_seconds"});
  PlannedLayer layer{.name = view.at("name").name(),
                     .letters = view.at("word").text(),
                     .parts = {.batch = view.at("batch").integer(1),
                               .channels = view.at("channels").integer(1),
                               .space = view.at("space").integer(1)},
                     .bytes = view.at("bytes").real(),
                     .runnerUp = view.at("runner_up").text(),
                     .runnerUpSeconds = view.at("runner_up_seconds").real()};
  for (const JsonView& parts : view.at("spatial").list())
    layer.parts.spatial.push_back(parts.integer(1));
  return layer;
}

Baseline baselineFrom(const JsonView& view) {
  view.allow({"seconds", "axes", "channel"});
  const std::vector<JsonView> axes = view.at("axes").list();
  const std::string channel = view.at("channel").text();
  if (axes.size() != 3 || channel.size() != 1)
    view.fail("expected three numbers of axes and one label of channels");
  const auto count = [&](int i) { return axes[i].smallInteger(0); };
  return {.word = {count(0), count(1), count(2), channel[0]}, .seconds = view.at("seconds").real()};
}

} // namespace

Json jsonOf(const FoundPlan& plan) {
  Json json = {{"grid", asJson(*plan.grid)},
               {"space_outermost", plan.spaceOutermost},
               {"seconds", plan.seconds},
               {"bytes", plan.bytes},
               {"gap", plan.gap},
               {"searches", plan.rounds},
               {"baselines", Json::object()},
               {"layers", Json::array()}};
  if (plan.overlapped)
    json["overlapped"] = *plan.overlapped;
  for (const auto& [name, member] : kBaselines)
    if (const std::optional<Baseline>& baseline = plan.baselines.*member)
      json["baselines"][name] = asJson(*baseline);
  for (const PlannedLayer& layer : plan.layers)
    json["layers"].push_back(asJson(layer));
  return json;
}

std::string textOf(const FoundPlan& plan) {
  return jsonOf(plan).dump();
}

FoundPlan planFrom(const JsonView& view) {
  view.allow({"grid", "space_outermost", "seconds", "overlapped", "bytes", "gap", "searches",
              "baselines", "layers"});
  FoundPlan plan{.grid = gridFrom(view.at("grid")),
                 .spaceOutermost = view.at("space_outermost").flag(),
                 .seconds = view.at("seconds").real(),
                 .bytes = view.at("bytes").real(),
                 .overlapped = {},
                 .gap = view.at("gap").real(),
                 .rounds = view.at("searches").smallInteger(1),
                 .baselines = {},
                 .layers = {}};
  if (view.has("overlapped"))
    plan.overlapped = view.at("overlapped").real();
  const JsonView baselines = view.at("baselines");
  baselines.allow({"uniform", "batch", "model", "domain"});
  for (const auto& [name, member] : kBaselines)
    if (baselines.has(name))
      plan.baselines.*member = baselineFrom(baselines.at(name));
  for (const JsonView& layer : view.at("layers").list())
    plan.layers.push_back(layerFrom(layer));
  return plan;
}

} // namespace tenon
