// SPDX-License-Identifier: BSD-2-Clause
// Settings and state of Adam and AdamW; the arithmetic is in kernels/elementwise/update. Updates
// are counted for each parameter, since a parameter that was frozen has had fewer and is corrected
// for its own.
#include "train/adam.hpp"

#include "kernels/elementwise/update.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tenon {

namespace {

constexpr OptionBounds kDecay{.least = 0, .most = 1, .isOpenAbove = true};
constexpr OptionSpec kAdamOptions[] = {
    {"beta1", OptionSpec::Real, "0.9", "decay rate of Adam's mean of gradients", nullptr, kDecay},
    {"beta2", OptionSpec::Real, "0.999", "decay rate of Adam's mean of squared gradients", nullptr,
     kDecay},
    {"epsilon", OptionSpec::Real, "1e-8", "number added to the square root in Adam's denominator",
     nullptr, above(0)},
};
const OptionRegistration kAdamRegistration{{"adam", kAdamOptions}};

} // namespace

Adam::Adam(Ref<Layer> layer, Decay decay)
    : Optimizer(std::move(layer), 0.001), decay_(decay), mean_(makeState()), square_(makeState()),
      updates_(parameters().size()) {
  if (decay == Decay::Decoupled)
    setWeightDecay(0.01);
}

void Adam::setBetas(double beta1, double beta2) {
  for (double beta : {beta1, beta2})
    if (!(beta >= 0 && beta < 1))
      throw Error(TENON_ERR_ARG, fmt::format("Adam's beta is {}; it must be in [0,1)", beta));
  beta1_ = beta1;
  beta2_ = beta2;
}

void Adam::setEpsilon(double epsilon) {
  if (!(epsilon > 0 && std::isfinite(epsilon)))
    throw Error(TENON_ERR_ARG,
                fmt::format("Adam's epsilon is {}; it must be finite and > 0", epsilon));
  epsilon_ = epsilon;
}

void Adam::setFromOptions() {
  Optimizer::setFromOptions();
  setBetas(options().findReal(prefix(), "beta1").value_or(beta1_),
           options().findReal(prefix(), "beta2").value_or(beta2_));
  setEpsilon(options().findReal(prefix(), "epsilon").value_or(epsilon_));
}

void Adam::visitNumbers(const std::string& path, StateVisitor& visitor) {
  const std::vector<NamedParameter> named = namedParameters(layer());
  for (std::size_t i = 0; i < named.size(); ++i)
    visitor.numberOrOlder(fmt::format("{}/updates/{}", path, named[i].path), updates_[i],
                          path + "/steps");
}

void Adam::stepParameter(std::size_t number, const DTensor& direction, DTensor& value) {
  ++updates_[number];
  visitFloating(value.dataType(), [&]<class T>(T) {
    adamStep<T>(value.context(), value.localElements(),
                {.rate = currentRate(),
                 .beta1 = beta1_,
                 .beta2 = beta2_,
                 .epsilon = epsilon_,
                 .decay = weightDecay(),
                 .isDecoupled = decay_ == Decay::Decoupled,
                 .number = static_cast<Index>(updates_[number])},
                direction.data<T>(), mean_[number]->mutableData<T>(),
                square_[number]->mutableData<T>(), value.mutableData<T>());
  });
}

} // namespace tenon
