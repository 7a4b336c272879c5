// SPDX-License-Identifier: BSD-2-Clause
#include "layer/layer.hpp"

#include "comm/agreement.hpp"
#include "declaration/result_layout.hpp"
#include "layer/initializer.hpp"
#include "layer/traffic_text.hpp"
#include "machine/route.hpp"
#include "sys/log.hpp"
#include "sys/random.hpp"
#include "sys/text.hpp"
#include "sys/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

constexpr const char* kCreateOutput = "create it with TenonLayerCreateOutput()";

void checkDistinct(const Layer& layer, const DTensor* in, const DTensor* out) {
  if (in == out)
    throw Error(
        TENON_ERR_ARG,
        fmt::format("the input and output of {} are the same tensor; pass two", layer.title()));
}

void checkCount(const Layer& layer, std::size_t given, std::size_t wanted) {
  if (given != wanted)
    throw Error(TENON_ERR_ARG,
                fmt::format("{2} passed, but {0} has {1}", layer.title(),
                            counted(static_cast<Index>(wanted), "input"),
                            counted(static_cast<Index>(given), "tensor was", "tensors were")));
}

std::string described(const Layouts& inputs) {
  std::string text;
  for (const Layout& input : inputs)
    text += (text.empty() ? "" : " and ") + input.describe();
  return text;
}

} // namespace

Layer::Layer(CommPtr comm) : Object(kClass), comm_(std::move(comm)), declaration_(makeUntyped()) {}

void Layer::checkBeforeSetUp(const std::string& call) const {
  if (isSetUp())
    throw Error(TENON_ERR_STATE,
                fmt::format("{} is not allowed after {} was set up; do it before TenonLayerSetUp()",
                            call, title()));
}

template <class Change>
void Layer::change(const std::string& call, Change&& change) {
  checkBeforeSetUp(call);
  declaration_->setTitle(title());
  change();
  readSettings();
}

void Layer::readSettings() {
  type_ = textOf("data_type") == "float64" ? TENON_FLOAT64 : TENON_FLOAT32;
  space_ = textOf("space") == "device" ? Space::Device : Space::Host;
  depth_ = static_cast<int>(declaration_->value<Index>("stack_depth"));
}

std::string Layer::textOf(std::string_view name) const {
  return declaration_->value<std::string>(name);
}

void Layer::declare(std::unique_ptr<Declaration> declaration, SetUpFunction setUp) {
  change("changing the type", [&] {
    if (!nodes_.empty())
      throw Error(TENON_ERR_STATE,
                  fmt::format("{} has layers already, so that its type stays {}; create another",
                              title(), type()));
    declaration->setTitle(title());
    declaration->takeSettings(*declaration_);
    declaration_ = std::move(declaration);
    setUp_ = std::move(setUp);
  });
}

void Layer::set(std::string_view name, SettingValue value) {
  change(fmt::format("changing the setting \"{}\"", name),
         [&] { declaration_->set(name, std::move(value)); });
}

void Layer::setText(std::string_view name, std::string_view text) {
  change(fmt::format("changing the setting \"{}\"", name),
         [&] { declaration_->setText(name, text); });
}

void Layer::setDataType(TenonDataType type) {
  checkFloating(type, "a layer");
  set("data_type", std::string(dataTypeName(type)));
}

void Layer::setOutputLayout(const Layout& layout) {
  change("TenonLayerSetOutputLayout()", [&] { declaration_->setOutputLayout(layout); });
}

void Layer::setUses(Layouts uses) {
  uses_ = std::move(uses);
}

void Layer::setFromOptions() {
  change("TenonLayerSetFromOptions()", [&] { declaration_->readOptions(prefix()); });
  for (Layer* child : children())
    child->setFromOptions();
}

void Layer::setTraining(bool training) {
  training_ = training;
  for (Layer* child : children())
    child->setTraining(training);
}

void Layer::setFrozen(bool frozen) {
  frozen_ = frozen;
  for (const Ref<Parameter>& p : parameters_)
    p->setFrozen(frozen);
  for (Layer* child : children())
    child->setFrozen(frozen);
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

void Layer::setUp(const Layouts& inputs) {
  setUpAs(inputs, Role::Alone);
  const auto seed = declaration_->value<Index>("seed");
  initialize(static_cast<std::uint64_t>(seed), streamOf("parameters"), Fill::New);
}

void Layer::setUpAs(const Layouts& inputs, Role role) {
  static const int event = logEvent("LayerSetUp");
  const LogScope scope(event);
  collectively(
      *comm_, fmt::format("what {} is set up with", title()),
      [&] {
        failedSets_.check();
        contextOf(comm_, space_); // there may be no device
        return fmt::format("{}; input {}{}{}", settings(), described(inputs),
                           RoutePolicy::fromOptions().agreedText(),
                           Setup::orderFromOptions() == Order::Moved ? "" : "; steps in order");
      },
      [](const std::string& text) { return text; });
  const auto known = std::find_if(setups_.begin(), setups_.end(), [&](const Entry& entry) {
    return entry.setup->inputs() == inputs;
  });
  if (known != setups_.end()) {
    if (role == Role::Alone && known->frames.empty())
      collectively(*comm_, [&] {
        makeFrames(*known);
        return true;
      });
    return setups_.splice(setups_.end(), setups_, known);
  }
  const std::size_t before = parameters_.size(), statesBefore = states_.size();
  try {
    setups_.push_back(collectively(*comm_, [&] { return makeEntry(inputs, role); }));
  } catch (...) {
    parameters_.resize(before); // the next attempt may have other settings
    states_.resize(statesBefore);
    throw;
  }
}

void Layer::checkInputCount(const Layouts& inputs) const {
  const int wanted = inputCount(), given = static_cast<int>(inputs.size());
  if (wanted < 0 ? given == 0 : given != wanted)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} ({}) has {}, but was set up with {}{}", title(), type(),
                            wanted < 0 ? "at least 1 input" : counted(wanted, "input"),
                            counted(given, "layout"), declaration_->inputAdvice()));
}

Form Layer::form(const Layouts& inputs, bool overlap) const {
  declaration_->setTitle(title());
  Layouts used = inputs;
  for (std::size_t i = 0; i < std::min(uses_.size(), used.size()); ++i)
    used[i] = withCutsOf(inputs[i], layoutLike(uses_[i], inputs[i].shape(), title()));
  // Pieces are for inputs that stay where they are.
  Form form = declaration_->form(
      used, {.letters = textOf("signature"), .overlap = overlap && used == inputs});
  form.inputs = inputs;
  return form;
}

Layer::Entry Layer::makeEntry(const Layouts& inputs, Role role) {
  declaration_->setTitle(title());
  if (!setUp_)
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has no type; call TenonLayerSetType() first", title()));
  checkInputCount(inputs);
  Entry entry;
  entry.setup = setUp_(*this, inputs);
  if (role == Role::Alone)
    makeFrames(entry);
  return entry;
}

void Layer::makeFrames(Entry& entry) {
  for (int level = 0; level < depth_; ++level)
    entry.frames.push_back(entry.setup->makeFrame());
  stack_.reserve(depth_);
}

void Layer::checkSpace(const DTensor& tensor, const char* role) const {
  if (tensor.space() != space_)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("the {} is on the {}, but {} runs on the {}; call "
                            "TenonDTensorSetSpace() before the tensor is used, or copy it with "
                            "TenonDTensorCopy()",
                            role, spaceName(tensor.space()), title(), spaceName(space_)));
}

Setup& Layer::setup(const Layouts& inputs) const {
  return *find(inputs.size(), [&](std::size_t i) -> const Layout& { return inputs[i]; }).setup;
}

const BoundMaps& Layer::maps(const Layouts& inputs) const {
  return setup(inputs).maps();
}

template <class LayoutOf>
const Layer::Entry& Layer::find(std::size_t count, LayoutOf layoutOf) const {
  for (const Entry& entry : setups_) {
    const Layouts& known = entry.setup->inputs();
    bool same = known.size() == count;
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

void Layer::throwNoSetup(const Layouts& inputs) const {
  if (setups_.empty())
    throw Error(
        TENON_ERR_STATE,
        fmt::format("{} is not set up; call TenonLayerSetUp() with the layout of its input first",
                    title()));
  const Layouts& known = setups_.back().setup->inputs();
  checkCount(*this, inputs.size(), known.size());
  bool shapes = false;
  for (std::size_t i = 0; i < known.size(); ++i)
    shapes |= known[i].shape() != inputs[i].shape();
  throw Error(shapes ? TENON_ERR_SHAPE : TENON_ERR_LAYOUT,
              fmt::format("the input has layout {2}, but {0} is set up for {1}; call "
                          "TenonLayerSetUp() with this layout first",
                          title(), described(known), described(inputs)));
}

void Layer::setWatch(StepWatch* watch) {
  for (const Entry& entry : setups_)
    entry.setup->setWatch(watch);
  for (const Ref<Parameter>& parameter : parameters())
    parameter->setWatch(watch);
}

const Layout& Layer::outputLayout(const Layouts& inputs) const {
  return setup(inputs).output();
}

const Setup& Layer::latest() const {
  if (setups_.empty())
    throw Error(TENON_ERR_STATE,
                fmt::format("{} is not set up; call TenonLayerSetUp() first", title()));
  return *setups_.back().setup;
}

void Layer::apply(Inputs x, DTensor& y) {
  static const int event = logEvent("LayerApply");
  const LogScope scope(event);
  Entry& entry = const_cast<Entry&>(
      find(x.size(), [&](std::size_t i) -> const Layout& { return x[i]->layout(); }));
  for (std::size_t i = 0; i < x.size(); ++i) {
    checkTensor(*x[i], entry.setup->inputs()[i], type_, title(), "input");
    checkSpace(*x[i], "input");
  }
  checkTensor(y, entry.setup->output(), type_, title(), "output", kCreateOutput);
  checkSpace(y, "output");
  for (const DTensor* input : x)
    checkDistinct(*this, input, &y);
  if (entry.frames.empty())
    makeFrames(entry); // a network's node, by itself
  if (!training_)
    return entry.setup->infer(x, y);
  if (stack_.size() == static_cast<std::size_t>(depth_))
    throw Error(
        TENON_ERR_STATE,
        fmt::format(
            "{} has {} pending evaluations, and its stack depth is {}; call "
            "TenonLayerApplyAdjoint() or TenonLayerClearStack(), TenonLayerSetStackDepth() before "
            "TenonLayerSetUp(), or TenonLayerSetTraining() with TENON_FALSE for inference",
            title(), stack_.size(), depth_));
  entry.setup->apply(x, y, *entry.frames[entry.used]);
  stack_.push_back({&entry, entry.used++});
}

const Layer::Level& Layer::top() const {
  if (stack_.empty())
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has no pending evaluation to differentiate; call TenonLayerApply() "
                            "in training mode once for each adjoint",
                            title()));
  return stack_.back();
}

void Layer::applyTangent(Inputs dx, DTensor& dy) {
  static const int event = logEvent("LayerTangent");
  const LogScope scope(event);
  const auto [entry, frame] = top();
  checkCount(*this, dx.size(), entry->setup->inputs().size());
  for (std::size_t i = 0; i < dx.size(); ++i)
    if (dx[i]) {
      checkTensor(*dx[i], entry->setup->inputs()[i], type_, title(), "tangent of the input");
      checkSpace(*dx[i], "tangent of the input");
    }
  checkTensor(dy, entry->setup->output(), type_, title(), "tangent of the output", kCreateOutput);
  checkSpace(dy, "tangent of the output");
  for (const DTensor* input : dx)
    checkDistinct(*this, input, &dy);
  entry->setup->tangent(*entry->frames[frame], dx, dy);
}

void Layer::applyAdjoint(const DTensor& dy, InputCotangents dx) {
  static const int event = logEvent("LayerAdjoint");
  const LogScope scope(event);
  const auto [entry, frame] = top();
  checkTensor(dy, entry->setup->outputDual(), type_, title(), "cotangent of the output",
              "create it with TenonLayerCreateOutputCotangent()");
  checkSpace(dy, "cotangent of the output");
  checkCount(*this, dx.size(), entry->setup->inputs().size());
  for (std::size_t i = 0; i < dx.size(); ++i) {
    if (dx[i]) {
      checkTensor(*dx[i], entry->setup->inputDuals()[i], type_, title(), "cotangent of the input",
                  "create it with TenonLayerCreateInputCotangent()");
      checkSpace(*dx[i], "cotangent of the input");
    }
    checkDistinct(*this, &dy, dx[i]);
    for (std::size_t j = 0; dx[i] && j < i; ++j)
      if (dx[i] == dx[j])
        throw Error(TENON_ERR_ARG, fmt::format("the cotangents of inputs {} and {} of {} are the "
                                               "same tensor; pass two and add them afterwards",
                                               j, i, title()));
  }
  entry->setup->adjoint(*entry->frames[frame], dy, dx, stack_.size() == 1 ? reductions_ : nullptr);
  forgetLast();
}

void Layer::apply(const DTensor& x, DTensor& y) {
  const DTensor* one[] = {&x};
  apply(Inputs(one), y);
}

void Layer::applyTangent(const DTensor* dx, DTensor& dy) {
  const DTensor* one[] = {dx};
  applyTangent(Inputs(one), dy);
}

void Layer::applyAdjoint(const DTensor& dy, DTensor* dx) {
  DTensor* one[] = {dx};
  applyAdjoint(dy, InputCotangents(one));
}

void Layer::forgetLast() {
  const auto [entry, frame] = top();
  entry->frames[frame]->drop();
  --entry->used;
  stack_.pop_back();
}

void Layer::clearStack() {
  while (!stack_.empty())
    forgetLast();
}

std::vector<Ref<Parameter>> Layer::parameters() const {
  std::vector<Ref<Parameter>> all = parameters_;
  for (const Layer* child : children())
    for (const Ref<Parameter>& p : child->parameters())
      if (std::none_of(all.begin(), all.end(), [&](const auto& q) { return q.get() == p.get(); }))
        all.push_back(p);
  return all;
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
  for (const Ref<Parameter>& p : parameters_)
    if (fill == Fill::All || !p->isInitialized())
      initializeParameter(*p, textOf("initializer"), seed, stream);
  if (declaration_->isRandom() && (fill == Fill::All || !random_.isSet))
    random_ = {true, seed, streamOf(fmt::format("dropout {}", stream)), 0};
  for (std::size_t i = 0; i < children_.size(); ++i)
    children_[i]->initialize(seed, streamOf(fmt::format("{} layer {}", stream, i)), fill);
}

int Layer::event() const {
  return logEvent((name().empty() ? type() : name()).c_str());
}

Ref<Parameter> Layer::parameter(const ParameterForm& form) {
  const std::string& name = form.name;
  for (const Ref<Parameter>& known : parameters_) {
    if (known->name() != name)
      continue;
    if (known->storage().shape() != form.use.shape())
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format(
              "{} has parameter \"{}\" of shape [{}], but this input needs [{}]; use a new layer",
              title(), name, fmt::join(known->storage().shape(), ","),
              fmt::join(form.use.shape(), ",")));
    return known;
  }
  parameters_.push_back(
      makeRef<Parameter>(comm_, form, declaration_->storageLayout(form.use), type_, space_));
  parameters_.back()->setFrozen(frozen_);
  parameters_.back()->setEvent(event());
  if (!this->name().empty())
    parameters_.back()->value().setName(fmt::format("{}.{}", this->name(), name));
  return parameters_.back();
}

Ref<StateTensor> Layer::state(const StateForm& form) {
  for (const Ref<StateTensor>& known : states_)
    if (known->name() == form.name)
      return known;
  states_.push_back(makeRef<StateTensor>(comm_, form, type_, space_));
  return states_.back();
}

std::string Layer::settings() const {
  std::string text = declaration_->agreedText();
  for (const Layout& use : uses_)
    text += ", used as " + use.describe();
  for (const Node& node : nodes_)
    text += fmt::format(", ({}; reads {})", node.layer->settings(), fmt::join(node.reads, " and "));
  return text;
}

// The settings that a reader of the view did not leave at their defaults.
std::string Layer::brief() const {
  std::string text = type().empty() ? "no type" : type();
  const std::string own =
      nodes_.empty() ? declaration_->view()
                     : fmt::format("({})", counted(static_cast<Index>(nodes_.size()), "node"));
  text += fmt::format("{}{}, {}", own.empty() ? "" : " ", own, dataTypeName(type_));
  if (space_ == Space::Device)
    text += ", on the device";
  if (textOf("storage") != "use")
    text += ", storage " + textOf("storage");
  if (depth_ > 1)
    text += fmt::format(", stack depth {}", depth_);
  if (textOf("initializer") != "glorot_uniform")
    text += ", initializer " + textOf("initializer");
  return text;
}

std::string Layer::describe() const {
  std::string text = ownView();
  for (const Layer* child : children())
    text += child->describe();
  return text;
}

std::string Layer::ownView() const {
  std::string text =
      fmt::format("{}: {}\n", headingOf(*this), viewsInDetail() ? settings() : brief());
  if (!isSetUp())
    return text + "  not set up\n";
  for (const Entry& entry : setups_)
    text += entry.setup->describe();
  for (const Ref<Parameter>& p : parameters_) {
    const LinearOp* reduction = p->toDirection();
    text += viewLine(p->name(), p->storage(), latest().output().mesh(),
                     (p->isFrozen() ? "   frozen" : "") +
                         (!reduction        ? std::string()
                          : p->isInBucket() ? "   gradient reduction with others"
                                            : "   gradient reduction: " + trafficText(*reduction)));
  }
  for (const Ref<StateTensor>& state : states_)
    text += viewLine(state->name(), state->storage(), latest().output().mesh(), "   running");
  const Memory held = memory();
  return text +
         fmt::format("  memory on rank {}: parameters {}, buffers {}, saved activations {}\n",
                     comm_->rank(), sizeText(held.parameters), sizeText(held.buffers),
                     sizeText(held.kept));
}

Layer::Memory Layer::memory() const {
  Memory held;
  for (const Entry& entry : setups_) {
    held.buffers += entry.setup->bytes();
    for (const auto& frame : entry.frames)
      held.kept += frame->bytes();
  }
  for (const Ref<Parameter>& p : parameters_)
    held.parameters += p->bytes();
  return held;
}

} // namespace tenon
