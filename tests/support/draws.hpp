// SPDX-License-Identifier: BSD-2-Clause
// How far a sweep over drawn cases goes.
#pragma once

#include "support/world.hpp"

#include <algorithm>

namespace tenon::test {

// The percentage TENON_TEST_DRAWS of all (100 in the deep presets), and half of it beyond four
// ranks, where the same draws give smaller parts at more cost.
inline int draws(int all) {
  const int percent = world()->size() > 4 ? TENON_TEST_DRAWS / 2 : TENON_TEST_DRAWS;
  return std::max(1, all * percent / 100);
}

// The same of a test without ranks.
inline int drawsAlone(int all) {
  return std::max(1, all * TENON_TEST_DRAWS / 100);
}

// Whether this is a run of all draws.
inline bool drawsAll() {
  return TENON_TEST_DRAWS == 100;
}

} // namespace tenon::test
