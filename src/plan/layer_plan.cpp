// SPDX-License-Identifier: BSD-2-Clause
#include "plan/layer_plan.hpp"

#include "comm/file_agreement.hpp"
#include "dtensor/data_type.hpp"
#include "layer/layer_types.hpp"
#include "layer/network.hpp"
#include "plan/plan_text.hpp"
#include "plan/pricing.hpp"
#include "sys/log.hpp"
#include "sys/new_file.hpp"
#include "sys/random.hpp"
#include "sys/whole_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

NetworkSource sourceOf(const Layer& network) {
  return {.name = network.title(), .table = {}, .layers = LayerDescription{}};
}

// Sets the layers back to what they were, unless all went well.
class KeptSettings {
public:
  explicit KeptSettings(const std::vector<UnfoldedNode>& nodes) {
    for (const UnfoldedNode& node : nodes)
      before_.emplace_back(node.layer, node.layer->declaration().settings());
  }
  ~KeptSettings() {
    if (!done_)
      for (const auto& [layer, settings] : before_)
        layer->declaration().restore(settings);
  }
  void done() { done_ = true; }

private:
  std::vector<std::pair<Layer*, Settings>> before_;
  bool done_ = false;
};

} // namespace

LayerPlan::LayerPlan(Ref<Layer> network, Index batch)
    : NetworkPlan(sourceOf(*network), batch), network_(std::move(network)) {
  network_->checkBeforeSetUp("TenonPlanCreate()");
  setProcesses(comm()->size());
  setModel("own");
}

// Layers may outlive their plan.
LayerPlan::~LayerPlan() {
  if (compiled_)
    compiled_->setWatch(nullptr);
}

void LayerPlan::checkOpen(const char* call) const {
  if (compiled_)
    throw Error(TENON_ERR_STATE, fmt::format("{} is not allowed after TenonPlanSetUp()", call));
}

namespace {

void checkBatch(const Layout& layout, Index batch, const char* which) {
  if (layout.rank() == 0 || layout.shape()[0] != batch)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the layout of the {} is {}, but the batch of the plan is {}; pass a "
                            "layout of the whole batch",
                            which, layout.describe(), batch));
}

} // namespace

void LayerPlan::setInput(const Layout& layout) {
  checkOpen("TenonPlanSetInput()");
  checkBatch(layout, batch(), "input");
  setInputShape(Shape(layout.shape().begin() + 1, layout.shape().end()));
  input_ = layout;
}

void LayerPlan::setOutput(const Layout& layout) {
  checkOpen("TenonPlanSetOutput()");
  checkBatch(layout, batch(), "output");
  output_ = layout;
}

const FoundPlan& LayerPlan::search() {
  if (!usesWholeGrid())
    throw Error(
        TENON_ERR_SUPPORT,
        "a plan that runs uses all processes, with the batch on the outermost ones, and takes a "
        "solver's layouts from TenonPlanSetInput() and TenonPlanSetOutput(); do not call "
        "TenonPlanSetPlacement(), TenonPlanSetFewerProcesses(), TenonPlanSetInputGrid() or "
        "TenonPlanSetOutputGrid(), which are for plans of TenonPlanCreateNamed()");
  if (!wasSearched())
    fixSignatures();
  return NetworkPlan::search();
}

// The words that the user has given to layers as their signatures are fixed.
void LayerPlan::fixSignatures() {
  const DeclaredNetwork planned = layers();
  for (const UnfoldedNode& node : unfolded(*network_)) {
    const std::string given = node.layer->declaration().value<std::string>("signature");
    if (given.empty())
      continue;
    if (std::none_of(planned.layers.begin(), planned.layers.end(),
                     [&](const DeclaredLayer& layer) { return layer.name == node.path; }))
      throw Error(
          TENON_ERR_OPTION,
          fmt::format("{} has the signature \"{}\", but in a plan it follows what it reads; "
                      "leave its signature open",
                      node.layer->title(), given));
    fix(node.path, given);
  }
}

DeclaredNetwork LayerPlan::layers() const {
  DeclaredNetwork network = declareNetwork(describeUnfolded(unfolded(*network_)), inputShape());
  network.cellBytes = dataTypeSize(network_->dataType());
  return network;
}

Layer& LayerPlan::layer() const {
  if (!compiled_)
    throw Error(TENON_ERR_STATE, "the plan is not set up; call TenonPlanSetUp() first");
  return *compiled_;
}

void LayerPlan::checkProcesses() const {
  if (processes() > comm()->size())
    throw Error(TENON_ERR_STATE,
                fmt::format("the plan is for {} processes, but the communicator of {} has {}; set "
                            "at most that many",
                            processes(), network_->title(), comm()->size()));
}

std::string LayerPlan::agreedText() const {
  std::string text =
      fmt::format("batch {}, {} processes, network {}", batch(), processes(), network_->settings());
  if (input_)
    text += ", input " + input_->describe();
  if (output_)
    text += ", output " + output_->describe();
  return text;
}

void LayerPlan::takeWhole(FoundPlan plan) {
  plan.grid = mesh().grid();
  take(std::move(plan));
}

// One rank searches for all: no other result is possible then.
void LayerPlan::shareSearch() {
  const std::string found = collectively(
      *comm(), "the plan",
      [&] {
        network_->checkBeforeSetUp("TenonPlanSetUp()");
        checkProcesses();
        return comm()->rank() == 0 || wasSearched() ? textOf(search()) : std::string();
      },
      [&](const std::string&) { return agreedText(); });
  const std::string text = broadcastText(*comm(), found, 0);
  const JsonNode tree = parseJson(text, "the plan of rank 0");
  takeWhole(planFrom(JsonView(tree, "the plan of rank 0")));
}

std::vector<std::string> LayerPlan::signatures() const {
  std::vector<std::string> all;
  for (const UnfoldedNode& node : unfolded(*network_)) {
    const PlannedLayer* planned = plannedAt(node.path);
    all.push_back(planned ? planned->signature : "");
  }
  return all;
}

const PlannedLayer* LayerPlan::plannedAt(const std::string& path) const {
  for (const PlannedLayer& planned : found().layers)
    if (planned.name == path)
      return &planned;
  return nullptr;
}

// The same on all ranks, since prices are.
void LayerPlan::compareWithStaying() {
  searched_ = found();
  if (!input_ || hasFixedWords())
    return;
  const std::vector<UnfoldedNode> nodes = unfolded(*network_);
  const OwnRates known = rates();
  const Index cellBytes = dataTypeSize(network_->dataType());
  const auto price = [&](const Layout& from, const std::vector<std::string>& words) {
    PricedNetwork priced = priceOfNetwork(nodes, words, from, known, cellBytes);
    priced.seconds += secondsOfMove(*input_, from, false, known, cellBytes);
    if (output_)
      priced.seconds += secondsOfMove(priced.forms.back().output, *output_, true, known, cellBytes);
    return priced;
  };
  const Layout use = firstUse();
  moved_ = price(input_->mesh() == use.mesh() ? *input_ : use, signatures()).seconds;
  try {
    const PricedNetwork stayed = price(*input_, std::vector<std::string>(nodes.size()));
    stayed_ = stayed.seconds;
    stays_ = stayed_ <= moved_;
    if (stays_)
      take(planThatStays(nodes, stayed.forms));
  } catch (const Error&) { // the network cannot be there
  }
}

// Where each layer then lies; the word that was found is the next best.
FoundPlan LayerPlan::planThatStays(const std::vector<UnfoldedNode>& nodes,
                                   const std::vector<Form>& forms) const {
  FoundPlan plan = found();
  plan.seconds = stayed_;
  for (PlannedLayer& planned : plan.layers)
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (nodes[n].path != planned.name)
        continue;
      const Layout& output = forms[n].output;
      planned.runnerUp = planned.letters;
      planned.runnerUpSeconds = moved_;
      planned.letters = planned.signature = forms[n].signature.describe();
      planned.parts = {.batch = output.parts(0)};
      if (output.rank() > 1)
        planned.parts.channels = output.parts(1);
      for (int d = 2; d < output.rank(); ++d) {
        planned.parts.spatial.push_back(output.parts(d));
        planned.parts.space *= output.parts(d);
      }
    }
  return plan;
}

// What a plan is made for. Signatures are no part of the network, since a plan sets them.
PlanFile LayerPlan::asFile() const {
  LayerDescription network = describeUnfolded(unfolded(*network_));
  for (LayerDescription::Node& node : network.nodes)
    std::erase_if(node.layer.settings,
                  [](const auto& entry) { return entry.first == "signature"; });
  PlanFile file{.network = networkText(network),
                .dataType = network_->declaration().value<std::string>("data_type"),
                .input = inputShape(),
                .processes = processes(),
                .grid = mesh().extents(),
                .plan = {}};
  file.network.pop_back(); // the end of the last line
  return file;
}

void LayerPlan::save(const std::string& path) {
  collectively(*comm(), [&] {
    PlanFile file = asFile();
    file.plan = searched_ ? *searched_ : found();
    if (comm()->rank() == 0) {
      NewFile written(path);
      written.write(textOf(file));
      written.commit();
    }
    return true;
  });
}

void LayerPlan::load(const std::string& path) {
  checkOpen("TenonPlanLoad()");
  const std::string read = collectively(
      *comm(), "the path of the plan",
      [&] { return comm()->rank() == 0 ? readWholeFile(path, "plan file") : std::string(); },
      [&](const std::string&) { return path; });
  const std::string text = broadcastText(*comm(), read, 0);
  takeWhole(collectively(*comm(), [&] {
    PlanFile file = planFileFrom(text, path);
    checkSame(file, asFile(), path);
    std::vector<std::string> names;
    for (const DeclaredLayer& layer : layers().layers)
      names.push_back(layer.name);
    checkLayers(file.plan, names, path);
    return std::move(file.plan);
  }));
}

void LayerPlan::giveWords() {
  const std::vector<UnfoldedNode> nodes = unfolded(*network_);
  const std::vector<std::string> words = signatures();
  for (std::size_t n = 0; n < nodes.size() && !stays_; ++n)
    if (!words[n].empty())
      nodes[n].layer->set("signature", words[n]);
}

// Where the first layer that reads the network's input uses it, without its halo.
Layout LayerPlan::firstUse() const {
  const MeshPtr grid = Mesh::make(mesh().extents());
  const Layout anywhere({.shape = inputShape(),
                         .mesh = grid,
                         .properties = Properties(grid->axes(), Property::broadcast())});
  const std::vector<UnfoldedNode> nodes = unfolded(*network_);
  const std::vector<std::string> words = signatures();
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const std::vector<int>& reads = nodes[n].reads;
    if (std::find(reads.begin(), reads.end(), -1) != reads.end())
      return nodes[n]
          .layer->declaration()
          .form(Layouts(reads.size(), anywhere), {.letters = words[n]})
          .uses.front()
          .withoutMargins();
  }
  throw Error(TENON_ERR_STATE, fmt::format("no layer of {} reads its input", network_->title()));
}

// Repartitions stand where the caller's layouts end.
Ref<Layer> LayerPlan::compile(const Layout& input) const {
  const Layout use = stays_ ? input : firstUse();
  const bool movesIn = !(input.mesh() == use.mesh());
  if (!movesIn && !output_)
    return network_;
  const Ref<Layer> all = makeLayer(comm(), "sequential");
  for (const char* name : {"data_type", "space", "stack_depth"})
    all->set(name, network_->declaration().get(name));
  const auto addRepartition = [&](const char* name, const Layout& to) {
    const Ref<Layer> repartition = makeLayer(comm(), "repartition");
    repartition->setName(name);
    repartition->setOutputLayout(to);
    appendLayer(*all, repartition);
  };
  all->setName(network_->name());
  if (movesIn)
    addRepartition("plan_input", use);
  appendLayer(*all, network_);
  if (output_)
    addRepartition("plan_output", *output_);
  return all;
}

void LayerPlan::setUp() {
  if (compiled_)
    return;
  static const int event = logEvent("PlanSetUp");
  const LogScope scope(event);
  shareSearch();
  KeptSettings kept(unfolded(*network_));
  const auto [input, made] = collectively(*comm(), [&] {
    compareWithStaying();
    giveWords();
    const Layout from = input_ ? *input_ : firstUse();
    return std::pair(from, compile(from));
  });
  made->setUp(input);
  if (made.get() != network_.get()) // the same first values as without what is around it
    network_->initialize(static_cast<std::uint64_t>(network_->declaration().value<Index>("seed")),
                         streamOf("parameters"));
  compiled_ = made;
  kept.done();
  noteNodes();
}

// The network's own paths; what stands around it has its name.
void LayerPlan::noteNodes() {
  const std::vector<UnfoldedNode> inner = unfolded(*network_);
  for (const UnfoldedNode& node : unfolded(*compiled_)) {
    PlannedNode made{node.layer->name(), {}, node.layer, false};
    for (const UnfoldedNode& own : inner)
      if (own.layer == node.layer) {
        made.path = own.path;
        made.isOfNetwork = true;
      }
    if (const PlannedLayer* planned = plannedAt(made.path))
      made.planned = *planned;
    nodes_.push_back(std::move(made));
  }
  measurement_ = std::make_unique<Measurement>(layersInOrder());
  compiled_->setWatch(measurement_.get());
}

std::vector<const Layer*> LayerPlan::layersInOrder() const {
  std::vector<const Layer*> layers;
  for (const PlannedNode& node : nodes_)
    layers.push_back(node.layer);
  return layers;
}

std::vector<LayerCost> LayerPlan::costs(int rank, bool inputCotangent) const {
  return costsOf(layer(), layersInOrder(), rank, inputCotangent, rates());
}

} // namespace tenon
