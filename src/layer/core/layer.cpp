// SPDX-License-Identifier: BSD-2-Clause
// The members of Layer that neither set it up (layer_setup.cpp) nor evaluate it (layer_apply.cpp),
// in the order of the file:
//
//   texts        for views, and for the comparison of settings between ranks
//   objects      memory, parameters and states, their initial values and gradients
//   settings     by calls and options, lists of a mesh, links of patches
//   modes        training, recording, frozen parameters
//   targets      of losses, with weights
//
// Settings of a container are also applied to the layers in it. Settings that affect layouts,
// kernels or memory can only change before the first set-up, because all set-ups share them.
#include "layer/core/layer.hpp"

#include "layer/core/parameter.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "sys/log/many_events.hpp"
#include "sys/random.hpp"
#include "sys/text/text.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

// A layout in views: short, on the named process grid, or with all details.
std::string layoutText(const Layout& layout, const Grid& named) {
  return viewsInDetail() ? layout.describe() : layout.summary(named);
}

// The largest numbers of messages and bytes that one rank sends, and the total of all ranks.
// sentBy(rank) is the traffic that a rank sends.
template <class SentBy>
std::string mostSentText(const Communicator& comm, TenonDataType type, const SentBy& sentBy) {
  Traffic largest;
  Index total = 0;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const Traffic sent = sentBy(rank);
    largest.messages = std::max(largest.messages, sent.messages);
    largest.elements = std::max(largest.elements, sent.elements);
    total += sent.elements;
  }
  const Index size = dataTypeSize(type);
  return fmt::format("at most {}, {} per rank; {} total", counted(largest.messages, "message"),
                     sizeText(largest.elements * size), sizeText(total * size));
}

// How the gradient of a parameter is summed over the ranks: by itself, or, once a plan or an
// optimizer has put it into a bucket (gradient_bucket.hpp), together with others.
std::string reductionText(Parameter& parameter) {
  if (parameter.isInBucket())
    return "   gradient reduction with others";
  if (!parameter.isSummed() || parameter.isFrozen())
    return "";
  const Movement movement = parameter.ownReduction();
  return "   gradient reduction: " +
         mostSentText(*parameter.value().comm(), parameter.dataType(),
                      [&](int rank) { return movement.sent(rank, Role::Source); });
}

} // namespace

std::string trafficText(const Passage& toUse) {
  return mostSentText(*toUse.front()->comm(), toUse.front()->domainType(), [&](int rank) {
    Traffic sent;
    for (const LinearOp* conversion : toUse)
      sent += conversion->trafficOf(rank).value();
    return sent;
  });
}

std::string viewLine(const std::string& label, const Layout& layout, const Grid& named,
                     const std::string& text) {
  return fmt::format("  {:<7} {}{}\n", label, layoutText(layout, named), text);
}

// If the conversion only adds a halo, this prints the layout with the halo instead of both.
std::string viewLine(const std::string& label, const Layout& layout, const Passage& toUse,
                     const Grid& named) {
  if (toUse.empty())
    return viewLine(label, layout, named);
  const Layout& use = toUse.back()->range();
  if (!viewsInDetail() && use.withoutHalos() == layout)
    return viewLine(label, use, named, ": " + trafficText(toUse));
  return viewLine(label, layout, named,
                  fmt::format(", used as {}: {}", layoutText(use, named), trafficText(toUse)));
}

// The text includes the contained layers, because set-up compares it between ranks and all ranks
// must have the same network.
std::string Layer::agreedText() const {
  std::string text = declaration_->agreedText();
  for (const Node& node : nodes_)
    text +=
        fmt::format(", ({}; reads {})", node.layer->agreedText(), fmt::join(node.reads, " and "));
  return text;
}

// The settings that differ from their defaults.
std::string Layer::brief() const {
  std::string text(type());
  std::string settingsText = declaration_->view();
  if (!nodes_.empty())
    settingsText += fmt::format("{}({})", settingsText.empty() ? "" : " ",
                                counted(static_cast<Index>(nodes_.size()), "node"));
  text +=
      fmt::format("{}{}, {}", settingsText.empty() ? "" : " ", settingsText, dataTypeName(type_));
  if (space_ == Space::Device)
    text += ", on the device";
  if (textOf("storage") != "use")
    text += ", storage " + textOf("storage");
  if (depth_ > 1)
    text += fmt::format(", stack depth {}", depth_);
  if (textOf("saved_type") != "same")
    text += ", saved activations in " + textOf("saved_type");
  if (textOf("initializer") != "glorot_uniform")
    text += ", initializer " + textOf("initializer");
  return text;
}

std::string Layer::describe() const {
  std::string text = ownView();
  for (const Layer* child : children())
    text += child->describe();
  for (const Entry& entry : setups_)
    if (entry.repartition)
      text += entry.repartition->describe();
  return text;
}

std::string Layer::ownView() const {
  std::string text =
      fmt::format("{}: {}\n", headingOf(*this), viewsInDetail() ? agreedText() : brief());
  if (!isSetUp())
    return text + "  not set up\n";
  for (const Entry& entry : setups_) {
    text += entry.node ? describeLayer(*entry.node, entry.signature)
                       : describeNetwork(entry.inputs, entry.outputs, entry.setup.get());
    if (entry.setup)
      text += entry.setup->describe();
    if (entry.lastApply)
      text += entry.lastApply->describe("Apply", "input", "output");
    text += entry.cotangents.describe("ApplyAdjoint", "output cotangent", "input cotangent");
  }
  for (const Ref<Parameter>& p : parameters_)
    text += viewLine(p->name(), p->storage(), latest().outputs.front().grid(),
                     (p->isFrozen() ? "   frozen" : "") + reductionText(*p));
  for (const Ref<StateTensor>& state : states_)
    text +=
        viewLine(state->name(), state->storage(), latest().outputs.front().grid(), "   running");
  const Memory allocated = memory();
  return text +
         fmt::format("  memory on rank {}: parameters {}, buffers {}, saved activations {}\n",
                     comm_->rank(), sizeText(allocated.parameters), sizeText(allocated.buffers),
                     sizeText(allocated.saved));
}

Layer::Memory Layer::memory() const {
  Memory allocated;
  for (const Entry& entry : setups_) {
    allocated.buffers += entry.inferred.bytes() + entry.tangents.bytes() + entry.cotangents.bytes();
    // The list of a set-up shares the objects of the layer's own list.
    allocated.buffers += entry.setup ? entry.setup->bytes() : entry.node ? entry.node->bytes() : 0;
    for (const StackLevel& level : entry.frames)
      allocated.saved += level.frame->bytes() + level.arguments.bytes();
  }
  for (const Ref<Parameter>& p : parameters_)
    allocated.parameters += p->bytes();
  return allocated;
}

// A layer can be several nodes, and be in several containers: its parameters are listed once.
std::vector<Ref<Parameter>> Layer::parameters() const {
  std::vector<Ref<Parameter>> parameters = parameters_;
  for (const Layer* child : children())
    for (const Ref<Parameter>& p : child->parameters())
      if (std::none_of(parameters.begin(), parameters.end(),
                       [&](const auto& q) { return q.get() == p.get(); }))
        parameters.push_back(p);
  return parameters;
}

void Layer::zeroGradients() {
  for (const Ref<Parameter>& p : parameters_)
    p->zeroGradient();
  for (Layer* child : children())
    child->zeroGradients();
}

void Layer::initialize(std::uint64_t seed, std::uint64_t stream, Fill fill) {
  if (!isSetUp())
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has no parameters yet; call TenonLayerSetUp() first", title()));
  draw(seed, stream, fill);
}

void Layer::draw(std::uint64_t seed, std::uint64_t stream, Fill fill) {
  for (const Ref<Parameter>& p : parameters_)
    if (fill == Fill::All || !p->isInitialized())
      initializeParameter(*p, textOf("initializer"), seed, stream);
  if (declaration_->isRandom() && (fill == Fill::All || !random_.isSet))
    random_ = {.isSet = true,
               .seed = seed,
               .stream = streamOf(fmt::format("dropout {}", stream)),
               .applied = 0};
  for (std::size_t i = 0; i < children_.size(); ++i)
    // Children have different streams, so equal layers get different values.
    children_[i]->draw(seed, streamOf(fmt::format("{} layer {}", stream, i)), fill);
}

int Layer::event() const {
  return logEventOfMany((name().empty() ? declaration_->type() : name()).c_str(), "FurtherLayers");
}

Ref<Parameter> Layer::parameter(const ParameterForm& form) {
  const std::string& name = form.name;
  // Set-ups for other inputs share the parameters, so their shapes must agree.
  for (const Ref<Parameter>& existing : parameters_) {
    if (existing->name() != name)
      continue;
    if (existing->storage().shape() != form.use.shape())
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format(
              "{} has parameter \"{}\" of shape [{}], but this input needs [{}]; use a new layer",
              title(), name, fmt::join(existing->storage().shape(), ","),
              fmt::join(form.use.shape(), ",")));
    return existing;
  }
  parameters_.push_back(
      makeRef<Parameter>(comm_, form, declaration_->storageLayout(form.use), type_, space_));
  parameters_.back()->setFrozen(frozen_);
  parameters_.back()->setEvent(event());
  // The setting parameter_names has the names in the file of an imported model.
  if (const auto stored = storedName(textOf("parameter_names"), name))
    parameters_.back()->value().setName(stored->name);
  else if (!this->name().empty())
    parameters_.back()->value().setName(fmt::format("{}.{}", this->name(), name));
  return parameters_.back();
}

Ref<StateTensor> Layer::state(const StateForm& form) {
  for (const Ref<StateTensor>& existing : states_)
    if (existing->name() == form.name)
      return existing;
  states_.push_back(makeRef<StateTensor>(comm_, form, type_, space_));
  if (!this->name().empty())
    states_.back()->value().setName(fmt::format("{}.{}", this->name(), form.name));
  return states_.back();
}

std::vector<Ref<StateTensor>> Layer::states() const {
  std::vector<Ref<StateTensor>> states = states_;
  for (const Layer* child : children())
    for (const Ref<StateTensor>& state : child->states())
      if (std::none_of(states.begin(), states.end(),
                       [&](const auto& existing) { return existing.get() == state.get(); }))
        states.push_back(state);
  return states;
}

Layer::Layer(CommPtr comm, std::unique_ptr<Declaration> declaration, KernelMaker makeKernel)
    : SettableObject(kClass), comm_(std::move(comm)), declaration_(std::move(declaration)),
      makeKernel_(makeKernel) {
  readSettings();
}

void Layer::checkIdle(std::string_view call) const {
  if (atWork_)
    throw Error(TENON_ERR_STATE,
                fmt::format("{} is not allowed in a function that {} calls itself; use another "
                            "layer there",
                            call, title()));
}

void Layer::checkBeforeSetUp(const std::string& call) const {
  checkIdle(call);
  if (isSetUp())
    throw Error(TENON_ERR_STATE,
                fmt::format("{} is not allowed after {} was set up; do it before TenonLayerSetUp()",
                            call, title()));
}

void Layer::applySettings(Settings after, const Settings::Names&) {
  declaration_->setTitle(title()); // its error messages contain the title
  Settings before = settings();
  const int inputs = nodes_.empty() ? 0 : inputCount();
  declaration_->applySettings(std::move(after));
  // Nodes refer to values by number: first the inputs, then the outputs of the nodes. Another
  // number of inputs would make these references wrong.
  if (!nodes_.empty() && inputCount() != inputs) {
    declaration_->restore(std::move(before));
    throw Error(TENON_ERR_STATE,
                fmt::format("{} already has nodes, so that the number of its inputs stays; set "
                            "input_count or input_names before TenonLayerGraphAddNode()",
                            title()));
  }
  readSettings();
}

void Layer::readSettings() {
  type_ = textOf("data_type") == "float64" ? TENON_FLOAT64 : TENON_FLOAT32;
  space_ = textOf("space") == "device" ? Space::Device : Space::Host;
  depth_ = static_cast<int>(declaration_->value<Index>("stack_depth"));
  checksGhosts_ = declaration_->value<bool>("check_ghosts");
}

std::string Layer::textOf(std::string_view name) const {
  return declaration_->value<std::string>(name);
}

void Layer::setDataType(TenonDataType type) {
  checkFloating(type, "a layer");
  set("data_type", std::string(dataTypeName(type)));
}

void Layer::setOutputLayout(const Layout& layout) {
  checkBeforeSetUp("TenonLayerSetOutputLayout()");
  declaration_->setTitle(title());
  declaration_->setOutputLayout(layout);
}

void Layer::checkTakesLists(const std::string& call) const {
  checkBeforeSetUp(call);
  if (!declaration_->takesLists())
    throw Error(
        TENON_ERR_TYPE,
        fmt::format("{} has type {}, which does not work with lists of a mesh; gather, "
                    "segmentsum, edgeattention, sparsematrix, indexmap and linkedhalo do, and "
                    "containers hand lists on to their layers",
                    title(), type()));
}

void Layer::setList(const std::string& call, const std::string& name, EdgesPtr edges) {
  checkTakesLists(call);
  declaration_->lists().set(name, std::move(edges));
}

void Layer::setList(const std::string& call, const std::string& name, IndexMapPtr map) {
  checkTakesLists(call);
  declaration_->lists().set(name, std::move(map));
}

void Layer::setLinks(PatchLinksPtr links) {
  checkBeforeSetUp("TenonLayerSetLinks()");
  declaration_->lists().set(std::move(links));
}

void Layer::setFromOptions() {
  SettableObject::setFromOptions();
  for (Layer* child : children())
    child->setFromOptions();
}

void Layer::setTraining(bool training) {
  training_ = records_ = training;
  for (Layer* child : children())
    child->setTraining(training);
}

void Layer::setRecording(bool records) {
  records_ = records;
  for (Layer* child : children())
    child->setRecording(records);
}

void SavedModes::note(Layer& layer) {
  modes_.push_back(
      {.layer = &layer, .training = layer.isTraining(), .records = layer.isRecording()});
  for (Layer* child : layer.children())
    note(*child);
}

SavedModes::~SavedModes() {
  // setTraining() also sets the recording mode and all contained layers. The list has each
  // container before the layers in it, so the modes of the layers are restored last.
  for (const Mode& mode : modes_) {
    mode.layer->setTraining(mode.training);
    mode.layer->setRecording(mode.records);
  }
}

void Layer::setFrozen(bool frozen) {
  frozen_ = frozen;
  constant_ = constant_ && frozen;
  for (const Ref<Parameter>& p : parameters_)
    p->setFrozen(frozen);
  for (Layer* child : children())
    // Unfreezing a container leaves its constant layers frozen.
    if (frozen || !child->constant_)
      child->setFrozen(frozen);
}

void Layer::setConstant() {
  setFrozen(true);
  constant_ = true;
}

void Layer::setTarget(Ref<DTensor> target) {
  if (!declaration_->takesTarget())
    throw Error(TENON_ERR_TYPE,
                fmt::format("{} has type {}, which takes no target; only losses do, such as "
                            "meansquarederror and crossentropy",
                            title(), type()));
  target_ = std::move(target);
}

const DTensor& Layer::target() const {
  if (!target_)
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has no target; call TenonLayerSetTarget() before TenonLayerApply()",
                            title()));
  return *target_;
}

void Layer::setTargetWeights(Ref<DTensor> weights) {
  if (!declaration_->takesTargetWeights())
    throw Error(TENON_ERR_TYPE,
                fmt::format("{}, of type {}, takes no weights; only losses do whose "
                            "setting loss_weights is \"sample\" or \"element\"",
                            title(), type()));
  targetWeights_ = std::move(weights);
}

const DTensor& Layer::targetWeights() const {
  if (!targetWeights_)
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has no weights; call TenonLayerSetTargetWeights() before "
                            "TenonLayerApply(), or leave the setting loss_weights at \"none\"",
                            title()));
  return *targetWeights_;
}

} // namespace tenon
