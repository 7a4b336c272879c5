// SPDX-License-Identifier: BSD-2-Clause
// The type of sizes, offsets and strides.
#pragma once

#include <cstdint>

namespace tenon {

using Index = std::int64_t;

} // namespace tenon
