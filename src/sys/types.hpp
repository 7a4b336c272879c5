// SPDX-License-Identifier: BSD-2-Clause
// The one integer for sizes and global positions.
#pragma once

#include <cstdint>

namespace tenon {

using Index = std::int64_t;

} // namespace tenon
