// SPDX-License-Identifier: BSD-2-Clause
// Settings and state of stochastic gradient descent with momentum. For a parameter w with gradient
// g the step is v <- momentum v + g, w <- w - rate v; the exact form, with weight decay and
// Nesterov momentum, is in kernels/elementwise/update. The velocity v has the storage layout of the
// parameters, so each rank updates its own block, without messages.
#include "train/sgd.hpp"

#include "kernels/elementwise/update.hpp"

namespace tenon {

namespace {

constexpr OptionSpec kSgdOptions[] = {
    learningRateOption("0.01"),
    weightDecayOption("0"),
    {"momentum",
     OptionSpec::Real,
     "0",
     "momentum of SGD: fraction of the velocity kept from step to step",
     nullptr,
     {.least = 0, .most = 1, .isOpenAbove = true}},
    {"nesterov", OptionSpec::Flag, "false", "use Nesterov momentum"},
};
const OptionRegistration kSgdRegistration{{"sgd", kSgdOptions}};

} // namespace

Sgd::Sgd(Ref<Layer> layer) : Optimizer(std::move(layer), {kSgdOptions}), velocity_(makeState()) {
  applySettings(settings(), {});
}

void Sgd::applySettings(Settings after, const Settings::Names& names) {
  momentum_ = after.value<double>("momentum", owner());
  nesterov_ = after.value<bool>("nesterov", owner());
  Optimizer::applySettings(std::move(after), names);
}

// All tensors have the storage layout, so this is a loop over the local elements.
void Sgd::stepParameter(std::size_t number, const DTensor& direction, DTensor& value) {
  visitFloating(value.dataType(), [&]<class T>(T) {
    sgdStep<T>(value.context(), value.localElements(), currentRate(), momentum_, weightDecay(),
               nesterov_, direction.data<T>(), velocity_[number]->mutableData<T>(),
               value.mutableData<T>());
  });
}

} // namespace tenon
