// SPDX-License-Identifier: BSD-2-Clause
// Settings and state of stochastic gradient descent; the arithmetic is in
// kernels/elementwise/update. The velocity is stored as the parameters are, so that each rank steps
// its own part.
#include "train/sgd.hpp"

#include "kernels/elementwise/update.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr OptionSpec kSgdOptions[] = {
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

Sgd::Sgd(Ref<Layer> layer) : Optimizer(std::move(layer), 0.01), velocity_(makeState()) {}

void Sgd::setMomentum(double momentum, bool nesterov) {
  if (!(momentum >= 0 && momentum < 1))
    throw Error(TENON_ERR_ARG, fmt::format("the momentum is {}; it must be in [0,1)", momentum));
  momentum_ = momentum;
  nesterov_ = nesterov;
}

void Sgd::setFromOptions() {
  Optimizer::setFromOptions();
  const auto momentum = options().findReal(prefix(), "momentum");
  const auto nesterov = options().findFlag(prefix(), "nesterov");
  setMomentum(momentum.value_or(momentum_), nesterov.value_or(nesterov_));
}

void Sgd::stepParameter(std::size_t number, const DTensor& direction, DTensor& value) {
  visitFloating(value.dataType(), [&]<class T>(T) {
    sgdStep<T>(value.context(), value.localElements(), currentRate(), momentum_, weightDecay(),
               nesterov_, direction.data<T>(), velocity_[number]->mutableData<T>(),
               value.mutableData<T>());
  });
}

} // namespace tenon
