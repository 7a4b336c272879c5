// SPDX-License-Identifier: BSD-2-Clause
// bfloat16: the upper half of a float, with the same range and 8 significant bits. For storage
// only; arithmetic is in float and double. For example, pi is the float 0x40490fdb and the bfloat16
// 0x4049, which is 3.140625.
#pragma once

#include "sys/device_code.hpp"

#include <bit>
#include <cstdint>

namespace tenon {

struct BFloat16 {
  std::uint16_t bits;
};

TENON_DEVICE inline float valueOf(BFloat16 x) {
  return std::bit_cast<float>(std::uint32_t(x.bits) << 16);
}

// Rounds to nearest, ties to even; each NaN becomes 0x7fff, as by the instruction of CUDA devices.
// Adding 0x7fff, or 0x8000 if the last remaining bit is set, carries into the upper half exactly if
// the lower half is above one half, or is one half and the last bit is odd.
TENON_DEVICE inline BFloat16 toBFloat16(float x) {
#ifdef __CUDA_ARCH__
  std::uint16_t nearest;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(nearest) : "f"(x));
  return {nearest};
#else
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const bool isNaN = (bits & 0x7fffffffU) > 0x7f800000U;
  const std::uint32_t rounded = isNaN ? 0x7fff0000U : bits + 0x7fffU + (bits >> 16 & 1U);
  return {static_cast<std::uint16_t>(rounded >> 16)};
#endif
}

// Rounds a double to bfloat16 once. Rounding to float first and then to bfloat16 could round twice:
// the float could be exactly between two bfloat16 numbers, although x is not. The float is
// therefore rounded towards zero, and its last bit is set if that was inexact (round to odd).
TENON_DEVICE inline BFloat16 toBFloat16(double x) {
  const auto nearest = static_cast<float>(x);
  const auto back = static_cast<double>(nearest);
  if (back == x || x != x)
    return toBFloat16(nearest);
  const bool isBeyond = x < 0 ? back < x : back > x;
  const std::uint32_t towardsZero = std::bit_cast<std::uint32_t>(nearest) - (isBeyond ? 1U : 0U);
  return toBFloat16(std::bit_cast<float>(towardsZero | 1U));
}

} // namespace tenon
