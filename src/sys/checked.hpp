// SPDX-License-Identifier: BSD-2-Clause
// Sums and products of sizes that come from a caller: TENON_ERR_SHAPE instead of an overflow.
#pragma once

#include "sys/types.hpp"

namespace tenon {

// Throws TENON_ERR_SHAPE: "... is 3 x 6148914691236517206, which no 64-bit integer holds".
[[noreturn]] void refuseSize(const char* what, Index a, const char* sign, Index b);

// `what` names the result in the message.
inline Index checkedSum(Index a, Index b, const char* what) {
  Index sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    refuseSize(what, a, "+", b);
  return sum;
}

inline Index checkedDifference(Index a, Index b, const char* what) {
  Index difference = 0;
  if (__builtin_sub_overflow(a, b, &difference))
    refuseSize(what, a, "-", b);
  return difference;
}

inline Index checkedProduct(Index a, Index b, const char* what) {
  Index product = 0;
  if (__builtin_mul_overflow(a, b, &product))
    refuseSize(what, a, "x", b);
  return product;
}

} // namespace tenon
