// SPDX-License-Identifier: BSD-2-Clause
// The request for a plan, and its search: a cost model and the best plan for each process grid that
// the request allows (candidate_grids.hpp, pricedPlan), then the fastest of all (bestOf).
//
// A changed setting discards the plan that was found. A changed rate of the machine also discards
// the rates that were fitted to measurements (fitted_). Each search calls setSpace(), which
// discards nothing.
#include "planner/network_plan.hpp"

#include "machine/link.hpp"
#include "planner/search/candidate_grids.hpp"
#include "planner/search/within_memory.hpp"
#include "sys/errors/error.hpp"
#include "sys/log/log.hpp"
#include "sys/text/text.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <tuple>

namespace tenon {

NetworkPlan::NetworkPlan(std::string network, Index batch, std::span<const OptionSpec> own)
    : SettableObject(kClass), network_(std::move(network)), batch_(batch),
      settings_({planOptions(), own}) {
  if (batch < 1)
    throw Error(TENON_ERR_ARG, fmt::format("the batch is {}; it must be >= 1", batch));
  NetworkPlan::applySettings(settings_, {});
}

void NetworkPlan::applySettings(Settings after, const Settings::Names& names) {
  const auto isChanged = [&](std::initializer_list<std::string_view> changed) {
    return std::ranges::any_of(names, [&](const std::string& name) {
      return std::ranges::find(changed, name) != changed.end();
    });
  };
  request_ = PlanRequest::from(after, owner());
  // A layout that the user passed remains until the setting changes.
  if (isChanged({"input_grid"}))
    inputEnds_.clear();
  if (isChanged({"output_grid"}))
    outputEnd_ = request_.output;
  found_.reset();
  if (isChanged({"link_latency", "link_bandwidth", "flop_rate", "memory_rate"}))
    fitted_.reset();
  settings_ = std::move(after);
}

void NetworkPlan::pinInput(int input, PinnedEnd layout) {
  found_.reset();
  inputEnds_[input] = std::move(layout);
}

void NetworkPlan::setFurtherShape(int input, Shape shape) {
  found_.reset();
  further_[input] = std::move(shape);
}

void NetworkPlan::pinOutput(PinnedEnd layout) {
  found_.reset();
  outputEnd_ = std::move(layout);
}

void NetworkPlan::fix(const std::string& layer, const std::string& parallelization) {
  checkChange("TenonPlanFix()");
  fixed_[layer] = parallelization; // before the reset, as the text can be found_'s
  found_.reset();
}

void NetworkPlan::setMachine(const Machine& machine) {
  checkChange("TenonPlanSetMachine()");
  found_.reset();
  fitted_.reset();
  machine_ = machine;
}

void NetworkPlan::setSpace(Space space) {
  const bool isMeasured =
      machine_ && (machine_->rates().kernels || machine_->rates().copyBandwidth);
  if (isMeasured && machine_->rates().space != space)
    throw Error(
        TENON_ERR_ARG,
        fmt::format("machine '{}' has rates of arrays on the {}, but the network is on the {}; "
                    "measure it with TenonMachineMeasure() or tenon bench -machine_out FILE "
                    "-space {}",
                    machine_->name(), spaceName(machine_->rates().space), spaceName(space),
                    spaceName(space)));
  space_ = space;
}

void NetworkPlan::setRates(const OwnRates& rates) {
  checkChange("TenonPlanSetRatesFrom()");
  found_.reset();
  fitted_ = rates;
}

FineGrid NetworkPlan::grid() const {
  if (!machine_)
    return FineGrid({processes()});
  // The levels must multiply to the number of processes, which are those of the job.
  if (machine_->devices() != processes())
    throw Error(
        TENON_ERR_SHAPE,
        fmt::format("machine '{}' has {} devices, but the plan is for {} processes; set the "
                    "machine's number of nodes, or that of processes",
                    machine_->name(), machine_->devices(), processes()));
  // Factors of different levels are not merged: each axis of the grid has one kind of link.
  std::vector<Index> levels;
  for (const Level& level : machine_->levels())
    levels.push_back(level.size);
  return FineGrid(levels);
}

std::vector<FineGrid> NetworkPlan::grids(bool fewerProcesses, const std::string& placement) const {
  return candidateGrids(grid(), {.placement = placement,
                                 .fewerProcesses = fewerProcesses,
                                 .isFlat = !machine_ || machine_->levels().size() == 1});
}

// A plan read from a file can have any placement, regardless of the setting.
std::vector<FineGrid> NetworkPlan::grids() const {
  std::vector<FineGrid> all =
      grids(/*fewerProcesses=*/true, grid().hasFewOrders() ? "all" : "batch");
  std::ranges::move(grids(/*fewerProcesses=*/true, "space"), std::back_inserter(all));
  return all;
}

Layout NetworkPlan::pinned(const PinnedEnd& end, const Shape& shape, const char* which) const {
  Layout layout = end(shape, processes());
  for (int rank : layout.grid().ranks())
    if (rank >= processes())
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("the pinned layout of the {} has a part on process {}, but the plan is for "
                      "{} processes, numbered from 0",
                      which, rank, processes()));
  return layout;
}

std::optional<Layout> NetworkPlan::pinnedInput(const DeclaredNetwork& network, int input) const {
  const auto own = inputEnds_.find(input);
  const PinnedEnd& end = own == inputEnds_.end() ? request_.everyInput : own->second;
  const auto read = std::ranges::find(network.reads, input, &DeclaredMove::source);
  return end && read != network.reads.end() ? std::optional(pinned(end, read->shape, "input"))
                                            : std::nullopt;
}

std::optional<Layout> NetworkPlan::pinnedOutput(const DeclaredNetwork& network) const {
  return outputEnd_ ? std::optional(pinned(outputEnd_, network.result.shape, "output"))
                    : std::nullopt;
}

std::vector<Shape> NetworkPlan::inputShapes() const {
  std::vector<Shape> shapes = request_.samples;
  for (Shape& shape : shapes)
    shape.insert(shape.begin(), batch_);
  for (const auto& [input, shape] : further_)
    if (input < static_cast<int>(shapes.size()))
      shapes[input] = shape;
    else if (input == static_cast<int>(shapes.size()))
      shapes.push_back(shape);
  if (shapes.empty())
    throw Error(TENON_ERR_STATE,
                fmt::format("'{}' is a network of layers; set the shape of a sample of its input, "
                            "the setting input_shape, or input_shapes of several",
                            network_));
  return shapes;
}

void NetworkPlan::checkTogether() const {
  request_.check();
}

std::unique_ptr<CostModel> NetworkPlan::prices(const FineGrid& grid) const {
  DeclaredNetwork network = layers();
  network.savesRounded |= savesRounded_;
  OwnTask task = this->task(network);
  return std::make_unique<OwnModel>(std::move(network), grid, rates(), std::move(task));
}

OwnTask NetworkPlan::task(const DeclaredNetwork& network) const {
  // A solver evaluates the network without adjoints; each step bears its share of an evaluation.
  OwnTask task{.objective = trains() ? Objective::Training : Objective::Inference,
               .optimizerStates = request_.optimizerStates,
               .stepsPerEvaluation = request_.stepsPerEvaluation};
  int inputs = 0;
  for (const DeclaredMove& read : network.reads)
    inputs = std::max(inputs, read.source + 1);
  task.input = pinnedInput(network);
  for (int input = 1; input < inputs; ++input)
    task.furtherInputs.push_back(pinnedInput(network, input));
  task.output = pinnedOutput(network);
  task.scratch = scratch();
  task.target = Target::fromOptions(space_);
  task.movement = movementTarget();
  task.bucketBytes = bucketBytes();
  task.shared = shared();
  task.inputChannels = request_.inputChannels.value_or(true);
  return task;
}

// A bucket needs latency + bytes / bandwidth seconds. The latency is 5 % of that if the bytes need
// 19 times as long. Larger buckets would gain little and start later.
Index NetworkPlan::bucketBytes() const {
  constexpr double kTimesLatency = 19;
  const LinkRates links = rates().links;
  return static_cast<Index>(kTimesLatency * links.latency * links.bandwidth);
}

KernelRates NetworkPlan::kernels() const {
  // Rates that the user set take precedence over the typical rates of the space; a machine file
  // takes precedence over both (rates()).
  KernelRates rates = space_ == Space::Device ? KernelRates::ofDevice() : KernelRates();
  rates.flops = request_.flops.value_or(rates.flops);
  rates.memory = request_.memory.value_or(rates.memory);
  return rates;
}

OwnRates NetworkPlan::rates() const {
  if (fitted_)
    return *fitted_;
  if (!machine_)
    return {.links = request_.link, .kernels = kernels()};
  return {.links = ratesOf(*machine_, request_.link),
          .kernels = machine_->rates().kernels.value_or(kernels())};
}

FoundPlan NetworkPlan::pricedPlan(const FineGrid& grid) const {
  std::unique_ptr<CostModel> model;
  {
    static const int event = logEvent("PlanPrices");
    const LogScope scope(event);
    model = prices(grid);
  }
  const SearchTask task{
      .fixed = fixed_, .memoryLimit = request_.memoryLimit, .overlap = request_.overlap};
  FoundPlan found = request_.memoryLimit == 0 ? findPlan(*model, task)
                    : request_.mayRecompute && model->knowsRecomputation()
                        ? recomputingPlanWithinMemory(*model, task)
                        : planWithinMemory(*model, task);
  // Recomputation assumes one halo exchange per layer and cannot be combined with shared halos.
  if (request_.haloDepth > 1 && found.recomputed.empty())
    shareHalos(*model, request_.haloDepth, request_.memoryLimit, found);
  return found;
}

// Returns the best plan of all grids that have one: a smaller number of processes can exceed the
// memory. If no grid has a plan, throws the error of the first grid, which the user requested.
FoundPlan NetworkPlan::bestOf(const std::vector<FineGrid>& grids) const {
  std::optional<FoundPlan> best;
  std::optional<Error> first;
  for (const FineGrid& fineGrid : grids) {
    try {
      FoundPlan found = pricedPlan(fineGrid);
      found.spaceOutermost = fineGrid.isReversed();
      found.axisLevels = fineGrid.levels();
      if (!best || found.comparedSeconds() < best->comparedSeconds())
        best = std::move(found);
    } catch (const Error& error) {
      if (!first)
        first = error;
    }
  }
  if (!best)
    throw *first;
  return *best;
}

const FoundPlan& NetworkPlan::search() {
  checkSets();
  checkTogether();
  if (found_)
    return *found_;
  try {
    found_ = bestOf(grids(request_.fewerProcesses, request_.placement));
  } catch (const Error& error) {
    if (error.code() != TENON_ERR_MEMORY_LIMIT)
      throw;
    throw Error(error.code(), error.text() + whatFits(), error.where());
  }
  return *found_;
}

// What could be changed in a request without a plan within its memory limit.
struct NetworkPlan::Alternative {
  Index processes = 1;
  bool savesRounded = false;
  bool mayRecompute = true;
};

// The bytes per process of the alternative's plan within the limit; empty if there is none.
std::string NetworkPlan::bytesOfFitting(const Alternative& alternative) {
  // The levels of a machine and its rates are valid only for the requested number of processes.
  struct Restored { // by the destructor
    NetworkPlan& plan;
    decltype(std::tuple(request_, machine_, fitted_)) before;
    ~Restored() {
      plan.savesRounded_ = false;
      std::tie(plan.request_, plan.machine_, plan.fitted_) = std::move(before);
    }
  };
  const Restored restored{.plan = *this, .before = {request_, machine_, fitted_}};
  if (alternative.processes != request_.processes) {
    machine_.reset();
    fitted_.reset();
  }
  request_.processes = alternative.processes;
  request_.mayRecompute = alternative.mayRecompute;
  savesRounded_ = alternative.savesRounded;
  try {
    return sizeText(static_cast<Index>(pricedPlan(grid()).bytes));
  } catch (const Error&) { // a candidate without a plan is not listed
    return "";
  }
}

// Returns the alternatives within the limit: ". What fits: 8 processes (1.3 GiB each)".
std::string NetworkPlan::whatFits() {
  constexpr Index kMaxTimes = 16; // processes that are tried, as a multiple of the requested number
  const Alternative requested{.processes = processes(), .mayRecompute = request_.mayRecompute};
  std::vector<std::string> fitting;
  const auto addIfFits = [&](const Alternative& alternative, const std::string& name) {
    const std::string bytes = bytesOfFitting(alternative);
    if (!bytes.empty())
      fitting.push_back(fmt::format("{} ({} each)", name, bytes));
    return !bytes.empty();
  };
  const bool mayRound = trains() && !layers().savesRounded;
  Alternative alternative = requested;
  alternative.savesRounded = true;
  if (mayRound)
    addIfFits(alternative, "saved_type bfloat16 of the network");
  alternative = requested;
  alternative.mayRecompute = true;
  if (!requested.mayRecompute)
    addIfFits(alternative, "recompute true of the plan");
  alternative = requested;
  for (Index times = 2; times <= kMaxTimes && processes() * times <= kMaxProcesses; times *= 2) {
    alternative.processes = processes() * times;
    if (addIfFits(alternative, fmt::format("{} processes", alternative.processes)))
      break;
  }
  if (fitting.empty())
    return fmt::format(". Nothing was found to fit with up to {} processes{}",
                       alternative.processes,
                       mayRound ? ", nor with saved_type bfloat16 of the network" : "");
  return fmt::format(". What fits: {}", fmt::join(fitting, "; "));
}

const FoundPlan& NetworkPlan::found() const {
  if (!found_)
    throw Error(TENON_ERR_STATE, "the plan was not searched; call TenonPlanSearch() first");
  return *found_;
}

std::string NetworkPlan::describe() const {
  std::string text =
      fmt::format("Plan of '{}': batch {}, {}\n", network_, batch_, settings_.describe());
  if (!found_)
    return text + "  not searched\n";
  text += fmt::format("  predicted {:.4g} ms on {}\n", 1e3 * found_->seconds,
                      counted(found_->grid->size(), "process", "processes"));
  for (const PlannedLayer& layer : found_->layers)
    text +=
        fmt::format("  {}: {}{}\n", layer.name, layer.labels.empty() ? "one process" : layer.labels,
                    fieldIn(layer.labels).empty() ? "" : fmt::format(": {}", layer.meaning));
  if (!found_->recomputed.empty())
    text += "  " + recomputedText(*found_) + "\n";
  if (!found_->shared.empty())
    text += "  " + sharedText(*found_) + "\n";
  return text;
}

const PlannedLayer& NetworkPlan::layerAt(Index index) const {
  const std::vector<PlannedLayer>& layers = found().layers;
  if (index < 0 || index >= static_cast<Index>(layers.size()))
    throw Error(TENON_ERR_ARG, fmt::format("layer {} is out of range; the plan has {}, numbered "
                                           "from 0",
                                           index, layers.size()));
  return layers[index];
}

const PlannedLayer& NetworkPlan::layerNamed(const std::string& name) const {
  std::vector<std::string> names;
  for (const PlannedLayer& layer : found().layers)
    if (layer.name == name)
      return layer;
    else
      names.push_back(layer.name);
  throw Error(TENON_ERR_ARG, fmt::format("the network has no layer '{}'; did you mean '{}'?", name,
                                         nearest(name, names)));
}

} // namespace tenon
