// SPDX-License-Identifier: BSD-2-Clause
// The members of class Layer (layer.hpp) that set it up for the layouts of its inputs, and find the
// set-up for the inputs of a call. In this order: undoing a set-up (NewSetUps); setting up
// (setUp() to setUpOutermost()); entries (knownEntry() to latest()), with forms, scratch memory and
// frames between them; observers and outputs.
//
// An Entry is the layer for one list of input layouts. Layer::setups_ has all entries, the latest
// one last; a new one is in front until its set-up succeeds. Set-up is collective. Ranks first
// compare the layer and its settings, and at the end agree on success, once for a container with
// all its layers:
//
//   agreeOnText()      same type, settings and inputs on all ranks?
//   NewSetUps::note()  the state before the set-up
//   setUpOutermost()   compiles the layer, or the network in a container, and creates its objects
//   autotune()         measures kernels and chooses the fastest ones
//   agreement          success on all ranks; otherwise NewSetUps::undo(), and all ranks throw
//
// A failed set-up leaves no parameters or states behind, because the next attempt can have other
// settings.
#include "comm/agreement/batched.hpp"
#include "compile/network/inheritance.hpp"
#include "declaration/core/result_layout.hpp"
#include "layer/core/bound_maps.hpp"
#include "layer/core/layer.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/networks/network.hpp"
#include "layer/networks/network_setup.hpp"
#include "machine/route.hpp"
#include "sys/errors/at_work.hpp"
#include "sys/log/log.hpp"
#include "sys/options/options.hpp"
#include "sys/random.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace tenon {

namespace {

std::string described(const Layouts& inputs) {
  std::string text;
  for (const Layout& input : inputs)
    text += (text.empty() ? "" : " and ") + input.describe();
  return text;
}

} // namespace

void Layer::NewSetUps::note(Layer& layer) {
  Before& before = before_.emplace_back(Before{.layer = Ref<Layer>::share(&layer),
                                               .setups = {},
                                               .parameters = layer.parameters_.size(),
                                               .states = layer.states_.size(),
                                               .unset = std::nullopt});
  for (const Entry& entry : layer.setups_)
    before.setups.push_back({&entry, entry.setup != nullptr, !entry.frames.empty()});
  if (!layer.isSetUp())
    before.unset = Unset{.settings = layer.declaration_->settings(),
                         .lists = layer.declaration_->lists(),
                         .type = layer.type_,
                         .space = layer.space_,
                         .depth = layer.depth_,
                         .training = layer.training_,
                         .records = layer.records_,
                         .frozen = layer.frozen_};
  for (Layer* child : layer.children())
    note(*child);
}

// Moves the set-ups that note() has listed to the end of setups_, in their old order. All set-ups
// made since are then in front and are removed. Moving list elements allocates nothing. A layer
// that was only a part of networks can have got passes since; ranks that do not have them would
// wait for the others when it is applied by itself.
void Layer::NewSetUps::undo() noexcept {
  for (Before& before : before_) {
    Layer& layer = *before.layer;
    for (const KnownEntry& known : before.setups) {
      const auto entry = std::ranges::find_if(
          layer.setups_, [&](const Entry& one) { return &one == known.entry; });
      layer.setups_.splice(layer.setups_.end(), layer.setups_, entry);
      if (!known.hasFrames)
        entry->frames.clear();
      if (!known.hasPasses) {
        entry->setup.reset();
        entry->repartition = {};
      }
    }
    while (layer.setups_.size() > before.setups.size())
      layer.setups_.pop_front();
    layer.parameters_.resize(before.parameters);
    layer.states_.resize(before.states);
    if (!before.unset)
      continue;
    layer.random_ = {};
    layer.declaration_->restore(std::move(before.unset->settings));
    layer.declaration_->lists() = std::move(before.unset->lists);
    layer.type_ = before.unset->type;
    layer.space_ = before.unset->space;
    layer.depth_ = before.unset->depth;
    layer.training_ = before.unset->training;
    layer.records_ = before.unset->records;
    layer.frozen_ = before.unset->frozen;
  }
  before_.clear();
}

namespace {

// Adds the autotuners of kernels that have not chosen their algorithm yet, each once.
void addAutotuners(const BoundMaps& maps, std::vector<Autotuner*>& autotuners) {
  for (const BoundKernel& bound : maps.kernels()) {
    Autotuner* const autotuner = bound.kernel->autotuner();
    if (autotuner && !autotuner->areDone() &&
        std::ranges::find(autotuners, autotuner) == autotuners.end())
      autotuners.push_back(autotuner);
    if (const BoundMaps* inner = bound.kernel->inner())
      addAutotuners(*inner, autotuners);
  }
}

// Autotunes the kernels of these maps, and of map lists within kernels, that have not been
// measured. Among the candidates (algorithms) of a kernel, all ranks choose the one whose slowest
// rank is fastest. They must choose alike: ranks can hold copies of one result, and different
// algorithms would round these differently. Collective; either all ranks succeed, or all throw.
void autotune(Communicator& comm, const BoundMaps& maps) {
  static const int event = logEvent("LayerMeasure");
  std::vector<Autotuner*> autotuners;
  addAutotuners(maps, autotuners);
  if (autotuners.empty())
    return;
  const LogScope scope(event);
  std::vector<std::size_t> begins{0};
  std::vector<Nanoseconds> times;
  std::optional<Error> error;
  try {
    for (Autotuner* autotuner : autotuners) {
      const std::vector<Nanoseconds> ownTimes = autotuner->measure();
      times.insert(times.end(), ownTimes.begin(), ownTimes.end());
      begins.push_back(times.size());
    }
  } catch (...) {
    error = caughtError();
  }
  // A rank that has its times from a file waits for those that measure, for as long as they need.
  agreeWithoutLimit(comm, error);
  agreeOnText(comm, "the algorithms of kernels",
              [&] { return fmt::format("{} times", times.size()); });
  reduceNumbers(comm, times, MPI_MAX);
  collectively(comm, [&] {
    for (std::size_t i = 0; i < autotuners.size(); ++i)
      autotuners[i]->choose(std::span(times).subspan(begins[i], begins[i + 1] - begins[i]));
    return true;
  });
}

} // namespace

// If one rank has an error, it skips the rest of the set-up and waits in the final agreement for
// the other ranks. Afterwards the layer, with the layers in it, is either set up on all ranks or
// unchanged on all.
void Layer::setUp(const Layouts& inputs) {
  // Ranks with different layers, settings or inputs would send different messages: compare first.
  if (!comm_->batch())
    agreeOnText(*comm_, whatIsSetUp(), [&] {
      checkReady();
      return setUpText(inputs);
    });
  inOneAgreement(*comm_, [&] {
    undoIfFailed();
    setUpOutermost(inputs);
    autotune(*comm_, setups_.back().setup->maps());
    return true;
  });
}

void Layer::undoIfFailed() {
  const auto newSetUps = std::make_shared<NewSetUps>();
  newSetUps->note(*this);
  comm_->batch()->ifFailed([newSetUps] { newSetUps->undo(); });
}

std::string Layer::whatIsSetUp() const {
  return fmt::format("what {} is set up with", title());
}

void Layer::checkReady() {
  checkIdle("TenonLayerSetUp()");
  checkSets();
  contextOf(comm_, space_); // throws if there is no device
}

std::string Layer::setUpText(const Layouts& inputs) const {
  const bool isHeuristic =
      space_ == Space::Device && options().getChoice("", "device_plans") != "measured";
  return fmt::format("{}; input {}{}{}{}", agreedText(), described(inputs),
                     RoutePolicy::fromOptions().agreedText(),
                     Target::fromOptions(space_).agreedText(),
                     isHeuristic ? "; plans of convolutions not measured" : "");
}

// Checks settings, including those of contained layers, before anything is derived from them.
void Layer::checkSettings() const {
  declaration_->setTitle(title());
  declaration_->checkSettings();
  for (const Layer* child : children())
    child->checkSettings();
}

const NodeChoice* Layer::choiceIn(const Assignment* assignment) const {
  if (!assignment)
    return nullptr;
  const auto choice = assignment->layers.find(this);
  return choice == assignment->layers.end() ? nullptr : &choice->second;
}

// The part of setUp() within its agreement. The inputs of a layer that is set up as part of a
// network come from NetworkSetUp instead.
void Layer::setUpOutermost(const Layouts& inputs) {
  static const int event = logEvent("LayerSetUp");
  const LogScope scope(event);
  checkReady();
  const NodeChoice* const choice = choiceIn(assignment_.get());
  comm_->batch()->compareText(whatIsSetUp(),
                              setUpText(inputs) + (choice ? choice->agreedText() : ""));
  const auto existing = std::find_if(setups_.begin(), setups_.end(), [&](const Entry& entry) {
    return entry.inputs == inputs && !entry.computedHalo && entry.assignment == assignment_;
  });
  if (existing != setups_.end()) {
    setups_.splice(setups_.end(), setups_, existing); // the most recent is the last
  } else {
    checkSettings();
    checkInputCount(inputs.size());
    if (haloFrom(*declaration_) == HaloFrom::Compute && !inputs.front().hasHalos() &&
        form(inputs, choice).uses.front().hasHalos())
      throw Error(
          TENON_ERR_SUPPORT,
          fmt::format("{} is to have its halo computed by the layers before it (setting halo), "
                      "but is set up by itself; set halo to exchange or auto",
                      title()));
    NetworkSetUp::Made made = NetworkSetUp(*this, /*byUser=*/true).make(inputs, assignment_);
    Entry& entry = setups_.back();
    entry.outputs = std::move(made.outputs);
    entry.setup = std::move(made.setup);
    entry.repartition = std::move(made.repartition);
    // Draws new parameters; those of earlier set-ups are shared.
    draw(static_cast<std::uint64_t>(declaration_->value<Index>("seed")), streamOf("parameters"),
         Fill::New);
  }
  prepareAtSetUp(setups_.back());
}

// The layer's entry for these inputs, or null.
Layer::Entry* Layer::knownEntry(const Layouts& inputs, const AssignmentPtr& assignment,
                                const std::optional<Layout>& computedHalo, std::size_t pieces) {
  for (Entry& entry : setups_)
    if (entry.inputs == inputs && entry.computedHalo == computedHalo &&
        entry.assignment == assignment && entry.pieces == pieces)
      return &entry;
  return nullptr;
}

// The same entry; if there is none, a new one without objects.
Layer::Entry& Layer::entryFor(const Layouts& inputs, const AssignmentPtr& assignment,
                              bool becomesLatest, const std::optional<Layout>& computedHalo,
                              std::size_t pieces) {
  Entry* entry = knownEntry(inputs, assignment, computedHalo, pieces);
  if (!entry) {
    entry = &setups_.emplace_front();
    entry->inputs = inputs;
    entry->computedHalo = computedHalo;
    entry->assignment = assignment;
    entry->pieces = pieces;
  }
  if (becomesLatest)
    setups_.splice(setups_.end(), setups_,
                   std::ranges::find_if(setups_, [=](const Entry& one) { return &one == entry; }));
  return *entry;
}

// A layer that was set up as a part of a network gets its passes when it is first applied by
// itself, with an agreement of its own, since its form can depend on functions of the user.
Setup& Layer::setupOf(Entry& entry) {
  if (entry.setup)
    return *entry.setup;
  inOneAgreement(*comm_, [&] {
    undoIfFailed();
    entry.setup = NetworkSetUp(*this, /*byUser=*/false).make(entry.inputs, entry.assignment).setup;
    return true;
  });
  entry.setup->setObservers(observers_);
  return *entry.setup;
}

void Layer::checkInputCount(std::size_t count) const {
  const int wanted = inputCount(), given = static_cast<int>(count);
  if (wanted < 0 ? given == 0 : given != wanted)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} ({}) has {}, but was set up with {}{}", title(), type(),
                            wanted < 0 ? "at least 1 input" : counted(wanted, "input"),
                            counted(given, "layout"), declaration_->inputAdvice()));
}

Form Layer::form(const Layouts& inputs, const NodeChoice* choice, bool inPieces,
                 const std::optional<Layout>& computedHalo) const {
  declaration_->setTitle(title());
  return formOf(*declaration_, inputs, choice, inPieces, computedHalo);
}

Index Layer::kernelScratch(const Form& form, const std::vector<const Layer*>& containers,
                           const MeshLists& lists) {
  // Settings and mesh lists are restored at the end: they are only tried here, and the layer can
  // later be set up in other containers.
  struct RestoredAtEnd {
    Layer& layer;
    Settings settings;
    MeshLists lists;
    ~RestoredAtEnd() {
      layer.declaration_->restore(std::move(settings));
      layer.declaration_->lists() = std::move(lists);
      layer.readSettings();
    }
  };
  const RestoredAtEnd restored{*this, declaration_->settings(), declaration_->lists()};
  for (auto container = containers.rbegin(); container != containers.rend(); ++container)
    handDownSettings(*(*container)->declaration_, *declaration_);
  declaration_->lists() = lists;
  readSettings();
  return scratchOfKernels(*this, form, makeKernel_);
}

// Prepares a set-up for the layer's calls: with the frames of the stack if the layer records and is
// planned to be differentiated, otherwise for inference only. If it records all the same, its next
// Apply creates the frames.
void Layer::prepareAtSetUp(Entry& entry) {
  Setup& setup = setupOf(entry);
  setup.setObservers(observers_);
  if (!records_ || (entry.assignment && !entry.assignment->differentiates))
    setup.prepareInference();
  else if (entry.frames.empty())
    entry.frames = framesOf(entry);
}

std::vector<Layer::StackLevel> Layer::framesOf(Entry& entry) {
  stack_.reserve(depth_);
  std::vector<StackLevel> frames;
  for (int level = 0; level < depth_; ++level)
    frames.push_back({entry.setup->makeFrame(), {}});
  return frames;
}

Setup& Layer::setup(const Layouts& inputs) const {
  const Entry& entry =
      find(inputs.size(), [&](std::size_t i) -> const Layout& { return inputs[i]; });
  return const_cast<Layer&>(*this).setupOf(const_cast<Entry&>(entry));
}

const BoundMaps& Layer::maps(const Layouts& inputs) const {
  return setup(inputs).maps();
}

template <class LayoutOf>
const Layer::Entry& Layer::find(std::size_t count, LayoutOf layoutOf) const {
  const Entry* asNode = nullptr; // a set-up that follows the plan of a container
  for (const Entry& entry : setups_) {
    const Layouts& knownInputs = entry.inputs;
    // Set-ups with a computed halo are for nodes of a network, not for calls of users.
    bool isSame = knownInputs.size() == count && !entry.computedHalo;
    for (std::size_t i = 0; isSame && i < count; ++i)
      isSame = knownInputs[i] == layoutOf(i);
    if (isSame && entry.assignment == assignment_)
      return entry;
    if (isSame)
      asNode = &entry;
  }
  if (asNode)
    return *asNode;
  Layouts inputs;
  for (std::size_t i = 0; i < count; ++i)
    inputs.push_back(layoutOf(i));
  throwNoSetup(inputs);
}

Layer::Entry& Layer::entryOf(Inputs x) {
  return const_cast<Entry&>(
      find(x.size(), [&](std::size_t i) -> const Layout& { return x[i]->layout(); }));
}

void Layer::throwNoSetup(const Layouts& inputs) const {
  if (setups_.empty())
    throw Error(
        TENON_ERR_STATE,
        fmt::format("{} is not set up; call TenonLayerSetUp() with the layout of its input first",
                    title()));
  const Layouts& knownInputs = setups_.back().inputs;
  checkCount(inputs.size(), knownInputs.size());
  bool differInShape = false;
  for (std::size_t i = 0; i < knownInputs.size(); ++i)
    differInShape |= knownInputs[i].shape() != inputs[i].shape();
  throw Error(differInShape ? TENON_ERR_SHAPE : TENON_ERR_LAYOUT,
              fmt::format("the input has layout {2}, but {0} is set up for {1}; call "
                          "TenonLayerSetUp() with this layout first",
                          title(), described(knownInputs), described(inputs)));
}

void Layer::setObservers(const Observers& observers) {
  observers_ = observers;
  for (const Entry& entry : setups_)
    if (entry.setup)
      entry.setup->setObservers(observers);
  observeParameters(observers);
}

void Layer::observeParameters(const Observers& observers) {
  for (const Ref<Parameter>& parameter : parameters_)
    parameter->setObservers(observers);
  for (Layer* child : children())
    child->observeParameters(observers);
}

const Layout& Layer::outputLayout(const Layouts& inputs) const {
  return onlyOutput(find(inputs.size(), [&](std::size_t i) -> const Layout& { return inputs[i]; }));
}

const Layout& Layer::onlyOutput(const Entry& entry) const {
  if (entry.outputs.size() > 1)
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has {}, where one is needed; TenonLayerCreateOutput() takes the "
                            "number of one, and TenonLayerApplyMany() all of them",
                            title(), counted(static_cast<Index>(entry.outputs.size()), "output")));
  return entry.outputs.front();
}

const Layer::Entry& Layer::latest() const {
  if (setups_.empty())
    throw Error(TENON_ERR_STATE,
                fmt::format("{} is not set up; call TenonLayerSetUp() first", title()));
  return setups_.back();
}

} // namespace tenon
