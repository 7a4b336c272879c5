// SPDX-License-Identifier: BSD-2-Clause
// Tests the event log: inclusive and self time, work, stages, nesting and threads. The clock of the
// log is a variable of the test (hand_clock.hpp), so all times are exact.
#include "sys/log/log.hpp"

#include "sys/expect_error.hpp"
#include "sys/hand_clock.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>

namespace {

using namespace tenon;
using test::seconds;

class LogTest : public ::testing::Test {
protected:
  void SetUp() override {
    seconds = 100;
    setLogClock([] { return seconds; });
    logEnable(true);
    logReset();
  }
  void TearDown() override {
    logEnable(false);
    setLogClock(nullptr);
  }

  static EventRecord of(const std::string& event, const std::string& stage = "main") {
    for (const auto& record : logSnapshot())
      if (record.event == event && record.stage == stage)
        return record;
    return {};
  }

  const int outer_ = logEvent("Outer");
  const int inner_ = logEvent("Inner");
};

TEST_F(LogTest, ANameHasOneNumber) {
  EXPECT_EQ(logEvent("Outer"), outer_);
  EXPECT_NE(outer_, inner_);
}

TEST_F(LogTest, InclusiveAndSelfTime) {
  {
    LogScope outer(outer_);
    seconds += 1;
    for (int i = 0; i < 3; ++i) {
      LogScope inner(inner_);
      seconds += 2;
    }
    seconds += 4;
  }
  EXPECT_EQ(of("Outer").count, 1);
  EXPECT_EQ(of("Outer").time, 11); // 1 + 3 * 2 + 4
  EXPECT_EQ(of("Outer").selfTime, 5);
  EXPECT_EQ(of("Inner").count, 3);
  EXPECT_EQ(of("Inner").time, 6);
  EXPECT_EQ(of("Inner").selfTime, 6);
  EXPECT_EQ(logElapsed(), 11);
}

// Asynchronous work counts for the scope in which it was queued: the barrier waits for it (here it
// advances the clock by underWay seconds) before the clock is read.
TEST_F(LogTest, ScopesWaitForWhatTheBarrierWaitsFor) {
  static double underWay = 0;
  underWay = 10;
  setLogBarrier([]() noexcept { seconds += std::exchange(underWay, 0); });
  {
    LogScope outer(outer_);
    {
      LogScope inner(inner_);
      seconds += 1;
      underWay = 5;
    }
    EXPECT_EQ(logTotalsOfOpenScope().seconds, 6);
    underWay = 2;
  }
  setLogBarrier(nullptr);
  // The 10 seconds were queued before all scopes, 5 in Inner, and 2 in Outer.
  EXPECT_EQ(of("Inner").time, 6);
  EXPECT_EQ(of("Outer").time, 8);
  EXPECT_EQ(of("Outer").selfTime, 2);
}

TEST_F(LogTest, WorkCountsForTheInnermostAndThoseAround) {
  logFlops(1000);
  {
    LogScope outer(outer_);
    logFlops(5);
    logMessage(64);
    {
      LogScope inner(inner_);
      logFlops(7);
      logMessage(8);
      logMessage(0);
    }
  }
  EXPECT_EQ(of("Inner").flops, 7);
  EXPECT_EQ(of("Inner").messages, 2);
  EXPECT_EQ(of("Inner").bytes, 8);
  EXPECT_EQ(of("Outer").flops, 12);
  EXPECT_EQ(of("Outer").messages, 3);
  EXPECT_EQ(of("Outer").bytes, 72);
}

TEST_F(LogTest, AnEventInsideItselfCountsItsTimeAndWorkOnce) {
  {
    LogScope outer(outer_);
    seconds += 1;
    LogScope again(outer_);
    seconds += 2;
    logFlops(3);
  }
  EXPECT_EQ(of("Outer").count, 2);
  EXPECT_EQ(of("Outer").time, 3);
  EXPECT_EQ(of("Outer").selfTime, 3);
  EXPECT_EQ(of("Outer").flops, 3);
}

TEST_F(LogTest, StagesKeepTheirOwnTotals) {
  { LogScope scope(outer_); }
  logStagePush("training");
  { LogScope scope(outer_); }
  { LogScope scope(outer_); }
  logStagePush("validation");
  { LogScope scope(inner_); }
  logStagePop();
  { LogScope scope(outer_); }
  logStagePop();
  EXPECT_EQ(of("Outer").count, 1);
  EXPECT_EQ(of("Outer", "training").count, 3);
  EXPECT_EQ(of("Inner", "validation").count, 1);
  EXPECT_EQ(of("Inner").count, 0);
  expectError(TENON_ERR_STATE, {"log stages is empty", "TenonLogStagePush()"},
              [] { logStagePop(); });
}

TEST_F(LogTest, OffRecordsNothing) {
  logEnable(false);
  {
    LogScope scope(outer_);
    logFlops(1);
    logMessage(1);
  }
  EXPECT_TRUE(logSnapshot().empty());
}

TEST_F(LogTest, ScopesThatSpanASwitchAreHarmless) {
  logEnable(false);
  {
    LogScope before(outer_);
    logEnable(true);
    LogScope within(inner_);
    logEnable(false);
  }
  EXPECT_EQ(of("Outer").count, 0);
  EXPECT_EQ(of("Inner").count, 1);
}

TEST_F(LogTest, VeryDeepScopesCloseInOrder) {
  constexpr int kDeep = 200; // the log has 64 frames; deeper scopes count for the last one
  std::function<void(int)> nest = [&](int left) {
    LogScope scope(inner_);
    logFlops(1);
    if (left > 1)
      nest(left - 1);
  };
  {
    LogScope scope(outer_);
    nest(kDeep);
  }
  EXPECT_EQ(of("Outer").count, 1);
  EXPECT_EQ(of("Outer").flops, kDeep);
}

TEST_F(LogTest, EventsEndInReverseOrder) {
  EXPECT_TRUE(logBegin(outer_));
  EXPECT_TRUE(logBegin(inner_));
  expectError(TENON_ERR_STATE, {"'Outer'", "innermost open event is 'Inner'", "reverse order"},
              [&] { logEnd(outer_); });
  logEnd(inner_);
  logEnd(outer_);
  expectError(TENON_ERR_STATE, {"'Outer'", "innermost open event is none"},
              [&] { logEnd(outer_); });
  EXPECT_FALSE(logBegin(-1));
  EXPECT_FALSE(logBegin(1 << 20)); // more than the log can have
}

TEST_F(LogTest, ThreadsNestApart) {
  LogScope outer(outer_);
  std::thread other([&] {
    LogScope inner(inner_);
    logFlops(4);
  });
  other.join();
  EXPECT_EQ(of("Inner").flops, 4);
}

TEST_F(LogTest, ResetForgetsTotals) {
  { LogScope scope(outer_); }
  seconds += 5;
  logReset();
  EXPECT_TRUE(logSnapshot().empty());
  EXPECT_EQ(logElapsed(), 0);
}

} // namespace
