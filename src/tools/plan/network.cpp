// SPDX-License-Identifier: BSD-2-Clause
// `tenon plan network` predicts the times of parallelizations of a network. It has three uses:
//   default   searches the fastest parallelization of each layer, and prints it with baselines that
//             parallelize all layers alike
//   -cost     the time of one process grid by a published equation
//   -figure   a figure of the paper of these equations (figure.hpp)
// All numbers come from the planner; this file converts options to calls of it, and prints results.
// Options that contradict each other or have no effect are errors, so users do not get an answer to
// another question.
#include "tools/plan/commands.hpp"

#include "machine/machine_file.hpp"
#include "studies/named_plan.hpp"
#include "sys/files/share_folder.hpp"
#include "tools/plan/figure.hpp"
#include "tools/plan/system.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace tenon::tools {

// The defaults of latency and bandwidth are those of the paper whose figures can be computed.
const std::vector<ProgramOption> kNetworkOptions{
    {"network", TENON_OPTION_STRING, "",
     "network: alexnet, faces100k, resnet50, unet3d_256 or vgg16, whose sizes are known; "
     "atmosphere_columns, fno2d, heat_closure, lenet5 or unet3d, which need -input; or a JSON file "
     "(not mesh-gnn, which has two inputs)"},
    {"input", TENON_OPTION_STRING, "", "shape of a sample, for a network of layers: 1,28,28"},
    {"batch", TENON_OPTION_INT, "0", "global batch size"},
    {"processes", TENON_OPTION_INT, "0", "number of processes"},
    {"model", TENON_OPTION_STRING, "t1", "cost model: t1, or own for Tenon's own prices"},
    {"alpha", TENON_OPTION_REAL, "2e-6", "latency in seconds"},
    {"beta", TENON_OPTION_REAL, "1.6666666666666667e-10", "seconds per byte of a process"},
    {"machine", TENON_OPTION_STRING, "", "machine of the processes: cluster4, ..., or a JSON file"},
    {"flop_rate", TENON_OPTION_REAL, "5e10",
     "(own) floating-point operations per second of a process"},
    {"memory_rate", TENON_OPTION_REAL, "1e10",
     "(own) bytes per second that a process reads and writes"},
    {"data_type", TENON_OPTION_WORD, "float32", "(own) data type: float32 or float64"},
    {"memory_limit", TENON_OPTION_INT, "0", "bytes of each process; 0: no limit"},
    {"recompute", TENON_OPTION_FLAG, "true",
     "(own) let layers compute again for the adjoint what does not fit into the memory limit"},
    {"halo_depth", TENON_OPTION_INT, "1",
     "(own) layers that may share one halo exchange, at most, where that saves time"},
    {"optimizer_state", TENON_OPTION_INT, "2",
     "(own) tensors that the optimizer keeps for each parameter: 1 for sgd, 2 for adam"},
    {"fix", TENON_OPTION_STRING, "",
     "parallelizations that are given: conv1=n9,fc6=n4,o5; may be repeated"},
    {"input_channels", TENON_OPTION_WORD, "auto",
     "also split input channels (label i): true, false, or auto: under model own"},
    {"objective", TENON_OPTION_WORD, "training",
     "(own) what the plan is for: training, inference, or step, one of a solver's"},
    {"every", TENON_OPTION_INT, "1", "(objective step) solver steps for each evaluation"},
    {"pin_input", TENON_OPTION_STRING, "",
     "(own) where the input lies, as grid and properties: 4x2:S2,S3"},
    {"pin_output", TENON_OPTION_STRING, "", "(own) where the output is wanted, in the same way"},
    {"placement", TENON_OPTION_WORD, "auto",
     "(machine) what its outermost levels split: batch, space, auto for the faster, or all for the "
     "fastest of all placements of the axes on the levels"},
    {"fewer", TENON_OPTION_FLAG, "false", "also look for plans that leave processes idle"},
    {"overlap", TENON_OPTION_REAL, "0",
     "(own) share of communication that goes on beside computation, 0 to 1"},
    {"cost", TENON_OPTION_STRING, "",
     "price a grid by a published equation instead: eq3, eq4, eq7, eq8, eq9, eq4_003, or the "
     "forward pass alone: forward_1.5d, forward_2d"},
    {"grid", TENON_OPTION_STRING, "",
     "(cost) processes for model or domain, and for the batch: 16,32"},
    {"conv_grid", TENON_OPTION_STRING, "", "(cost eq8) grid of convolutions, if it is another"},
    {"figure", TENON_OPTION_INT, "0",
     "compute a figure of arXiv 1712.04432 instead: 6, 7, 9 or 10, for all grids"},
    {"chart", TENON_OPTION_STRING, "", "(figure) SVG file to draw it in"},
    {"json", TENON_OPTION_FLAG, "false", "print JSON"},
};

namespace {

double realOption(const char* name) {
  double value = 0;
  require(TenonOptionsGetReal("-", name, &value));
  return value;
}

double betaOption() {
  const double beta = realOption("beta");
  // A bandwidth is the inverse of beta, so beta must not be 0.
  if (!(beta > 0))
    throw std::runtime_error(fmt::format("-beta is {}; it must be above 0", beta));
  return beta;
}

TenonInt countOption(const char* name, const char* what) {
  const TenonInt count = intOption(name);
  if (count < 1)
    throw std::runtime_error(fmt::format("-{} is {}; pass the {}, at least 1", name, count, what));
  return count;
}

bool isOn(const char* name, const std::string& given) {
  // An option without a value is on, as with flags.
  if (given.empty() || given == "true")
    return true;
  if (given != "false")
    throw std::runtime_error(fmt::format("-{} is {}; it must be true, false or auto", name, given));
  return false;
}

// Fixes the parallelizations of layers that the option lists, "conv1=n6,o3,fc6=n9": conv1 has
// n6,o3 (6 parts of the batch, 3 of the output channels) and fc6 has n9. Commas separate both
// layers and parts, so a piece with '=' begins another layer, and a piece without it belongs to the
// layer before.
void fixParallelizations(NamedPlan& plan, const std::string& given) {
  std::vector<std::pair<std::string, std::string>> parallelizations;
  for (const std::string& piece : wordsOf(given, ',')) {
    const std::size_t sign = piece.find('=');
    if (sign != std::string::npos)
      parallelizations.emplace_back(piece.substr(0, sign), piece.substr(sign + 1));
    else if (!parallelizations.empty())
      parallelizations.back().second += "," + piece;
    else
      throw std::runtime_error(fmt::format(
          "-fix {}: '{}' names no layer; pass layer=labels, such as conv1=n6,o3", given, piece));
  }
  for (const auto& [layer, parallelization] : parallelizations)
    plan.fix(layer, parallelization);
}

// The shape of a sample. A text with ':' is probably meant for -pin_input.
Sizes inputOption() {
  if (textOption("input").find(':') != std::string::npos)
    throw std::runtime_error(
        fmt::format("-input {}: it is the shape of a sample, such as 1,28,28; pass a process grid "
                    "with properties as -pin_input",
                    textOption("input")));
  return sizesOption("input");
}

void setTask(NamedPlan& plan) {
  plan.set("objective", textOption("objective"));
  plan.set("evaluate_every", intOption("every"));
  plan.set("input_grid", textOption("pin_input"));
  plan.set("output_grid", textOption("pin_output"));
  plan.set("overlap_share", realOption("overlap"));
  plan.set("placement", textOption("placement"));
  plan.set("fewer_processes", flagOption("fewer"));
}

Ref<NamedPlan> planFromOptions() {
  const std::string network = textOption("network");
  if (network.empty())
    throw std::runtime_error("-network is missing; pass a name such as alexnet, or a JSON file "
                             "(-help lists the names)");
  auto plan =
      makeRef<NamedPlan>(readNetworkSource(network), countOption("batch", "global batch size"));
  plan->set("cost_model", textOption("model"));
  plan->set("link_latency", realOption("alpha"));
  plan->set("link_bandwidth", 1 / betaOption());
  plan->set("memory_limit", intOption("memory_limit"));
  plan->set("recompute", flagOption("recompute"));
  plan->set("halo_depth", intOption("halo_depth"));
  plan->set("optimizer_state", intOption("optimizer_state"));
  plan->set("flop_rate", realOption("flop_rate"));
  plan->set("memory_rate", realOption("memory_rate"));
  plan->set("data_type", textOption("data_type"));
  // With auto the model decides, which a setting would override.
  if (const std::string given = textOption("input_channels"); given != "auto")
    plan->set("input_channels", isOn("input_channels", given));
  if (!textOption("input").empty())
    plan->set("input_shape", inputOption());
  setTask(*plan);
  fixParallelizations(*plan, textOption("fix"));
  return plan;
}

// A machine with as many nodes as the processes fill: 64 processes on a description of 2 nodes with
// 8 devices each are on 8 nodes. If they do not fill whole nodes, the description is used
// unchanged, and the planner reports that the numbers differ.
tenon::Machine machineFor(const std::string& name, TenonInt processes) {
  // The command line belongs to the shared library, while the planner that is linked here has its
  // own options.
  const std::string path =
      findDataFile(name, "machine description", "machines", textOption("machine_path", ""));
  tenon::Machine machine = readMachine(path);
  const int level = machine.findLevel("node");
  if (level < 0 || machine.devices() == processes)
    return machine;
  // The number of nodes is only that of the description.
  const TenonInt inNode = machine.devices() / machine.levels()[level].size;
  return processes % inNode == 0 ? readMachine(path, processes / inNode) : machine;
}

std::string orNull(const std::optional<double>& number) {
  return number ? fmt::format("{}", *number) : "null";
}

// The time of a baseline; none if it is impossible, because a layer cannot be divided like that.
std::optional<double> secondsOf(const std::optional<Baseline>& baseline) {
  return baseline ? std::optional(baseline->seconds) : std::nullopt;
}

void printAsJson(const FoundPlan& plan) {
  const auto quotedAll = [](const std::vector<std::string>& layers) {
    std::vector<std::string> all;
    for (const std::string& layer : layers)
      all.push_back(quoted(layer));
    return all;
  };
  fmt::print(
      "{{\"time\": {}, \"uniform_time\": {}, \"pure_batch_time\": {}, \"pure_model_time\": {}, "
      "\"pure_domain_time\": {}, \"overlapped_time\": {}, \"bytes\": {}, \"gap\": {}, "
      "\"certified\": {}, \"processes\": {}, "
      "\"placement\": \"{}\", \"axis_levels\": [{}], \"recompute_time\": {}, \"recomputed\": [{}], "
      "\"shared_halo_time\": {}, \"shared_halos\": [{}], "
      "\"layers\": [",
      plan.seconds, orNull(secondsOf(plan.baselines.uniform)),
      orNull(secondsOf(plan.baselines.batch)), orNull(secondsOf(plan.baselines.model)),
      orNull(secondsOf(plan.baselines.domain)), orNull(plan.overlapped), plan.bytes, plan.gap,
      plan.rounds, plan.grid->size(), plan.spaceOutermost ? "space" : "batch",
      fmt::join(plan.axisLevels, ", "), plan.recomputationSeconds,
      fmt::join(quotedAll(plan.recomputed), ", "), plan.sharedSeconds,
      fmt::join(quotedAll(plan.shared), ", "));
  const char* separator = "";
  for (const PlannedLayer& layer : plan.layers) {
    fmt::print("{}{{\"name\": {}, \"labels\": {}, \"model\": {}, \"domain\": {}, \"batch\": {}, "
               "\"bytes\": {}, \"runner_up\": {}, \"runner_up_time\": {}}}",
               separator, quoted(layer.name), quoted(layer.labels), layer.parts.channels,
               layer.parts.space, layer.parts.batch, layer.bytes,
               layer.runnerUp.empty() ? "null" : quoted(layer.runnerUp),
               layer.runnerUp.empty() ? "null" : fmt::format("{}", layer.runnerUpSeconds));
    separator = ", ";
  }
  fmt::print("]}}\n");
}

// Prints a baseline and its time relative to the plan's. An impossible baseline is listed too,
// because users want to know that no single grid fits all layers.
void printBaseline(const char* name, const std::optional<Baseline>& baseline, double plan) {
  if (baseline)
    fmt::print("  {:<22} {:>12.4f} ms   {:.2f} times as long\n", name, baseline->seconds * 1e3,
               plan > 0 ? baseline->seconds / plan : 1);
  else
    fmt::print("  {:<22} {:>12}\n", name, "impossible");
}

void printAsText(const FoundPlan& plan) {
  fmt::print("  {:<22} {:>12.4f} ms   {:.1f} MiB per process\n", "plan", plan.seconds * 1e3,
             plan.bytes / (1 << 20));
  // The gap is an upper bound of what a better plan could save. It is not 0 if the exact search
  // gave up (with a memory limit, or in dense blocks), or if recomputing more activations could
  // help.
  if (plan.gap > 0)
    fmt::print("  {:<22} {:>12.2g} of the time at most, which the search left open\n", "gap",
               plan.gap);
  if (plan.overlapped)
    fmt::print("  {:<22} {:>12.4f} ms\n", "with overlap", *plan.overlapped * 1e3);
  // Only differences from the request are printed.
  if (plan.grid->size() < intOption("processes"))
    fmt::print("  {:<22} {:>12}\n", "processes that work", plan.grid->size());
  if (plan.spaceOutermost)
    fmt::print("  {:<22} {:>12}\n", "outermost", "space");
  if (textOption("placement") == "all")
    fmt::print("  {:<22} {:>12}   of each axis, 0 for the outermost\n", "levels",
               fmt::format("{}", fmt::join(plan.axisLevels, ",")));
  printBaseline("same grid everywhere", plan.baselines.uniform, plan.seconds);
  printBaseline("batch only", plan.baselines.batch, plan.seconds);
  printBaseline("model only", plan.baselines.model, plan.seconds);
  printBaseline("domain only", plan.baselines.domain, plan.seconds);
  fmt::print("\n  {:<12} {:<14} {:>6} {:>6} {:>6} {:>10}  {}\n", "layer", "labels", "model",
             "domain", "batch", "MiB", "next best");
  for (const PlannedLayer& layer : plan.layers)
    fmt::print("  {:<12} {:<14} {:>6} {:>6} {:>6} {:>10.2f}  {}\n", layer.name, layer.labels,
               layer.parts.channels, layer.parts.space, layer.parts.batch, layer.bytes / (1 << 20),
               layer.runnerUp.empty()
                   ? "none"
                   : fmt::format("{} (+{:.4f} ms)", layer.runnerUp,
                                 std::max(0.0, layer.runnerUpSeconds - plan.seconds) * 1e3));
  if (!plan.recomputed.empty())
    fmt::print("\n  {}\n", recomputedText(plan));
  if (!plan.shared.empty())
    fmt::print("\n  {}\n", sharedText(plan));
  // Labels on the fine grid are explained by the columns above; those on a pinned grid have no
  // order.
  const char* above = "\n";
  for (const PlannedLayer& layer : plan.layers)
    if (!fieldIn(layer.labels).empty()) {
      fmt::print("{}  {}: {}\n", above, layer.name, layer.meaning);
      above = "";
    }
}

Sizes gridOption(const char* name) {
  Sizes grid = sizesOption(name);
  if (grid.size() != 2)
    throw std::runtime_error(
        fmt::format("-{} has {} numbers; pass two, such as -{} 16,32", name, grid.size(), name));
  return grid;
}

void printCost(const NamedPlan& plan, bool isJson) {
  const std::string equation = textOption("cost");
  const Sizes grid = gridOption("grid");
  const Sizes convolutions = textOption("conv_grid").empty() ? grid : gridOption("conv_grid");
  const double seconds =
      plan.publishedSeconds(equation, {grid[0], grid[1]}, {convolutions[0], convolutions[1]});
  if (isJson)
    fmt::print("{{\"cost\": {}, \"grid\": {}, \"conv_grid\": {}, \"time\": {}}}\n",
               quoted(equation), textOf(grid), textOf(convolutions), seconds);
  else
    fmt::print("{} on {} x {}: {:.4f} ms\n", equation, grid[0], grid[1], seconds * 1e3);
}

// Rejects options that do not apply to a figure, which has its own batches and processes, and whose
// grids have published prices.
void checkFigureOptions() {
  constexpr std::string_view kOfFigures[] = {"network", "alpha", "beta", "figure", "chart"};
  for (const ProgramOption& option : kNetworkOptions) {
    TenonBool isGiven = TENON_FALSE;
    require(TenonOptionsHas("-", option.name, &isGiven));
    if (isGiven && std::ranges::find(kOfFigures, option.name) == std::end(kOfFigures))
      throw std::runtime_error(fmt::format(
          "-{} does not apply to a figure, which takes -{}; leave it out, or leave out -figure and "
          "-chart",
          option.name, fmt::join(kOfFigures, ", -")));
  }
}

void showFigure() {
  checkFigureOptions();
  const std::string network = textOption("network").empty() ? "alexnet" : textOption("network");
  const TenonInt figure = intOption("figure");
  const auto panels = figureOf(network, figure, realOption("alpha"), 1 / betaOption());
  if (panels.empty())
    throw std::runtime_error(
        fmt::format("-figure is {}; the figures that can be drawn are 6, 7, 9 and 10", figure));
  if (const std::string path = textOption("chart"); !path.empty()) {
    const std::string chart = drawFigure(
        fmt::format("Figure {} of arXiv 1712.04432, {}: communication", figure, network), panels);
    require(TenonWriteFile(path.c_str(), chart.data(), static_cast<TenonInt>(chart.size())));
  }
  printFigure(panels);
}

} // namespace

int planNetwork() {
  const bool isJson = flagOption("json");
  // -chart alone is an error, which showFigure() reports.
  if (intOption("figure") != 0 || !textOption("chart").empty()) {
    showFigure();
    return 0;
  }
  const Ref<NamedPlan> plan = planFromOptions();
  // A published equation has its own grid and needs no number of processes.
  if (!textOption("cost").empty())
    printCost(*plan, isJson);
  else {
    const TenonInt processes = countOption("processes", "number of processes");
    plan->set("processes", processes);
    if (const std::string machine = textOption("machine"); !machine.empty())
      plan->setMachine(machineFor(machine, processes));
    (isJson ? printAsJson : printAsText)(plan->search());
  }
  return 0;
}

} // namespace tenon::tools
