// SPDX-License-Identifier: BSD-2-Clause
// The integer type of sizes and global positions, and the maximum number of spatial dimensions.
#pragma once

#include <cstdint>

namespace tenon {

using Index = std::int64_t;

inline constexpr int kMaxSpatial = 3; // d, h, w

} // namespace tenon
