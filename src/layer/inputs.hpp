// SPDX-License-Identifier: BSD-2-Clause
// Tensors of a layer's inputs, in their order. Null is zero in a tangent, and "not wanted" in an
// adjoint.
#pragma once

#include "declaration/form.hpp"
#include "dtensor/dtensor.hpp"

#include <span>

namespace tenon {

using Inputs = std::span<const DTensor* const>;
using InputCotangents = std::span<DTensor* const>;

} // namespace tenon
