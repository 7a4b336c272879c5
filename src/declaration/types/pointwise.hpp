// SPDX-License-Identifier: BSD-2-Clause
// Elementwise functions by name ("relu", "tanh", ...), for layers of this type and for layers with
// an activation, and the kernel that applies one.
#pragma once

#include "declaration/core/declaration.hpp"
#include "declaration/kernel/array_kernel.hpp"
#include "kernels/elementwise/pointwise.hpp"

namespace tenon {

// The function with this name. Its parameters, if any, are read from the settings of the layer,
// such as `slope` of "leakyrelu". Throws TENON_ERR_INTERNAL for an unknown name.
PointwiseFunction pointwiseFunction(const std::string& name, const Declaration& settings);

std::unique_ptr<ArrayKernel> makePointwise(TenonDataType type, const PointwiseFunction& function);

} // namespace tenon
