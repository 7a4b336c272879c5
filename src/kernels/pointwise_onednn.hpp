// SPDX-License-Identifier: BSD-2-Clause
// The transcendental pointwise functions through oneDNN's vectorised element-wise kernels. The rest
// is bound by memory: loops are as good, and keep NaN.
#pragma once

#include "kernels/pointwise.hpp"

namespace tenon {

bool oneDnnEvaluates(Pointwise function);
// Those whose derivative is transcendental too. It is taken at x.
bool oneDnnDifferentiates(Pointwise function);

void pointwiseForwardOneDnn(Pointwise function, Index n, const float* x, float* y);
void pointwiseDerivativeOneDnn(Pointwise function, Index n, const float* x, const float* v,
                               float* r);

} // namespace tenon
