// SPDX-License-Identifier: BSD-2-Clause
// Elementwise functions by name ("relu", "tanh", ...), for layers of this type and for layers with
// an activation.
#pragma once

#include "declaration/core/declaration.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "layer/core/local_kernel.hpp"

namespace tenon {

// The function with this name. Its parameters, if any, are read from the settings of the layer,
// such as `slope` of "leakyrelu". Throws TENON_ERR_INTERNAL for an unknown name.
PointwiseFunction pointwiseFunction(const std::string& name, const Declaration& settings);

// The local kernel (the arithmetic of a layer on one rank) that applies the function.
std::unique_ptr<LocalKernel> makePointwise(const PointwiseFunction& function);

} // namespace tenon
