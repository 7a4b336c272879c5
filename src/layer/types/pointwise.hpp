// SPDX-License-Identifier: BSD-2-Clause
// The functions of each element by name.
#pragma once

#include "declaration/core/declaration.hpp"
#include "kernels/elementwise/pointwise.hpp"

namespace tenon {

// The function of a name. Its parameter, if it has one, is read from the setting of that name.
PointwiseFunction pointwiseFunction(const std::string& name, const Declaration& settings);

} // namespace tenon
