// SPDX-License-Identifier: BSD-2-Clause
// What is asked of a plan, and its search on one grid after the other. Setters drop the plan that
// was found, and those of a machine's rates also the rates that were fitted to measurements;
// setSpace() alone drops nothing, since every search of a plan of layers calls it.
#include "planner/network_plan.hpp"

#include "machine/link.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

const std::vector<std::string> kModels = {"t1", "own"};
const std::vector<std::string> kObjectives = {"training", "inference", "step"};
const std::vector<std::string> kPlacements = {"batch", "space", "auto"};
// How many smaller numbers of processes without large factors are tried: each is a whole search.
constexpr int kMostRounded = 3;

void oneOf(const std::vector<std::string>& known, const std::string& name, const char* what) {
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw Error(TENON_ERR_ARG,
                fmt::format("there is no {} '{}'; known are: {}", what, name, joined(known)));
}

void atLeast(Index value, Index least, const char* what) {
  if (value < least)
    throw Error(TENON_ERR_ARG, fmt::format("{} is {}; it must be >= {}", what, value, least));
}

} // namespace

NetworkPlan::NetworkPlan(NetworkSource network, Index batch)
    : Object(kClass), network_(std::move(network)), batch_(batch) {
  atLeast(batch, 1, "the batch");
}

void NetworkPlan::setProcesses(Index processes) {
  atLeast(processes, 1, "the number of processes");
  if (processes > kMostProcesses)
    throw Error(TENON_ERR_ARG, fmt::format("the number of processes is {}; it must be <= {}",
                                           processes, kMostProcesses));
  found_.reset();
  processes_ = processes;
}

void NetworkPlan::setModel(const std::string& name) {
  oneOf(kModels, name, "cost model");
  found_.reset();
  model_ = name;
}

void NetworkPlan::setLink(double latency, double bandwidth) {
  if (!(latency >= 0) || !std::isfinite(latency) || !(bandwidth > 0) || !std::isfinite(bandwidth))
    throw Error(TENON_ERR_ARG, fmt::format("latency is {} s and bandwidth {} B/s; they must be "
                                           "finite, at least 0 and above 0",
                                           latency, bandwidth));
  found_.reset();
  fitted_.reset();
  link_ = {latency, 1 / bandwidth};
}

void NetworkPlan::setInputChannels(bool on) {
  found_.reset();
  inputChannels_ = on;
}

void NetworkPlan::setMemoryLimit(Index bytes) {
  atLeast(bytes, 0, "the memory limit");
  found_.reset();
  memoryLimit_ = static_cast<double>(bytes);
}

void NetworkPlan::setObjective(const std::string& name, Index every) {
  oneOf(kObjectives, name, "objective");
  atLeast(every, 1, "the number of steps for each evaluation");
  // Training and inference are priced by the evaluation, and a number of steps would be ignored.
  if (every > 1 && name != "step")
    throw Error(TENON_ERR_ARG, fmt::format("the network is evaluated every {} steps, but the "
                                           "objective is {}; pass 1, or objective step",
                                           every, name));
  found_.reset();
  objective_ = name;
  every_ = every;
}

void NetworkPlan::setPlacement(const std::string& name) {
  oneOf(kPlacements, name, "placement");
  found_.reset();
  placement_ = name;
}

void NetworkPlan::setFewerProcesses(bool on) {
  found_.reset();
  fewerProcesses_ = on;
}

void NetworkPlan::setOverlap(double share) {
  if (!(share >= 0 && share <= 1))
    throw Error(
        TENON_ERR_ARG,
        fmt::format("the share of communication beside computation is {}; it must be in 0 to 1",
                    share));
  found_.reset();
  overlap_ = share;
}

void NetworkPlan::pinInput(PinnedEnd layout) {
  found_.reset();
  inputEnd_ = std::move(layout);
}

void NetworkPlan::pinOutput(PinnedEnd layout) {
  found_.reset();
  outputEnd_ = std::move(layout);
}

void NetworkPlan::fix(const std::string& layer, const std::string& word) {
  found_.reset();
  fixed_[layer] = word;
}

void NetworkPlan::setMachine(const Machine& machine) {
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

void NetworkPlan::setFlops(double flops) {
  if (!(flops > 0) || !std::isfinite(flops))
    throw Error(TENON_ERR_ARG,
                fmt::format("the rate of operations is {}; it must be finite and above 0", flops));
  found_.reset();
  fitted_.reset();
  flops_ = flops;
}

void NetworkPlan::setMemoryRate(double bytesPerSecond) {
  if (!(bytesPerSecond > 0) || !std::isfinite(bytesPerSecond))
    throw Error(TENON_ERR_ARG, fmt::format("the memory rate is {}; it must be finite and above 0",
                                           bytesPerSecond));
  found_.reset();
  fitted_.reset();
  memory_ = bytesPerSecond;
}

void NetworkPlan::setRates(const OwnRates& rates) {
  found_.reset();
  fitted_ = rates;
}

void NetworkPlan::setCellBytes(Index bytes) {
  found_.reset();
  cellBytes_ = bytes;
}

FineGrid NetworkPlan::grid() const {
  if (!machine_)
    return FineGrid({processes_});
  // The levels must multiply to the number of processes, or the grid has others than the job.
  if (machine_->devices() != processes_)
    throw Error(
        TENON_ERR_SHAPE,
        fmt::format("machine '{}' has {} devices, but the plan is for {} processes; set the "
                    "machine's number of nodes, or that of processes",
                    machine_->name(), machine_->devices(), processes_));
  // The factors of a level stay together, so that an axis of the grid has one kind of link.
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

// The grids that are searched, the one of all processes first, each with the batch outermost,
// innermost or both. A number of processes with a large prime factor is hard to split, so fewer are
// tried: without the innermost axes, which leaves room on every node, and the next numbers that
// have small factors only.
std::vector<FineGrid> NetworkPlan::grids(bool fewer, bool outer, bool inner) const {
  std::vector<FineGrid> all = {grid()};
  if (fewer) {
    for (int axes = 1; axes <= all.front().axes(); ++axes)
      all.push_back(all.front().withoutLast(axes));
    int found = 0;
    for (Index number = processes_ - 1; number > 0 && found < kMostRounded; --number)
      if (hasSmallFactors(number)) {
        all.push_back(FineGrid({number}));
        ++found;
      }
  }
  std::vector<FineGrid> placed;
  for (const FineGrid& one : all) {
    if (outer)
      placed.push_back(one);
    if (inner)
      placed.push_back(one.reversed());
  }
  return placed;
}

FineGrid NetworkPlan::gridOf(const Grid& grid) const {
  // A plan of a file names its grid by ranks, and its words need the levels and the order of the
  // axes.
  for (FineGrid& one : grids(true, true, true))
    if (*one.grid() == grid)
      return std::move(one);
  throw Error(TENON_ERR_STATE,
              fmt::format("the plan is on process grid {}, which is none of {} processes",
                          grid.describe(), processes_));
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

std::optional<Layout> NetworkPlan::pinnedInput(const DeclaredNetwork& network) const {
  return inputEnd_ ? std::optional(pinned(inputEnd_, network.reads.front().shape, "input"))
                   : std::nullopt;
}

std::optional<Layout> NetworkPlan::pinnedOutput(const DeclaredNetwork& network) const {
  return outputEnd_ ? std::optional(pinned(outputEnd_, network.result.shape, "output"))
                    : std::nullopt;
}

void NetworkPlan::setInputShape(const Shape& shape) {
  for (Index extent : shape)
    atLeast(extent, 1, "an extent of the input");
  // The shape that the table has anyway is accepted, so that a caller need not tell the two kinds
  // apart.
  if (network_.table && shape != network_.table->inputShape())
    throw Error(
        TENON_ERR_SHAPE,
        fmt::format("the input of the network table '{}' has shape [{}], which nothing else "
                    "than the table sets, but [{}] was given; leave the shape out, or plan "
                    "a network of layers",
                    network_.name, fmt::join(network_.table->inputShape(), ","),
                    fmt::join(shape, ",")));
  found_.reset();
  input_ = shape;
}

const NetworkTable& NetworkPlan::table(const std::string& who) const {
  if (!network_.table)
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format("{} needs a network table, but '{}' is a network of layers; use model own", who,
                    network_.name));
  return *network_.table;
}

Shape NetworkPlan::inputShape() const {
  if (input_.empty())
    throw Error(
        TENON_ERR_STATE,
        fmt::format("'{}' is a network of layers; set the shape of a sample of its input with "
                    "TenonPlanSetInputShape()",
                    network_.name));
  Shape input = {batch_};
  input.insert(input.end(), input_.begin(), input_.end());
  return input;
}

DeclaredNetwork NetworkPlan::layers() const {
  DeclaredNetwork network = network_.table ? declareNetwork(*network_.table, batch_)
                                           : declareNetwork(*network_.layers, inputShape());
  network.cellBytes = cellBytes_;
  return network;
}

// Refuses what T1 cannot price; it would be ignored in silence.
void NetworkPlan::checkModel() const {
  if (model_ == "t1" && (objective_ != "training" || inputEnd_ || outputEnd_ || overlap_ > 0))
    throw Error(TENON_ERR_SUPPORT,
                "model t1 prices training without overlap, with an input that lies anywhere; use "
                "model own for another objective, for pinned layouts and for overlap");
}

std::unique_ptr<CostModel> NetworkPlan::model(const FineGrid& grid) const {
  if (model_ == "t1")
    return std::make_unique<T1Model>(table("model t1"), batch_, grid, link_,
                                     inputChannels_.value_or(false));
  DeclaredNetwork network = layers();
  // An evaluation in a solver is inference, of which a step has a share.
  OwnTask task{.objective = objective_ == "training" ? Objective::Training : Objective::Inference,
               .stepsPerEvaluation = every_};
  task.input = pinnedInput(network);
  task.output = pinnedOutput(network);
  return std::make_unique<OwnModel>(std::move(network), grid, rates(),
                                    inputChannels_.value_or(true), std::move(task));
}

KernelRates NetworkPlan::kernels() const {
  // What was set goes before what is typical of the space; a machine file goes before both
  // (rates()).
  KernelRates rates = space_ == Space::Device ? KernelRates::ofDevice() : KernelRates();
  rates.flops = flops_.value_or(rates.flops);
  rates.memory = memory_.value_or(rates.memory);
  return rates;
}

OwnRates NetworkPlan::rates() const {
  if (fitted_)
    return *fitted_;
  const LinkRates links{.latency = link_.alpha, .bandwidth = 1 / link_.beta};
  if (!machine_)
    return {links, kernels()};
  return {ratesOf(*machine_, links), machine_->rates().kernels.value_or(kernels())};
}

double NetworkPlan::publishedSeconds(const std::string& equation, const PaperGrid& grid,
                                     const PaperGrid& convolutions) const {
  return publishedCost(equation, table("a published equation"), batch_, grid, convolutions, link_);
}

namespace {

double secondsToCompare(const FoundPlan& plan) {
  return plan.overlapped.value_or(plan.seconds);
}

// Adds the signatures and use layouts that the words mean for the layers. Throws TENON_ERR_OPTION
// for a word that is not possible.
void placeLayers(const CostModel& prices, FoundPlan& plan) {
  for (PlannedLayer& made : plan.layers) {
    const auto& names = prices.names();
    const int layer =
        static_cast<int>(std::find(names.begin(), names.end(), made.name) - names.begin());
    // The text is the whole word, so a plan of a file is read here as one of a search.
    const int word = prices.parse(layer, made.letters);
    made.signature = prices.signature(layer, word);
    made.uses = prices.uses(layer, word);
  }
}

} // namespace

// The best plan of several grids, or, where there is none on any, the error of the first grid,
// which is the one that the user asked for. On fewer processes the memory may not suffice, and that
// is no error.
FoundPlan NetworkPlan::bestOf(const std::vector<FineGrid>& grids) const {
  std::optional<FoundPlan> best;
  std::optional<Error> first;
  for (const FineGrid& one : grids) {
    try {
      const std::unique_ptr<CostModel> prices = model(one);
      FoundPlan found = findPlan(*prices, fixed_, memoryLimit_, overlap_);
      placeLayers(*prices, found);
      found.spaceOutermost = one.isReversed();
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
  checkModel();
  if (!found_) {
    // On a machine of one level both orders of the axes cost the same, and one is searched.
    const bool isFlat = !machine_ || machine_->levels().size() == 1,
               isInner = placement_ == "space" || (placement_ == "auto" && !isFlat);
    found_ = bestOf(grids(fewerProcesses_, placement_ != "space", isInner));
  }
  return *found_;
}

void NetworkPlan::take(FoundPlan found) {
  placeLayers(*model(gridOf(*found.grid)), found);
  found_ = std::move(found);
}

const FoundPlan& NetworkPlan::found() const {
  if (!found_)
    throw Error(TENON_ERR_STATE, "the plan was not searched; call TenonPlanSearch() first");
  return *found_;
}

const PlannedLayer& NetworkPlan::layer(Index index) const {
  const std::vector<PlannedLayer>& layers = found().layers;
  if (index < 0 || index >= static_cast<Index>(layers.size()))
    throw Error(TENON_ERR_ARG, fmt::format("layer {} is out of range; the plan has {}, numbered "
                                           "from 0",
                                           index, layers.size()));
  return layers[index];
}

const PlannedLayer& NetworkPlan::layerNamed(const std::string& name) const {
  std::vector<std::string> names;
  for (const PlannedLayer& one : found().layers)
    if (one.name == name)
      return one;
    else
      names.push_back(one.name);
  throw Error(TENON_ERR_ARG, fmt::format("the network has no layer '{}'; did you mean '{}'?", name,
                                         nearest(name, names)));
}

} // namespace tenon
