// SPDX-License-Identifier: BSD-2-Clause
// Tests the settings of an object (kTable declares one setting of each kind): defaults, conversion
// between kinds of numbers, bounds, inheritance from a container, and options with a prefix. The
// expected values are written by hand.
#include "sys/options/settings.hpp"

#include "sys/expect_error.hpp"
#include "sys/options/options.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon {
namespace {

constexpr OptionSpec kTable[] = {
    {"count", OptionSpec::Int, "2", "a number", nullptr, atLeast(1)},
    {"sizes", OptionSpec::Ints, nullptr, "several numbers", nullptr, {0, 9}},
    {"portion", OptionSpec::Real, "0.5", "a part", nullptr, {0, 1}},
    {"how", OptionSpec::Choice, "soft", "manner", "soft|hard"},
    {"label", OptionSpec::String, "", "text"},
    {"open", OptionSpec::Flag, "false", "whether"},
};
const OptionRegistration kRegistration{{"settings_test", kTable}};
const Settings::Owner kOwner{"the thing", "box"};

Settings settings() {
  return Settings({kTable});
}

TEST(Settings, KnowDefaultsAndWhatWasSet) {
  Settings s = settings();
  EXPECT_EQ(s.value<Index>("count", kOwner), 2);
  EXPECT_FALSE(s.isSet("count"));
  s.set("count", Index(2), kOwner); // the default, but set
  EXPECT_TRUE(s.isSet("count"));
  EXPECT_EQ(s.find("sizes"), std::nullopt);
  expectError(TENON_ERR_STATE, {"sizes", "no default"}, [&] { s.get("sizes", kOwner); });
  s.setText("sizes", "3,4", kOwner);
  EXPECT_EQ(s.value<std::vector<Index>>("sizes", kOwner), (std::vector<Index>{3, 4}));
  EXPECT_EQ(s.describe(), "count 2, sizes 3,4, portion 0.5, how soft, label , open false");
}

TEST(Settings, WidenNumbersAndRefuseOtherKinds) {
  Settings s = settings();
  s.set("portion", Index(1), kOwner);
  s.set("sizes", Index(7), kOwner);
  s.set("count", std::vector<Index>{5}, kOwner);
  EXPECT_EQ(s.value<double>("portion", kOwner), 1);
  EXPECT_EQ(s.value<std::vector<Index>>("sizes", kOwner), std::vector<Index>{7});
  EXPECT_EQ(s.value<Index>("count", kOwner), 5);
  expectError(TENON_ERR_TYPE, {"count", "an integer"}, [&] { s.set("count", 1.5, kOwner); });
  expectError(TENON_ERR_TYPE, {"open", "true or false"}, [&] { s.set("open", Index(1), kOwner); });
}

TEST(Settings, RefuseWhatIsOutOfBoundsOrUnknown) {
  Settings s = settings();
  expectError(TENON_ERR_ARG, {"count", "0", "at least 1"},
              [&] { s.set("count", Index(0), kOwner); });
  expectError(TENON_ERR_ARG, {"sizes[1]", "10"}, [&] { s.setText("sizes", "3,10", kOwner); });
  expectError(TENON_ERR_ARG, {"portion", "finite"},
              [&] { s.set("portion", std::nan(""), kOwner); });
  expectError(TENON_ERR_TYPE, {"'hard'", "soft"}, [&] { s.setText("how", "hrad", kOwner); });
  expectError(TENON_ERR_TYPE, {"box", "'label'"}, [&] { s.setText("lable", "x", kOwner); });
  expectError(TENON_ERR_ARG, {"count", "'many'"}, [&] { s.setText("count", "many", kOwner); });
  EXPECT_FALSE(s.isSet("count"));
}

TEST(Settings, TakeWhatAContainerHasOnlyWhereTheyAreOpen) {
  Settings container = settings(), inner = settings();
  container.set("count", Index(9), kOwner);
  container.setText("how", "hard", kOwner);
  inner.set("count", Index(2), kOwner);
  for (const char* name : {"count", "how", "portion", "nothing"})
    inner.inherit(name, container);
  EXPECT_EQ(inner.value<Index>("count", kOwner), 2);
  EXPECT_EQ(inner.value<std::string>("how", kOwner), "hard");
  EXPECT_FALSE(inner.isSet("portion"));
}

TEST(Settings, ReadOptionsOfTheirPrefix) {
  options().set("-tenon_mine_sizes", "1,2,3");
  options().set("-tenon_open", "yes");
  Settings s = settings();
  EXPECT_EQ(s.readOptions("mine_", kOwner), (Settings::Names{"sizes", "open"}));
  options().clear();
  EXPECT_EQ(s.value<std::vector<Index>>("sizes", kOwner), (std::vector<Index>{1, 2, 3}));
  EXPECT_TRUE(s.value<bool>("open", kOwner));
  EXPECT_FALSE(s.isSet("count"));
  EXPECT_THROW(options().set("-tenon_sizes", "1,12"), Error);
}

} // namespace
} // namespace tenon
