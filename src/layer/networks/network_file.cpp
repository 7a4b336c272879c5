// SPDX-License-Identifier: BSD-2-Clause
// Makes layers from descriptions, and describes layers. A description holds only what was set on a
// layer itself: what it took from its container or from defaults is found again when the file is
// read.
#include "layer/networks/network_file.hpp"

#include "layer/core/layer_types.hpp"
#include "layer/networks/model.hpp"
#include "layer/networks/network.hpp"
#include "sys/files/part_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

// Stands for a type that the program has registered, while a file is read: it has the settings that
// all layers have. The layer itself is made by the program's own factory.
class Registered final : public Declaration {
public:
  explicit Registered(const std::string& type) : Declaration(type, {}) {}
  Shape outputShape(const std::vector<Shape>& inputs) const override { return inputs.front(); }
  SignatureTable rows(const std::vector<Shape>&) const override { return {}; }
  Form form(const Layouts&, const Choice&) const override {
    throw Error(TENON_ERR_INTERNAL, "a registered type is asked before it is made");
  }
};

std::unique_ptr<Declaration> declareRegistered(const std::string& type) {
  if (type == "model")
    return std::make_unique<ModelDeclaration>();
  return layerTypes().contains(type) ? std::make_unique<Registered>(type) : nullptr;
}

// A layer of a frozen container may gather gradients all the same.
bool isAllFrozen(const Layer& layer) {
  return layer.isFrozen() && std::ranges::all_of(layer.children(), [](const Layer* child) {
           return isAllFrozen(*child);
         });
}

int firstNodeOf(const Layer& container, const Layer& child) {
  const auto& nodes = container.nodes();
  return static_cast<int>(
      std::find_if(nodes.begin(), nodes.end(),
                   [&](const auto& node) { return node.layer.get() == &child; }) -
      nodes.begin());
}

} // namespace

Ref<Layer> makeFrom(const CommPtr& comm, const LayerDescription& description) {
  auto layer = makeLayer(comm, description.type);
  layer->setName(description.name);
  layer->setPrefix(description.prefix);
  // Settings come before the nodes, since a graph's number of inputs must be known when nodes name
  // them.
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
    // A setting that was inherited would, if it were written, no longer follow the container.
    if (entry.value && !entry.isInherited)
      description.settings.emplace_back(entry.spec->name, *entry.value);
  description.output = declaration.outputLayout();
  const int inputs = declaration.contains() ? layer.inputCount() : 0;
  const std::size_t nodes = declaration.hasNodesInFile() ? layer.nodes().size() : 0;
  for (std::size_t n = 0; n < nodes; ++n) {
    const Layer::Node& node = layer.nodes()[n];
    // Parameters that several nodes share stay shared: only the first of the nodes is described.
    const int first = firstNodeOf(layer, *node.layer);
    LayerDescription::Node& made = description.nodes.emplace_back();
    if (first < static_cast<int>(n))
      made.sameAs = first;
    else
      made.layer = describeNetwork(*node.layer);
    // In a container that is frozen as a whole only what stays so when it is released is named.
    made.layer.frozen = made.layer.frozen && (!description.frozen || node.layer->isConstant());
    for (int value : node.reads)
      made.reads.push_back(value < inputs ? -1 - value : value - inputs);
  }
  return description;
}

} // namespace tenon
