// SPDX-License-Identifier: BSD-2-Clause
// How many random cases a test draws, by the CMake variable TENON_TEST_DRAWS: a percentage of the
// number that a test states, and 100 in the deep presets.
#pragma once

#include "support/world.hpp"

#include <algorithm>

namespace tenon::test {

// The number of draws out of `all`. On more than four ranks it is half of that, since there the
// same draws cost more and only give smaller parts.
inline int draws(int all) {
  const int percent = world()->size() > 4 ? TENON_TEST_DRAWS / 2 : TENON_TEST_DRAWS;
  return std::max(1, all * percent / 100);
}

// The number of draws of a test whose cost does not depend on the number of ranks.
inline int drawsAlone(int all) {
  return std::max(1, all * TENON_TEST_DRAWS / 100);
}

// Whether tests make all their draws.
inline bool drawsAll() {
  return TENON_TEST_DRAWS == 100;
}

} // namespace tenon::test
