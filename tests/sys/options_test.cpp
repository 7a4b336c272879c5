// SPDX-License-Identifier: BSD-2-Clause
// Tables, keys and prefixes, values, defaults, use, and the help.
#include "sys/options.hpp"

#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace tenon;

constexpr OptionSpec kConv[] = {
    {"backend", OptionSpec::Choice, "auto", "which kernels compute", "auto|dnnl|reference"},
    {"bias", OptionSpec::Flag, "true", "add a bias"},
    {"stride", OptionSpec::Int, "1", "step of the kernel"},
    {"decay", OptionSpec::Real, "0.5", "weight decay"},
    {"label", OptionSpec::String, "", "name in the log"},
};
constexpr OptionSpec kPool[] = {
    {"pool_stride", OptionSpec::Real, "2", "step of the window"},
    {"backend", OptionSpec::Choice, "fast", "which kernels compute", "fast|slow"},
};
const OptionRegistration kConvOptions{{"conv", kConv}};
const OptionRegistration kPoolOptions{{"pool", kPool}};

TEST(Options, WithoutAValueTheDefaultHolds) {
  OptionDatabase database;
  EXPECT_TRUE(database.getFlag("", "bias"));
  EXPECT_EQ(database.getInt("conv1_", "stride"), 1);
  EXPECT_EQ(database.getReal("", "decay"), 0.5);
  EXPECT_EQ(database.getString("", "label"), "");
  EXPECT_EQ(database.findInt("", "stride"), std::nullopt);
  EXPECT_FALSE(database.getFlag("", "log_view"));
  EXPECT_EQ(database.getReal("", "agree_timeout"), 300.0);
  EXPECT_EQ(database.getInt("", "verbose"), 0);
}

TEST(Options, TheMostSpecificKeyWins) {
  OptionDatabase database;
  database.set("-tenon_stride", "2");
  database.set("-tenon_conv1_stride", "3");
  EXPECT_EQ(database.getInt("", "stride"), 2);
  EXPECT_EQ(database.getInt("conv1_", "stride"), 3);
  EXPECT_EQ(database.getInt("conv1", "stride"), 3);
  EXPECT_EQ(database.getInt("conv2_", "stride"), 2);
  EXPECT_EQ(database.lookup("conv1_", "stride")->key, "-tenon_conv1_stride");
}

TEST(Options, ValuesOfEachType) {
  OptionDatabase database;
  database.set("-tenon_bias", "off");
  database.set("-tenon_log_view", std::nullopt);
  database.set("-tenon_decay", "-1e-3");
  database.set("-tenon_label", "first layer");
  database.set("-tenon_backend", "dnnl");
  EXPECT_FALSE(database.getFlag("", "bias"));
  EXPECT_TRUE(database.getFlag("", "log_view"));
  EXPECT_EQ(database.getReal("", "decay"), -1e-3);
  EXPECT_EQ(database.getString("", "label"), "first layer");
  EXPECT_EQ(database.getChoice("", "backend"), "dnnl");
}

TEST(Options, AnUnknownNameIsAnErrorThatNamesTheNearest) {
  OptionDatabase database;
  expectError(TENON_ERR_OPTION,
              {"unknown option '-tenon_conv1_bakend'", "(call)", "'-tenon_conv1_backend'"},
              [&] { database.set("-tenon_conv1_bakend", "dnnl"); });
  expectError(TENON_ERR_OPTION, {"'-tenon_log_view'"},
              [&] { database.set("-tenon_logview", std::nullopt); });
  // The name must stand after an underscore, and under -tenon_.
  expectError(TENON_ERR_OPTION, {"unknown"}, [&] { database.set("-tenon_mystride", "1"); });
  expectError(TENON_ERR_OPTION, {"unknown"}, [&] { database.set("-stride", "1"); });
  expectError(TENON_ERR_OPTION, {"'stride'", "not an option"},
              [&] { database.set("stride", "1"); });
  EXPECT_TRUE(database.values().empty());
}

TEST(Options, AValueOfTheWrongTypeIsAnErrorAndChangesNothing) {
  OptionDatabase database;
  database.set("-tenon_stride", "2");
  expectError(TENON_ERR_OPTION, {"'-tenon_stride'", "'two'", "(call)", "an integer"},
              [&] { database.set("-tenon_stride", "two"); });
  EXPECT_EQ(database.getInt("", "stride"), 2);
  expectError(TENON_ERR_OPTION, {"'-tenon_c_decay'", "'soon'", "a real number"},
              [&] { database.set("-tenon_c_decay", "soon"); });
  expectError(TENON_ERR_OPTION, {"'maybe'", "true or false"},
              [&] { database.set("-tenon_bias", "maybe"); });
  expectError(TENON_ERR_OPTION, {"'mkl'", "one of auto|dnnl|reference"},
              [&] { database.set("-tenon_backend", "mkl"); });
  expectError(TENON_ERR_OPTION, {"'-tenon_stride'", "has no value", "an integer"},
              [&] { database.set("-tenon_stride", std::nullopt); });
}

TEST(Options, AKeyThatEndsInTwoNamesTakesTheValuesOfEither) {
  OptionDatabase database;
  database.set("-tenon_pool_stride", "2.5");
  EXPECT_EQ(database.getReal("", "pool_stride"), 2.5);
  expectError(TENON_ERR_OPTION, {"'-tenon_pool_stride'", "'2.5'", "an integer"},
              [&] { database.getInt("pool_", "stride"); });
}

TEST(Options, OwnersShareANameOnlyWithTheSameType) {
  OptionDatabase database;
  database.set("-tenon_backend", "slow");
  EXPECT_EQ(database.findChoice("", "backend"), "slow");
  database.clear();
  expectError(TENON_ERR_INTERNAL, {"'backend'", "different defaults", "conv", "pool"},
              [&] { database.getChoice("", "backend"); });
  static constexpr OptionSpec kOther[] = {{"stride", OptionSpec::Flag, "false", "other"}};
  expectError(TENON_ERR_OPTION, {"other declares option 'stride'", "conv declares it"}, [] {
    registerOptions({"other", kOther});
  });
  static constexpr OptionSpec kBad[] = {{"fresh", OptionSpec::Int, "some", "bad default"}};
  expectError(TENON_ERR_OPTION, {"'fresh'", "default 'some'", "an integer"}, [] {
    registerOptions({"other", kBad});
  });
  static constexpr OptionSpec kDashed[] = {{"-dashed", OptionSpec::Int, "0", "bad name"}};
  expectError(TENON_ERR_OPTION, {"'-dashed'", "without a dash"}, [] {
    registerOptions({"other", kDashed});
  });
}

TEST(Options, ATableCountsOnce) {
  const auto before = optionDeclarations().size();
  registerOptions({"conv", kConv});
  EXPECT_EQ(optionDeclarations().size(), before);
}

TEST(Options, ReadingWhatIsNotDeclaredIsAnError) {
  OptionDatabase database;
  expectError(TENON_ERR_OPTION, {"'strides'", "not declared"},
              [&] { database.getInt("", "strides"); });
  expectError(TENON_ERR_OPTION, {"'stride'", "an integer"},
              [&] { database.getFlag("", "stride"); });
}

TEST(Options, UnusedOnesAreListed) {
  OptionDatabase database;
  database.set("-tenon_stride", "2");
  database.set("-tenon_conv7_bias", "no");
  database.getInt("conv1_", "stride");
  const auto left = database.unused();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].key, "-tenon_conv7_bias");
  EXPECT_EQ(left[0].text, "no");
  EXPECT_EQ(left[0].place, "call");
}

TEST(Options, AnUnusedOneIsComparedWithWhatWasAskedFor) {
  OptionDatabase database;
  database.set("-tenon_covn1_bias", "no");
  EXPECT_EQ(database.nearestAsked("-tenon_covn1_bias"), "");
  database.findFlag("conv1_", "bias");
  database.findFlag("pool_", "bias");
  database.findInt("covn1_", "stride"); // another option
  EXPECT_EQ(database.nearestAsked("-tenon_covn1_bias"), "-tenon_conv1_bias");
  EXPECT_EQ(database.unused().size(), 1U);
  database.clear();
  EXPECT_EQ(database.nearestAsked("-tenon_covn1_bias"), "");
}

TEST(Options, HelpShowsUsageDefaultValueAndSource) {
  OptionDatabase database;
  database.set("-tenon_conv1_stride", "3");
  const std::string all = database.help("");
  for (const char* part :
       {"conv\n", "-tenon_[prefix_]backend <auto|dnnl|reference>", "which kernels compute",
        "(default: auto)", "-tenon_[prefix_]stride <integer>", "now: -tenon_conv1_stride 3 (call)",
        "-tenon_[prefix_]log_view [true|false]", "-tenon_[prefix_]help [word]"})
    EXPECT_NE(all.find(part), std::string::npos) << part << " in\n" << all;
  const std::string some = database.help("STRIDE");
  EXPECT_NE(some.find("pool_stride"), std::string::npos);
  EXPECT_EQ(some.find("log_view"), std::string::npos);
  EXPECT_EQ(database.help("nonsense"), "No option contains 'nonsense'.\n");
  EXPECT_EQ(database.unused().size(), 1U); // looking is not using
}

} // namespace
