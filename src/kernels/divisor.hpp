// SPDX-License-Identifier: BSD-2-Clause
// Division of 32-bit numbers by one that is known before: a product and shifts, where a device's division
// of 64-bit numbers is a call. (Granlund and Montgomery, PLDI 1994, figure 4.1.)
#pragma once

#include "sys/device_code.hpp"
#include "sys/types.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tenon {

class Divisor {
public:
  Divisor() = default;
  // 1 to 2^31
  explicit Divisor(std::uint32_t d) : divisor_(d) {
    const int bits = std::bit_width(d - 1);
    factor_ = static_cast<std::uint32_t>(((((std::uint64_t(1) << bits) - d) << 32) / d) + 1);
    first_ = bits > 0 ? 1 : 0;
    second_ = static_cast<std::uint32_t>(bits) - first_;
  }
  // n becomes the quotient; the remainder is returned.
  TENON_DEVICE std::uint32_t divide(std::uint32_t& n) const {
    const auto high = static_cast<std::uint32_t>((std::uint64_t(n) * factor_) >> 32);
    const std::uint32_t quotient = (high + ((n - high) >> first_)) >> second_;
    const std::uint32_t rest = n - quotient * divisor_;
    n = quotient;
    return rest;
  }

private:
  std::uint32_t divisor_ = 1, factor_ = 1, first_ = 0, second_ = 0;
};

// Where there is nothing to walk, it divides by 1. A walk with an extent that is not among these numbers is refused
// (checkCells); until then it divides by the largest.
inline Divisor divisorOf(Index extent) {
  return Divisor(static_cast<std::uint32_t>(std::clamp<Index>(extent, 1, Index(1) << 31)));
}

} // namespace tenon
