// SPDX-License-Identifier: BSD-2-Clause
#include "layer/layer.hpp"

#include "comm/agreement.hpp"
#include "kernels/backend.hpp"
#include "layer/initializer.hpp"
#include "layer/traffic_text.hpp"
#include "sys/log.hpp"
#include "sys/options.hpp"
#include "sys/random.hpp"
#include "sys/text.hpp"
#include "sys/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

constexpr OptionSpec kOptions[] = {
    {"signature", OptionSpec::String, "",
     "signature of the layer: one index label per grid axis, separated by commas; empty: the one "
     "that does not redistribute the input"},
    {"storage", OptionSpec::String, "use",
     "storage layout of parameters: use, root, or properties such as S0,B"},
    {"backend", OptionSpec::Choice, "auto", "compute backend of the local kernels",
     "auto|reference|blas|onednn"},
    {"stack_depth",
     OptionSpec::Int,
     "1",
     "how many Apply calls may wait for their adjoints",
     nullptr,
     {1, 1e6}},
    {"initializer", OptionSpec::Choice, "glorot_uniform",
     "initialization of weights (biases are zero)",
     "glorot_uniform|glorot_normal|he_uniform|he_normal"},
    {"seed", OptionSpec::Int, "0", "seed of the first values that SetUp draws for parameters"},
};
const OptionRegistration kRegistration{{"layer", kOptions}};

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

Layer::Layer(CommPtr comm) : Object(kClass), comm_(std::move(comm)) {}

void Layer::checkBeforeSetUp(const char* call) const {
  if (isSetUp())
    throw Error(TENON_ERR_STATE,
                fmt::format("{} is not allowed after {} was set up; do it before TenonLayerSetUp()",
                            call, title()));
}

void Layer::setDataType(TenonDataType type) {
  checkBeforeSetUp("TenonLayerSetDataType()");
  checkFloating(type, "a layer");
  type_ = type;
}

void Layer::setStackDepth(int depth) {
  checkBeforeSetUp("TenonLayerSetStackDepth()");
  if (depth < 1)
    throw Error(TENON_ERR_ARG,
                fmt::format("the stack depth of {} is {}; it must be >= 1", title(), depth));
  depth_ = depth;
}

void Layer::setSignature(std::string letters) {
  checkBeforeSetUp("TenonLayerSetSignature()");
  signature_ = std::move(letters);
}

void Layer::setStorage(std::string storage) {
  checkBeforeSetUp("TenonLayerSetStorage()");
  if (storage != "use" && storage != "root")
    parseProperties(storage);
  storage_ = std::move(storage);
}

void Layer::setBackend(std::string backend) {
  checkBeforeSetUp("TenonLayerSetBackend()");
  parseBackend(backend);
  backend_ = std::move(backend);
}

void Layer::setSeed(std::uint64_t seed) {
  checkBeforeSetUp("SetSeed");
  seed_ = seed;
}

void Layer::setFromOptions() {
  const OptionDatabase& database = options();
  if (const auto letters = database.findString(prefix(), "signature"))
    setSignature(*letters);
  if (const auto storage = database.findString(prefix(), "storage"))
    setStorage(*storage);
  if (const auto backend = database.findChoice(prefix(), "backend"))
    setBackend(*backend);
  if (const auto depth = database.findInt(prefix(), "stack_depth"))
    setStackDepth(static_cast<int>(*depth));
  if (const auto initializer = database.findChoice(prefix(), "initializer"))
    initializer_ = *initializer;
  if (const auto seed = database.findInt(prefix(), "seed"))
    setSeed(static_cast<std::uint64_t>(*seed));
}

void Layer::inheritSettings(const Layer& container, int uses) {
  setDataType(container.type_);
  setStackDepth(container.depth_ * uses);
  if (storage_ == kStorage)
    storage_ = container.storage_;
  if (backend_ == kBackend)
    backend_ = container.backend_;
  if (initializer_ == kInitializer)
    initializer_ = container.initializer_;
}

void Layer::setTraining(bool training) {
  training_ = training;
}

void Layer::setFrozen(bool frozen) {
  frozen_ = frozen;
  for (const Ref<Parameter>& p : parameters_)
    p->setFrozen(frozen);
}

void Layer::setUp(const Layouts& inputs) {
  setUpWithoutValues(inputs);
  initialize(seed_, streamOf("parameters"), Fill::New);
}

void Layer::setUpWithoutValues(const Layouts& inputs) {
  static const int event = logEvent("LayerSetUp");
  const LogScope scope(event);
  collectively(
      *comm_, fmt::format("what {} is set up with", title()),
      [&] {
        failedSets_.check();
        return fmt::format("{}; input {}{}", settings(), described(inputs),
                           RoutePolicy::fromOptions().agreedText());
      },
      [](const std::string& text) { return text; });
  const auto known = std::find_if(setups_.begin(), setups_.end(), [&](const Entry& entry) {
    return entry.setup->inputs() == inputs;
  });
  if (known != setups_.end())
    return setups_.splice(setups_.end(), setups_, known);
  const std::size_t before = parameters_.size();
  try {
    setups_.push_back(collectively(*comm_, [&] { return makeEntry(inputs); }));
  } catch (...) {
    parameters_.resize(before); // the next attempt may have other settings
    throw;
  }
  stack_.reserve(depth_);
}

Layer::Entry Layer::makeEntry(const Layouts& inputs) {
  Entry entry;
  entry.setup = makeSetupOf(inputs);
  for (int level = 0; level < depth_; ++level)
    entry.frames.push_back(entry.setup->makeFrame());
  entry.scratch = entry.setup->makeFrame();
  return entry;
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

const Layout& Layer::outputLayout(const Layouts& inputs) const {
  return find(inputs.size(), [&](std::size_t i) -> const Layout& { return inputs[i]; })
      .setup->output();
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
  for (std::size_t i = 0; i < x.size(); ++i)
    checkTensor(*x[i], entry.setup->inputs()[i], type_, title(), "input");
  checkTensor(y, entry.setup->output(), type_, title(), "output", kCreateOutput);
  for (const DTensor* input : x)
    checkDistinct(*this, input, &y);
  if (!training_)
    return entry.setup->applyMany(x, y, *entry.scratch, false);
  if (stack_.size() == static_cast<std::size_t>(depth_))
    throw Error(
        TENON_ERR_STATE,
        fmt::format(
            "{} has {} pending evaluations, and its stack depth is {}; call "
            "TenonLayerApplyAdjoint() or TenonLayerClearStack(), TenonLayerSetStackDepth() before "
            "TenonLayerSetUp(), or TenonLayerSetTraining() with TENON_FALSE for inference",
            title(), stack_.size(), depth_));
  entry.setup->applyMany(x, y, *entry.frames[entry.used], true);
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
  top();
  applyTangentAt(stackSize() - 1, dx, dy);
}

void Layer::applyTangentAt(int level, Inputs dx, DTensor& dy) {
  static const int event = logEvent("LayerTangent");
  const LogScope scope(event);
  const auto [entry, frame] = stack_[level];
  checkCount(*this, dx.size(), entry->setup->inputs().size());
  for (std::size_t i = 0; i < dx.size(); ++i)
    if (dx[i])
      checkTensor(*dx[i], entry->setup->inputs()[i], type_, title(), "tangent of the input");
  checkTensor(dy, entry->setup->output(), type_, title(), "tangent of the output", kCreateOutput);
  for (const DTensor* input : dx)
    checkDistinct(*this, input, &dy);
  entry->setup->tangentMany(*entry->frames[frame], dx, dy);
}

void Layer::applyAdjoint(const DTensor& dy, InputCotangents dx) {
  static const int event = logEvent("LayerAdjoint");
  const LogScope scope(event);
  const auto [entry, frame] = top();
  checkTensor(dy, entry->setup->outputDual(), type_, title(), "cotangent of the output",
              "create it with TenonLayerCreateCotangent()");
  checkCount(*this, dx.size(), entry->setup->inputs().size());
  for (std::size_t i = 0; i < dx.size(); ++i) {
    if (dx[i])
      checkTensor(*dx[i], entry->setup->inputDuals()[i], type_, title(), "cotangent of the input",
                  "create it with TenonLayerCreateInputCotangent()");
    checkDistinct(*this, &dy, dx[i]);
    for (std::size_t j = 0; dx[i] && j < i; ++j)
      if (dx[i] == dx[j])
        throw Error(TENON_ERR_ARG, fmt::format("the cotangents of inputs {} and {} of {} are the "
                                               "same tensor; pass two and add them afterwards",
                                               j, i, title()));
  }
  entry->setup->adjointMany(*entry->frames[frame], dy, dx);
  Layer::forgetLast();
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
    Layer::forgetLast();
}

void Layer::zeroGradients() {
  for (const Ref<Parameter>& p : parameters_)
    p->zeroGradient();
}

void Layer::initialize(std::uint64_t seed, std::uint64_t stream, Fill fill) {
  if (!isSetUp())
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has no parameters yet; call TenonLayerSetUp() first", title()));
  for (const Ref<Parameter>& p : parameters_)
    if (fill == Fill::All || !p->isInitialized())
      initializeParameter(*p, initializer_, seed, stream);
}

Layout Layer::storageLayout(const Layout& use) const {
  Layout plain = use.withoutMargins();
  if (storage_ == "use")
    return plain;
  LayoutSpec spec{.shape = plain.shape(), .mesh = plain.meshPtr(), .properties = {}};
  spec.properties = storage_ == "root" ? Properties(plain.mesh().axes(), Property::root())
                                       : parseProperties(storage_);
  for (const Property& p : spec.properties)
    if (p.isPartial())
      throw Error(TENON_ERR_OPTION,
                  fmt::format("parameters of {} cannot be stored as \"{}\": partial sums cannot be "
                              "updated by an optimizer; use S<dim>, B or R",
                              title(), storage_));
  return Layout(std::move(spec));
}

Ref<Parameter> Layer::parameter(const std::string& name, const Layout& use, Index fanIn,
                                Index fanOut) {
  for (const Ref<Parameter>& known : parameters_) {
    if (known->name() != name)
      continue;
    if (known->storage().shape() != use.shape())
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format(
              "{} has parameter \"{}\" of shape [{}], but this input needs [{}]; use a new layer",
              title(), name, fmt::join(known->storage().shape(), ","),
              fmt::join(use.shape(), ",")));
    return known;
  }
  parameters_.push_back(makeRef<Parameter>(comm_, name, storageLayout(use), type_, fanIn, fanOut));
  parameters_.back()->setFrozen(frozen_);
  if (!this->name().empty())
    parameters_.back()->value().setName(fmt::format("{}.{}", this->name(), name));
  return parameters_.back();
}

std::string Layer::settings() const {
  const std::string own = ownSettings();
  return fmt::format(
      "{}{}{}, {}, signature {}, storage {}, backend {}, stack depth {}, initializer {}, seed {}",
      type(), own.empty() ? "" : " ", own, dataTypeName(type_),
      signature_.empty() ? "auto" : signature_, storage_, backend_, depth_, initializer_, seed_);
}

// The settings that a reader of the view did not leave at their defaults.
std::string Layer::brief() const {
  const std::string own = ownSummary();
  std::string text =
      fmt::format("{}{}{}, {}", type(), own.empty() ? "" : " ", own, dataTypeName(type_));
  if (storage_ != kStorage)
    text += ", storage " + storage_;
  if (depth_ > 1)
    text += fmt::format(", stack depth {}", depth_);
  if (initializer_ != kInitializer)
    text += ", initializer " + initializer_;
  return text;
}

std::string Layer::describe() const {
  std::string text =
      fmt::format("{}: {}\n", headingOf(*this), viewsInDetail() ? settings() : brief());
  if (!isSetUp())
    return text + "  not set up\n";
  Index buffers = 0, stack = 0, parameters = 0;
  for (const Entry& entry : setups_) {
    text += entry.setup->describe();
    buffers += entry.setup->bytes() + entry.scratch->bytes();
    for (const auto& frame : entry.frames)
      stack += frame->bytes();
  }
  for (const Ref<Parameter>& p : parameters_) {
    const Conversion* reduction = p->toDirection();
    text += viewLine(
        p->name(), p->storage(), latest().output().mesh(),
        (p->isFrozen() ? "   frozen" : "") +
            (reduction ? "   gradient reduction: " + trafficText(*reduction) : std::string()));
    parameters += p->bytes();
  }
  return text +
         fmt::format("  memory on rank {}: parameters {}, buffers {}, saved activations {}\n",
                     comm_->rank(), sizeText(parameters), sizeText(buffers), sizeText(stack));
}

void Layer::checkOneInput(const Layouts& inputs) const {
  if (inputs.size() != 1)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} ({}) has 1 input, but was set up with {}", title(), type(),
                            counted(static_cast<Index>(inputs.size()), "layout")));
}

std::unique_ptr<Setup> OneInputLayer::makeSetupOf(const Layouts& inputs) {
  checkOneInput(inputs);
  return makeSetup(inputs.front());
}

} // namespace tenon
