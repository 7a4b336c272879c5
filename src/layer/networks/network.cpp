// SPDX-License-Identifier: BSD-2-Clause
// Sets up a container, which is a layer whose nodes are layers, node by node: each node needs the
// output layouts of earlier nodes and the settings of the container. The map lists of all nodes
// (short programs of communication operators and local kernels) are then joined into one, which
// Apply runs. Layer::setUpNetwork() is called on all ranks by Layer::setUp(). The
// order of calls:
//
//   bindModel(), proveAtSetUp()   only type model: layers from a file, and the test in the file
//   setUpNodes()                  for each node: takes over settings, then sets up its layer; then
//                                 joins the map lists of all nodes
//   loadModelWeights()            only type model: weights from the file
//   makeSegment()                 if the container recomputes its activations in the adjoint
#include "layer/networks/network.hpp"

#include "layer/core/layer.hpp"
#include "layer/core/layer_types.hpp"
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

namespace {

// Throws if a value is never read. The cause is most likely a wrong number in the inputs of another
// node.
void checkAllRead(const Layer& layer, const std::vector<int>& outputs) {
  std::vector<bool> read(static_cast<std::size_t>(layer.lastValue()) + 1, false);
  for (int value : outputs)
    read[value] = true;
  for (const Layer::Node& node : layer.nodes())
    for (int value : node.reads)
      read[value] = true;
  const int inputs = layer.inputCount();
  for (int value = 0; value < static_cast<int>(read.size()); ++value)
    if (!read[value])
      throw Error(
          TENON_ERR_STATE,
          fmt::format("{} {} of {} is not used; every input and every node except {} must "
                      "be read by a node",
                      value < inputs ? "input" : "node", value < inputs ? value : value - inputs,
                      layer.title(),
                      layer.declaration().networkOutputs().empty() ? "the last" : "its outputs"));
}

} // namespace

// Sets up the nodes in order, since each node needs the output layouts of the nodes that it reads,
// and joins their map lists (compile/program/joined_maps.hpp).
std::unique_ptr<Setup> Layer::setUpNodes(const Layouts& inputs, const AssignmentPtr& assignment) {
  std::optional<HaloSharing> halos = sharedHalos(assignment.get());
  Layouts values = inputs;
  std::vector<BoundNode> boundNodes;
  for (const Node& node : nodes_) {
    Layouts reads;
    for (int value : node.reads)
      reads.push_back(values[value]);
    const int number = static_cast<int>(&node - nodes_.data());
    const Setup& childSetup =
        setUpChild(*node.layer, reads,
                   {.role = Role::Node,
                    .computedHalo = halos ? halos->computedHaloOf(number, reads) : std::nullopt,
                    .assignment = assignment});
    if (childSetup.outputs().size() > 1)
      throw Error(
          TENON_ERR_SUPPORT,
          fmt::format("{} has several outputs and is a node of {}, where others read one; add "
                      "its nodes to {} itself",
                      node.layer->title(), title(), title()));
    values.push_back(childSetup.output());
    boundNodes.push_back({&childSetup.maps(), node.reads});
  }
  const std::vector<int> outputs = outputValues();
  checkAllRead(*this, outputs);
  return std::make_unique<Setup>(BoundMaps(*this, boundNodes, values, outputs), /*signature=*/"");
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
std::optional<HaloSharing> Layer::sharedHalos(const Assignment* assignment) const {
  const auto haloOf = [=](const Layer* layer) {
    const NodeChoice* const choice = layer->choiceIn(assignment);
    return choice && choice->computesHalo ? HaloFrom::Compute : haloFrom(layer->declaration());
  };
  const Index depth = settings().find<Index>("halo_depth").value_or(1);
  if (depth == 1 && std::ranges::none_of(children_, [&](const Layer* child) {
        return haloOf(child) == HaloFrom::Compute;
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
    sharingNode.halo = haloOf(&layer);
    sharingNode.form = [&layer, choice = layer.choiceIn(assignment)](
                           const Layouts& inputs, const std::optional<Layout>& computedHalo) {
      return layer.form(inputs, choice, /*inPieces=*/false, computedHalo);
    };
  }
  return HaloSharing(std::move(nodes), inputCount(), outputValues(), depth);
}

// A child that is set up for these inputs already, as another node, uses the same set-up.
const Setup& Layer::setUpChild(Layer& child, const Layouts& inputs, const SetUpRequest& request) {
  handOn(child);
  if (!training_)
    child.setTraining(false);
  if (frozen_)
    child.setFrozen(true);
  try {
    child.setUpAs(inputs, request);
  } catch (const Error& error) {
    rethrowWithPlace(*this, child, error);
  }
  return child.latest();
}

// Sets up a container with its layers. Collective.
std::unique_ptr<Setup> Layer::setUpNetwork(const Layouts& inputs, const AssignmentPtr& assignment) {
  bindModel(*this, inputs);
  if (nodes_.empty())
    throw Error(
        TENON_ERR_STATE,
        fmt::format("{} has no layers; add at least one before TenonLayerSetUp()", title()));
  proveAtSetUp(*this, inputs);
  std::unique_ptr<Setup> joined = setUpNodes(inputs, assignment);
  loadModelWeights(*this);
  return declaration_->value<bool>("recompute") ? makeSegment(*this, std::move(joined))
                                                : std::move(joined);
}

} // namespace tenon
