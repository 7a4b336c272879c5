// SPDX-License-Identifier: BSD-2-Clause
// The shape [outer, n, inner] of an array relative to the dimension along which a kernel works, the
// middle one. Example: for dimension 1 of an array [2, 10, 4, 5], outer = 2, n = 10 and inner = 20.
#pragma once

#include "sys/types.hpp"

namespace tenon {

struct AxisShape {
  Index outer = 1, n = 1, inner = 1;
};

} // namespace tenon
