// SPDX-License-Identifier: BSD-2-Clause
// Sets up a layer with the layers in it (network_setup.hpp). Everything up to the binding is
// decided from settings and layouts that are equal on all ranks, and sends no message, except that
// rank 0 reads the file of an imported model. Errors name a layer by its place in the network.
#include "layer/networks/network_setup.hpp"

#include "comm/agreement/batched.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/networks/model.hpp"
#include "layer/networks/network_walk.hpp"
#include "layer/networks/path.hpp"
#include "layer/networks/segment.hpp"
#include "sys/errors/at_work.hpp"
#include "sys/memory/memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

// The bytes of this rank's array of a tensor in the layout.
double arrayBytes(const Layout& layout, int rank, Index elementBytes) {
  double bytes = static_cast<double>(elementBytes);
  for (const Interval& side : layout.boxOfRank(rank))
    bytes *= static_cast<double>(side.size());
  return bytes;
}

// Throws if an array would not fit into the memory of the machine. This is checked before kernels
// are created, because they allocate index lists with an entry per element before any tensor.
void checkMemory(const Layer& layer, const Form& form) {
  const int rank = layer.comm()->rank();
  const auto machineBytes = static_cast<double>(machineMemory());
  const auto check = [&](const char* what, const Layout& layout) {
    if (const double bytes = arrayBytes(layout, rank, dataTypeSize(layer.dataType()));
        bytes > machineBytes)
      throw Error(
          TENON_ERR_MEMORY,
          fmt::format("{} of {} would have {:.4g} GB on rank {}, of a tensor of shape [{}]; "
                      "this machine has {:.4g} GB: check the settings, or use more processes",
                      what, layer.title(), bytes / 1e9, rank, fmt::join(layout.shape(), ","),
                      machineBytes / 1e9));
  };
  for (const Layout& use : form.uses)
    check("an input", use);
  check("the output", form.output);
  for (const ParameterForm& parameter : form.parameters)
    check("a parameter", parameter.use);
}

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

Layouts layoutsAt(const Layouts& values, const std::vector<int>& numbers) {
  Layouts layouts;
  for (int value : numbers)
    layouts.push_back(values[value]);
  return layouts;
}

} // namespace

// Lists the layers of a network. `inputs` returns the layouts of its inputs, which are only needed
// for imported models.
class NetworkSetUp::Listing final : private NetworkWalk {
public:
  using InputsOf = std::function<Layouts()>;
  Listing(NetworkSetUp& setUp, std::size_t count, InputsOf inputs)
      : setUp_(setUp), inputs_(std::move(inputs)) {
    list_.network.inputs = static_cast<int>(count);
  }

  // The contents of a container as a network of its own.
  List ofContents(Layer& container, const AssignmentPtr& assignment, std::string title) {
    titles_ = {std::move(title)};
    return finish(container, addContents(container, allInputs(), assignment));
  }
  // The outermost layer follows this assignment, if it is not null, and can have several outputs.
  List ofOutermost(Layer& layer, const AssignmentPtr& assignment) {
    layer.checkReady();
    if (!layer.declaration().contains())
      return finish(layer, {addLayer(layer, allInputs(), assignment)});
    if (layer.declaration().value<bool>("recompute"))
      return finish(layer, {addSegment(layer, allInputs(), assignment)});
    return ofContents(layer, assignment, layer.title());
  }

private:
  std::vector<int> allInputs() const {
    std::vector<int> inputs;
    for (int i = 0; i < list_.network.inputs; ++i)
      inputs.push_back(i);
    return inputs;
  }

  List finish(const Layer& outermost, std::vector<int> outputs) {
    Network& network = list_.network;
    network.outputs = std::move(outputs);
    network.elementBytes = dataTypeSize(outermost.dataType());
    network.savesRounded = outermost.declaration().value<std::string>("saved_type") == "bfloat16";
    return std::move(list_);
  }

  // Adds a layer that reads these values, and returns the number of its output. A planned network
  // that is a node of another one keeps its plan, unless the other one has a plan.
  int add(Layer& layer, const std::vector<int>& reads, AssignmentPtr assignment) {
    if (!assignment)
      assignment = layer.assignment_;
    layer.checkReady();
    layer.checkInputCount(reads.size());
    if (!layer.declaration().contains())
      return addLayer(layer, reads, assignment);
    if (layer.declaration().value<bool>("recompute"))
      return addSegment(layer, reads, assignment);
    const std::vector<int> outputs = addContents(layer, reads, assignment);
    checkOneOutput(layer, outputs.size());
    return outputs.front();
  }

  void checkOneOutput(const Layer& layer, std::size_t outputs) const {
    if (outputs > 1)
      throw Error(
          TENON_ERR_SUPPORT,
          fmt::format("{} has several outputs and is a node of {}, where others read one; add "
                      "its nodes to {} itself",
                      layer.title(), titles_.back(), titles_.back()));
  }

  // The layer as it is called in messages: by its name, or by its number in its container.
  std::string titleOf(const Layer& layer) const {
    return layer.name().empty() && !containers().empty()
               ? placeIn(titles_.back(), *containers().back(), layer)
               : layer.title();
  }

  int addLayer(Layer& layer, const std::vector<int>& reads, const AssignmentPtr& assignment) {
    const Declaration& type = layer.declaration();
    NetworkNode& node = list_.network.nodes.emplace_back();
    node.type = {std::shared_ptr<void>(), &type}; // owned by the layer
    node.reads = reads;
    if (const NodeChoice* choice = layer.choiceIn(assignment.get()))
      node.choice = *choice;
    node.recomputes = type.value<bool>("recompute");
    // By itself, a layer has no layers before it that could compute its halo.
    if (!containers().empty()) {
      node.halo = node.choice.computesHalo ? HaloFrom::Compute : haloFrom(type);
      node.container = std::to_string(containerNumbers_.back());
      node.haloDepth = containers().back()->settings().find<Index>("halo_depth").value_or(1);
    }
    for (const Ref<Parameter>& parameter : layer.ownParameters())
      node.parameters.emplace_back(parameter->name(), parameter->storage());
    layer.declaration().setTitle(titleOf(layer));
    list_.nodes.push_back(
        {.layer = &layer, .title = titleOf(layer), .assignment = assignment, .segment = nullptr});
    return lastValue();
  }

  int addSegment(Layer& layer, const std::vector<int>& reads, const AssignmentPtr& assignment) {
    Listing contents(setUp_, reads.size(), [=, this] { return layoutsOf(reads); });
    auto segment = std::make_unique<List>(contents.ofContents(layer, assignment, titleOf(layer)));
    checkSegment(layer, segment->network.outputs.size());
    NetworkNode& node = list_.network.nodes.emplace_back();
    node.type = {std::shared_ptr<void>(), &layer.declaration()};
    node.reads = reads;
    node.segment = std::make_shared<const Network>(segment->network);
    if (!containers().empty())
      node.container = std::to_string(containerNumbers_.back());
    list_.nodes.push_back({.layer = &layer,
                           .title = titleOf(layer),
                           .assignment = assignment,
                           .segment = std::move(segment)});
    return lastValue();
  }

  int lastValue() const { return list_.network.inputs + static_cast<int>(list_.nodes.size()) - 1; }

  // Adds the layers in a container, and returns the values that are its outputs.
  std::vector<int> addContents(Layer& container, const std::vector<int>& reads,
                               const AssignmentPtr& assignment) {
    assignments_.push_back(assignment);
    std::vector<int> outputs = walk(container, reads);
    assignments_.pop_back();
    list_.containers.push_back(
        {.layer = &container, .reads = reads, .outputs = outputs, .assignment = assignment});
    return outputs;
  }

  void enter(Layer& container, const std::vector<int>& reads) override {
    if (modelOf(container)) {
      std::vector<Shape> shapes;
      for (const Layout& layout : layoutsOf(reads))
        shapes.push_back(layout.shape());
      bindModel(container, shapes, /*isListed=*/!setUp_.listedModels_.insert(&container).second);
    }
    if (container.nodes().empty())
      throw Error(TENON_ERR_STATE,
                  fmt::format("{} has no layers; add at least one before TenonLayerSetUp()",
                              container.title()));
    if (!containers().empty())
      titles_.push_back(titleOf(container));
    containerNumbers_.push_back(containerCount_++);
  }

  void leave(Layer& container) override {
    checkAllRead(container, container.outputValues());
    containerNumbers_.pop_back();
    if (!containers().empty())
      titles_.pop_back();
  }

  int visit(Layer& layer, const std::vector<int>& reads) override {
    Layer& container = *containers().back();
    if (setUp_.byUser_) {
      // A layer takes over settings of its first container only.
      if (setUp_.handedDown_.insert(&layer).second)
        container.handOn(layer);
      if (!container.isTraining())
        layer.setTraining(false);
      if (container.isFrozen())
        layer.setFrozen(true);
    }
    const std::string title = titleOf(layer);
    try {
      return add(layer, reads, assignments_.back());
    } catch (const Error& error) {
      rethrowWithPlace(title, layer, error);
    }
  }

  // The layouts of values of the layers so far, which are compiled to find them: the layers of an
  // imported model depend on the extents of its inputs.
  Layouts layoutsOf(const std::vector<int>& values) const {
    const CompiledNetwork compiled(list_.network, inputs_(), Target::fromOptions(Space::Host));
    return layoutsAt(compiled.values(), values);
  }

  NetworkSetUp& setUp_;
  InputsOf inputs_;
  List list_;
  // Of the containers around the layer that is added, the outermost first.
  std::vector<std::string> titles_;
  std::vector<int> containerNumbers_;
  std::vector<AssignmentPtr> assignments_;
  int containerCount_ = 0;
};

NetworkSetUp::Made NetworkSetUp::make(const Layouts& inputs, const AssignmentPtr& assignment) {
  List list =
      Listing(*this, inputs.size(), [&] { return inputs; }).ofOutermost(outermost_, assignment);
  std::deque<AtWork> atWork;
  markAtWork(list, atWork);
  // The output of a layer within a planned network is not that of the network.
  if (byUser_ && assignment && assignment == outermost_.assignment_)
    list.network.output = assignment->output;
  const auto network = std::make_shared<const CompiledNetwork>(
      list.network, inputs, Target::fromOptions(outermost_.space()));
  Made made{.outputs = network->outputs()};
  if (network->nodes().size() > list.nodes.size())
    made.repartition = addRepartition(list);
  made.setup = makeSetup(outermost_, list, network);
  return made;
}

// The layer for the conversion that a plan adds after the network.
Ref<Layer> NetworkSetUp::addRepartition(List& list) const {
  Ref<Layer> repartition = makeLayer(outermost_.comm(), "repartition");
  for (const char* name : {"data_type", "space", "stack_depth"})
    repartition->set(name, outermost_.declaration().get(name));
  repartition->setOutputLayout(*list.network.output);
  repartition->setName("plan_output");
  list.nodes.push_back({repartition.get(), repartition->title(), {}, nullptr});
  return repartition;
}

// User functions that are called during the set-up cannot call the layers that are set up.
void NetworkSetUp::markAtWork(const List& list, std::deque<AtWork>& marks) {
  for (const Container& container : list.containers)
    marks.emplace_back(container.layer->atWork_);
  for (const Node& node : list.nodes) {
    marks.emplace_back(node.layer->atWork_);
    if (node.segment)
      markAtWork(*node.segment, marks);
  }
}

// Creates the objects of a network, and the entries of its layers and containers.
std::unique_ptr<Setup>
NetworkSetUp::makeSetup(const Layer& layer, const List& list,
                        std::shared_ptr<const CompiledNetwork> compiledNetwork) {
  const CompiledNetwork& network = *compiledNetwork;
  for (const Container& container : list.containers) {
    const Layouts inputs = layoutsAt(network.values(), container.reads);
    container.layer->declaration().checkLinks(inputs);
    if (provedModels_.insert(container.layer).second)
      proveAtSetUp(*container.layer, inputs);
  }
  BoundNodes nodes;
  for (std::size_t n = 0; n < list.nodes.size(); ++n) {
    const CompiledNetwork::Node& compiled = network.nodes()[n];
    nodes.push_back(compiled.sameAs >= 0 ? nodes[compiled.sameAs]
                                         : bind(list.nodes[n], compiled, network.outputOf(n)));
  }
  for (const Container& container : list.containers) {
    loadModelWeights(*container.layer);
    Layer::Entry& entry = container.layer->entryFor(layoutsAt(network.values(), container.reads),
                                                    container.assignment, byUser_);
    if (!entry.setup)
      entry.outputs = layoutsAt(network.values(), container.outputs);
  }
  return std::make_unique<Setup>(BoundMaps(layer, network, nodes), std::move(compiledNetwork));
}

// Creates the objects of a layer, unless it has them from another network with the same layouts.
std::shared_ptr<const BoundMaps>
NetworkSetUp::bind(const Node& node, const CompiledNetwork::Node& compiled, const Layout& output) {
  Layer& layer = *node.layer;
  try {
    if (BatchedAgreement* const batch = layer.comm_->batch()) {
      const NodeChoice* const choice = layer.choiceIn(node.assignment.get());
      batch->compareText(layer.whatIsSetUp(),
                         layer.setUpText(compiled.inputs) + (choice ? choice->agreedText() : ""));
    }
    const std::size_t pieces = compiled.form ? compiled.form->pieces.size() : 0;
    const Layer::Entry* const known =
        layer.knownEntry(compiled.inputs, node.assignment, compiled.computedHalo, pieces);
    std::shared_ptr<const BoundMaps> maps =
        known && known->node ? known->node : makeMaps(node, compiled);
    Layer::Entry& entry =
        layer.entryFor(compiled.inputs, node.assignment, byUser_, compiled.computedHalo, pieces);
    if (!entry.setup)
      entry.outputs = {output};
    entry.node = std::move(maps);
    if (compiled.form)
      entry.signature = compiled.form->signature.describe();
    return entry.node;
  } catch (const Error& error) {
    rethrowWithPlace(node.title, layer, error);
  }
}

std::shared_ptr<const BoundMaps> NetworkSetUp::makeMaps(const Node& node,
                                                        const CompiledNetwork::Node& compiled) {
  Layer& layer = *node.layer;
  if (node.segment)
    return std::make_shared<BoundMaps>(
        layer, compiled, makeSegment(layer, makeSetup(layer, *node.segment, compiled.segment)));
  checkMemory(layer, *compiled.form);
  return std::make_shared<BoundMaps>(layer, compiled, layer.makeKernel_);
}

} // namespace tenon
