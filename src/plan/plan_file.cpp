// SPDX-License-Identifier: BSD-2-Clause
// Plans as JSON, for other ranks and for files. A file says what its plan was made for in the form
// in which it is compared, the network as lines of text, so that the message about another network
// can show the first line that differs.
#include "plan/plan_file.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

Json asJson(const Grid& grid) {
  return {{"extents", grid.extents()}, {"processes", grid.ranks()}};
}

GridPtr gridFrom(const JsonView& view) {
  view.allow({"extents", "processes"});
  std::vector<int> extents, ranks;
  for (const JsonView& extent : view.at("extents").list())
    extents.push_back(extent.smallInteger(1));
  for (const JsonView& rank : view.at("processes").list())
    ranks.push_back(rank.smallInteger(0));
  try {
    // A grid checks itself; its message gets the place in the file.
    return Grid::make(extents, ranks);
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
  // Signatures and use layouts are not in the file: they follow from the words (NetworkPlan::take).
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

namespace {

constexpr const char* kFormat = "tenon-plan-2";

// The first lines in which two texts differ.
std::pair<std::string, std::string> firstDifference(const std::string& a, const std::string& b) {
  const std::vector<std::string> left = split(a, '\n'), right = split(b, '\n');
  for (std::size_t line = 0; line < std::max(left.size(), right.size()); ++line) {
    // A network that is the beginning of the other differs where it ends.
    const std::string one = line < left.size() ? left[line] : "nothing",
                      other = line < right.size() ? right[line] : "nothing";
    if (one != other)
      return {one, other};
  }
  return {"", ""};
}

} // namespace

std::string textOf(const PlanFile& file) {
  const Json json = {{"format", kFormat},
                     {"network", split(file.network, '\n')},
                     {"data_type", file.dataType},
                     {"input", file.input},
                     {"pinned_input", file.pinnedInput},
                     {"pinned_output", file.pinnedOutput},
                     {"processes", file.processes},
                     {"grid", file.grid},
                     {"plan", jsonOf(file.plan)}};
  return json.dump(1) + "\n";
}

PlanFile planFileFrom(const std::string& text, const std::string& path) {
  const JsonNode tree = parseJson(text, path);
  const JsonView view(tree, path);
  if (view.at("format").text() != kFormat)
    view.at("format").fail(
        fmt::format("is \"{}\"; this version reads \"{}\"", view.at("format").text(), kFormat));
  view.allow({"format", "network", "data_type", "input", "pinned_input", "pinned_output",
              "processes", "grid", "plan"});
  PlanFile file{.network = {},
                .dataType = view.at("data_type").text(),
                .input = {},
                .pinnedInput = view.at("pinned_input").text(),
                .pinnedOutput = view.at("pinned_output").text(),
                .processes = view.at("processes").integer(1),
                .grid = {},
                .plan = planFrom(view.at("plan"))};
  std::vector<std::string> lines;
  for (const JsonView& line : view.at("network").list())
    lines.push_back(line.text());
  file.network = joined(lines, "\n");
  for (const JsonView& extent : view.at("input").list())
    file.input.push_back(extent.integer(1));
  for (const JsonView& extent : view.at("grid").list())
    file.grid.push_back(extent.smallInteger(2));
  return file;
}

void checkSame(const PlanFile& file, const PlanFile& wanted, const std::string& path) {
  const auto refuse = [&](TenonErrorCode code, const std::string& what) {
    throw Error(code, fmt::format("the plan in {} is for {}; search a new plan", path, what));
  };
  // The network comes first, since another one explains most of what else differs.
  if (file.network != wanted.network) {
    const auto [there, here] = firstDifference(file.network, wanted.network);
    refuse(TENON_ERR_FORMAT,
           fmt::format("another network: it has {}, and this network {}", there, here));
  }
  if (file.dataType != wanted.dataType)
    refuse(TENON_ERR_FORMAT,
           fmt::format("data type {}, but the network has {}", file.dataType, wanted.dataType));
  if (file.input != wanted.input)
    refuse(TENON_ERR_SHAPE, fmt::format("an input of shape [{}], but this input has [{}]",
                                        fmt::join(file.input, ","), fmt::join(wanted.input, ",")));
  if (file.processes != wanted.processes)
    refuse(TENON_ERR_STATE,
           fmt::format("{} processes, but this plan is for {}", file.processes, wanted.processes));
  if (file.grid != wanted.grid)
    refuse(TENON_ERR_STATE,
           fmt::format("a machine whose levels give the grid {}, but these levels give {}",
                       fmt::join(file.grid, "x"), fmt::join(wanted.grid, "x")));
  const auto pinned = [](const std::string& layout) { return layout.empty() ? "free" : layout; };
  if (file.pinnedInput != wanted.pinnedInput)
    refuse(TENON_ERR_LAYOUT, fmt::format("an input that is {}, but this one is {}",
                                         pinned(file.pinnedInput), pinned(wanted.pinnedInput)));
  if (file.pinnedOutput != wanted.pinnedOutput)
    refuse(TENON_ERR_LAYOUT, fmt::format("an output that is {}, but this one is {}",
                                         pinned(file.pinnedOutput), pinned(wanted.pinnedOutput)));
}

void checkLayers(const FoundPlan& plan, const std::vector<std::string>& layers,
                 const std::string& path) {
  std::vector<std::string> names;
  for (const PlannedLayer& layer : plan.layers)
    names.push_back(layer.name);
  for (const std::string& layer : layers)
    // Each layer needs its word, and a second one would be a choice that nobody has made.
    if (std::count(names.begin(), names.end(), layer) != 1)
      throw Error(TENON_ERR_FORMAT,
                  fmt::format("the plan in {} does not have one word for layer {}; write the file "
                              "anew with TenonPlanSave()",
                              path, layer));
  if (names.size() != layers.size())
    throw Error(TENON_ERR_FORMAT,
                fmt::format("the plan in {} has {}, but {} of the network have words; write the "
                            "file anew with TenonPlanSave()",
                            path, counted(static_cast<Index>(names.size()), "layer"),
                            layers.size()));
}

} // namespace tenon
