// SPDX-License-Identifier: BSD-2-Clause
// The bytes of a strided array.
#pragma once

#include "sys/types.hpp"

#include <cstddef>

namespace tenon {

// From the lowest to the highest cell, and from the lowest to the first.
struct ByteSpan {
  const std::byte* begin = nullptr;
  Index bytes = 0, toFirst = 0;
};

} // namespace tenon
