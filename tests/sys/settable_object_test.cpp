// SPDX-License-Identifier: BSD-2-Clause
// Tests objects with settings, by the class Range (integers low to high, never empty): a change is
// accepted as a whole or not at all, and the failure of a setter is stored until the next check.
#include "sys/options/settable_object.hpp"

#include "sys/expect_error.hpp"
#include "sys/options/options.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

constexpr OptionSpec kRangeTable[] = {
    {"low", OptionSpec::Int, "1", "lower end"},
    {"high", OptionSpec::Int, "5", "upper end"},
};
const OptionRegistration kRangeRegistration{{"settable_object_test", kRangeTable}};

// A range of integers, which may not be empty.
class Range final : public SettableObject {
public:
  Range() : SettableObject("Range"), settings_({kRangeTable}) {}
  const Settings& settings() const noexcept override { return settings_; }
  Index length() const noexcept { return length_; }
  const Settings::Names& changed() const noexcept { return changed_; }
  void close() { isClosed_ = true; }

private:
  void checkChange(const std::string& call) const override {
    if (isClosed_)
      throw Error(TENON_ERR_STATE, call + " comes too late");
  }
  void applySettings(Settings after, const Settings::Names& names) override {
    const Index length = after.value<Index>("high", owner()) - after.value<Index>("low", owner());
    if (length < 1)
      throw Error(TENON_ERR_ARG, "the range is empty");
    length_ = length;
    changed_ = names;
    settings_ = std::move(after);
  }

  Settings settings_;
  Settings::Names changed_;
  Index length_ = 4;
  bool isClosed_ = false;
};

TEST(SettableObject, TakesOverValidSettings) {
  Range range;
  EXPECT_EQ(range.value<Index>("high"), 5);
  range.set("high", Index(7));
  EXPECT_EQ(range.length(), 6);
  EXPECT_EQ(range.changed(), Settings::Names{"high"});
  EXPECT_TRUE(range.isSet("high"));
  range.setText("low", "2");
  EXPECT_EQ(range.length(), 5);
  EXPECT_EQ(range.describe(), "Range: low 2, high 7");
}

TEST(SettableObject, IsUnchangedIfAValueIsInvalid) {
  Range range;
  expectError(TENON_ERR_ARG, {"empty"}, [&] { range.set("high", Index(1)); });
  expectError(TENON_ERR_TYPE, {"the range takes an integer"}, [&] { range.set("low", true); });
  expectError(TENON_ERR_TYPE, {"the range has no setting 'hihg'", "'high'"},
              [&] { range.set("hihg", Index(9)); });
  EXPECT_EQ(range.length(), 4);
  EXPECT_FALSE(range.isSet("high"));
}

TEST(SettableObject, ReadsItsOptionsTogether) {
  Range range;
  range.setPrefix("mine_");
  options().set("-tenon_mine_low", "8"); // above the present upper end
  options().set("-tenon_high", "9");
  range.setFromOptions();
  EXPECT_EQ(range.length(), 1);
  EXPECT_EQ(range.changed(), (Settings::Names{"low", "high"}));
  options().set("-tenon_mine_high", "3");
  expectError(TENON_ERR_OPTION, {"do not fit", "empty"}, [&] { range.setFromOptions(); });
  options().clear();
  EXPECT_EQ(range.length(), 1);
  range.close();
  expectError(TENON_ERR_STATE, {"TenonObjectSetFromOptions()", "too late"},
              [&] { range.setFromOptions(); });
  expectError(TENON_ERR_STATE, {"\"low\"", "too late"}, [&] { range.set("low", Index(1)); });
}

TEST(SettableObject, RemembersAFailedSetter) {
  Range range;
  const auto fails = [&] {
    EXPECT_THROW(range.specify("Set(high)", [&] { range.set("high", Index(0)); }), Error);
  };
  fails();
  expectError(TENON_ERR_ARG, {"an earlier Set(high) failed", "empty"}, [&] { range.checkSets(); });
  range.checkSets(); // it was told
  fails();
  range.specify("Set(high)", [&] { range.set("high", Index(6)); });
  range.checkSets();
}

} // namespace
} // namespace tenon
