// SPDX-License-Identifier: BSD-2-Clause
// The order in which all maxima are taken: the first of equals stays, and the first NaN beats every
// number and is beaten by nothing.
#pragma once

#include "sys/device_code.hpp"

#include <cmath>
#include <type_traits>

namespace tenon {

// Whether `value`, seen later, replaces `best`.
template <class T>
TENON_DEVICE constexpr bool beats(T value, T best) {
  // Not greater-than: "not (value <= best)" is true for a NaN value as well.
  if constexpr (std::is_floating_point_v<T>)
    return !(value <= best) & !std::isnan(best);
  else
    return value > best;
}

} // namespace tenon
