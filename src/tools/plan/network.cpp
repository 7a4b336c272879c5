// SPDX-License-Identifier: BSD-2-Clause
// `tenon plan network`: searches a plan, prices a grid by a published equation, or computes a
// figure. All numbers are the library's; here options become calls, and whatever an option would
// contradict or change nothing about is refused, so that no answer is for another question.
#include "tools/plan/commands.hpp"

#include "tools/plan/figure.hpp"
#include "tools/plan/system.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace tenon::tools {

// Latency and bandwidth are those of the paper whose figures can be computed.
const std::vector<ProgramOption> kNetworkOptions{
    {"network", TENON_OPTION_STRING, "",
     "network: alexnet, vgg16, resnet50, unet3d_256, or a JSON file"},
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
    {"fix", TENON_OPTION_STRING, "", "words that are given: conv1=n9,fc6=n4,o5; may be repeated"},
    {"input_channels", TENON_OPTION_WORD, "auto",
     "also split input channels (label i): true, false, or auto: under model own"},
    {"objective", TENON_OPTION_WORD, "training",
     "(own) what the plan is for: training, inference, or step, one of a solver's"},
    {"every", TENON_OPTION_INT, "1", "(objective step) solver steps for each evaluation"},
    {"pin_input", TENON_OPTION_STRING, "",
     "(own) where the input lies, as grid and properties: 4x2:S2,S3"},
    {"pin_output", TENON_OPTION_STRING, "", "(own) where the output is wanted, in the same way"},
    {"placement", TENON_OPTION_WORD, "auto",
     "(machine) what its outermost levels split: batch, space, or auto for the faster"},
    {"fewer", TENON_OPTION_FLAG, "false", "also look for plans that leave processes idle"},
    {"overlap", TENON_OPTION_REAL, "0",
     "(own) share of communication that goes on beside computation, 0 to 1"},
    {"cost", TENON_OPTION_STRING, "",
     "price a grid by a published equation instead: eq3, eq4, eq7, eq8, eq9, eq4_003"},
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
  // A bandwidth is its inverse, so a beta of 0 would be no number.
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

TenonBool flagOf(const char* name, const std::string& given) {
  // An option without a value is one that is on, as with flags.
  if (given.empty() || given == "true")
    return TENON_TRUE;
  if (given != "false")
    throw std::runtime_error(fmt::format("-{} is {}; it must be true, false or auto", name, given));
  return TENON_FALSE;
}

// Fixes the words of layers, "conv1=n6,o3,fc6=n9". A word has commas itself, so that a piece with
// '=' begins another layer and one without continues the word.
void fixWords(TenonPlanner planner, const std::string& given) {
  std::vector<std::pair<std::string, std::string>> words;
  for (const std::string& piece : wordsOf(given, ',')) {
    const std::size_t sign = piece.find('=');
    if (sign != std::string::npos)
      words.emplace_back(piece.substr(0, sign), piece.substr(sign + 1));
    else if (!words.empty())
      words.back().second += "," + piece;
    else
      throw std::runtime_error(fmt::format(
          "-fix {}: '{}' names no layer; pass layer=word, such as conv1=n6,o3", given, piece));
  }
  for (const auto& [layer, word] : words)
    require(TenonPlannerFix(planner, layer.c_str(), word.c_str()));
}

// Settings of the planner by their names.
void setInteger(const Planner& planner, const char* setting, TenonInt value) {
  require(TenonObjectSetIntegers(planner.object(), setting, 1, &value));
}
void setReal(const Planner& planner, const char* setting, double value) {
  require(TenonObjectSetReal(planner.object(), setting, value));
}
void setText(const Planner& planner, const char* setting, const std::string& value) {
  require(TenonObjectSetText(planner.object(), setting, value.c_str()));
}

void setTask(const Planner& planner) {
  setText(planner, "objective", textOption("objective"));
  setInteger(planner, "evaluate_every", intOption("every"));
  setText(planner, "input_grid", textOption("pin_input"));
  setText(planner, "output_grid", textOption("pin_output"));
  setReal(planner, "overlap_share", realOption("overlap"));
  setText(planner, "placement", textOption("placement"));
  require(TenonObjectSetBool(planner.object(), "fewer_processes",
                             flagOption("fewer") ? TENON_TRUE : TENON_FALSE));
}

Planner plannerFromOptions() {
  const std::string network = textOption("network");
  if (network.empty())
    throw std::runtime_error("-network is missing; pass a name such as alexnet, or a JSON file");
  Planner planner;
  require(TenonPlannerCreate(network.c_str(), countOption("batch", "global batch size"),
                             planner.out()));
  setText(planner, "cost_model", textOption("model"));
  setReal(planner, "link_latency", realOption("alpha"));
  setReal(planner, "link_bandwidth", 1 / betaOption());
  setInteger(planner, "memory_limit", intOption("memory_limit"));
  setReal(planner, "flop_rate", realOption("flop_rate"));
  setReal(planner, "memory_rate", realOption("memory_rate"));
  setText(planner, "data_type", textOption("data_type"));
  // With auto the model decides, which a call could not undo.
  if (const std::string given = textOption("input_channels"); given != "auto")
    require(
        TenonObjectSetBool(planner.object(), "input_channels", flagOf("input_channels", given)));
  if (!textOption("input").empty()) {
    const Sizes shape = sizesOption("input");
    require(TenonObjectSetIntegers(planner.object(), "input_shape",
                                   static_cast<TenonInt>(shape.size()), shape.data()));
  }
  setTask(planner);
  fixWords(planner, textOption("fix"));
  return planner;
}

// A machine with as many nodes as the processes fill. If they do not fill whole nodes the
// description stays as it is, and the library says that the numbers differ.
Machine machineFor(const std::string& name, TenonInt processes) {
  Machine machine;
  require(TenonMachineCreateFromFile(name.c_str(), 0, machine.out()));
  TenonInt devices = 0, nodes = 0;
  int levels = 0;
  require(TenonMachineGetCounts(machine, &levels, nullptr, &devices));
  for (int level = 0; level < levels; ++level) {
    const std::string levelName = textFrom([&](char* text, TenonInt length, TenonInt* needed) {
      return TenonMachineGetLevelName(machine, level, text, length, needed);
    });
    if (levelName == "node")
      require(TenonMachineGetLevelSize(machine, level, &nodes));
  }
  // The machine's own number of nodes is only that of its description.
  const TenonInt inNode = nodes > 0 ? devices / nodes : devices;
  if (nodes == 0 || devices == processes || processes % inNode != 0)
    return machine;
  Machine resized;
  require(TenonMachineCreateFromFile(name.c_str(), processes / inNode, resized.out()));
  return resized;
}

struct NetworkRow {
  std::string name, word, runnerUp;
  TenonInt model = 1, domain = 1, batch = 1;
  double bytes = 0, runnerUpSeconds = 0;
};

struct NetworkAnswer {
  double seconds = 0, bytes = 0, gap = 0;
  TenonInt searches = 1, processes = 1;
  bool isReversed = false;
  std::optional<double> overlapped, uniform, batch, model, domain;
  std::vector<NetworkRow> rows;
};

double numberOf(TenonPlanner planner, const char* layer, const char* name) {
  double value = 0;
  require(TenonPlannerGetNumber(planner, layer, name, &value));
  return value;
}

TenonInt countOf(TenonPlanner planner, const char* layer, const char* name) {
  return static_cast<TenonInt>(numberOf(planner, layer, name));
}

// None where there is no such plan: a baseline that is not possible, or a plan without overlap, is
// no error here.
std::optional<double> secondsOf(TenonPlanner planner, const char* which) {
  double seconds = 0;
  const TenonErrorCode code = TenonPlannerGetNumber(planner, nullptr, which, &seconds);
  if (code == TENON_ERR_STATE)
    return std::nullopt;
  require(code);
  return seconds;
}

NetworkRow rowOf(TenonPlanner planner, TenonInt index) {
  const auto textOfLayer = [&](const char* name) {
    return textFrom([&](char* text, TenonInt length, TenonInt* needed) {
      return TenonPlannerGetText(planner, index, name, text, length, needed);
    });
  };
  NetworkRow row;
  row.name = textOfLayer("name");
  row.word = textOfLayer("word");
  row.runnerUp = textOfLayer("runner_up");
  const char* layer = row.name.c_str();
  row.model = countOf(planner, layer, "channel_parts");
  row.domain = countOf(planner, layer, "space_parts");
  row.batch = countOf(planner, layer, "batch_parts");
  row.bytes = numberOf(planner, layer, "bytes");
  row.runnerUpSeconds = numberOf(planner, layer, "runner_up");
  return row;
}

NetworkAnswer answerOf(TenonPlanner planner) {
  // All that is printed comes from one search, so that text and JSON cannot differ.
  require(TenonPlannerSearch(planner));
  NetworkAnswer answer;
  answer.seconds = numberOf(planner, nullptr, "seconds");
  answer.bytes = numberOf(planner, nullptr, "bytes");
  answer.gap = numberOf(planner, nullptr, "gap");
  answer.searches = countOf(planner, nullptr, "searches");
  answer.processes = countOf(planner, nullptr, "processes");
  answer.isReversed = countOf(planner, nullptr, "reversed") != 0;
  answer.overlapped = secondsOf(planner, "overlapped");
  answer.uniform = secondsOf(planner, "uniform");
  answer.batch = secondsOf(planner, "batch");
  answer.model = secondsOf(planner, "model");
  answer.domain = secondsOf(planner, "domain");
  const TenonInt count = countOf(planner, nullptr, "layers");
  for (TenonInt i = 0; i < count; ++i)
    answer.rows.push_back(rowOf(planner, i));
  return answer;
}

std::string orNull(const std::optional<double>& number) {
  return number ? fmt::format("{}", *number) : "null";
}

void printAsJson(const NetworkAnswer& answer) {
  fmt::print(
      "{{\"time\": {}, \"uniform_time\": {}, \"pure_batch_time\": {}, \"pure_model_time\": {}, "
      "\"pure_domain_time\": {}, \"overlapped_time\": {}, \"bytes\": {}, \"gap\": {}, "
      "\"certified\": {}, \"processes\": {}, "
      "\"placement\": \"{}\", \"layers\": [",
      answer.seconds, orNull(answer.uniform), orNull(answer.batch), orNull(answer.model),
      orNull(answer.domain), orNull(answer.overlapped), answer.bytes, answer.gap, answer.searches,
      answer.processes, answer.isReversed ? "space" : "batch");
  const char* separator = "";
  for (const NetworkRow& row : answer.rows) {
    fmt::print("{}{{\"name\": {}, \"letters\": {}, \"model\": {}, \"domain\": {}, \"batch\": {}, "
               "\"bytes\": {}, \"runner_up\": {}, \"runner_up_time\": {}}}",
               separator, quoted(row.name), quoted(row.word), row.model, row.domain, row.batch,
               row.bytes, row.runnerUp.empty() ? "null" : quoted(row.runnerUp),
               row.runnerUp.empty() ? "null" : fmt::format("{}", row.runnerUpSeconds));
    separator = ", ";
  }
  fmt::print("]}}\n");
}

// A baseline that is not possible is listed too: that no single grid fits is a reason for a plan.
void printBaseline(const char* name, const std::optional<double>& seconds, double plan) {
  if (seconds)
    fmt::print("  {:<22} {:>12.4f} ms   {:.2f} times as long\n", name, *seconds * 1e3,
               plan > 0 ? *seconds / plan : 1);
  else
    fmt::print("  {:<22} {:>12}\n", name, "impossible");
}

void printAsText(const NetworkAnswer& answer) {
  fmt::print("  {:<22} {:>12.4f} ms   {:.1f} MiB per process\n", "plan", answer.seconds * 1e3,
             answer.bytes / (1 << 20));
  // A gap is left only where a memory limit binds and the exact search gave up.
  if (answer.gap > 0)
    fmt::print("  {:<22} {:>12.2g} of the time at most, which the search left open\n", "gap",
               answer.gap);
  if (answer.overlapped)
    fmt::print("  {:<22} {:>12.4f} ms\n", "with overlap", *answer.overlapped * 1e3);
  // Only what differs from what was asked for is told.
  if (answer.processes < intOption("processes"))
    fmt::print("  {:<22} {:>12}\n", "processes that work", answer.processes);
  if (answer.isReversed)
    fmt::print("  {:<22} {:>12}\n", "outermost", "space");
  printBaseline("same grid everywhere", answer.uniform, answer.seconds);
  printBaseline("batch only", answer.batch, answer.seconds);
  printBaseline("model only", answer.model, answer.seconds);
  printBaseline("domain only", answer.domain, answer.seconds);
  fmt::print("\n  {:<12} {:<14} {:>6} {:>6} {:>6} {:>10}  {}\n", "layer", "word", "model", "domain",
             "batch", "MiB", "next best");
  for (const NetworkRow& row : answer.rows)
    fmt::print("  {:<12} {:<14} {:>6} {:>6} {:>6} {:>10.2f}  {}\n", row.name, row.word, row.model,
               row.domain, row.batch, row.bytes / (1 << 20),
               row.runnerUp.empty()
                   ? "none"
                   : fmt::format("{} (+{:.4f} ms)", row.runnerUp,
                                 std::max(0.0, row.runnerUpSeconds - answer.seconds) * 1e3));
}

Sizes gridOption(const char* name) {
  Sizes grid = sizesOption(name);
  if (grid.size() != 2)
    throw std::runtime_error(
        fmt::format("-{} has {} numbers; pass two, such as -{} 16,32", name, grid.size(), name));
  return grid;
}

void printCost(TenonPlanner planner, bool isJson) {
  const std::string equation = textOption("cost");
  const Sizes grid = gridOption("grid");
  const Sizes convolutions = textOption("conv_grid").empty() ? grid : gridOption("conv_grid");
  double seconds = 0;
  require(TenonPlannerGetPublishedSeconds(planner, equation.c_str(), grid[0], grid[1],
                                          convolutions[0], convolutions[1], &seconds));
  if (isJson)
    fmt::print("{{\"cost\": {}, \"grid\": {}, \"conv_grid\": {}, \"time\": {}}}\n",
               quoted(equation), textOf(grid), textOf(convolutions), seconds);
  else
    fmt::print("{} on {} x {}: {:.4f} ms\n", equation, grid[0], grid[1], seconds * 1e3);
}

// Refuses options that a figure does not have: it has its own batches and processes, and all its
// grids have their published prices.
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
  if (intOption("figure") != 0 || !textOption("chart").empty()) {
    showFigure();
    return 0;
  }
  const Planner planner = plannerFromOptions();
  // A published equation has its own grid, so that it needs no number of processes.
  if (!textOption("cost").empty())
    printCost(planner, isJson);
  else {
    const TenonInt processes = countOption("processes", "number of processes");
    setInteger(planner, "processes", processes);
    if (const std::string machine = textOption("machine"); !machine.empty())
      require(TenonPlannerSetMachine(planner, machineFor(machine, processes)));
    (isJson ? printAsJson : printAsText)(answerOf(planner));
  }
  return 0;
}

} // namespace tenon::tools
