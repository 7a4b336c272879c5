// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "sys/types.hpp"

namespace tenon {

// An array [outer, n, inner], of which something is done along the middle dimension.
struct AxisShape {
  Index outer = 1, n = 1, inner = 1;
};

} // namespace tenon
