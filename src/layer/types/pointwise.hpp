// SPDX-License-Identifier: BSD-2-Clause
// Elementwise functions by name.
#pragma once

#include "declaration/core/declaration.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "layer/core/local_kernel.hpp"

namespace tenon {

// The function with this name. Its parameters, if any, are read from the settings.
PointwiseFunction pointwiseFunction(const std::string& name, const Declaration& settings);

std::unique_ptr<LocalKernel> makePointwise(const PointwiseFunction& function);

} // namespace tenon
