// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/update.hpp"

#include "kernels/parallel.hpp"
#include "sys/error.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tenon {

namespace {

// Work of an element, in elements moved.
constexpr Index kSgdCost = 2;
constexpr Index kAdamCost = 4;

} // namespace

template <class T>
void sgdStep(KernelContext& context, Index n, double lr, double momentum, double weightDecay,
             bool nesterov, const T* g, T* velocity, T* w) {
  const T rate = T(lr), mu = T(momentum), decay = T(weightDecay);
  if (momentum == 0)
    return parallelRanges(context.threads(), n, 1, [=](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        w[i] -= rate * (g[i] + decay * w[i]);
    });
  parallelRanges(context.threads(), n, kSgdCost, [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const T gradient = g[i] + decay * w[i];
      velocity[i] = mu * velocity[i] + gradient;
      w[i] -= rate * (nesterov ? gradient + mu * velocity[i] : velocity[i]);
    }
  });
}

template <class T>
void adamStep(KernelContext& context, Index n, double lr, double beta1, double beta2, double eps,
              double weightDecay, Index stepNumber, const T* g, T* m, T* v, T* w) {
  if (stepNumber < 1)
    throw Error(TENON_ERR_ARG,
                fmt::format("the step number of Adam is {}; it must be >= 1", stepNumber));
  const T b1 = T(beta1), c1 = T(1 - beta1), b2 = T(beta2), c2 = T(1 - beta2);
  const T rate = T(lr / (1 - std::pow(beta1, double(stepNumber))));
  const T rootCorrection = T(std::sqrt(1 - std::pow(beta2, double(stepNumber))));
  const T epsilon = T(eps), decay = T(weightDecay);
  parallelRanges(context.threads(), n, kAdamCost, [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const T gradient = g[i] + decay * w[i];
      m[i] = b1 * m[i] + c1 * gradient;
      v[i] = b2 * v[i] + c2 * gradient * gradient;
      w[i] -= rate * m[i] / (std::sqrt(v[i]) / rootCorrection + epsilon);
    }
  });
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void sgdStep<T>(KernelContext&, Index, double, double, double, bool, const T*, T*, T*); \
  template void adamStep<T>(KernelContext&, Index, double, double, double, double, double, Index,  \
                            const T*, T*, T*, T*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
