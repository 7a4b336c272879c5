// SPDX-License-Identifier: BSD-2-Clause
// The order of all maxima: of equal values the first wins, and the first NaN wins over every number
// and every later NaN.
#pragma once

#include "sys/device_code.hpp"

#include <cmath>
#include <type_traits>

namespace tenon {

// Whether `value`, which comes later, replaces `best`.
template <class T>
TENON_DEVICE constexpr bool beats(T value, T best) {
  // Not greater-than: "not (value <= best)" is true for a NaN value as well.
  if constexpr (std::is_floating_point_v<T>)
    return !(value <= best) & !std::isnan(best);
  else
    return value > best;
}

} // namespace tenon
