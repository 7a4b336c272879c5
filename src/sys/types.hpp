// SPDX-License-Identifier: BSD-2-Clause
// The one integer for sizes and global positions, and how many dimensions of space windows can
// have.
#pragma once

#include <cstdint>

namespace tenon {

using Index = std::int64_t;

inline constexpr int kMaxSpatial = 3; // d, h, w

} // namespace tenon
