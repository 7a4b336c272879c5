// SPDX-License-Identifier: BSD-2-Clause
// The plan of a network of layers (layer_plan.hpp, public handle TenonPlan). Rank 0 searches, or
// reads a plan file, and broadcasts the plan as text, which all ranks read; setUp(), a collective
// call, then sets the network up with the parallelizations that were chosen. The network belongs to
// the user: what was chosen is stored beside the settings of its layers (Assignment), also an
// output layout that the user has fixed (pinned), to which a conversion after the last layer leads.
//
// Three forms of the network occur here:
//
//   unfolded    the layers that compute, as a list without the containers around them
//   declared    the same without MPI, as the search and the reader of plan files need it
//   planned     the declared layers for which the plan has a choice; a dependent layer, such as an
//               elementwise function, has none and follows the layer that it reads
#include "plan/layer_plan.hpp"

#include "comm/agreement/batched.hpp"
#include "comm/memory/lane.hpp"
#include "comm/transport.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "dtensor/kernel_context.hpp"
#include "layer/networks/model.hpp"
#include "plan/plan_file.hpp"
#include "sys/files/part_file.hpp"
#include "sys/log/log.hpp"
#include "sys/options/options.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

constexpr OptionSpec kOptions[] = {kGradientBucketOption};
const OptionRegistration kRegistration{{"plan", kOptions}};

} // namespace

LayerPlan::LayerPlan(Ref<Layer> network, Index batch)
    : NetworkPlan(network->title(), batch, kOptions), network_(std::move(network)) {
  network_->checkBeforeSetUp("TenonPlanCreate()");
  set("processes", Index(comm()->size()));
}

// Layers can outlive their plan.
LayerPlan::~LayerPlan() {
  removeObservers();
}

void LayerPlan::removeObservers() noexcept {
  if (!isSetUp_)
    return;
  // The observers belong to the plan, and the layers would call them after their destruction.
  network_->setObservers({});
  isSetUp_ = false;
}

// Undoes the set-up. Buckets are destroyed before the parameters in them.
void LayerPlan::undoSetUp() noexcept {
  removeObservers();
  buckets_.reset();
  measurement_.reset();
  nodes_.clear();
}

void LayerPlan::checkOpen(const std::string& call) const {
  if (isSetUp_)
    throw Error(TENON_ERR_STATE, fmt::format("{} is not allowed after TenonPlanSetUp()", call));
}

namespace {

// Whether the network works on a mesh (edges, index maps) or on linked patches.
bool hasLists(const Layer& layer) {
  const Declaration& declaration = layer.declaration();
  return (declaration.takesLists() && !declaration.contains()) || declaration.lists().links() ||
         std::ranges::any_of(layer.nodes(),
                             [](const Layer::Node& node) { return hasLists(*node.layer); });
}

void checkBatch(const Layout& layout, Index batch, const char* which) {
  if (layout.ndim() == 0 || layout.shape()[0] != batch)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the layout of the {} is {}, but the batch of the plan is {}; pass a "
                            "layout of the whole batch",
                            which, layout.describe(), batch));
}

} // namespace

void LayerPlan::setInput(int input, const Layout& layout) {
  checkOpen("TenonPlanSetInput()");
  const int inputs = std::max(1, network_->inputCount());
  if (input < 0 || input >= inputs)
    throw Error(TENON_ERR_ARG,
                fmt::format("input index {} is out of range: {} has {}, numbered from 0", input,
                            network_->title(), counted(inputs, "input")));
  // A mesh has fields on nodes, whose number is the batch, and fields on edges.
  if (input == 0 || !hasLists(*network_))
    checkBatch(layout, batch(), "input");
  if (input > 0)
    setFurtherShape(input, layout.shape());
  else if (layout.ndim() > 1)
    set("input_shape", Shape(layout.shape().begin() + 1, layout.shape().end()));
  // The user's layout is for one number of processes and one batch, and is checked against both
  // when it is used.
  pinInput(input, [layout](const Shape&, Index) { return layout; });
}

void LayerPlan::setOutput(const Layout& layout) {
  checkOpen("TenonPlanSetOutput()");
  if (!hasLists(*network_))
    checkBatch(layout, batch(), "output");
  pinOutput([layout](const Shape&, Index) { return layout; });
}

const FoundPlan& LayerPlan::search() {
  setSpace(network_->space());
  fixSignatures();
  return NetworkPlan::search();
}

// Fixes the parallelizations of layers for which the user has set a signature.
void LayerPlan::fixSignatures() {
  const DeclaredNetwork planned = layers();
  for (const UnfoldedNode& node : unfoldedNetwork()) {
    const std::string signature = node.layer->declaration().value<std::string>("signature");
    if (signature.empty())
      continue;
    // The prices contain no choice of a dependent's signature.
    if (std::none_of(planned.layers.begin(), planned.layers.end(),
                     [&](const DeclaredLayer& layer) { return layer.name == node.path; }))
      throw Error(
          TENON_ERR_OPTION,
          fmt::format("{} has the signature \"{}\", but in a plan it follows what it reads; "
                      "leave its signature open",
                      node.layer->title(), signature));
    fix(node.path, signature);
  }
}

// The layers of an imported network depend on the extents of its inputs.
std::vector<UnfoldedNode> LayerPlan::unfoldedNetwork() const {
  if (modelOf(*network_))
    makeModelLayers(*network_, inputShapes());
  return unfolded(*network_);
}

DeclaredNetwork LayerPlan::layers() const {
  const std::vector<UnfoldedNode> nodes = unfoldedNetwork();
  DeclaredNetwork network = declareNetwork(describeResolved(nodes), inputShapes());
  addState(network, nodes);
  network.elementBytes = dataTypeSize(network_->dataType());
  network.savesRounded = network_->declaration().value<std::string>("saved_type") == "bfloat16";
  network.stackDepth = network_->stackDepth();
  return network;
}

// Scratch memory of kernels on the rank that searches, cached for the searches on many grids. Types
// whose kernels work on tensors need a layer to make them.
ScratchOf LayerPlan::scratch() const {
  return [this, nodes = unfoldedNetwork()](int node, const Declaration& type, const Form& form) {
    const int rank = comm()->rank();
    std::string key = type.agreedText() + type.lists().describe();
    for (const Layout& use : form.uses)
      key += fmt::format(" [{}]", fmt::join(extents(use.boxOfRank(rank)), ","));
    key += fmt::format(" [{}]", fmt::join(extents(form.output.boxOfRank(rank)), ","));
    const auto [entry, isNew] = scratch_.try_emplace(std::move(key), 0);
    if (isNew) {
      const auto bytes = kernelBytes(type, form, rank, contextOf(comm(), network_->space()));
      const UnfoldedNode& unfolded = nodes[node];
      entry->second =
          bytes ? bytes->scratch
                : unfolded.layer->kernelScratch(form, unfolded.containers, unfolded.lists);
    }
    return entry->second;
  };
}

// Chooses shared memory as the carriers of host arrays do. If nodes have different numbers of
// ranks, messages are assumed.
SharedByNode LayerPlan::shared() const {
  const Transport requested = parseTransport(options().getChoice("", "conversion_transport"));
  if (network_->space() != Space::Host || !comm()->arena() || requested == Transport::Messages)
    return {};
  return {.ranks = comm()->ranksPerNode(), .laneBytes = laneBytes};
}

Layer& LayerPlan::layer() const {
  if (!isSetUp_)
    throw Error(TENON_ERR_STATE, "the plan is not set up; call TenonPlanSetUp() first");
  return *network_;
}

void LayerPlan::checkProcesses() const {
  if (processes() > comm()->size())
    throw Error(TENON_ERR_STATE,
                fmt::format("the plan is for {} processes, but the communicator of {} has {}; set "
                            "at most that many",
                            processes(), network_->title(), comm()->size()));
}

namespace {

std::string pinnedText(const std::optional<Layout>& layout) {
  return layout ? layout->describe() : "";
}

} // namespace

std::string LayerPlan::pinnedInputsText(const DeclaredNetwork& declared) const {
  std::string text;
  for (int input = 0; input < std::max(1, network_->inputCount()); ++input)
    text += (input > 0 ? "; " : "") + pinnedText(pinnedInput(declared, input));
  return text;
}

std::string LayerPlan::agreedText() const {
  const DeclaredNetwork declared = layers();
  return fmt::format("batch {}, {}, input {}, output {}, gradient buckets of {} bytes, network {}",
                     batch(), settings().describe(), pinnedInputsText(declared),
                     pinnedText(pinnedOutput(declared)), bucketBytes(), network_->agreedText());
}

// All ranks, rank 0 included, read the plan from the text that rank 0 broadcasts: on different
// processors, sums that differ in the last digit could lead to different plans. A rank that has
// searched at the user's request contributes its text to the agreement.
void LayerPlan::shareSearch() {
  const std::string found = collectively(
      *comm(), "the plan",
      [&] {
        checkSets();
        network_->checkBeforeSetUp("TenonPlanSetUp()");
        checkProcesses();
        return comm()->rank() == 0 || wasSearched() ? textOf(search()) : std::string();
      },
      [&](const std::string&) { return agreedText(); });
  const std::string text = broadcastText(*comm(), found, 0), source = "the plan of rank 0";
  const JsonNode tree = parseJson(text, source);
  take(planFrom(JsonView(tree, source), frame()));
}

PlanFrame LayerPlan::frame() const {
  PlanFrame frame{.network = layers(), .grids = grids(), .input = {}, .output = {}};
  frame.input = pinnedInput(frame.network);
  frame.output = pinnedOutput(frame.network);
  if (frame.network.hasLists)
    frame.listed =
        listedFields(frame.network, nativeLayouts(frame.network, inputsFor(frame.network)),
                     {frame.input, frame.output});
  return frame;
}

const PlannedLayer* LayerPlan::plannedAt(const std::string& path) const {
  for (const PlannedLayer& planned : found().layers)
    if (planned.name == path)
      return &planned;
  return nullptr;
}

bool LayerPlan::recomputes(const std::string& path) const {
  return wasSearched() && std::ranges::find(found().recomputed, path) != found().recomputed.end();
}

bool LayerPlan::sharesHalo(const std::string& path) const {
  return wasSearched() && std::ranges::find(found().shared, path) != found().shared.end();
}

namespace {

// The lists of a mesh as text, which contains only what all ranks know.
std::string listsText(const DeclaredNetwork& network) {
  std::string text;
  for (const DeclaredLayer& layer : network.layers)
    if (const std::string lists = layer.declaration->lists().describe(); !lists.empty())
      text += fmt::format("{}{}{}", text.empty() ? "" : "; ", layer.name, lists);
  return text;
}

} // namespace

// The subject of a plan: everything that a plan depends on, by which load() recognises a plan of
// another network. Signatures that the user has set are part of the plan.
PlanSubject LayerPlan::subject() const {
  LayerDescription network = describeUnfolded(unfoldedNetwork());
  for (LayerDescription::Node& node : network.nodes)
    std::erase_if(node.layer.settings,
                  [](const auto& entry) { return entry.first == "signature"; });
  const DeclaredNetwork declared = hasPinnedEnds() ? layers() : DeclaredNetwork();
  const std::vector<Shape> shapes = inputShapes();
  PlanSubject subject{.network = networkText(network),
                      .dataType = network_->declaration().value<std::string>("data_type"),
                      .input = shapes.front(),
                      .furtherInputs = {shapes.begin() + 1, shapes.end()},
                      .pinnedInput = hasPinnedEnds() ? pinnedInputsText(declared) : "",
                      .pinnedOutput = pinnedText(pinnedOutput(declared)),
                      .lists = listsText(declared),
                      .processes = processes(),
                      .grid = grid().extents()};
  subject.network.pop_back(); // the end of the last line
  return subject;
}

void LayerPlan::save(const std::string& path) {
  collectively(*comm(), [&] {
    const std::string text = textOf(subject(), found());
    if (comm()->rank() == 0) {
      NewFile written(path);
      written.write(text);
      written.commit();
    }
    return true;
  });
}

void LayerPlan::load(const std::string& path) {
  checkOpen("TenonPlanLoad()");
  const std::string read = collectively(
      *comm(), "the path of the plan",
      // One rank reads: all ranks have the same text even if the file changes meanwhile.
      [&] { return comm()->rank() == 0 ? readWholeFile(path, "plan file") : std::string(); },
      [&](const std::string&) { return path; });
  const std::string text = broadcastText(*comm(), read, 0);
  collectively(*comm(), [&] {
    const JsonNode tree = parseJson(text, path);
    const JsonView file(tree, path);
    // The subject is checked first: a plan of another network would cause errors in many places.
    checkSubject(file, subject(), path);
    take(planFrom(file.at("plan"), frame()));
    return true;
  });
}

// What the plan has chosen for the layers of the network.
Assignment LayerPlan::assignment() const {
  Assignment assignment{.layers = {}, .output = pinnedOutput(layers()), .differentiates = trains()};
  for (const UnfoldedNode& node : unfoldedNetwork()) {
    NodeChoice& choice = assignment.layers[node.layer];
    choice.recomputes = recomputes(node.path);
    choice.computesHalo = sharesHalo(node.path);
    if (const PlannedLayer* planned = plannedAt(node.path)) {
      choice.labels = planned->signature;
      // The labels define the properties of the input, and the uses also its split points, which
      // need not be even.
      choice.uses = planned->uses;
      if (planned->isBalanced)
        choice.cuts = OutputCuts::Balanced;
    }
  }
  return assignment;
}

// An input without a pinned layout has the layout in which its first reader uses it.
Layouts LayerPlan::inputsFor(const DeclaredNetwork& declared) const {
  Layouts inputs;
  for (int input = 0; input < std::max(1, network_->inputCount()); ++input) {
    const std::optional<Layout> pinned = pinnedInput(declared, input);
    const auto first = std::ranges::find(declared.reads, input, &DeclaredMove::source);
    inputs.push_back(pinned ? *pinned
                            : plannedAt(declared.layers[first->to].name)->uses[first->input]);
  }
  return inputs;
}

// The ranks agree once, at the end. If any rank has failed, the registered actions undo what this
// rank has done, the latest first: the plan's observers and buckets, the set-up of the network (by
// the network itself), then the assignment. An error before the first registration is undone in the
// catch clause.
void LayerPlan::setUp() {
  if (isSetUp_)
    return;
  static const int event = logEvent("PlanSetUp");
  const LogScope scope(event);
  try {
    inOneAgreement(*comm(), [&] {
      shareSearch();
      network_->setAssignment(std::make_shared<const Assignment>(assignment()));
      BatchedAgreement& agreement = *comm()->batch();
      agreement.ifFailed([network = network_] { network->setAssignment({}); });
      network_->setUp(inputsFor(layers()));
      isSetUp_ = true;
      agreement.ifFailed([this] { undoSetUp(); });
      noteNodes();
      addBuckets();
      return true;
    });
  } catch (...) {
    undoSetUp();
    throw;
  }
}

// A plan that is not for training has buckets only if they were requested.
Index LayerPlan::bucketBytes() const {
  const auto setting = value<Index>("gradient_bucket");
  if (setting >= 0)
    return setting;
  return trains() ? NetworkPlan::bucketBytes() : 0;
}

// A plan without buckets reduces each gradient by itself, which a step of an optimizer must not
// make, since it allocates nothing.
void LayerPlan::addBuckets() {
  const Index bytes = bucketBytes();
  if (bytes == 0) {
    for (const Ref<Parameter>& parameter : network_->parameters())
      if (trains() && !parameter->isFrozen())
        parameter->prepareReduction();
    return;
  }
  buckets_ = std::make_unique<GradientBuckets>(*network_, bytes);
  network_->setObservers({measurement_.get(), buckets_.get()});
}

int LayerPlan::reductions() const {
  int count = 0;
  for (const Ref<Parameter>& parameter : layer().parameters())
    count += parameter->isInBucket() ? parameter->reducedAs() != nullptr
                                     : trains() && parameter->isSummed() && !parameter->isFrozen();
  return count;
}

LayerPlan::Memory LayerPlan::memory() const {
  const Setup& setup = layer().setup(layer().inputLayouts());
  const Layer::Memory held = layer().memory();
  Memory memory{.saved = held.saved, .shared = setup.sharedBytes()};
  // A layer counts the temporary values of passes among its buffers.
  memory.messages = held.buffers - memory.shared;
  memory.scratch = contextOf(comm())->scratchBytes();
  for (const Ref<Parameter>& parameter : layer().parameters())
    memory.parameters += parameter->bytes();
  return memory;
}

// Lists the nodes that run: those of the network, by their paths in it, and the repartition after
// it, if there is one.
void LayerPlan::noteNodes() {
  nodes_.clear();
  for (const UnfoldedNode& node : unfoldedNetwork()) {
    PlannedNode& planNode = nodes_.emplace_back(
        PlannedNode{.path = node.path, .planned = {}, .layer = node.layer, .isOfNetwork = true});
    if (const PlannedLayer* planned = plannedAt(node.path))
      planNode.planned = *planned;
  }
  const BoundMaps& maps = network_->maps(network_->inputLayouts());
  if (const int last = static_cast<int>(nodes_.size()); last < maps.list().nodes()) {
    const Layer& repartition = maps.layerOfNode(last);
    nodes_.push_back(
        {.path = repartition.name(), .planned = {}, .layer = &repartition, .isOfNetwork = false});
  }
  measurement_ = std::make_unique<Measurement>(maps, layersInOrder());
  network_->setObservers({measurement_.get()});
}

std::vector<const Layer*> LayerPlan::layersInOrder() const {
  std::vector<const Layer*> layers;
  for (const PlannedNode& node : nodes_)
    layers.push_back(node.layer);
  return layers;
}

std::vector<LayerCost> LayerPlan::costs(int rank, bool inputCotangent) const {
  return costsOf(layer(), rank, inputCotangent, rates());
}

} // namespace tenon
