// SPDX-License-Identifier: BSD-2-Clause
// One step of an optimizer on flat arrays, as PyTorch defines them. Both first add the decay to the
// gradient, g <- g + weightDecay w (g itself is not changed). State arrays start at zero.
#pragma once

#include "kernels/context.hpp"

namespace tenon {

// velocity <- momentum velocity + g;  w <- w - lr (nesterov ? g + momentum velocity : velocity).
// Without momentum w <- w - lr g, and velocity is not touched and may be null.
template <class T>
void sgdStep(KernelContext& context, Index n, double lr, double momentum, double weightDecay,
             bool nesterov, const T* g, T* velocity, T* w);

// Adam (Kingma and Ba, 2015), t = stepNumber counted from 1:
//     m <- beta1 m + (1 - beta1) g,   v <- beta2 v + (1 - beta2) g^2,
//     w <- w - lr / (1 - beta1^t)  m / (sqrt(v / (1 - beta2^t)) + eps).
template <class T>
void adamStep(KernelContext& context, Index n, double lr, double beta1, double beta2, double eps,
              double weightDecay, Index stepNumber, const T* g, T* m, T* v, T* w);

} // namespace tenon
