// SPDX-License-Identifier: BSD-2-Clause
// Settings and state of Adam and AdamW. The state is, for each parameter, a running mean of its
// gradient and of the squared gradient, in the storage layout of the parameter: each rank updates
// its own block, without messages. The arithmetic is in kernels/elementwise/update. Updates are
// counted per parameter, because a parameter that has been frozen for a while has fewer, and its
// bias correction differs.
#include "train/adam.hpp"

#include "kernels/elementwise/update.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr OptionBounds kDecay{.least = 0, .most = 1, .isOpenAbove = true};
// Settings of adam, whose weight decay is a part of the gradient.
constexpr OptionSpec kInGradient[] = {
    learningRateOption("0.001"),
    weightDecayOption("0"),
};
// Settings of adamw, whose weight decay is separate from the gradient.
constexpr OptionSpec kDecoupled[] = {
    learningRateOption("0.001"),
    {"weight_decay", OptionSpec::Real, "0.01",
     "weight decay: multiple of the parameters, times the learning rate, that is taken off them",
     nullptr, atLeast(0)},
};
// Settings of both.
constexpr OptionSpec kAdamOptions[] = {
    {"beta1", OptionSpec::Real, "0.9", "decay rate of Adam's mean of gradients", nullptr, kDecay},
    {"beta2", OptionSpec::Real, "0.999", "decay rate of Adam's mean of squared gradients", nullptr,
     kDecay},
    {"epsilon", OptionSpec::Real, "1e-8", "number added to the square root in Adam's denominator",
     nullptr, above(0)},
};
const OptionRegistration kInGradientRegistration{{"adam", kInGradient}};
const OptionRegistration kDecoupledRegistration{{"adamw", kDecoupled}};
const OptionRegistration kAdamRegistration{{"adam", kAdamOptions}};

// The settings learning_rate and weight_decay of adam or adamw.
std::span<const OptionSpec> ratesOf(Adam::Decay decay) {
  if (decay == Adam::Decay::Decoupled)
    return kDecoupled;
  return kInGradient;
}

} // namespace

Adam::Adam(Ref<Layer> layer, Decay decay)
    : Optimizer(std::move(layer), {ratesOf(decay), kAdamOptions}), decay_(decay),
      mean_(makeState()), square_(makeState()), updates_(parameters().size()) {
  applySettings(settings(), {});
}

void Adam::applySettings(Settings after, const Settings::Names& names) {
  beta1_ = after.value<double>("beta1", owner());
  beta2_ = after.value<double>("beta2", owner());
  epsilon_ = after.value<double>("epsilon", owner());
  Optimizer::applySettings(std::move(after), names);
}

void Adam::visitNumbers(const std::string& path, StateVisitor& visitor) {
  const std::vector<NamedParameter> named = namedParameters(layer());
  for (std::size_t i = 0; i < named.size(); ++i)
    // Older checkpoints have no count per parameter; the number of steps replaces it.
    visitor.numberOrOlder(fmt::format("{}/updates/{}", path, named[i].path), updates_[i],
                          path + "/steps");
}

// The bias correction uses the parameter's own count of updates.
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
