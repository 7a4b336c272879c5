// SPDX-License-Identifier: BSD-2-Clause
// One step of an optimizer, SGD or Adam, on flat arrays of weights w and gradients g, with
// PyTorch's definitions; lr, or `rate`, is the learning rate. Both add the decay of the weights to
// the gradient first, g <- g + decay w (g itself is not modified). The arrays of the optimizer's
// state, velocity, m and v, start at zero.
#pragma once

#include "kernels/base/context.hpp"

namespace tenon {

// velocity <- momentum velocity + g;  w <- w - lr (nesterov ? g + momentum velocity : velocity).
// Without momentum w <- w - lr g; velocity is not accessed and can be null.
template <class T>
void sgdStep(KernelContext& context, Index n, double lr, double momentum, double weightDecay,
             bool nesterov, const T* g, T* velocity, T* w);

// Adam (Kingma and Ba, 2015), where t = number, counted from 1:
//     m <- beta1 m + (1 - beta1) g,   v <- beta2 v + (1 - beta2) g^2,
//     w <- w - rate / (1 - beta1^t)  m / (sqrt(v / (1 - beta2^t)) + epsilon).
// With decoupled decay (AdamW) g is unchanged, and the step begins with w <- w - rate decay w.
struct AdamStep {
  double rate, beta1, beta2, epsilon, decay;
  bool isDecoupled;
  Index number;
};
template <class T>
void adamStep(KernelContext& context, Index n, const AdamStep& step, const T* g, T* m, T* v, T* w);

} // namespace tenon
