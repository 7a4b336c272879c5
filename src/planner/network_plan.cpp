// SPDX-License-Identifier: BSD-2-Clause
#include "planner/network_plan.hpp"

#include "machine/level_rates.hpp"
#include "sys/error.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

constexpr Index kMostProcesses = Index(1)
                                 << 24; // a word for every few axes each; more is a mistake
const std::vector<std::string> kModels = {"t1", "own"};

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
  if (std::find(kModels.begin(), kModels.end(), name) == kModels.end())
    throw Error(TENON_ERR_ARG,
                fmt::format("there is no cost model '{}'; known are: {}", name, joined(kModels)));
  found_.reset();
  model_ = name;
}

void NetworkPlan::setLink(double latency, double bandwidth) {
  if (!(latency >= 0) || !std::isfinite(latency) || !(bandwidth > 0) || !std::isfinite(bandwidth))
    throw Error(TENON_ERR_ARG, fmt::format("latency is {} s and bandwidth {} B/s; they must be "
                                           "finite, at least 0 and above 0",
                                           latency, bandwidth));
  found_.reset();
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

void NetworkPlan::fix(const std::string& layer, const std::string& word) {
  found_.reset();
  fixed_[layer] = word;
}

void NetworkPlan::setMachine(const Machine& machine) {
  found_.reset();
  machine_ = machine;
}

void NetworkPlan::setFlops(double flops) {
  if (!(flops > 0) || !std::isfinite(flops))
    throw Error(TENON_ERR_ARG,
                fmt::format("the rate of operations is {}; it must be finite and above 0", flops));
  found_.reset();
  flops_ = flops;
}

FineMesh NetworkPlan::mesh() const {
  if (!machine_)
    return FineMesh({processes_});
  if (machine_->devices() != processes_)
    throw Error(
        TENON_ERR_SHAPE,
        fmt::format("machine '{}' has {} devices, but the plan is for {} processes; set the "
                    "machine's number of nodes, or that of processes",
                    machine_->name(), machine_->devices(), processes_));
  std::vector<Index> levels;
  for (const Level& level : machine_->levels())
    levels.push_back(level.size);
  return FineMesh(levels);
}

void NetworkPlan::setInputShape(const Shape& shape) {
  for (Index extent : shape)
    atLeast(extent, 1, "an extent of the input");
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
  return network_.table ? declareNetwork(*network_.table, batch_)
                        : declareNetwork(*network_.layers, inputShape());
}

std::unique_ptr<CostModel> NetworkPlan::model() const {
  if (model_ == "t1")
    return std::make_unique<T1Model>(table("model t1"), batch_, mesh(), link_,
                                     inputChannels_.value_or(false));
  return std::make_unique<OwnModel>(layers(), mesh(), rates(), inputChannels_.value_or(true));
}

OwnRates NetworkPlan::rates() const {
  OwnRates rates{.links = {.latency = link_.alpha, .bandwidth = 1 / link_.beta}, .flops = flops_};
  if (machine_)
    rates.links = ratesOf(*machine_, rates.links);
  return rates;
}

double NetworkPlan::publishedSeconds(const std::string& equation, const PaperGrid& grid,
                                     const PaperGrid& convolutions) const {
  return publishedCost(equation, table("a published equation"), batch_, grid, convolutions, link_);
}

const FoundPlan& NetworkPlan::search() {
  if (found_)
    return *found_;
  const std::unique_ptr<CostModel> prices = model();
  found_ = findPlan(*prices, fixed_, memoryLimit_);
  for (int layer = 0; layer < prices->layers(); ++layer) {
    PlannedLayer& made = found_->layers[layer];
    made.signature = prices->signature(layer, prices->parse(layer, made.letters));
  }
  return *found_;
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
