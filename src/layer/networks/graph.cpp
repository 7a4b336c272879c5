// SPDX-License-Identifier: BSD-2-Clause
// The nodes of a container, and the names of its inputs and outputs: the members of Layer
// (layer.hpp) about nodes, and the functions of network.hpp. A container is a layer that consists
// of layers; each node names a layer and the values that it reads. Values are the inputs of the
// container, then the outputs of its nodes. With 1 input (value 0) and the nodes a, b and c:
//
//   value 1 = a(0),  value 2 = b(1),  value 3 = c(1, 2)
//
// A layer can be several nodes and be in several containers, but must not contain itself. To check
// this, each layer stores its nesting level: the largest number of containers around it.
#include "layer/core/layer.hpp"
#include "layer/networks/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tenon {

namespace {

// The limit follows from network files: JSON files can be nested 64 deep, and a container takes two
// levels.
constexpr int kMaxLevels = 30;

// Throws unless the layer has this type.
void checkType(const Layer& layer, const char* type) {
  if (layer.type() != type)
    throw Error(TENON_ERR_TYPE, fmt::format("{} has type {}; this call needs type {}",
                                            layer.title(), layer.type(), type));
}

// Converts a number of the public interface (nodes 0, 1, ... and inputs -1, -2, ...) to a value
// number (inputs first, then nodes). With 2 inputs: -1 -> 0, -2 -> 1, 0 -> 2, 1 -> 3.
int valueOf(const Layer& graph, int name) {
  const int nodeCount = static_cast<int>(graph.nodes().size()), inputs = graph.inputCount();
  if (name < -inputs || name >= nodeCount)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} has no node or input {}; its nodes are numbered 0, "
                            "1, ... (now {}) and its inputs -1, -2, ... (now {}, the "
                            "setting input_count)",
                            graph.title(), name, nodeCount, inputs));
  return name < 0 ? -1 - name : inputs + name;
}

// A single name, or name0, name1, ...
std::vector<std::string> numberedNames(const char* name, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i)
    names.push_back(count == 1 ? name : fmt::format("{}{}", name, i));
  return names;
}

} // namespace

std::vector<int> Layer::outputValues() const {
  const std::vector<NetworkOutput> outputs = declaration_->networkOutputs();
  if (outputs.empty())
    return {lastValue()};
  const auto hasNameOf = [](const NetworkOutput& output) {
    return [&](const Node& node) { return node.layer->name() == output.name; };
  };
  std::vector<int> values;
  for (const NetworkOutput& output : outputs) {
    const auto named = std::ranges::find_if(nodes_, hasNameOf(output));
    const auto node = output.node >= 0 ? output.node : static_cast<int>(named - nodes_.begin());
    if (node >= static_cast<int>(nodes_.size()))
      throw Error(
          TENON_ERR_ARG,
          output.node >= 0
              ? fmt::format("output \"{}\" of {} is that of node {}, but its nodes are "
                            "numbered 0 to {}",
                            output.name, title(), node, static_cast<int>(nodes_.size()) - 1)
              : fmt::format("no node of {} has the name of its output \"{}\"; name the node, "
                            "or write its number, such as {}={}",
                            title(), output.name, output.name, nodes_.size() - 1));
    if (output.node < 0 && std::ranges::count_if(nodes_, hasNameOf(output)) > 1)
      throw Error(TENON_ERR_ARG,
                  fmt::format("several nodes of {} have the name of its output \"{}\"; write the "
                              "number of one, such as {}={}",
                              title(), output.name, output.name, node));
    values.push_back(inputCount() + node);
  }
  return values;
}

std::vector<std::string> Layer::inputNames() const {
  std::vector<std::string> names = declaration_->inputNames();
  if (!names.empty())
    return names;
  if (isSetUp())
    return numberedNames("x", inputLayouts().size());
  if (inputCount() < 0) // -1: the type accepts any number of inputs
    throw Error(
        TENON_ERR_STATE,
        fmt::format("{} has as many inputs as it is set up with; call TenonLayerSetUpMany() "
                    "first",
                    title()));
  return numberedNames("x", static_cast<std::size_t>(inputCount()));
}

std::vector<std::string> Layer::outputNames() const {
  std::vector<std::string> names;
  for (const NetworkOutput& output : declaration_->networkOutputs())
    names.push_back(output.name);
  return names.empty() ? numberedNames("y", 1) : names;
}

void Layer::addNode(Ref<Layer> layer, std::vector<int> reads) {
  checkBeforeSetUp("adding a layer");
  putNode(std::move(layer), std::move(reads));
}

// Adds a node without the check that the container is not set up.
void Layer::putNode(Ref<Layer> layer, std::vector<int> reads) {
  if (layer->comm() != comm())
    throw Error(TENON_ERR_ARG,
                fmt::format("{} and {} are on different communicators; create both on the same one",
                            layer->title(), title()));
  raiseLevels(*layer);
  if (std::find(children_.begin(), children_.end(), layer.get()) == children_.end())
    children_.push_back(layer.get());
  nodes_.push_back({std::move(layer), std::move(reads)});
}

void Layer::setNodes(std::vector<Node> nodes) {
  children_.clear();
  nodes_.clear();
  for (Node& node : nodes)
    putNode(std::move(node.layer), std::move(node.reads));
}

// Updates the nesting levels of a layer that is added to this container, and of the layers in it.
// Throws if the layer contains this container; the levels are then restored, so the layer can still
// be used elsewhere.
void Layer::raiseLevels(Layer& layer) const {
  std::vector<std::pair<Layer*, int>> raised;
  try {
    layer.raiseLevel(*this, level_ + 1, raised);
  } catch (...) {
    for (auto entry = raised.rbegin(); entry != raised.rend(); ++entry)
      entry->first->level_ = entry->second;
    throw;
  }
}

void Layer::raiseLevel(const Layer& container, int level,
                       std::vector<std::pair<Layer*, int>>& raised) {
  if (this == &container)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} cannot contain itself, directly or in a layer within it", title()));
  // If the layer is already at this level or deeper, its children are too, and nothing changes.
  // Without this test, a layer that is reachable on several paths would be visited once per path.
  if (level <= level_)
    return;
  if (level > kMaxLevels)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} would lie in {} containers within each other; at most {} can be "
                            "nested",
                            title(), level, kMaxLevels));
  raised.emplace_back(this, std::exchange(level_, level));
  for (Layer* child : children_)
    child->raiseLevel(container, level + 1, raised);
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

} // namespace tenon
