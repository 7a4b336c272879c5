// SPDX-License-Identifier: BSD-2-Clause
#include "planner/network_plan.hpp"

#include "sys/error.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

constexpr Index kMostProcesses = Index(1)
                                 << 24; // a word for every few axes each; more is a mistake
const std::vector<std::string> kModels = {"t1"};

void atLeast(Index value, Index least, const char* what) {
  if (value < least)
    throw Error(TENON_ERR_ARG, fmt::format("{} is {}; it must be >= {}", what, value, least));
}

} // namespace

NetworkPlan::NetworkPlan(NetworkTable network, Index batch)
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

std::unique_ptr<CostModel> NetworkPlan::model() const {
  return std::make_unique<T1Model>(network_, batch_, FineMesh({processes_}), link_, inputChannels_);
}

const FoundPlan& NetworkPlan::search() {
  if (!found_)
    found_ = findPlan(*model(), fixed_, memoryLimit_);
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
