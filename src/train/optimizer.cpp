// SPDX-License-Identifier: BSD-2-Clause
#include "train/optimizer.hpp"

#include "dtensor/arithmetic.hpp"
#include "dtensor/measure.hpp"
#include "sys/log.hpp"
#include "sys/options.hpp"
#include "sys/registry.hpp"
#include "train/adam.hpp"
#include "train/sgd.hpp"

#include <fmt/format.h>

#include <cmath>
#include <mutex>

namespace tenon {

namespace {

constexpr OptionSpec kOptimizerOptions[] = {
    {"learning_rate", OptionSpec::Real, nullptr, "learning rate (the default depends on the type)",
     nullptr, above(0)},
    {"weight_decay", OptionSpec::Real, "0",
     "weight decay: multiple of the parameters added to their gradients", nullptr, atLeast(0)},
};
const OptionRegistration kOptimizerRegistration{{"optimizer", kOptimizerOptions}};

using Factory = Ref<Optimizer> (*)(Ref<Layer>);

template <class Type>
Ref<Optimizer> make(Ref<Layer> layer) {
  return makeRef<Type>(std::move(layer));
}

TypeRegistry<Factory>& optimizerTypes() {
  static TypeRegistry<Factory> types("optimizer type");
  static std::once_flag filled;
  std::call_once(filled, [] {
    types.add("sgd", make<Sgd>);
    types.add("adam", make<Adam>);
  });
  return types;
}

} // namespace

Optimizer::Optimizer(Ref<Layer> layer, double learningRate)
    : Object(kClass), layer_(std::move(layer)), learningRate_(learningRate) {
  if (!layer_->isSetUp())
    throw Error(
        TENON_ERR_STATE,
        fmt::format(
            "{} has no parameters yet; call TenonLayerSetUp() before TenonOptimizerCreate()",
            layer_->title()));
  parameters_ = layer_->parameters();
}

void Optimizer::setLearningRate(double rate) {
  if (!(rate > 0))
    throw Error(TENON_ERR_ARG, fmt::format("the learning rate is {}; it must be > 0", rate));
  learningRate_ = rate;
}

void Optimizer::setWeightDecay(double decay) {
  if (!(decay >= 0))
    throw Error(TENON_ERR_ARG, fmt::format("the weight decay is {}; it must be >= 0", decay));
  weightDecay_ = decay;
}

void Optimizer::setFromOptions() {
  if (const auto rate = options().findReal(prefix(), "learning_rate"))
    setLearningRate(*rate);
  if (const auto decay = options().findReal(prefix(), "weight_decay"))
    setWeightDecay(*decay);
}

void Optimizer::step() {
  static const int event = logEvent("OptimizerStep");
  const LogScope scope(event);
  ++steps_;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Parameter& parameter = *parameters_[i];
    if (parameter.isFrozen())
      continue;
    stepParameter(i, parameter.direction(), parameter.value(), steps());
    parameter.valueChanged();
    parameter.zeroGradient();
  }
}

// The squared norm of a direction d = C g is that of the tensor's value, in which a copy counts once.
double Optimizer::clipGradientNorm(double maximum) {
  if (!(maximum > 0))
    throw Error(
        TENON_ERR_ARG,
        fmt::format("the maximum of the gradients' norm is {}; it must be above 0", maximum));
  double squares = 0;
  for (const Ref<Parameter>& p : parameters_)
    if (!p->isFrozen()) {
      const double each = norm(*p->reducedGradient());
      squares += each * each;
    }
  const double all = std::sqrt(squares);
  if (std::isfinite(all) && all > maximum)
    for (const Ref<Parameter>& p : parameters_)
      if (!p->isFrozen())
        scaleArray(maximum / all, p->gradient());
  return all;
}

void Optimizer::visitState(const std::string& path, StateVisitor& visitor) {
  visitor.number(path + "/steps", steps_);
  const std::vector<NamedParameter> named = namedParameters(*layer_);
  for (const Slot& slot : slots())
    for (std::size_t i = 0; i < named.size(); ++i)
      visitor.tensor(fmt::format("{}/{}/{}", path, slot.name, named[i].path), *(*slot.tensors)[i]);
}

Optimizer::StateTensors Optimizer::makeState() const {
  StateTensors state;
  for (const Ref<Parameter>& p : parameters_)
    state.push_back(makeRef<DTensor>(p->value().comm(), p->storage(), p->dataType()));
  return state;
}

Ref<Optimizer> makeOptimizer(const std::string& type, Ref<Layer> layer) {
  return optimizerTypes().find(type)(std::move(layer));
}

} // namespace tenon
