// SPDX-License-Identifier: BSD-2-Clause
#include "layer/network.hpp"

#include "layer/layer_types.hpp"
#include "layer/network_setup.hpp"
#include "layer/segment.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tenon {

namespace {

// As network files can hold them, which are nested too.
constexpr int kMostLevels = 30;

void checkType(const Layer& layer, const char* type) {
  if (layer.type() != type)
    throw Error(TENON_ERR_TYPE, fmt::format("{} has type {}; this call needs type {}",
                                            layer.title(), layer.type(), type));
}

int valueOf(const Layer& graph, int name) {
  const int there = static_cast<int>(graph.nodes().size()), inputs = graph.inputCount();
  if (name < -inputs || name >= there)
    throw Error(TENON_ERR_ARG, fmt::format("{} has no node or input {}; its nodes are numbered 0, "
                                           "1, ... (now {}) and its inputs -1, -2, ... (now {})",
                                           graph.title(), name, there, inputs));
  return name < 0 ? -1 - name : inputs + name;
}

} // namespace

void Layer::addNode(Ref<Layer> layer, std::vector<int> reads) {
  checkBeforeSetUp("adding a layer");
  if (layer->comm() != comm())
    throw Error(TENON_ERR_ARG,
                fmt::format("{} and {} are on different communicators; create both on the same one",
                            layer->title(), title()));
  putBelow(*layer);
  if (std::find(children_.begin(), children_.end(), layer.get()) == children_.end())
    children_.push_back(layer.get());
  nodes_.push_back({std::move(layer), std::move(reads)});
}

// A layer that contains this container would come to lie below itself.
void Layer::putBelow(Layer& layer) const {
  std::vector<std::pair<Layer*, int>> moved;
  try {
    layer.moveBelow(*this, level_ + 1, moved);
  } catch (...) {
    for (auto at = moved.rbegin(); at != moved.rend(); ++at)
      at->first->level_ = at->second;
    throw;
  }
}

void Layer::moveBelow(const Layer& container, int level,
                      std::vector<std::pair<Layer*, int>>& moved) {
  if (this == &container)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} cannot contain itself, directly or in a layer within it", title()));
  if (level <= level_)
    return;
  if (level > kMostLevels)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} would lie in {} containers within each other; at most {} can be "
                            "nested",
                            title(), level, kMostLevels));
  moved.emplace_back(this, std::exchange(level_, level));
  for (Layer* child : children_)
    child->moveBelow(container, level + 1, moved);
}

// What the layer was not told it takes from its container, and the stack depth for `uses` Apply calls
// in each of the container's.
void Layer::inheritSettings(const Layer& container, int uses) {
  for (const char* name : {"data_type", "space", "storage", "backend", "saved_type", "initializer"})
    declaration_->inherit(name, *container.declaration_);
  const int needed = container.depth_ * uses;
  declaration_->inherit("stack_depth", Index(needed));
  readSettings();
  if (type_ != container.type_)
    throw Error(TENON_ERR_DATATYPE,
                fmt::format("{} has data type {}, but {}, which contains it, has {}; set the "
                            "container's, which its layers take over",
                            title(), dataTypeName(type_), container.title(),
                            dataTypeName(container.type_)));
  if (space_ != container.space_)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} is on the {}, but {}, which contains it, on the {}; set the "
                            "container's space, which its layers take over",
                            title(), spaceName(space_), container.title(),
                            spaceName(container.space_)));
  if (depth_ < needed)
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has stack depth {}, but {}, which contains it, needs {}; set at "
                            "least that, or leave it to the container",
                            title(), depth_, container.title(), needed));
}

Layouts Layer::setUpNodes(const Layouts& inputs) {
  Layouts values = inputs;
  for (const Node& node : nodes_) {
    Layouts reads;
    for (int value : node.reads)
      reads.push_back(values[value]);
    setUpChild(*node.layer, reads);
    values.push_back(node.layer->outputLayout(reads));
  }
  return values;
}

// A child that could not be set up has inherited nothing.
void Layer::setUpChild(Layer& child, const Layouts& inputs) {
  const Settings before = child.declaration_->settings();
  const bool isNew = !child.isSetUp();
  const auto isChild = [&](const Node& node) { return node.layer.get() == &child; };
  try {
    if (isNew)
      child.inheritSettings(*this,
                            static_cast<int>(std::count_if(nodes_.begin(), nodes_.end(), isChild)));
    child.setTraining(training_);
    if (frozen_)
      child.setFrozen(true);
    child.setUpAs(inputs, Role::Node);
  } catch (...) {
    if (isNew) {
      child.declaration_->restore(before);
      child.readSettings();
    }
    throw;
  }
}

void appendLayer(Layer& sequential, Ref<Layer> layer) {
  checkType(sequential, "sequential");
  sequential.addNode(std::move(layer), {sequential.lastValue()});
}

int addGraphNode(Layer& graph, Ref<Layer> layer, const std::vector<int>& inputs) {
  checkType(graph, "graph");
  if (inputs.empty())
    throw Error(
        TENON_ERR_ARG,
        fmt::format("a node of {} has no inputs; pass at least one node or input", graph.title()));
  std::vector<int> reads;
  for (int name : inputs)
    reads.push_back(valueOf(graph, name));
  graph.addNode(std::move(layer), std::move(reads));
  return static_cast<int>(graph.nodes().size()) - 1;
}

void setGraphInputs(Layer& graph, int count) {
  checkType(graph, "graph");
  if (!graph.nodes().empty())
    throw Error(
        TENON_ERR_STATE,
        fmt::format(
            "{} already has nodes; call TenonLayerGraphSetInputs() before TenonLayerGraphAddNode()",
            graph.title()));
  graph.set("input_count", Index(count));
}

namespace {

std::unique_ptr<Setup> setUpNetwork(Layer& layer, const Layouts& inputs) {
  if (layer.nodes().empty())
    throw Error(
        TENON_ERR_STATE,
        fmt::format("{} has no layers; add at least one before TenonLayerSetUp()", layer.title()));
  auto joined = makeNetworkSetup(layer, layer.setUpNodes(inputs));
  return layer.declaration().value<bool>("recompute") ? makeSegment(layer, std::move(joined))
                                                      : std::move(joined);
}

} // namespace

std::unique_ptr<Setup> setUpSequential(Layer& layer, const Layouts& inputs) {
  return setUpNetwork(layer, inputs);
}

std::unique_ptr<Setup> setUpGraph(Layer& layer, const Layouts& inputs) {
  return setUpNetwork(layer, inputs);
}

} // namespace tenon
