// SPDX-License-Identifier: BSD-2-Clause
// Tests StoreChoice (linop/exchange/region_run.hpp), which chooses by measured times whether
// received data is stored through the cache or with streaming instructions. The times are invented
// here, so the fastest way is known.
#include "linop/exchange/region_run.hpp"

#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <map>

namespace tenon {
namespace {

// Simulates stores, with these seconds per byte for both ways, and counts how often each way is
// chosen.
std::map<StoreWay, int> storeOften(StoreChoice& choice, int times, double cached,
                                   double streaming) {
  std::map<StoreWay, int> ways;
  for (int i = 0; i < times; ++i) {
    const StoreWay way = choice.next();
    choice.took(way, way == StoreWay::Cached ? cached : streaming);
    ++ways[way];
  }
  return ways;
}

// Of 1000 stores about twelve go the slower way: a first one, and trials after 8, 16, 32 and 64
// stores and then every 128.
TEST(StoreChoice, TakesTheFasterWayAndTriesTheOtherMoreAndMoreSeldom) {
  for (const bool cachedIsFaster : {true, false}) {
    StoreChoice choice(StoreWay::Auto, 1);
    auto ways = storeOften(choice, 1000, cachedIsFaster ? 1e-10 : 3e-10, 2e-10);
    EXPECT_LT(ways[cachedIsFaster ? StoreWay::Streaming : StoreWay::Cached], 16);
    EXPECT_GT(ways[cachedIsFaster ? StoreWay::Streaming : StoreWay::Cached], 4);
  }
}

// A longer time, which counts at most as four times the recorded one, moves that by a quarter of
// the difference: two slow stores make 1 to 1.75 and 3.1, more than the 2 of the other way. The
// rest of the ten are trials.
TEST(StoreChoice, LeavesAWayAtOnceThatHasBecomeSlow) {
  StoreChoice choice(StoreWay::Auto, 1);
  storeOften(choice, 1000, 1e-10, 2e-10);
  EXPECT_LT(storeOften(choice, 50, 20e-10, 2e-10)[StoreWay::Cached], 10);
}

TEST(StoreChoice, FindsOutInTimeThatTheOtherWayHasBecomeFast) {
  StoreChoice choice(StoreWay::Auto, 1);
  storeOften(choice, 10000, 20e-10, 2e-10);
  storeOften(choice, 129, 1e-10, 2e-10); // includes one trial, since these are every 128 stores
  EXPECT_GT(storeOften(choice, 50, 1e-10, 2e-10)[StoreWay::Cached], 40);
}

// As above, it makes 1 to 1.75, less than 2.
TEST(StoreChoice, OneSlowStoreChangesNothing) {
  StoreChoice choice(StoreWay::Auto, 1);
  storeOften(choice, 1000, 1e-10, 2e-10);
  choice.took(StoreWay::Cached, 1e-6);
  EXPECT_GT(storeOften(choice, 50, 1e-10, 2e-10)[StoreWay::Cached], 40);
}

// The stores themselves take no time here.
TEST(StoreChoice, CountsTheReading) {
  constexpr int kSlots = 4;
  StoreChoice choice(StoreWay::Auto, kSlots);
  std::map<StoreWay, int> ways;
  StoreWay stored[kSlots] = {};
  for (int i = 0; i < 1000; ++i) {
    StoreWay& way = stored[i % kSlots];
    choice.run(i % kSlots, way == StoreWay::Streaming ? 1 : 1e4, [&](StoreWay requested) {
      way = requested;
      ++ways[requested];
      return Index(1000);
    });
  }
  EXPECT_LT(ways[StoreWay::Cached], 20);
}

TEST(StoreChoice, DoesAsItIsTold) {
  for (const char* name : {"cached", "streaming"}) {
    const StoreWay way = parseStoreWay(name);
    StoreChoice choice(way, 1);
    for (int i = 0; i < 100; ++i)
      choice.run(0, way == StoreWay::Cached ? 1e4 : 0, [&](StoreWay requested) {
        EXPECT_EQ(requested, way);
        return Index(1);
      });
  }
  expectError(TENON_ERR_ARG, {"unknown store 'past'", "auto|cached|streaming"},
              [] { parseStoreWay("past"); });
}

} // namespace
} // namespace tenon
