// SPDX-License-Identifier: BSD-2-Clause
// Tests the lines about long work: rate, value and time left, at most one per second. The clock is
// a variable of the test (hand_clock.hpp), so the lines are exact.
#include "sys/errors/handler.hpp"
#include "sys/log/log.hpp"
#include "sys/log/progress.hpp"
#include "sys/options/options.hpp"
#include "sys/text/output.hpp"

#include "sys/expect_error.hpp"
#include "sys/hand_clock.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace tenon;
using test::seconds;

class ProgressTest : public ::testing::Test {
protected:
  void SetUp() override {
    seconds = 50;
    setLogClock([] { return seconds; });
  }
  void TearDown() override { setLogClock(nullptr); }
  std::string after(double pause, Index done, Index total = 1000) {
    seconds += pause;
    return progress_.report("train", done, total, "loss", 0.25);
  }
  Progress progress_;
};

TEST_F(ProgressTest, ShowsRateValueAndTimeLeft) {
  EXPECT_EQ(after(0, 100), "");
  EXPECT_EQ(after(2, 300), "train: 300 of 1000, 100 per second, loss 0.25, 7 s left\n");
  EXPECT_EQ(after(2, 301), "train: 301 of 1000, 50.25 per second, loss 0.25, 14 s left\n");
  EXPECT_EQ(progress_.report("solve", 7, 0, "", 0), "");
  seconds += 4;
  EXPECT_EQ(progress_.report("solve", 8, 0, "", 0), "solve: 8, 0.25 per second\n");
}

TEST_F(ProgressTest, SpeaksAtMostOnceASecondAndAtTheEnd) {
  after(0, 0);
  EXPECT_EQ(after(0.5, 10), "");
  EXPECT_NE(after(0.5, 20), "");
  EXPECT_EQ(after(0.75, 30), "");
  EXPECT_NE(after(0.25, 1000).find("0 s left"), std::string::npos);
}

TEST_F(ProgressTest, WorkThatBeginsAnewForgetsItsRate) {
  after(0, 0);
  after(10, 10);
  EXPECT_EQ(after(10, 0), "");
  EXPECT_EQ(after(1, 5), "train: 5 of 1000, 5 per second, loss 0.25, 3 min 19 s left\n");
  EXPECT_EQ(after(9, 10), "train: 10 of 1000, 1 per second, loss 0.25, 16 min 30 s left\n");
  EXPECT_EQ(after(90, 11, 10011),
            "train: 11 of 10011, 0.11 per second, loss 0.25, 25 h 15 min left\n");
}

TEST_F(ProgressTest, MistakesAreNamed) {
  expectError(TENON_ERR_ARG, {"12 of 10 steps", "'train'"}, [&] { after(0, 12, 10); });
  expectError(TENON_ERR_ARG, {"-1 of 1000 steps"}, [&] { after(0, -1); });
}

TEST_F(ProgressTest, IsPrintedOnRankZeroWhereAskedFor) {
  std::string text;
  setOutputSink([&](std::string_view part) { text += part; });
  const auto run = [] {
    for (Index i = 0; i < 3; ++i, seconds += 1)
      showProgress("train", i, 3, "", 0);
  };
  run();
  EXPECT_EQ(text, "");
  options().set("-tenon_progress", std::nullopt);
  setProcessRank(1);
  run();
  EXPECT_EQ(text, "");
  setProcessRank(0);
  run();
  EXPECT_EQ(text, "train: 1 of 3, 1 per second, 2 s left\ntrain: 2 of 3, 1 per second, 1 s left\n");
  options().clear();
  setOutputSink({});
}

} // namespace
