// SPDX-License-Identifier: BSD-2-Clause
// The shape [outer, n, inner] of an array relative to the dimension along which a kernel works, the
// middle one.
#pragma once

#include "sys/types.hpp"

namespace tenon {

struct AxisShape {
  Index outer = 1, n = 1, inner = 1;
};

} // namespace tenon
