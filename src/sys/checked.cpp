// SPDX-License-Identifier: BSD-2-Clause
#include "sys/checked.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>

namespace tenon {

void refuseSize(const char* what, Index a, const char* sign, Index b) {
  throw Error(TENON_ERR_SHAPE,
              fmt::format("{} is {} {} {}, which no 64-bit integer holds", what, a, sign, b));
}

} // namespace tenon
