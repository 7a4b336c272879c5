// SPDX-License-Identifier: BSD-2-Clause
// Creates layers from descriptions (LayerDescription, the content of a network file without its
// JSON syntax), and describes layers:
//
//   makeFrom(), readNetwork()   description or file -> layer, with all layers in it
//   describeNetwork()           layer -> description
//
// A description has only the settings that were set on a layer itself. Settings that a layer takes
// over from its container, and defaults, are determined again when the file is read. It has no
// weights.
#include "layer/networks/network_file.hpp"

#include "layer/core/layer_types.hpp"
#include "layer/networks/model.hpp"
#include "layer/networks/network.hpp"
#include "sys/files/part_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

// Stands for a layer type that the program has registered, while a file is read: it declares the
// settings that all layers have. The program's own function creates the layer itself.
class Registered final : public Declaration {
public:
  explicit Registered(const std::string& type) : Declaration(type, {}) {}
  Shape outputShape(const std::vector<Shape>& inputs) const override { return inputs.front(); }
  SignatureTable rows(const std::vector<Shape>&) const override { return {}; }
  Form form(const Layouts&, const Choice&) const override {
    throw Error(TENON_ERR_INTERNAL, "a registered type is asked before it is made");
  }
};

// A declaration for a type that is not one of the library's; null if the type is unknown.
std::unique_ptr<Declaration> declareRegistered(const std::string& type) {
  if (type == "model")
    return std::make_unique<ModelDeclaration>();
  return layerTypes().contains(type) ? std::make_unique<Registered>(type) : nullptr;
}

// Whether the layer and all layers in it are frozen. (A layer in a frozen container can be unfrozen
// separately.)
bool isAllFrozen(const Layer& layer) {
  return layer.isFrozen() && std::ranges::all_of(layer.children(), [](const Layer* child) {
           return isAllFrozen(*child);
         });
}

// The number of the first node of the container that is this layer.
int firstNodeOf(const Layer& container, const Layer& child) {
  const auto& nodes = container.nodes();
  return static_cast<int>(
      std::find_if(nodes.begin(), nodes.end(),
                   [&](const auto& node) { return node.layer.get() == &child; }) -
      nodes.begin());
}

} // namespace

// Creates the layer and, as its nodes, the layers in it.
Ref<Layer> makeFrom(const CommPtr& comm, const LayerDescription& description) {
  auto layer = makeLayer(comm, description.type);
  layer->setName(description.name);
  layer->setPrefix(description.prefix);
  // Settings first: the number of a graph's inputs must be known when nodes refer to them.
  for (const auto& [name, value] : description.settings)
    layer->set(name, value);
  if (description.output)
    layer->setOutputLayout(*description.output);
  for (const LayerDescription::Node& node : description.nodes) {
    const auto child =
        node.sameAs >= 0 ? layer->nodes()[node.sameAs].layer : makeFrom(comm, node.layer);
    if (description.type == "graph")
      addGraphNode(*layer, child, node.reads);
    else
      appendLayer(*layer, child);
  }
  if (description.frozen && description.nodes.empty())
    layer->setConstant();
  else if (description.frozen)
    layer->setFrozen(true);
  return layer;
}

Ref<Layer> readNetwork(const CommPtr& comm, const std::string& nameOrPath) {
  const std::string path = findNetworkFile(nameOrPath);
  return makeFrom(comm, parseNetwork(readWholeFile(path, "network file"), path, declareRegistered,
                                     comm->size()));
}

LayerDescription describeNetwork(const Layer& layer) {
  if (layer.type() == "shell")
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} has functions of the program, which a file cannot hold; register "
                            "its type with TenonLayerRegister()",
                            layer.title()));
  const Declaration& declaration = layer.declaration();
  LayerDescription description{.type = declaration.type(),
                               .name = layer.name(),
                               .prefix = layer.prefix(),
                               .frozen = isAllFrozen(layer),
                               .settings = {},
                               .output = {},
                               .nodes = {}};
  for (const Settings::Entry& entry : declaration.settings().entries())
    // An inherited setting is not written, because it would no longer follow the container.
    if (entry.value && !entry.isInherited)
      description.settings.emplace_back(entry.spec->name, *entry.value);
  description.output = declaration.outputLayout();
  const int inputs = declaration.contains() ? layer.inputCount() : 0;
  const std::size_t nodes = declaration.hasNodesInFile() ? layer.nodes().size() : 0;
  for (std::size_t n = 0; n < nodes; ++n) {
    const Layer::Node& node = layer.nodes()[n];
    // If several nodes share a layer, the first node describes it, and the others refer to that
    // node.
    const int first = firstNodeOf(layer, *node.layer);
    LayerDescription::Node& describedNode = description.nodes.emplace_back();
    if (first < static_cast<int>(n))
      describedNode.sameAs = first;
    else
      describedNode.layer = describeNetwork(*node.layer);
    // In a frozen container, a node is marked only if it stays frozen when the container is
    // unfrozen.
    describedNode.layer.frozen =
        describedNode.layer.frozen && (!description.frozen || node.layer->isConstant());
    // Values of a container are numbered with the inputs first; a description has the numbers -1,
    // -2, ... for inputs and 0, 1, ... for nodes.
    for (int value : node.reads)
      describedNode.reads.push_back(value < inputs ? -1 - value : value - inputs);
  }
  return description;
}

} // namespace tenon
