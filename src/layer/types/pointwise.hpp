// SPDX-License-Identifier: BSD-2-Clause
// The functions of each element by name.
#pragma once

#include "declaration/core/declaration.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "layer/core/local_kernel.hpp"

namespace tenon {

// The function of a name. Its parameters, if it has some, are read from the settings of their
// names.
PointwiseFunction pointwiseFunction(const std::string& name, const Declaration& settings);

std::unique_ptr<LocalKernel> makePointwise(const PointwiseFunction& function);

} // namespace tenon
