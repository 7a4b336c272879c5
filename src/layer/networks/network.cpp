// SPDX-License-Identifier: BSD-2-Clause
// Containers: the nodes of a layer, their maps joined in one list, and containers that recompute.
// To its caller a network is one layer, whose passes are derived from the joined list; a node that
// is set up for it has no stack of its own.
#include "layer/networks/network.hpp"

#include "layer/core/layer.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/networks/model.hpp"
#include "layer/networks/path.hpp"
#include "layer/types/shell.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tenon {

// A container that recomputes: to whoever runs it, it is one kernel that keeps its inputs. All that
// its layers keep lies in one frame, which the Apply calls share; a derivative runs the Apply
// again, with the random numbers of the first time, and then its own pass. So k pending evaluations
// hold the inputs k times and the activations once.

// `inner` is the container set up as usual.
std::unique_ptr<Setup> makeSegment(const Layer& layer, std::unique_ptr<Setup> inner);

namespace {

// Collects the layers that contain no others, each once, since a layer can be several nodes.
void forEachLeaf(const Layer& layer, std::vector<Layer*>& leaves) {
  for (Layer* child : layer.children())
    if (!child->children().empty())
      forEachLeaf(*child, leaves);
    else if (std::find(leaves.begin(), leaves.end(), child) == leaves.end())
      leaves.push_back(child);
}

// While this lives, running statistics do not follow: the batch that is computed again was counted
// when it was computed first.
class HeldStates {
public:
  explicit HeldStates(const std::vector<Ref<StateTensor>>& states) : states_(states) { hold(true); }
  ~HeldStates() { hold(false); }
  HeldStates(const HeldStates&) = delete;
  HeldStates& operator=(const HeldStates&) = delete;

private:
  void hold(bool held) const {
    for (const Ref<StateTensor>& state : states_)
      state->hold(held);
  }
  const std::vector<Ref<StateTensor>>& states_;
};

class SegmentKernel final : public LocalKernel {
public:
  SegmentKernel(const Layer& layer, std::unique_ptr<Setup> inner)
      : inner_(std::move(inner)), frame_(inner_->makeFrame()),
        output_(inner_->maps().tensor(inner_->output())) {
    forEachLeaf(layer, leaves_);
    for (Layer* leaf : leaves_) {
      // A user's function may read its states, which are not what they were at the first Apply.
      const auto* shell = dynamic_cast<const ShellDeclaration*>(&leaf->declaration());
      if (shell && shell->hasStates())
        throw Error(TENON_ERR_SUPPORT,
                    fmt::format("{} cannot recompute, since {} has states that its user functions "
                                "may read; set recompute to false, or add the layer elsewhere",
                                layer.title(), leaf->title()));
      if (leaf->declaration().isRandom())
        random_.push_back(leaf);
      states_.insert(states_.end(), leaf->ownStates().begin(), leaf->ownStates().end());
    }
    output_->allocate();
  }

  void forwardMany(Inputs x, ParameterUses&, DTensor& y, Buffer* workspace) override {
    DTensor* const one[] = {&y};
    if (!workspace)
      return inner_->infer(x, one);
    // The workspace, though it is empty, tells which pending Apply this is: each level of the stack
    // has its own.
    notePoint(points_[workspace]);
    inner_->apply(x, one, *frame_, Saving::Nothing);
  }
  // Each derivative computes the activations anew and lets go of them: the frame may serve another
  // pending Apply next.
  void tangentMany(const KernelPoint& point, Inputs dx, ParameterUses&, DTensor& dy) override {
    runAgain(point);
    DTensor* const one[] = {&dy};
    inner_->tangent(*frame_, dx, one);
    frame_->drop();
  }
  void adjointMany(const KernelPoint& point, const DTensor& dy, ParameterUses&,
                   InputCotangents dx) override {
    runAgain(point);
    const DTensor* const one[] = {&dy};
    inner_->adjoint(*frame_, one, dx);
    frame_->drop();
  }
  Index bytes() const override { return inner_->bytes() + frame_->bytes() + output_->arrayBytes(); }
  std::string describe() const override {
    return "recomputed before its adjoint from its input; activations are among the buffers";
  }
  const BoundMaps* inner() const override { return &inner_->maps(); }
  // Its own passes record their steps.
  bool isRepeatable() const override { return false; }

private:
  // What an Apply depends on beside its inputs and the parameters, which are the point of whoever runs
  // the segment: how often the random layers were applied, and which layers are in training.
  struct Point {
    std::vector<std::uint64_t> applied;
    std::vector<bool> training;
  };

  void notePoint(Point& point) const {
    point.applied.resize(random_.size());
    for (std::size_t i = 0; i < random_.size(); ++i)
      point.applied[i] = random_[i]->randomState().applied;
    point.training.resize(leaves_.size());
    for (std::size_t i = 0; i < leaves_.size(); ++i)
      point.training[i] = leaves_[i]->isTraining();
  }

  void runAgain(const KernelPoint& at) {
    const Point& point = points_.at(at.workspace);
    Point now;
    notePoint(now);
    take(point);
    const HeldStates held(states_);
    // Whoever runs the segment keeps its inputs, so that copies of them would be second ones.
    DTensor* const one[] = {output_.get()};
    inner_->apply(at.inputs, one, *frame_, Saving::References);
    take(now);
  }
  void take(const Point& point) const {
    for (std::size_t i = 0; i < random_.size(); ++i)
      random_[i]->randomState().applied = point.applied[i];
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      const bool records = leaves_[i]->isRecording();
      leaves_[i]->setTraining(point.training[i]);
      leaves_[i]->setRecording(records);
    }
  }

  std::unique_ptr<Setup> inner_;
  std::unique_ptr<Frame> frame_;
  Ref<DTensor> output_; // of a recomputation; nobody reads it
  std::vector<Layer*> leaves_, random_;
  std::vector<Ref<StateTensor>> states_;
  std::map<const Buffer*, Point> points_; // by the workspace of a frame and a map
};

} // namespace

std::unique_ptr<Setup> makeSegment(const Layer& layer, std::unique_ptr<Setup> inner) {
  if (inner->outputs().size() > 1)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} cannot recompute, since it has {}; set recompute to false, or to "
                            "true for a container within it that has one",
                            layer.title(),
                            counted(static_cast<Index>(inner->outputs().size()), "output")));
  BoundMaps maps(layer);
  std::vector<ValueId> reads;
  for (const Layout& input : inner->inputs())
    reads.push_back(maps.list().input(fmt::format("x{}", reads.size()), input));
  const ValueId y = maps.list().output("y", inner->output());
  maps.run({.name = "segment",
            .keepsInputs = true,
            .anyStrides = true,
            .runsOnce = true,
            .gradients = Gradients::Within},
           reads, y, std::make_shared<SegmentKernel>(layer, std::move(inner)));
  return std::make_unique<Setup>(std::move(maps), "");
}

// A network set up for its inputs: the maps of its nodes in one list, so that its passes are
// derived and scheduled as one layer's.

// values: the layouts of the network's values, its inputs first.
std::unique_ptr<Setup> makeNetworkSetup(const Layer& layer, const Layouts& values);

namespace {

// A value that no node reads is most likely a wrong number in another node's list.
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

// Of an output: the number of nodes that read it, and of outputs that it is.
int usesOf(const Layer& layer, const std::vector<int>& outputs, int value) {
  auto uses = std::ranges::count(outputs, value);
  for (const Layer::Node& node : layer.nodes())
    uses += std::ranges::count(node.reads, value);
  return static_cast<int>(uses);
}

BoundMaps mapsOf(const Layer& layer, const Layouts& layouts) {
  const std::vector<int> outputs = layer.outputValues();
  checkAllRead(layer, outputs);
  BoundMaps maps(layer);
  // Values are numbered as the layer numbers them, the inputs first. An output that is nothing else
  // is written by its node; others are copied, since cotangents of several readers are added to
  // memory of the library.
  std::vector<ValueId> values;
  std::vector<bool> copied;
  for (int i = 0; i < layer.inputCount(); ++i)
    values.push_back(maps.list().input(fmt::format("x{}", i), layouts[i]));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    maps.list().output(outputs.size() == 1 ? "y" : fmt::format("y{}", i), layouts[outputs[i]]);
    copied.push_back(usesOf(layer, outputs, outputs[i]) > 1);
  }
  for (const Layer::Node& node : layer.nodes()) {
    Layouts inputs;
    std::vector<ValueId> reads;
    for (int value : node.reads) {
      inputs.push_back(layouts[value]);
      reads.push_back(values[value]);
    }
    const int value = static_cast<int>(values.size());
    const auto output =
        static_cast<std::size_t>(std::ranges::find(outputs, value) - outputs.begin());
    values.push_back(
        output < outputs.size() && !copied[output]
            ? maps.list().outputs()[output]
            : maps.list().value(fmt::format("v{}", value - layer.inputCount()), layouts[value]));
    maps.join(node.layer->joinedMaps(inputs, layouts[value]), reads, values.back());
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (copied[i])
      maps.list().copy(values[outputs[i]], maps.list().outputs()[i]);
  return maps;
}

} // namespace

std::unique_ptr<Setup> makeNetworkSetup(const Layer& layer, const Layouts& values) {
  return std::make_unique<Setup>(mapsOf(layer, values), "");
}

namespace {

// Network files can hold so many: a container is two levels of JSON, of which a file may have 64.
constexpr int kMaxLevels = 30;

void checkType(const Layer& layer, const char* type) {
  if (layer.type() != type)
    throw Error(TENON_ERR_TYPE, fmt::format("{} has type {}; this call needs type {}",
                                            layer.title(), layer.type(), type));
}

// Users count nodes from 0 on, and inputs from -1 downwards; values are all of them, inputs first.
int valueOf(const Layer& graph, int name) {
  const int there = static_cast<int>(graph.nodes().size()), inputs = graph.inputCount();
  if (name < -inputs || name >= there)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} has no node or input {}; its nodes are numbered 0, "
                            "1, ... (now {}) and its inputs -1, -2, ... (now {}, the "
                            "setting input_count)",
                            graph.title(), name, there, inputs));
  return name < 0 ? -1 - name : inputs + name;
}

} // namespace

std::vector<int> Layer::outputValues() const {
  const std::vector<NetworkOutput> said = declaration_->networkOutputs();
  if (said.empty())
    return {lastValue()};
  const auto is = [](const NetworkOutput& output) {
    return [&](const Node& node) { return node.layer->name() == output.name; };
  };
  std::vector<int> values;
  for (const NetworkOutput& output : said) {
    const auto named = std::ranges::find_if(nodes_, is(output));
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
    if (output.node < 0 && std::ranges::count_if(nodes_, is(output)) > 1)
      throw Error(TENON_ERR_ARG,
                  fmt::format("several nodes of {} have the name of its output \"{}\"; write the "
                              "number of one, such as {}={}",
                              title(), output.name, output.name, node));
    values.push_back(inputCount() + node);
  }
  return values;
}

namespace {

// x, or x0, x1, ...
std::vector<std::string> numberedNames(const char* name, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i)
    names.push_back(count == 1 ? name : fmt::format("{}{}", name, i));
  return names;
}

} // namespace

std::vector<std::string> Layer::inputNames() const {
  std::vector<std::string> names = declaration_->inputNames();
  if (!names.empty())
    return names;
  if (isSetUp())
    return numberedNames("x", inputLayouts().size());
  if (inputCount() < 0)
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

void Layer::putNode(Ref<Layer> layer, std::vector<int> reads) {
  if (layer->comm() != comm())
    throw Error(TENON_ERR_ARG,
                fmt::format("{} and {} are on different communicators; create both on the same one",
                            layer->title(), title()));
  putBelow(*layer);
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

// A layer that contains this container would come to lie below itself, and is refused. What was
// moved until then is moved back, so that a refused layer can be used elsewhere.
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
  // The layer lies as deep already, and so does all that it contains: without this, shared layers
  // would be walked once for each way to them.
  if (level <= level_)
    return;
  if (level > kMaxLevels)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} would lie in {} containers within each other; at most {} can be "
                            "nested",
                            title(), level, kMaxLevels));
  moved.emplace_back(this, std::exchange(level_, level));
  for (Layer* child : children_)
    child->moveBelow(container, level + 1, moved);
}

// A layer takes from its container what it was not told itself, and a stack depth for `uses` Apply
// calls in each of the container's.
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

// Nodes are set up in their order, since each needs the layouts that the nodes before it give.
Layouts Layer::setUpNodes(const Layouts& inputs) {
  std::optional<HaloSharing> halos = sharedHalos();
  Layouts values = inputs;
  for (const Node& node : nodes_) {
    Layouts reads;
    for (int value : node.reads)
      reads.push_back(values[value]);
    const int number = static_cast<int>(&node - nodes_.data());
    const Setup& made =
        setUpChild(*node.layer, reads, halos ? halos->computedHaloOf(number, reads) : std::nullopt);
    if (made.outputs().size() > 1)
      throw Error(
          TENON_ERR_SUPPORT,
          fmt::format("{} has several outputs and is a node of {}, where others read one; add "
                      "its nodes to {} itself",
                      node.layer->title(), title(), title()));
    values.push_back(made.output());
  }
  return values;
}

void Layer::handOn(Layer& child) const {
  const auto isChild = [&](const Node& node) { return node.layer.get() == &child; };
  if (!child.isSetUp())
    child.inheritSettings(*this, static_cast<int>(std::ranges::count_if(nodes_, isChild)));
}

// Layers that share halos are requested their forms before they are set up.
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
    SharingNode& one = nodes.emplace_back(SharingNode{.reads = node.reads});
    if (layer.declaration().contains())
      continue;
    one.declaration = &layer.declaration();
    one.halo = haloFrom(layer.declaration());
    one.form = [&layer](const Layouts& inputs, const std::optional<Layout>& computedHalo) {
      return layer.form(inputs, false, computedHalo);
    };
  }
  return HaloSharing(std::move(nodes), inputCount(), outputValues(), depth);
}

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
