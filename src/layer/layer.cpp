// SPDX-License-Identifier: BSD-2-Clause
#include "layer/layer.hpp"

#include "comm/agreement.hpp"
#include "kernels/backend.hpp"
#include "layer/initializer.hpp"
#include "sys/log.hpp"
#include "sys/options.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr OptionSpec kOptions[] = {
    {"signature", OptionSpec::String, "",
     "letters of the layer's signature, one for each mesh axis; empty: the one that moves no "
     "input"},
    {"storage", OptionSpec::String, "use",
     "where parameters are stored: use, root, or properties such as S0,B"},
    {"backend", OptionSpec::Choice, "auto", "who computes the local kernels",
     "auto|reference|blas|onednn"},
    {"stack_depth", OptionSpec::Int, "1", "how many Apply calls may wait for their adjoints"},
    {"initializer", OptionSpec::Choice, "glorot_uniform",
     "first values of weights (biases are zero)",
     "glorot_uniform|glorot_normal|he_uniform|he_normal"},
};
const OptionRegistration kRegistration{{"layer", kOptions}};

void checkDistinct(const Layer& layer, const DTensor* in, const DTensor* out) {
  if (in == out)
    throw Error(
        TENON_ERR_ARG,
        fmt::format("{} needs two tensors, but input and output are the same", layer.title()));
}

} // namespace

Layer::Layer(CommPtr comm) : Object(kClass), comm_(std::move(comm)) {}

void Layer::checkBeforeSetUp(const char* call) const {
  if (isSetUp())
    throw Error(TENON_ERR_STATE, fmt::format("{} comes after {} was set up", call, title()));
}

void Layer::setDataType(TenonDataType type) {
  checkBeforeSetUp("SetDataType");
  checkFloating(type, "a layer");
  type_ = type;
}

void Layer::setStackDepth(int depth) {
  checkBeforeSetUp("SetStackDepth");
  if (depth < 1)
    throw Error(TENON_ERR_ARG,
                fmt::format("the stack depth of {} is {}; it must be at least 1", title(), depth));
  depth_ = depth;
}

void Layer::setSignature(std::string letters) {
  checkBeforeSetUp("SetSignature");
  signature_ = std::move(letters);
}

void Layer::setStorage(std::string storage) {
  checkBeforeSetUp("SetStorage");
  if (storage != "use" && storage != "root")
    parseProperties(storage);
  storage_ = std::move(storage);
}

void Layer::setBackend(std::string backend) {
  checkBeforeSetUp("SetBackend");
  parseBackend(backend);
  backend_ = std::move(backend);
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
}

void Layer::inheritSettings(const Layer& container) {
  setDataType(container.type_);
  setStackDepth(container.depth_);
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

void Layer::setUp(const Layout& input) {
  static const int event = logEvent("LayerSetUp");
  const LogScope scope(event);
  collectively(
      *comm_, fmt::format("what {} is set up with", title()),
      [&] {
        failedSets_.check();
        return fmt::format("{}; input {}", settings(), input.describe());
      },
      [](const std::string& text) { return text; });
  const auto known = std::find_if(setups_.begin(), setups_.end(), [&](const Entry& entry) {
    return entry.setup->input() == input;
  });
  if (known != setups_.end())
    return setups_.splice(setups_.end(), setups_, known);
  const std::size_t before = parameters_.size();
  try {
    setups_.push_back(collectively(*comm_, [&] { return makeEntry(input); }));
  } catch (...) {
    parameters_.resize(before); // the next attempt may have other settings
    throw;
  }
  stack_.reserve(depth_);
}

Layer::Entry Layer::makeEntry(const Layout& input) {
  Entry entry;
  entry.setup = makeSetup(input);
  for (int level = 0; level < depth_; ++level)
    entry.frames.push_back(entry.setup->makeFrame());
  entry.scratch = entry.setup->makeFrame();
  return entry;
}

const Layer::Entry& Layer::find(const Layout& input) const {
  for (const Entry& entry : setups_)
    if (entry.setup->input() == input)
      return entry;
  if (setups_.empty())
    throw Error(
        TENON_ERR_STATE,
        fmt::format("{} is not set up; call SetUp with the layout of its input first", title()));
  const bool shapes = setups_.back().setup->input().shape() != input.shape();
  throw Error(shapes ? TENON_ERR_SHAPE : TENON_ERR_LAYOUT,
              fmt::format("{} was set up for {}, but the input has {}; call SetUp for it first",
                          title(), setups_.back().setup->input().describe(), input.describe()));
}

const Setup& Layer::latest() const {
  if (setups_.empty())
    throw Error(TENON_ERR_STATE, fmt::format("{} has no layouts before SetUp", title()));
  return *setups_.back().setup;
}

void Layer::apply(const DTensor& x, DTensor& y) {
  static const int event = logEvent("LayerApply");
  const LogScope scope(event);
  Entry& entry = const_cast<Entry&>(find(x.layout()));
  checkTensor(x, entry.setup->input(), type_, title(), "input");
  checkTensor(y, entry.setup->output(), type_, title(), "output");
  checkDistinct(*this, &x, &y);
  if (!training_)
    return entry.setup->apply(x, y, *entry.scratch, false);
  if (stack_.size() == static_cast<std::size_t>(depth_))
    throw Error(TENON_ERR_STATE,
                fmt::format("{} was applied {} times without an adjoint, and its stack has {} "
                            "levels; call ApplyAdjoint or ClearStack, "
                            "SetStackDepth before SetUp, or SetTraining(false) for inference",
                            title(), stack_.size(), depth_));
  entry.setup->apply(x, y, *entry.frames[entry.used], true);
  ++entry.used;
  stack_.push_back(&entry);
}

Layer::Entry& Layer::top() {
  if (stack_.empty())
    throw Error(
        TENON_ERR_STATE,
        fmt::format(
            "{} has nothing to differentiate: every Apply in training mode allows one adjoint",
            title()));
  return *stack_.back();
}

void Layer::applyTangent(const DTensor* dx, DTensor& dy) {
  static const int event = logEvent("LayerTangent");
  const LogScope scope(event);
  Entry& entry = top();
  if (dx)
    checkTensor(*dx, entry.setup->input(), type_, title(), "tangent input");
  checkTensor(dy, entry.setup->output(), type_, title(), "tangent output");
  checkDistinct(*this, dx, &dy);
  entry.setup->tangent(*entry.frames[entry.used - 1], dx, dy);
}

void Layer::applyAdjoint(const DTensor& dy, DTensor* dx) {
  static const int event = logEvent("LayerAdjoint");
  const LogScope scope(event);
  Entry& entry = top();
  checkTensor(dy, entry.setup->outputDual(), type_, title(), "cotangent of the output");
  if (dx)
    checkTensor(*dx, entry.setup->inputDual(), type_, title(), "cotangent of the input");
  checkDistinct(*this, &dy, dx);
  entry.setup->adjoint(*entry.frames[entry.used - 1], dy, dx);
  Layer::forgetLast();
}

void Layer::forgetLast() {
  Entry& entry = top();
  entry.frames[--entry.used]->drop();
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

void Layer::initialize(std::uint64_t seed, std::uint64_t stream) {
  if (!isSetUp())
    throw Error(TENON_ERR_STATE, fmt::format("{} has no parameters before SetUp", title()));
  for (const Ref<Parameter>& p : parameters_)
    initializeParameter(*p, initializer_, seed, stream);
}

Layout Layer::storageLayout(const Layout& use) const {
  const Layout plain = use.withoutMargins();
  if (storage_ == "use")
    return plain;
  LayoutSpec spec{.shape = plain.shape(), .mesh = plain.meshPtr(), .properties = {}};
  spec.properties = storage_ == "root" ? Properties(plain.mesh().axes(), Property::root())
                                       : parseProperties(storage_);
  for (const Property& p : spec.properties)
    if (p.isPartial())
      throw Error(TENON_ERR_OPTION, fmt::format("parameters of {} cannot be stored as '{}': a "
                                                "partial value has no own numbers to step",
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
          fmt::format("{} has parameter '{}' in {}, which does not fit an input that wants {}",
                      title(), name, known->storage().describe(), use.describe()));
    return known;
  }
  parameters_.push_back(makeRef<Parameter>(comm_, name, storageLayout(use), type_, fanIn, fanOut));
  if (!this->name().empty())
    parameters_.back()->value().setName(fmt::format("{}.{}", this->name(), name));
  return parameters_.back();
}

std::string Layer::settings() const {
  const std::string own = ownSettings();
  return fmt::format(
      "{}{}{} in {}, signature '{}', storage {}, backend {}, stack depth {}, initializer {}",
      type(), own.empty() ? "" : " ", own, dataTypeName(type_), signature_, storage_, backend_,
      depth_, initializer_);
}

std::string Layer::describe() const {
  std::string text = fmt::format("{} ({})\n", title(), settings());
  for (const Entry& entry : setups_)
    text += entry.setup->describe();
  for (const Ref<Parameter>& p : parameters_)
    text += fmt::format("  parameter {}: {}\n", p->name(), p->storage().describe());
  return text;
}

} // namespace tenon
