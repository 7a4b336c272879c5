// SPDX-License-Identifier: BSD-2-Clause
// Writes plans as JSON, for other ranks and for files, and reads them (plan_file.hpp has an
// example). A plan has for each layer of a network the labels, which state what each axis of the
// process grid splits:
//
//   {"name": "conv1", "labels": "n2,h", "signature": "n,n,h", "uses": [{layout of input 0}], ...}
//
// The labels are the parallelization on the grid of the plan, the signature is in the layer's own
// labels, and `uses` are the layouts in which the layer reads its inputs: three descriptions of one
// distribution. The reader verifies everything that would run: it makes the layer's form, that is,
// its layouts on all ranks, which must agree with all three. It cannot verify other values, such as
// times, and accepts them.
//
// The functions do not communicate: layer_plan.cpp reads files on rank 0 and broadcasts the text.
// Every refusal names the key and the byte of the text.
#include "plan/plan_file.hpp"

#include "geometry/layout/layout_json.hpp"
#include "planner/parallelizations/signature_rows.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

// Uniform plans, which have one parallelization for all layers, to which a plan is compared.
constexpr std::pair<const char*, std::optional<Baseline> Baselines::*> kBaselines[] = {
    {"uniform", &Baselines::uniform},
    {"batch", &Baselines::batch},
    {"model", &Baselines::model},
    {"domain", &Baselines::domain}};

Json asJson(const PlannedLayer& layer) {
  Json json = {{"name", layer.name},
               {"labels", layer.labels},
               {"signature", layer.signature},
               {"uses", Json::array()},
               {"batch", layer.parts.batch},
               {"channels", layer.parts.channels},
               {"input_channels", layer.parts.inputs},
               {"space", layer.parts.space},
               {"spatial", layer.parts.spatial},
               {"bytes", layer.bytes},
               {"runner_up", layer.runnerUp},
               {"runner_up_seconds", layer.runnerUpSeconds}};
  for (const Layout& use : layer.uses)
    json["uses"].push_back(jsonOf(use));
  return json;
}

Json asJson(const Baseline& baseline) {
  const Parallelization& parallelization = baseline.parallelization;
  return {{"seconds", baseline.seconds},
          {"axes", std::vector{parallelization.batch, parallelization.outputs,
                               parallelization.inputs, parallelization.space}}};
}

Json asJson(const Grid& grid) {
  return {{"extents", grid.extents()}, {"processes", grid.ranks()}};
}

// The remedy for a file that was written by hand, or damaged.
constexpr const char* kWriteAnew = "search the plan anew and write it with TenonPlanSave()";

// The grid of the plan: one of the grids that the levels of the machine allow.
const FineGrid& gridFrom(const JsonView& view, bool isReversed, const PlanFrame& frame) {
  view.allow({"extents", "processes"});
  const std::vector<int> extents = view.at("extents").smallIntegers(1),
                         ranks = view.at("processes").smallIntegers(0);
  for (const FineGrid& grid : frame.grids)
    if (grid.isReversed() == isReversed && grid.extents() == extents &&
        grid.grid()->ranks() == ranks)
      return grid;
  view.fail(fmt::format("the process grid {} with these processes is none of the {} of this plan; "
                        "{}",
                        fmt::join(extents, "x"), frame.grids.front().processes(), kWriteAnew));
}

// The grid of a parallelization: that of the plan, or that of a pinned end, which the
// parallelization names.
GridPtr gridOf(const JsonView& parallelization, const FineGrid& grid, const PlanFrame& frame) {
  const std::string field = fieldIn(parallelization.text());
  if (field.empty())
    return grid.grid();
  for (const ListedField& listed : frame.listed)
    if (listed.name == field)
      return listed.layout.gridPtr();
  const std::optional<Layout>& pinned = field == "input" ? frame.input : frame.output;
  if (!pinned || (field != "input" && field != "output"))
    parallelization.fail(
        fmt::format("'{}' is on the process grid of the {}, but that is not pinned",
                    parallelization.text(), field));
  return pinned->gridPtr();
}

// Checks that the layer can run as the text says: its parallelization has the signature, and a form
// with this signature and these inputs exists and uses them without conversion.
void checkForm(const JsonView& view, const PlannedLayer& planned, const DeclaredLayer& layer,
               const FineGrid& grid, const GridPtr& gridOfLayer) {
  try {
    const std::string field = fieldIn(planned.labels),
                      parallelization = withoutBalanced(planned.labels);
    const bool isListed =
        parallelization.ends_with(kListedEnd) && layer.declaration->dependsOnRowDistribution();
    // A listed layer (of a mesh) runs where the lists are, without a signature. On the grid of a
    // pinned end the parallelization names the signature; on the plan's grid it is converted.
    const bool isMeant = isListed ? planned.signature.empty() &&
                                        parallelization == fmt::format("{}:{}", field, kListedEnd)
                         : field.empty()
                             ? signatureOf(parallelization, layer, grid) == planned.signature
                             : fieldText(field, planned.signature, *gridOfLayer) == parallelization;
    if (!isMeant)
      view.at("signature")
          .fail(fmt::format(
              "layer {} has the signature \"{}\", which its parallelization '{}' does not mean; {}",
              layer.name, planned.signature, planned.labels, kWriteAnew));
    if (planned.isBalanced && !layer.declaration->settings().has("output_cuts"))
      view.at("labels").fail(fmt::format("layer {} has no output of sliding windows that could be "
                                         "balanced, as its parallelization '{}' says; {}",
                                         layer.name, planned.labels, kWriteAnew));
    Choice choice{.labels = planned.signature};
    if (!isListed)
      choice.grid = gridOfLayer;
    if (planned.isBalanced)
      choice.cuts = OutputCuts::Balanced;
    const Form form = layer.declaration->form(planned.uses, choice);
    for (std::size_t i = 0; i < form.uses.size(); ++i)
      if (const Layout use = form.uses[i].withoutHalos(); !(use == planned.uses[i]))
        view.at("uses").fail(
            fmt::format("layer {} would use input {} as {}, but the file has {}; {}", layer.name, i,
                        use.describe(), planned.uses[i].describe(), kWriteAnew));
  } catch (const Error& error) {
    // Errors with this code already name their position in the text; others come from the layer.
    if (error.code() == TENON_ERR_FORMAT)
      throw;
    view.fail(fmt::format("{}; {}", error.text(), kWriteAnew));
  }
}

PlannedLayer layerFrom(const JsonView& view, const DeclaredLayer& declared, const FineGrid& grid,
                       const PlanFrame& frame) {
  view.allow({"name", "labels", "signature", "uses", "batch", "channels", "input_channels", "space",
              "spatial", "bytes", "runner_up", "runner_up_seconds"});
  PlannedLayer layer{.name = view.at("name").name(),
                     .labels = view.at("labels").text(),
                     .signature = view.at("signature").text(),
                     .isBalanced = view.at("labels").text().ends_with(kBalancedEnd),
                     .parts = {.batch = view.at("batch").integer(1),
                               .channels = view.at("channels").integer(1),
                               .space = view.at("space").integer(1),
                               .inputs = view.at("input_channels").integer(1),
                               .spatial = view.at("spatial").integers(1)},
                     .bytes = view.at("bytes").real(),
                     .runnerUp = view.at("runner_up").text(),
                     .runnerUpSeconds = view.at("runner_up_seconds").real()};
  // The layers of a plan are those of its network, in order.
  if (layer.name != declared.name)
    view.at("name").fail(fmt::format("is {}, but the next layer of the network is {}; {}",
                                     layer.name, declared.name, kWriteAnew));
  layer.meaning = meaningOf(layer.parts, spatialLabels(declared),
                            channelLabel(declared.declaration->rows(declared.inputs)));
  const GridPtr gridOfLayer = gridOf(view.at("labels"), grid, frame);
  const std::vector<JsonView> uses = view.at("uses").list();
  if (uses.size() != declared.inputs.size())
    view.at("uses").fail(fmt::format(
        "has {}, but layer {} has {}; {}", counted(static_cast<Index>(uses.size()), "layout"),
        layer.name, counted(static_cast<Index>(declared.inputs.size()), "input"), kWriteAnew));
  for (std::size_t i = 0; i < uses.size(); ++i) {
    uses[i].allow({"properties", "split_axes", "cuts"});
    layer.uses.push_back(layoutFrom(uses[i], declared.inputs[i], gridOfLayer));
  }
  checkForm(view, layer, declared, grid, gridOfLayer);
  return layer;
}

Baseline baselineFrom(const JsonView& view) {
  view.allow({"seconds", "axes"});
  const std::vector<int> axes = view.at("axes").smallIntegers(0);
  if (axes.size() != 4)
    view.fail(
        "expected four numbers of axes: of the batch, output channels, input channels and space");
  return {.parallelization = {.batch = axes[0],
                              .outputs = axes[1],
                              .inputs = axes[2],
                              .space = axes[3]},
          .seconds = view.at("seconds").real()};
}

// Reads the layers of a choice that was made after all parallelizations, and its seconds.
void addChosen(const JsonView& view, const DeclaredNetwork& network,
               std::vector<std::string>& layers, double& seconds) {
  view.allow({"layers", "seconds"});
  seconds = view.at("seconds").real();
  for (const JsonView& layer : view.at("layers").list()) {
    layers.push_back(layer.name());
    if (std::ranges::find(network.nodes, layers.back(), &DeclaredNode::name) == network.nodes.end())
      layer.fail(fmt::format("the network has no layer {}; {}", layers.back(), kWriteAnew));
  }
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
  if (!plan.recomputed.empty())
    json["recomputed"] = {{"layers", plan.recomputed}, {"seconds", plan.recomputationSeconds}};
  if (!plan.shared.empty())
    json["shared_halos"] = {{"layers", plan.shared}, {"seconds", plan.sharedSeconds}};
  for (const PlannedLayer& layer : plan.layers)
    json["layers"].push_back(asJson(layer));
  return json;
}

std::string textOf(const FoundPlan& plan) {
  return jsonOf(plan).dump();
}

FoundPlan planFrom(const JsonView& view, const PlanFrame& frame) {
  view.allow({"grid", "space_outermost", "seconds", "overlapped", "bytes", "gap", "searches",
              "baselines", "layers", "recomputed", "shared_halos"});
  const bool isReversed = view.at("space_outermost").flag();
  const JsonView writtenGrid = view.at("grid");
  const FineGrid& grid = gridFrom(writtenGrid, isReversed, frame);
  FoundPlan plan{.grid = grid.grid(),
                 .spaceOutermost = isReversed,
                 .axisLevels = grid.levels(),
                 .seconds = view.at("seconds").real(),
                 .bytes = view.at("bytes").real(),
                 .overlapped = {},
                 .gap = view.at("gap").real(),
                 .rounds = view.at("searches").smallInteger(1),
                 .baselines = {},
                 .layers = {}};
  if (view.has("overlapped"))
    plan.overlapped = view.at("overlapped").real();
  if (view.has("recomputed"))
    addChosen(view.at("recomputed"), frame.network, plan.recomputed, plan.recomputationSeconds);
  if (view.has("shared_halos"))
    addChosen(view.at("shared_halos"), frame.network, plan.shared, plan.sharedSeconds);
  const JsonView baselines = view.at("baselines");
  baselines.allow({"uniform", "batch", "model", "domain"});
  for (const auto& [name, member] : kBaselines)
    if (baselines.has(name))
      plan.baselines.*member = baselineFrom(baselines.at(name));
  const std::vector<JsonView> layers = view.at("layers").list();
  const std::vector<DeclaredLayer>& declared = frame.network.layers;
  if (layers.size() != declared.size())
    view.at("layers").fail(fmt::format("has {}, but {} of the network have parallelizations; {}",
                                       counted(static_cast<Index>(layers.size()), "layer"),
                                       declared.size(), kWriteAnew));
  for (std::size_t i = 0; i < layers.size(); ++i)
    plan.layers.push_back(layerFrom(layers[i], declared[i], grid, frame));
  return plan;
}

namespace {

constexpr const char* kFormat = "tenon-plan-6";

// The first lines in which two texts differ.
std::pair<std::string, std::string> firstDifference(const std::string& a, const std::string& b) {
  const std::vector<std::string> left = split(a, '\n'), right = split(b, '\n');
  for (std::size_t line = 0; line < std::max(left.size(), right.size()); ++line) {
    // If one network is the beginning of the other, they differ where it ends.
    const std::string one = line < left.size() ? left[line] : "nothing",
                      other = line < right.size() ? right[line] : "nothing";
    if (one != other)
      return {one, other};
  }
  return {"", ""};
}

PlanSubject subjectFrom(const JsonView& view) {
  if (view.at("format").text() != kFormat)
    view.at("format").fail(fmt::format("is \"{}\"; this version reads \"{}\", so {}",
                                       view.at("format").text(), kFormat, kWriteAnew));
  view.allow({"format", "network", "data_type", "input", "further_inputs", "pinned_input",
              "pinned_output", "processes", "grid", "lists", "plan"});
  std::vector<Shape> further;
  if (view.has("further_inputs"))
    for (const JsonView& shape : view.at("further_inputs").list())
      further.push_back(shape.integers(1));
  std::vector<std::string> lines;
  for (const JsonView& line : view.at("network").list())
    lines.push_back(line.text());
  return {.network = joined(lines, "\n"),
          .dataType = view.at("data_type").text(),
          .input = view.at("input").integers(1),
          .furtherInputs = std::move(further),
          .pinnedInput = view.at("pinned_input").text(),
          .pinnedOutput = view.at("pinned_output").text(),
          .lists = view.has("lists") ? view.at("lists").text() : "",
          .processes = view.at("processes").integer(1),
          .grid = view.at("grid").smallIntegers(2)};
}

void checkSame(const PlanSubject& file, const PlanSubject& wanted, const std::string& path) {
  const auto refuse = [&](TenonErrorCode code, const std::string& what) {
    throw Error(code, fmt::format("the plan in {} is for {}; search a new plan", path, what));
  };
  // The network is checked first, since another network explains most other differences.
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
  if (file.furtherInputs != wanted.furtherInputs)
    refuse(TENON_ERR_SHAPE, "further inputs of other shapes");
  if (file.lists != wanted.lists) {
    const auto some = [](const std::string& lists) { return lists.empty() ? "none" : lists; };
    refuse(TENON_ERR_LAYOUT, fmt::format("other lists of a mesh: {}, but this network has {}",
                                         some(file.lists), some(wanted.lists)));
  }
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

} // namespace

std::string textOf(const PlanSubject& subject, const FoundPlan& plan) {
  Json json = {{"format", kFormat},
               {"network", split(subject.network, '\n')},
               {"data_type", subject.dataType},
               {"input", subject.input},
               {"pinned_input", subject.pinnedInput},
               {"pinned_output", subject.pinnedOutput},
               {"processes", subject.processes},
               {"grid", subject.grid},
               {"plan", jsonOf(plan)}};
  if (!subject.lists.empty())
    json["lists"] = subject.lists;
  if (!subject.furtherInputs.empty())
    json["further_inputs"] = subject.furtherInputs;
  return json.dump(1) + "\n";
}

void checkSubject(const JsonView& file, const PlanSubject& wanted, const std::string& path) {
  checkSame(subjectFrom(file), wanted, path);
}

} // namespace tenon
