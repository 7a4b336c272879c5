// SPDX-License-Identifier: BSD-2-Clause
// Tests the ring buffer with the names of the last public calls and log scopes, which a watchdog
// thread reads while the main thread hangs (handler.hpp).
#include "sys/errors/guard.hpp"
#include "sys/errors/handler.hpp"
#include "sys/log/log.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace {

using namespace tenon;

// Runs first: nothing was entered in this process.
TEST(LastCall, IsEmptyAtFirst) {
  EXPECT_STREQ(lastCallName(), "");
  EXPECT_STREQ(lastCallName(3), "");
}

TEST(LastCall, ShowsCallsAndScopesEvenWhileTheLogIsOff) {
  ASSERT_FALSE(logEnabled());
  EXPECT_EQ(guard("TenonLayerApply",
                  [] {
                    EXPECT_STREQ(lastCallName(), "TenonLayerApply");
                    LogScope scope(logEvent("Exchange"));
                    EXPECT_STREQ(lastCallName(), "Exchange");
                    EXPECT_STREQ(lastCallName(1), "TenonLayerApply");
                  }),
            TENON_SUCCESS);
  std::string seen;
  std::thread watchdog([&] { seen = lastCallName(); });
  watchdog.join();
  EXPECT_EQ(seen, "Exchange");
}

TEST(LastCall, KeepsTheLastFewOnly) {
  noteCall("first");
  for (int i = 0; i < kLastCalls - 1; ++i)
    noteCall("later");
  EXPECT_STREQ(lastCallName(kLastCalls - 1), "first");
  noteCall("later");
  EXPECT_STREQ(lastCallName(kLastCalls - 1), "later");
  EXPECT_STREQ(lastCallName(kLastCalls), "");
  EXPECT_STREQ(lastCallName(-1), "");
}

} // namespace
