// SPDX-License-Identifier: BSD-2-Clause
#include "layer/network_layer.hpp"

#include "layer/network_setup.hpp"
#include "sys/random.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

void NetworkLayer::append(Ref<Layer> layer, std::vector<int> reads) {
  checkBeforeSetUp("adding a layer");
  if (layer->comm() != comm())
    throw Error(TENON_ERR_ARG,
                fmt::format("{} and {} are on different communicators; create both on the same one",
                            layer->title(), title()));
  if (layer.get() == this)
    throw Error(TENON_ERR_ARG, fmt::format("{} cannot contain itself", title()));
  nodes_.push_back({std::move(layer), std::move(reads)});
}

std::vector<Layer*> NetworkLayer::layers() const {
  std::vector<Layer*> found;
  for (const Node& node : nodes_)
    if (std::find(found.begin(), found.end(), node.layer.get()) == found.end())
      found.push_back(node.layer.get());
  return found;
}

int NetworkLayer::usesOf(const Layer& layer) const {
  return static_cast<int>(std::count_if(
      nodes_.begin(), nodes_.end(), [&](const Node& node) { return node.layer.get() == &layer; }));
}

void NetworkLayer::setFromOptions() {
  Layer::setFromOptions();
  for (Layer* layer : layers())
    layer->setFromOptions();
}

void NetworkLayer::setTraining(bool training) {
  Layer::setTraining(training);
  for (const Node& node : nodes_)
    node.layer->setTraining(training);
}

void NetworkLayer::setFrozen(bool frozen) {
  Layer::setFrozen(frozen);
  for (const Node& node : nodes_)
    node.layer->setFrozen(frozen);
}

void NetworkLayer::forgetLast() {
  Layer::forgetLast();
  for (const Node& node : nodes_)
    node.layer->forgetLast();
}

void NetworkLayer::clearStack() {
  Layer::clearStack();
  for (const Node& node : nodes_)
    node.layer->clearStack();
}

std::vector<Ref<Parameter>> NetworkLayer::parameters() const {
  std::vector<Ref<Parameter>> all;
  for (const Layer* layer : layers())
    for (const Ref<Parameter>& p : layer->parameters())
      if (std::none_of(all.begin(), all.end(), [&](const auto& q) { return q.get() == p.get(); }))
        all.push_back(p);
  return all;
}

void NetworkLayer::zeroGradients() {
  for (const Node& node : nodes_)
    node.layer->zeroGradients();
}

void NetworkLayer::initialize(std::uint64_t seed, std::uint64_t stream, Fill fill) {
  const std::vector<Layer*> distinct = layers();
  for (std::size_t i = 0; i < distinct.size(); ++i)
    distinct[i]->initialize(seed, streamOf(fmt::format("{} layer {}", stream, i)), fill);
}

std::vector<Layout> NetworkLayer::setUpNodes(const Layouts& inputs) {
  std::vector<Layout> values = inputs;
  for (const Node& node : nodes_) {
    Layer& layer = *node.layer;
    if (!layer.isSetUp())
      layer.inheritSettings(*this, usesOf(layer));
    layer.setTraining(isTraining());
    if (isFrozen())
      layer.setFrozen(true);
    Layouts reads;
    for (int value : node.reads)
      reads.push_back(values[value]);
    layer.setUpWithoutValues(reads);
    values.push_back(layer.outputLayout(reads));
  }
  return values;
}

std::unique_ptr<Setup> NetworkLayer::makeSetupOf(const Layouts& inputs) {
  if (nodes_.empty())
    throw Error(
        TENON_ERR_STATE,
        fmt::format("{} has no layers; add at least one before TenonLayerSetUp()", title()));
  if (inputs.size() != static_cast<std::size_t>(inputs_))
    throw Error(TENON_ERR_ARG,
                fmt::format("{} has {}, but was set up with {}", title(), counted(inputs_, "input"),
                            counted(static_cast<Index>(inputs.size()), "layout")));
  return std::make_unique<NetworkSetup>(*this, setUpNodes(inputs));
}

std::string NetworkLayer::ownSettings() const {
  std::string text;
  for (const Node& node : nodes_)
    text += fmt::format("{}({}; reads {})", text.empty() ? "" : ", ", node.layer->settings(),
                        fmt::join(node.reads, " and "));
  return text;
}

std::string NetworkLayer::ownSummary() const {
  return fmt::format("({})", counted(static_cast<Index>(nodes_.size()), "node"));
}

std::string NetworkLayer::describe() const {
  std::string text = Layer::describe();
  for (const Layer* layer : layers())
    text += layer->describe();
  return text;
}

} // namespace tenon
