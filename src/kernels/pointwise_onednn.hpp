// SPDX-License-Identifier: BSD-2-Clause
// The transcendental pointwise functions through oneDNN's vectorised element-wise kernels.
#pragma once

#include "kernels/pointwise.hpp"

namespace tenon {

void pointwiseForwardOneDnn(Pointwise function, Index n, const float* x, float* y);

} // namespace tenon
