// SPDX-License-Identifier: BSD-2-Clause
// Sets up a container, which is a layer whose nodes are layers, node by node: each node needs the
// output layouts of earlier nodes and the settings of the container. The map lists of all nodes
// (short programs of communication operators and local kernels) are then joined into one, which
// Apply runs. setUpNetwork() at the end of this file is called on all ranks by Layer::setUp(). The
// order of calls:
//
//   bindModel(), proveAtSetUp()   only type model: layers from a file, and the test in the file
//   handOn(), setUpChild()        for each node: takes over settings, then sets up its layer
//   makeNetworkSetup()            joins the map lists of all nodes (joined_maps.hpp)
//   loadModelWeights()            only type model: weights from the file
//   makeSegment()                 if the container recomputes its activations in the adjoint
#include "layer/networks/network.hpp"

#include "layer/core/layer.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/networks/joined_maps.hpp"
#include "layer/networks/model.hpp"
#include "layer/networks/path.hpp"
#include "layer/networks/segment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tenon {

// Takes over settings from a container unless they were set on this layer itself. The stack depth
// becomes that of the container times `uses`, the number of its nodes that are this layer: each
// Apply of the container calls the layer that many times.
void Layer::inheritSettings(const Layer& container, int uses) {
  for (const char* name : {"data_type", "space", "storage", "backend", "saved_type", "initializer"})
    declaration_->inherit(name, *container.declaration_);
  if (settings().has("halo_depth") && container.settings().has("halo_depth"))
    declaration_->inherit("halo_depth", *container.declaration_);
  if (declaration_->takesLists())
    declaration_->lists().inherit(container.declaration_->lists());
  else
    declaration_->lists().inheritLinks(container.declaration_->lists());
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

// Sets up the nodes in order, since each node needs the output layouts of the nodes that it reads.
Layouts Layer::setUpNodes(const Layouts& inputs) {
  std::optional<HaloSharing> halos = sharedHalos();
  Layouts values = inputs;
  for (const Node& node : nodes_) {
    Layouts reads;
    for (int value : node.reads)
      reads.push_back(values[value]);
    const int number = static_cast<int>(&node - nodes_.data());
    const Setup& childSetup =
        setUpChild(*node.layer, reads, halos ? halos->computedHaloOf(number, reads) : std::nullopt);
    if (childSetup.outputs().size() > 1)
      throw Error(
          TENON_ERR_SUPPORT,
          fmt::format("{} has several outputs and is a node of {}, where others read one; add "
                      "its nodes to {} itself",
                      node.layer->title(), title(), title()));
    values.push_back(childSetup.output());
  }
  return values;
}

// Passes the settings of this container to a layer in it, before the first set-up of that layer.
void Layer::handOn(Layer& child) const {
  const auto isChild = [&](const Node& node) { return node.layer.get() == &child; };
  if (!child.isSetUp())
    child.inheritSettings(*this, static_cast<int>(std::ranges::count_if(nodes_, isChild)));
}

// Prepares the sharing of halos: a layer can compute a wider output itself, which then serves as
// the halo of the layers that read it (declaration/core/halo_sharing.hpp). The search for such
// layers needs their forms (the layouts that kernels use) before they are set up. Returns nothing
// if no setting requests sharing.
std::optional<HaloSharing> Layer::sharedHalos() const {
  const Index depth = settings().find<Index>("halo_depth").value_or(1);
  if (depth == 1 && std::ranges::none_of(children_, [](const Layer* child) {
        return haloFrom(child->declaration()) == HaloFrom::Compute;
      }))
    return std::nullopt;
  std::vector<SharingNode> nodes;
  for (const Node& node : nodes_) {
    Layer& layer = *node.layer;
    handOn(layer);
    layer.declaration().setTitle(layer.title());
    SharingNode& sharingNode = nodes.emplace_back(SharingNode{.reads = node.reads});
    if (layer.declaration().contains())
      continue;
    sharingNode.declaration = &layer.declaration();
    sharingNode.halo = haloFrom(layer.declaration());
    sharingNode.form = [&layer](const Layouts& inputs, const std::optional<Layout>& computedHalo) {
      return layer.form(inputs, /*overlap=*/false, computedHalo);
    };
  }
  return HaloSharing(std::move(nodes), inputCount(), outputValues(), depth);
}

// A child that is set up for these inputs already, as another node, uses the same set-up.
const Setup& Layer::setUpChild(Layer& child, const Layouts& inputs,
                               const std::optional<Layout>& computedHalo) {
  handOn(child);
  if (!training_)
    child.setTraining(false);
  if (frozen_)
    child.setFrozen(true);
  try {
    child.setUpAs(inputs, Role::Node, computedHalo);
  } catch (const Error& error) {
    rethrowWithPlace(*this, child, error);
  }
  return child.latest();
}

// Sets up all nodes and joins their map lists. Collective.
std::unique_ptr<Setup> setUpNetwork(Layer& layer, const Layouts& inputs) {
  bindModel(layer, inputs);
  if (layer.nodes().empty())
    throw Error(
        TENON_ERR_STATE,
        fmt::format("{} has no layers; add at least one before TenonLayerSetUp()", layer.title()));
  proveAtSetUp(layer, inputs);
  auto joined = makeNetworkSetup(layer, layer.setUpNodes(inputs));
  loadModelWeights(layer);
  return layer.declaration().value<bool>("recompute") ? makeSegment(layer, std::move(joined))
                                                      : std::move(joined);
}

} // namespace tenon
