// SPDX-License-Identifier: BSD-2-Clause
// Computes the constants of a step of SGD or Adam (formulas in update.hpp) and applies a functor to
// the flat arrays, on the host or the device. SGD without momentum is a separate functor, which
// saves reading and writing the velocity.
#include "kernels/elementwise/update.hpp"

#include "kernels/functors/update.hpp"
#include "kernels/walks/each.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tenon {

namespace {

// Cost of one element of a step, in elements moved.
constexpr Index kSgdCost = 2;
constexpr Index kAdamCost = 4;

} // namespace

template <class T>
void sgdStep(KernelContext& context, Index n, double lr, double momentum, double weightDecay,
             bool nesterov, const T* g, T* velocity, T* w) {
  const T rate = T(lr), decay = T(weightDecay);
  if (momentum == 0)
    return eachElement(context, n, 1, functors::PlainSgd<T>{rate, decay, g, w});
  eachElement(context, n, kSgdCost,
              functors::MomentumSgd<T>{rate, decay, T(momentum), nesterov, g, velocity, w});
}

template <class T>
void adamStep(KernelContext& context, Index n, const AdamStep& step, const T* g, T* m, T* v, T* w) {
  if (step.number < 1)
    throw Error(TENON_ERR_ARG,
                fmt::format("the step number of Adam is {}; it must be >= 1", step.number));
  const auto t = double(step.number);
  eachElement(
      context, n, kAdamCost,
      // The constants of the step are computed once, in double. The bias corrections are merged
      // into the rate and the root, and a decoupled decay into the factor of w.
      functors::Adam<T>{.rate = T(step.rate / (1 - std::pow(step.beta1, t))),
                        .decay = T(step.isDecoupled ? 0 : step.decay),
                        .factor = T(step.isDecoupled ? 1 - step.rate * step.decay : 1),
                        .b1 = T(step.beta1),
                        .c1 = T(1 - step.beta1),
                        .b2 = T(step.beta2),
                        .c2 = T(1 - step.beta2),
                        .root = T(std::sqrt(1 - std::pow(step.beta2, t))),
                        .epsilon = T(step.epsilon),
                        .g = g,
                        .m = m,
                        .v = v,
                        .w = w});
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void sgdStep<T>(KernelContext&, Index, double, double, double, bool, const T*, T*, T*); \
  template void adamStep<T>(KernelContext&, Index, const AdamStep&, const T*, T*, T*, T*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
