// SPDX-License-Identifier: BSD-2-Clause
#include "plan/plan_file.hpp"

#include "plan/plan_text.hpp"
#include "sys/error.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

constexpr const char* kFormat = "tenon-plan-2";

// The first lines of two texts that differ.
std::pair<std::string, std::string> firstDifference(const std::string& a, const std::string& b) {
  const std::vector<std::string> left = split(a, '\n'), right = split(b, '\n');
  for (std::size_t line = 0; line < std::max(left.size(), right.size()); ++line) {
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
