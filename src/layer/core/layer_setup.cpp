// SPDX-License-Identifier: BSD-2-Clause
// Sets a layer up for the layouts of its inputs, and finds the set-up of a call's inputs again.
// Collective: all ranks agree first on what is set up, and at the end on the outcome, however many
// layers a container has, and a set-up that fails leaves neither parameters nor states behind,
// since the next attempt may have other settings.
#include "layer/core/layer_setup.hpp"

#include "comm/agreement/batched.hpp"
#include "declaration/core/result_layout.hpp"
#include "layer/core/bound_maps.hpp"
#include "layer/core/layer.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/networks/network.hpp"
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
  Before& before = before_.emplace_back(Before{
      Ref<Layer>::share(&layer), {}, layer.parameters_.size(), layer.states_.size(), std::nullopt});
  for (const Entry& entry : layer.setups_)
    before.setups.push_back(entry.setup.get());
  if (!layer.isSetUp())
    before.unset = {layer.declaration_->settings(),
                    layer.declaration_->lists(),
                    layer.type_,
                    layer.space_,
                    layer.depth_,
                    layer.training_,
                    layer.records_,
                    layer.frozen_};
  for (Layer* child : layer.children())
    note(*child);
}

// The set-ups that there were are the last again, in their order.
void Layer::NewSetUps::undo() noexcept {
  for (Before& before : before_) {
    Layer& layer = *before.layer;
    for (const Setup* setup : before.setups)
      layer.setups_.splice(
          layer.setups_.end(), layer.setups_,
          std::find_if(layer.setups_.begin(), layer.setups_.end(),
                       [&](const Entry& entry) { return entry.setup.get() == setup; }));
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

void addAutotuners(const BoundMaps& maps, std::vector<Autotuner*>& autotuners) {
  for (const BoundKernel& bound : maps.kernels()) {
    Autotuner* const one = bound.kernel->autotuner();
    if (one && !one->areDone() && std::ranges::find(autotuners, one) == autotuners.end())
      autotuners.push_back(one);
    if (const BoundMaps* inner = bound.kernel->inner())
      addAutotuners(*inner, autotuners);
  }
}

// Measures the kernels of these maps, and of those within, that have not been measured, and chooses
// for each the way that the slowest rank is fastest in: ways that differed between ranks would
// round copies of one result differently. Collective; all ranks succeed or fail alike.
void chooseWays(Communicator& comm, const BoundMaps& maps) {
  static const int event = logEvent("LayerMeasure");
  std::vector<Autotuner*> autotuners;
  addAutotuners(maps, autotuners);
  if (autotuners.empty())
    return;
  const LogScope scope(event);
  std::vector<std::size_t> begins{0};
  std::vector<Nanoseconds> times = collectively(
      comm, "the ways of kernels",
      [&] {
        std::vector<Nanoseconds> all;
        for (Autotuner* one : autotuners) {
          const std::vector<Nanoseconds> mine = one->measure();
          all.insert(all.end(), mine.begin(), mine.end());
          begins.push_back(all.size());
        }
        return all;
      },
      [](const auto& all) { return fmt::format("{} times", all.size()); });
  reduceNumbers(comm, times, MPI_MAX);
  collectively(comm, [&] {
    for (std::size_t i = 0; i < autotuners.size(); ++i)
      autotuners[i]->choose(std::span(times).subspan(begins[i], begins[i + 1] - begins[i]));
    return true;
  });
}

} // namespace

// What fails on one rank ends its set-up alone, until all ranks have agreed: then the layer, and
// all that it contains, is set up on all ranks or as it was on all.
void Layer::setUp(const Layouts& inputs) {
  // Ranks with other layers, settings or inputs are told so before they do something else each.
  if (!comm_->batch())
    agreeOnText(*comm_, whatIsSetUp(), [&] { return setUpText(inputs); });
  inOneAgreement(*comm_, [&] {
    const auto undone = std::make_shared<NewSetUps>();
    undone->note(*this);
    comm_->batch()->ifFailed([undone] { undone->undo(); });
    setUpAs(inputs, Role::Alone);
    chooseWays(*comm_, setups_.back().setup->maps());
    return true;
  });
}

std::string Layer::whatIsSetUp() const {
  return fmt::format("what {} is set up with", title());
}

std::string Layer::setUpText(const Layouts& inputs) {
  checkIdle("TenonLayerSetUp()");
  checkSets();
  contextOf(comm_, space_); // there may be no device
  const bool isHeuristic =
      space_ == Space::Device && options().getChoice("", "device_plans") != "measured";
  return fmt::format("{}; input {}{}{}{}", agreedText(), described(inputs),
                     RoutePolicy::fromOptions().agreedText(),
                     Target::fromOptions(space_).agreedText(),
                     isHeuristic ? "; plans of convolutions not measured" : "");
}

// Of all that it contains, before anything is derived from them.
void Layer::checkSettings() const {
  declaration_->setTitle(title());
  declaration_->checkSettings();
  for (const Layer* child : children())
    child->checkSettings();
}

void Layer::setUpAs(const Layouts& inputs, Role role, const std::optional<Layout>& computedHalo) {
  static const int event = logEvent("LayerSetUp");
  const LogScope scope(event);
  comm_->batch()->say(whatIsSetUp(), setUpText(inputs));
  const AtWork atWork(atWork_);
  const auto known = std::find_if(setups_.begin(), setups_.end(), [&](const Entry& entry) {
    return entry.setup->inputs() == inputs && entry.computedHalo == computedHalo;
  });
  if (known != setups_.end()) {
    if (role == Role::Alone && known->frames.empty())
      known->frames = framesOf(*known);
    return setups_.splice(setups_.end(), setups_, known); // the latest is the last
  }
  if (role == Role::Alone)
    checkSettings();
  // The set-up makes parameters that are not there yet; those of earlier set-ups are shared.
  Entry made = makeEntry(inputs, role, computedHalo);
  if (role == Role::Alone)
    draw(static_cast<std::uint64_t>(declaration_->value<Index>("seed")), streamOf("parameters"),
         Fill::New);
  setups_.push_back(std::move(made));
}

void Layer::checkInputCount(const Layouts& inputs) const {
  const int wanted = inputCount(), given = static_cast<int>(inputs.size());
  if (wanted < 0 ? given == 0 : given != wanted)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} ({}) has {}, but was set up with {}{}", title(), type(),
                            wanted < 0 ? "at least 1 input" : counted(wanted, "input"),
                            counted(given, "layout"), declaration_->inputAdvice()));
}

Form Layer::form(const Layouts& inputs, bool overlap,
                 const std::optional<Layout>& computedHalo) const {
  declaration_->setTitle(title());
  Layouts used = inputs;
  for (std::size_t i = 0; i < std::min(uses_.size(), used.size()); ++i)
    used[i] = withCutsOf(inputs[i], layoutLike(uses_[i], inputs[i].shape(), title()));
  Form form = declaration_->form(used, {.labels = textOf("signature"),
                                        .overlap = overlap,
                                        .arrives = !(used == inputs),
                                        .computedHalo = computedHalo});
  form.inputs = inputs;
  return form;
}

Form Layer::latestForm() const {
  return form(inputLayouts(), false, setups_.back().computedHalo);
}

Index Layer::kernelScratch(const Form& form, const std::vector<const Layer*>& containers,
                           const MeshLists& lists) {
  if (!makeKernel_)
    return 0;
  // Nothing of it lasts: the layer is set up later, and perhaps elsewhere.
  struct Back {
    Layer& layer;
    Settings settings;
    MeshLists lists;
    ~Back() {
      layer.declaration_->restore(std::move(settings));
      layer.declaration_->lists() = std::move(lists);
      layer.readSettings();
    }
  };
  const Back back{*this, declaration_->settings(), declaration_->lists()};
  for (auto container = containers.rbegin(); container != containers.rend(); ++container)
    for (const char* name : {"data_type", "space", "storage", "backend"})
      declaration_->inherit(name, *(*container)->declaration_);
  declaration_->lists() = lists;
  readSettings();
  return scratchOfKernels(*this, form, makeKernel_);
}

Layer::Entry Layer::makeEntry(const Layouts& inputs, Role role,
                              const std::optional<Layout>& computedHalo) {
  declaration_->setTitle(title());
  checkInputCount(inputs);
  declaration_->checkLinks(inputs);
  if (role == Role::Alone && haloFrom(*declaration_) == HaloFrom::Compute &&
      !inputs.front().hasHalos() && form(inputs).uses.front().hasHalos())
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format("{} is to have its halo computed by the layers before it (setting halo), "
                    "but is set up by itself; set halo to exchange or auto",
                    title()));
  Entry entry;
  entry.computedHalo = computedHalo;
  entry.setup = declaration_->contains() ? setUpNetwork(*this, inputs)
                                         : setUpMaps(*this, inputs, computedHalo, makeKernel_);
  entry.setup->setObservers(observers_);
  if (role == Role::Alone)
    entry.frames = framesOf(entry);
  return entry;
}

std::vector<Layer::StackLevel> Layer::framesOf(Entry& entry) {
  stack_.reserve(depth_);
  std::vector<StackLevel> frames;
  for (int level = 0; level < depth_; ++level)
    frames.push_back({entry.setup->makeFrame(), {}});
  return frames;
}

Setup& Layer::setup(const Layouts& inputs) const {
  return *find(inputs.size(), [&](std::size_t i) -> const Layout& { return inputs[i]; }).setup;
}

const BoundMaps& Layer::maps(const Layouts& inputs) const {
  return setup(inputs).maps();
}

const BoundMaps& Layer::joinedMaps(const Layouts& inputs, const Layout& output) const {
  for (const Entry& entry : setups_)
    if (entry.setup->inputs() == inputs && entry.setup->output() == output)
      return entry.setup->joined();
  throwNoSetup(inputs);
}

template <class LayoutOf>
const Layer::Entry& Layer::find(std::size_t count, LayoutOf layoutOf) const {
  for (const Entry& entry : setups_) {
    const Layouts& known = entry.setup->inputs();
    bool same = known.size() == count && !entry.computedHalo;
    for (std::size_t i = 0; same && i < count; ++i)
      same = known[i] == layoutOf(i);
    if (same)
      return entry;
  }
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
  const Layouts& known = setups_.back().setup->inputs();
  checkCount(inputs.size(), known.size());
  bool shapes = false;
  for (std::size_t i = 0; i < known.size(); ++i)
    shapes |= known[i].shape() != inputs[i].shape();
  throw Error(shapes ? TENON_ERR_SHAPE : TENON_ERR_LAYOUT,
              fmt::format("the input has layout {2}, but {0} is set up for {1}; call "
                          "TenonLayerSetUp() with this layout first",
                          title(), described(known), described(inputs)));
}

void Layer::setObservers(const Observers& observers) {
  observers_ = observers;
  for (const Entry& entry : setups_)
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
  return onlyOutput(setup(inputs));
}

const Layout& Layer::onlyOutput(const Setup& setup) const {
  if (setup.outputs().size() > 1)
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has {}, where one is needed; name one of them, as "
                            "TenonLayerCreateOutputAt() and TenonLayerApplyMany() do",
                            title(),
                            counted(static_cast<Index>(setup.outputs().size()), "output")));
  return setup.output();
}

const Setup& Layer::latest() const {
  if (setups_.empty())
    throw Error(TENON_ERR_STATE,
                fmt::format("{} is not set up; call TenonLayerSetUp() first", title()));
  return *setups_.back().setup;
}

} // namespace tenon
