// SPDX-License-Identifier: BSD-2-Clause
// The request for a plan, and the search: a cost model and its best plan for each process grid that
// the request allows (pricedPlan), then the fastest of all (bestOf). A changed setting discards the
// plan; a changed rate of the machine also fitted rates; setSpace(), which a search calls, neither.
#include "planner/network_plan.hpp"

#include "geometry/layout/checked_grid.hpp"
#include "machine/link.hpp"
#include "sys/errors/error.hpp"
#include "sys/log/log.hpp"
#include "sys/options/option_text.hpp"
#include "sys/text/text.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <tuple>

namespace tenon {

namespace {

constexpr OptionSpec kPlanOptions[] = {
    {"processes",
     OptionSpec::Int,
     "1",
     "number of processes that a plan is for",
     nullptr,
     {1, static_cast<double>(kMaxProcesses)}},
    {"link_latency", OptionSpec::Real, "2e-6", "latency of the link of each process, in seconds",
     nullptr, atLeast(0)},
    {"link_bandwidth", OptionSpec::Real, "6e9",
     "bandwidth of the link of each process, in bytes per second", nullptr, above(0)},
    {"input_shape", OptionSpec::Ints, nullptr,
     "shape of a sample of the input, without the batch: channels, then space", nullptr,
     atLeast(1)},
    {"input_shapes", OptionSpec::String, "",
     "of a network with several inputs, the shapes of a sample of each, separated by semicolons: "
     "2,64,64;1,64,64"},
    {"flop_rate", OptionSpec::Real, nullptr,
     "floating-point operations per second of a process; by default 5e10, on the "
     "device 1e13",
     nullptr, above(0)},
    {"memory_rate", OptionSpec::Real, nullptr,
     "bytes per second that a process reads and writes; by default 1e10, on the device "
     "1e12",
     nullptr, above(0)},
    {"input_channels", OptionSpec::Flag, nullptr,
     "whether input channels may be split (label i); by default they may"},
    {"memory_limit", OptionSpec::Int, "0",
     "bytes of each process that a plan may take; 0: no limit", nullptr, atLeast(0)},
    {"recompute", OptionSpec::Flag, "true",
     "whether layers may compute again for the adjoint what does not fit into the memory limit"},
    {"halo_depth", OptionSpec::Int, "1",
     "layers that may share one halo exchange, at most, where that saves time: the first of them "
     "compute more cells",
     nullptr, atLeast(1)},
    {"optimizer_state", OptionSpec::Int, "2",
     "tensors that the optimizer keeps for each parameter: 1 for sgd, 2 for adam", nullptr,
     atLeast(0)},
    {"objective", OptionSpec::Choice, "training",
     "what a plan is for: training, inference, or step, one of a solver that evaluates "
     "the network every evaluate_every steps",
     "training|inference|step"},
    {"evaluate_every", OptionSpec::Int, "1",
     "(objective step) steps of the solver for each evaluation of the network", nullptr,
     atLeast(1)},
    {"input_grid", OptionSpec::String, "",
     "where the input lies, as process grid and properties: 4x2:S2,S3"},
    {"output_grid", OptionSpec::String, "", "where the output is wanted, in the same way"},
    {"placement", OptionSpec::Choice, "batch",
     "what the outermost levels of the machine split: batch, space, auto for the faster, or all "
     "for "
     "the fastest of all placements of the grid's axes on the levels",
     "batch|space|auto|all"},
    {"fewer_processes", OptionSpec::Flag, "false",
     "whether plans that leave processes idle are looked for, too"},
    {"overlap_share",
     OptionSpec::Real,
     "0",
     "share of communication that goes on beside computation",
     nullptr,
     {0, 1}},
};
const OptionRegistration kPlanRegistration{{"plan", kPlanOptions}};

// Numbers of processes with small prime factors to try; each costs a whole search.
constexpr int kMaxRounded = 3;

// Returns a layout of equal blocks on a process grid whose ranks are in row-major order. The grid
// is created only when the number of processes is known: the extents come from the user, and their
// product can be far larger.
NetworkPlan::PinnedEnd balancedOn(std::vector<int> grid, Properties properties) {
  return
      [grid = std::move(grid), given = std::move(properties)](const Shape& shape, Index processes) {
        return Layout({.shape = shape, .grid = gridWithin(grid, processes), .properties = given});
      };
}

// Parses "4x2:S2,S3"; an empty text pins nothing.
NetworkPlan::PinnedEnd endFrom(const std::string& text, const char* setting) {
  if (text.empty())
    return {};
  const std::size_t colon = text.find(':');
  std::vector<int> grid;
  for (const std::string& extent : split(text.substr(0, colon), 'x')) {
    const auto number = parseInt(extent);
    if (colon == std::string::npos || !number || *number < 1 ||
        *number > std::numeric_limits<int>::max())
      throw Error(TENON_ERR_ARG,
                  fmt::format("{} is '{}'; pass a process grid with at least 1 process along each "
                              "axis, and a property for each axis, such as 4x2:S2,S3",
                              setting, text));
    grid.push_back(static_cast<int>(*number));
  }
  return balancedOn(std::move(grid), parseProperties(text.substr(colon + 1)));
}

// Parses the shapes of several inputs: "2,64,64;1,64,64".
std::vector<Shape> shapesFrom(const std::string& text) {
  std::vector<Shape> shapes;
  for (const std::string& input : text.empty() ? std::vector<std::string>() : split(text, ';')) {
    const auto extents = parseInts(input);
    if (!extents || std::ranges::any_of(*extents, [](Index extent) { return extent < 1; }))
      throw Error(
          TENON_ERR_ARG,
          fmt::format("input_shapes is '{}'; pass extents of at least 1 for each input, such "
                      "as 2,64,64;1,64,64",
                      text));
    shapes.push_back(*extents);
  }
  return shapes;
}

} // namespace

NetworkPlan::NetworkPlan(std::string network, Index batch, std::span<const OptionSpec> own)
    : SettableObject(kClass), network_(std::move(network)), batch_(batch),
      settings_({kPlanOptions, own}) {
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
  const auto textOf = [&](const char* name) { return after.value<std::string>(name, owner()); };
  PinnedEnd input = everyInput_, output = outputEnd_; // a layout that the user passed remains
  if (isChanged({"input_grid"}))
    input = endFrom(textOf("input_grid"), "input_grid");
  if (isChanged({"output_grid"}))
    output = endFrom(textOf("output_grid"), "output_grid");
  std::vector<Shape> samples = shapesFrom(textOf("input_shapes"));
  if (samples.empty())
    if (const auto sample = after.find<std::vector<Index>>("input_shape"))
      samples = {*sample};

  samples_ = std::move(samples);
  everyInput_ = std::move(input);
  if (isChanged({"input_grid"}))
    inputEnds_.clear();
  outputEnd_ = std::move(output);
  processes_ = after.value<Index>("processes", owner());
  link_ = {.latency = after.value<double>("link_latency", owner()),
           .bandwidth = after.value<double>("link_bandwidth", owner())};
  flops_ = after.find<double>("flop_rate");
  memory_ = after.find<double>("memory_rate");
  inputChannels_ = after.find<bool>("input_channels");
  memoryLimit_ = static_cast<double>(after.value<Index>("memory_limit", owner()));
  mayRecompute_ = after.value<bool>("recompute", owner());
  haloDepth_ = after.value<Index>("halo_depth", owner());
  objective_ = textOf("objective");
  optimizerStates_ = after.value<Index>("optimizer_state", owner());
  every_ = after.value<Index>("evaluate_every", owner());
  placement_ = textOf("placement");
  fewerProcesses_ = after.value<bool>("fewer_processes", owner());
  overlap_ = after.value<double>("overlap_share", owner());
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
    return FineGrid({processes_});
  // The levels must multiply to the number of processes, which are those of the job.
  if (machine_->devices() != processes_)
    throw Error(
        TENON_ERR_SHAPE,
        fmt::format("machine '{}' has {} devices, but the plan is for {} processes; set the "
                    "machine's number of nodes, or that of processes",
                    machine_->name(), machine_->devices(), processes_));
  // Factors of different levels are not merged: each axis of the grid has one kind of link.
  std::vector<Index> levels;
  for (const Level& level : machine_->levels())
    levels.push_back(level.size);
  return FineGrid(levels);
}

namespace {

bool hasSmallFactors(Index number) {
  for (Index factor : {2, 3, 5})
    while (number % factor == 0)
      number /= factor;
  return number == 1;
}

} // namespace

// Returns the grids to search, the one of all processes first, each with its axes in the orders of
// the placement. A number of processes with a large prime factor is hard to split. Fewer processes
// are therefore tried, too: without the innermost axes, which leaves some processes of each node
// idle, and the next smaller numbers that have small factors only.
std::vector<FineGrid> NetworkPlan::grids(bool fewer, const std::string& placement) const {
  std::vector<FineGrid> all = {grid()};
  if (fewer) {
    for (int axes = 1; axes <= all.front().axes(); ++axes)
      all.push_back(all.front().withoutLast(axes));
    int found = 0;
    for (Index number = processes_ - 1; number > 0 && found < kMaxRounded; --number)
      if (hasSmallFactors(number)) {
        all.push_back(FineGrid({number}));
        ++found;
      }
  }
  // On a machine of one level all orders of the axes cost the same, and one is searched.
  const bool isFlat = !machine_ || machine_->levels().size() == 1;
  std::vector<FineGrid> placed;
  for (const FineGrid& fineGrid : all)
    if (placement == "all" && !isFlat) {
      std::ranges::move(fineGrid.orders(), std::back_inserter(placed));
    } else {
      if (placement != "space")
        placed.push_back(fineGrid);
      if (placement == "space" || (placement == "auto" && !isFlat))
        placed.push_back(fineGrid.reversed());
    }
  return placed;
}

// A plan read from a file can have any placement, regardless of the setting.
std::vector<FineGrid> NetworkPlan::grids() const {
  std::vector<FineGrid> all = grids(/*fewer=*/true, grid().hasFewOrders() ? "all" : "batch");
  std::ranges::move(grids(/*fewer=*/true, "space"), std::back_inserter(all));
  return all;
}

Layout NetworkPlan::pinned(const PinnedEnd& end, const Shape& shape, const char* which) const {
  Layout layout = end(shape, processes_);
  for (int rank : layout.grid().ranks())
    if (rank >= processes_)
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("the pinned layout of the {} has a part on process {}, but the plan is for "
                      "{} processes, numbered from 0",
                      which, rank, processes_));
  return layout;
}

std::optional<Layout> NetworkPlan::pinnedInput(const DeclaredNetwork& network, int input) const {
  const auto own = inputEnds_.find(input);
  const PinnedEnd& end = own == inputEnds_.end() ? everyInput_ : own->second;
  const auto read = std::ranges::find(network.reads, input, &DeclaredMove::source);
  return end && read != network.reads.end() ? std::optional(pinned(end, read->shape, "input"))
                                            : std::nullopt;
}

std::optional<Layout> NetworkPlan::pinnedOutput(const DeclaredNetwork& network) const {
  return outputEnd_ ? std::optional(pinned(outputEnd_, network.result.shape, "output"))
                    : std::nullopt;
}

std::vector<Shape> NetworkPlan::inputShapes() const {
  std::vector<Shape> shapes = samples_;
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
  if (every_ > 1 && objective_ != "step")
    throw Error(TENON_ERR_ARG,
                fmt::format("the network is evaluated every {} steps, but the objective is {}; set "
                            "evaluate_every 1, or objective step",
                            every_, objective_));
  if (haloDepth_ > 1 && overlap_ > 0)
    throw Error(TENON_ERR_ARG,
                fmt::format("halo_depth is {} and overlap_share {}: what shared halos save is not "
                            "priced beside computation; set halo_depth 1, or overlap_share 0",
                            haloDepth_, overlap_));
}

std::unique_ptr<CostModel> NetworkPlan::prices(const FineGrid& grid) const {
  DeclaredNetwork network = layers();
  network.savesRounded |= savesRounded_;
  // A solver evaluates the network without adjoints; each step bears its share of an evaluation.
  OwnTask task{.objective = trains() ? Objective::Training : Objective::Inference,
               .optimizerStates = optimizerStates_,
               .stepsPerEvaluation = every_};
  int inputs = 0;
  for (const DeclaredMove& read : network.reads)
    inputs = std::max(inputs, read.source + 1);
  task.input = pinnedInput(network);
  for (int input = 1; input < inputs; ++input)
    task.furtherInputs.push_back(pinnedInput(network, input));
  task.output = pinnedOutput(network);
  task.scratch = scratch();
  task.target = Target::fromOptions(space_);
  task.routes = RoutePolicy::fromOptions();
  task.bucketBytes = bucketBytes();
  task.shared = shared();
  return std::make_unique<OwnModel>(std::move(network), grid, rates(),
                                    inputChannels_.value_or(true), std::move(task));
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
  rates.flops = flops_.value_or(rates.flops);
  rates.memory = memory_.value_or(rates.memory);
  return rates;
}

OwnRates NetworkPlan::rates() const {
  if (fitted_)
    return *fitted_;
  if (!machine_)
    return {link_, kernels()};
  return {ratesOf(*machine_, link_), machine_->rates().kernels.value_or(kernels())};
}

namespace {

double secondsToCompare(const FoundPlan& plan) {
  return plan.overlapped.value_or(plan.seconds);
}

} // namespace

std::string recomputedText(const FoundPlan& plan) {
  return fmt::format("computed again for the adjoint, in {:.4g} ms of these: {}",
                     1e3 * plan.recomputationSeconds, fmt::join(plan.recomputed, ", "));
}

std::string sharedText(const FoundPlan& plan) {
  return fmt::format("halos are computed by the layers before, which saves {:.4g} ms: {}",
                     1e3 * plan.sharedSeconds, fmt::join(plan.shared, ", "));
}

FoundPlan NetworkPlan::pricedPlan(const FineGrid& grid) const {
  std::unique_ptr<CostModel> model;
  {
    static const int event = logEvent("PlanPrices");
    const LogScope scope(event);
    model = prices(grid);
  }
  FoundPlan found = memoryLimit_ > 0 ? fittingPlan(*model) : findPlan(*model, fixed_, 0, overlap_);
  // Recomputation assumes one halo exchange per layer and cannot be combined with shared halos.
  if (haloDepth_ > 1 && found.recomputed.empty())
    shareHalos(*model, haloDepth_, memoryLimit_, found);
  return found;
}

// The fastest plan without recomputation.
FoundPlan NetworkPlan::planWithin(const CostModel& model) const {
  // Layers share buffers, so the bytes of a plan are not a sum over layers: the limit of the sum is
  // lowered until the plan fits.
  constexpr int kMaxSearches = 8;
  double limit = memoryLimit_, over = 0;
  for (int search = 0; search < kMaxSearches && (search == 0 || limit > 0); ++search) {
    std::optional<FoundPlan> found;
    try {
      found = findPlan(model, fixed_, limit, overlap_);
    } catch (const Error& error) {
      // In later searches the error names the lowered limit, which the user has not set.
      if (search == 0 || error.code() != TENON_ERR_MEMORY_LIMIT)
        throw;
      break;
    }
    over = found->bytes - memoryLimit_;
    if (over <= 0)
      return *std::move(found);
    limit -= over;
  }
  throw Error(TENON_ERR_MEMORY_LIMIT,
              fmt::format("the memory limit is {} for each process, but the plans that were "
                          "found need at least {} more. Raise the limit, or use a smaller batch",
                          sizeText(std::llround(memoryLimit_)), sizeText(std::llround(over))));
}

// Chooses layouts first, then recomputation. The candidates are the fastest plans without a limit,
// within two limits between its bytes and the requested one, and within the latter. All but the
// last recompute layers until they fit. No plan is faster than that without a limit, which bounds
// the gap.
FoundPlan NetworkPlan::fittingPlan(const CostModel& model) const {
  if (!mayRecompute_ || !model.knowsRecomputation())
    return planWithin(model);
  const FoundPlan free = findPlan(model, fixed_, 0, overlap_);
  if (free.bytes <= memoryLimit_)
    return free;
  std::optional<FoundPlan> best;
  std::optional<Error> none;
  double least = std::numeric_limits<double>::infinity();
  try {
    best = planWithin(model);
  } catch (const Error& error) {
    if (error.code() != TENON_ERR_MEMORY_LIMIT)
      throw;
    none = error;
  }
  constexpr double kOnTheWay[] = {0, 1. / 3, 2. / 3, 1};
  std::vector<std::vector<int>> tried;
  for (double share : kOnTheWay) {
    FoundPlan one = free;
    try {
      if (share > 0)
        one = findPlan(model, fixed_,
                       std::pow(free.bytes, 1 - share) * std::pow(memoryLimit_, share), overlap_);
    } catch (const Error& error) {
      if (error.code() != TENON_ERR_MEMORY_LIMIT)
        throw;
      break;
    }
    const bool isKnown = std::ranges::find(tried, one.parallelizations) != tried.end();
    if (isKnown || (best && secondsToCompare(one) >= secondsToCompare(*best)))
      continue;
    tried.push_back(one.parallelizations);
    const bool fits = recomputeWithin(model, memoryLimit_, one);
    least = std::min(least, one.bytes);
    if (fits && (!best || secondsToCompare(one) < secondsToCompare(*best)))
      best = std::move(one);
  }
  if (!best)
    throw Error(none->code(),
                fmt::format("{}. With layers that compute again for the adjoint what they wrote, "
                            "the plans that were found need {}",
                            none->text(), sizeText(std::llround(least))),
                none->where());
  best->gap = std::max(best->gap, best->seconds / free.seconds * (1 + free.gap) - 1);
  return *std::move(best);
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
      if (!best || secondsToCompare(found) < secondsToCompare(*best))
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
    found_ = bestOf(grids(fewerProcesses_, placement_));
  } catch (const Error& error) {
    if (error.code() != TENON_ERR_MEMORY_LIMIT)
      throw;
    throw Error(error.code(), error.text() + whatFits(), error.where());
  }
  return *found_;
}

// The bytes per process of a plan within the limit; empty if there is none.
std::string NetworkPlan::bytesOfFitting(Index processes, bool savesRounded, bool recomputes) {
  // The levels of a machine and its rates are valid only for the requested number of processes.
  struct Restored { // by the destructor
    NetworkPlan& plan;
    decltype(std::tuple(processes_, machine_, fitted_, mayRecompute_)) before;
    ~Restored() {
      plan.savesRounded_ = false;
      std::tie(plan.processes_, plan.machine_, plan.fitted_, plan.mayRecompute_) =
          std::move(before);
    }
  };
  const Restored restored{*this, {processes_, machine_, fitted_, mayRecompute_}};
  if (processes != processes_) {
    machine_.reset();
    fitted_.reset();
  }
  processes_ = processes;
  savesRounded_ = savesRounded;
  mayRecompute_ = recomputes;
  try {
    return sizeText(static_cast<Index>(pricedPlan(grid()).bytes));
  } catch (const Error&) { // a candidate without a plan is not listed
    return "";
  }
}

// Returns the alternatives within the limit: ". What fits: 8 processes (1.3 GiB each)".
std::string NetworkPlan::whatFits() {
  constexpr Index kMaxTimes = 16;
  std::vector<std::string> alternatives;
  const bool mayRound = trains() && !layers().savesRounded;
  if (mayRound)
    if (const std::string bytes = bytesOfFitting(processes_, true, mayRecompute_); !bytes.empty())
      alternatives.push_back(fmt::format("saved_type bfloat16 of the network ({} each)", bytes));
  if (!mayRecompute_)
    if (const std::string bytes = bytesOfFitting(processes_, false, true); !bytes.empty())
      alternatives.push_back(fmt::format("recompute true of the plan ({} each)", bytes));
  Index tried = processes_;
  for (Index times = 2; times <= kMaxTimes && processes_ * times <= kMaxProcesses; times *= 2) {
    tried = processes_ * times;
    if (const std::string bytes = bytesOfFitting(tried, false, mayRecompute_); !bytes.empty()) {
      alternatives.push_back(fmt::format("{} processes ({} each)", tried, bytes));
      break;
    }
  }
  if (alternatives.empty())
    return fmt::format(". Nothing was found to fit with up to {} processes{}", tried,
                       mayRound ? ", nor with saved_type bfloat16 of the network" : "");
  return fmt::format(". What fits: {}", fmt::join(alternatives, "; "));
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
