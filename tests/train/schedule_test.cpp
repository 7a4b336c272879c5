// SPDX-License-Identifier: BSD-2-Clause
// Learning rates by hand, and the strong Wolfe conditions of line searches.
#include "sys/expect_error.hpp"
#include "sys/traps.hpp"
#include "train/line_search.hpp"
#include "train/rate_schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

namespace tenon {
namespace {

using Values = std::vector<std::pair<const char*, SettingValue>>;

const Settings::Owner kOwner{"the optimizer", "sgd"};

// A schedule with these settings; the others have their defaults.
RateSchedule scheduleOf(const Values& values) {
  Settings settings({RateSchedule::options()});
  for (const auto& [name, value] : values)
    settings.set(name, value, kOwner);
  RateSchedule schedule;
  schedule.update(settings);
  return schedule;
}

TEST(RateSchedule, StepsDownAfterEachPeriod) {
  const RateSchedule schedule =
      scheduleOf({{"schedule", "step"}, {"schedule_period", Index(3)}, {"schedule_factor", 0.5}});
  const double want[] = {1, 1, 1, 0.5, 0.5, 0.5, 0.25};
  for (int s = 0; s < 7; ++s)
    EXPECT_DOUBLE_EQ(schedule.factor(s), want[s]);
}

TEST(RateSchedule, FollowsTheCosineAfterTheWarmup) {
  const RateSchedule schedule = scheduleOf({{"schedule", "cosine"},
                                            {"schedule_period", Index(4)},
                                            {"least_rate", 0.2},
                                            {"warmup", Index(4)}});
  for (int s = 0; s < 4; ++s)
    EXPECT_DOUBLE_EQ(schedule.factor(s), (s + 1) / 4.0);
  EXPECT_DOUBLE_EQ(schedule.factor(4), 1);
  EXPECT_DOUBLE_EQ(schedule.factor(6), 0.6); // half way between 1 and 0.2
  EXPECT_DOUBLE_EQ(schedule.factor(8), 0.2);
  EXPECT_DOUBLE_EQ(schedule.factor(100), 0.2);
}

TEST(RateSchedule, ReducesOnAPlateau) {
  const NoTraps noTraps; // a loss is not a number
  RateSchedule schedule = scheduleOf({{"schedule", "plateau"},
                                      {"schedule_factor", 0.1},
                                      {"least_rate", 0.05},
                                      {"patience", Index(2)},
                                      {"improvement", 0.1}});
  EXPECT_FALSE(schedule.report(10));
  for (double loss : {9.5, 9.4}) // not a tenth better
    schedule.report(loss);
  EXPECT_DOUBLE_EQ(schedule.factor(0), 1);
  schedule.report(NAN); // the third in a row
  EXPECT_DOUBLE_EQ(schedule.factor(0), 0.1);
  schedule.report(8);
  for (int i = 0; i < 3; ++i)
    schedule.report(8);
  EXPECT_DOUBLE_EQ(schedule.factor(0), 0.05); // not 0.01
}

// Losses can be negative. Two reports in a row without improvement are too many: those of -1.5, but
// not the second -1, which an improvement to -2 follows.
TEST(RateSchedule, StopsWhenNothingImproves) {
  RateSchedule schedule = scheduleOf({{"stop_patience", Index(2)}});
  EXPECT_FALSE(schedule.report(-1));
  EXPECT_FALSE(schedule.report(-1));
  EXPECT_FALSE(schedule.report(-2));
  EXPECT_FALSE(schedule.report(-1.5));
  EXPECT_TRUE(schedule.report(-1.5));
}

TEST(RateSchedule, RefusesWhatDoesNotFit) {
  expectError(TENON_ERR_STATE, {"cosine", "schedule_period"}, [] {
    scheduleOf({{"schedule", "cosine"}}).check();
  });
  scheduleOf({{"schedule", "plateau"}}).check(); // needs none
  expectError(TENON_ERR_ARG, {"schedule_period", "0"}, [] {
    scheduleOf({{"schedule_period", Index(0)}});
  });
  expectError(TENON_ERR_ARG, {"factor", "0"}, [] { scheduleOf({{"schedule_factor", 0.0}}); });
  expectError(TENON_ERR_ARG, {"least_rate", "2"}, [] { scheduleOf({{"least_rate", 2.0}}); });
  expectError(TENON_ERR_ARG, {"warmup"}, [] { scheduleOf({{"warmup", Index(-1)}}); });
  expectError(TENON_ERR_TYPE, {"cosine", "cosinus"}, [] { scheduleOf({{"schedule", "cosinus"}}); });
}

// The functions of Moré and Thuente (1994), and others, from first trials of many sizes.
TEST(LineSearch, FulfilsTheStrongWolfeConditions) {
  struct Function {
    double (*value)(double);
    double (*slope)(double);
  };
  const Function functions[] = {
      {[](double t) { return -t / (t * t + 2); },
       [](double t) { return (t * t - 2) / ((t * t + 2) * (t * t + 2)); }},
      {[](double t) { return std::pow(t + 0.004, 5) - 2 * std::pow(t + 0.004, 4); },
       [](double t) { return 5 * std::pow(t + 0.004, 4) - 8 * std::pow(t + 0.004, 3); }},
      {[](double t) { return (t - 3) * (t - 3); }, [](double t) { return 2 * (t - 3); }},
      {[](double t) { return std::exp(t) - 5 * t; }, [](double t) { return std::exp(t) - 5; }},
      {[](double t) { return std::cos(t) - 0.1 * t - std::sin(t); },
       [](double t) { return -std::sin(t) - 0.1 - std::cos(t); }},
  };
  const LineSearchSettings settings{.c2 = 0.3, .evaluations = 60};
  for (const Function& f : functions)
    for (double first : {1e-3, 0.1, 1.0, 10.0, 300.0}) {
      const LinePoint start{0, f.value(0), f.slope(0)};
      const LineResult found = searchLine(
          [&](double t) {
            return LinePoint{t, f.value(t), f.slope(t)};
          },
          start, first, settings);
      const double t = found.point.at;
      EXPECT_TRUE(found.fulfils) << &f - functions << " from " << first;
      EXPECT_GT(t, 0);
      EXPECT_LE(f.value(t), start.value + settings.c1 * t * start.slope);
      EXPECT_LE(std::abs(f.slope(t)), settings.c2 * std::abs(start.slope));
    }
}

// The values are all 1, or its neighbours among the numbers, so only the slopes tell where the
// minimum is.
TEST(LineSearch, FollowsTheSlopesWhereValuesAreRounded) {
  for (const double first : {1e-3, 0.3, 1.0, 1.99, 7.0, 300.0}) {
    const auto f = [](double t) {
      const double noise = std::sin(1e3 * t) > 0 ? std::numeric_limits<double>::epsilon() : 0;
      return LinePoint{t, 1 + noise + 1e-22 * (t - 1) * (t - 1), 2e-22 * (t - 1)};
    };
    const LineResult found = searchLine(f, f(0), first, {.c2 = 0.1, .rounding = 1e-15});
    EXPECT_TRUE(found.fulfils) << first;
    EXPECT_NEAR(found.point.at, 1, 0.1) << first;
  }
}

TEST(LineSearch, StaysWhereNothingDecreases) {
  const NoTraps noTraps; // values that are not numbers
  const LinePoint start{0, 1, -1};
  const LineResult found = searchLine(
      [](double t) {
        return LinePoint{t, NAN, NAN};
      },
      start, 1, {});
  EXPECT_FALSE(found.fulfils);
  EXPECT_EQ(found.point.at, 0);
}

} // namespace
} // namespace tenon
