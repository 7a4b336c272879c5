// SPDX-License-Identifier: BSD-2-Clause
// Tests the options database: defaults, the most specific key, values of each type, bounds,
// declarations, unused options and the help. The test declares its own options in the tables kConv
// and kPool, so the expected values and messages are known. Sources other than set() are tested in
// option_sources_test.cpp.
#include "sys/options/options.hpp"

#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <utility>

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
  // In a key the name must follow -tenon_ or an underscore.
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
  expectError(TENON_ERR_OPTION, {"'-tenon_backend'", "defaults in conv and pool differ"},
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

TEST(Options, BoundsHoldWhereverAValueComesFrom) {
  OptionDatabase database;
  static constexpr OptionSpec kBounded[] = {
      {"workers", OptionSpec::Int, "2", "how many", nullptr, {0, 64}},
      {"rate", OptionSpec::Real, "0.1", "how fast", nullptr, above(0)},
      {"share",
       OptionSpec::Real,
       "0",
       "how much",
       nullptr,
       {.least = 0, .most = 1, .isOpenAbove = true}},
  };
  registerOptions({"bounded", kBounded});
  database.set("-tenon_workers", "64");
  EXPECT_EQ(database.getInt("", "workers"), 64);
  for (const char* wrong : {"-1", "65", "9223372036854775807"})
    expectError(TENON_ERR_OPTION, {"'-tenon_workers'", wrong, "an integer in [0,64]"},
                [&] { database.set("-tenon_workers", wrong); });
  EXPECT_EQ(database.getInt("", "workers"), 64);
  for (const char* wrong : {"0", "-1e-300", "inf", "nan"})
    expectError(TENON_ERR_OPTION, {"'-tenon_rate'", wrong, "a real number above 0"},
                [&] { database.set("-tenon_rate", wrong); });
  expectError(TENON_ERR_OPTION, {"a real number in [0,1)"},
              [&] { database.set("-tenon_share", "1"); });
  expectError(TENON_ERR_OPTION, {"(file run.opt:2)", "in [0,64]"},
              [&] { database.insertFileText("-tenon_rate 2\n-tenon_workers -5\n", "run.opt"); });
  EXPECT_EQ(database.findReal("", "rate"), std::nullopt);
  database.set("-tenon_decay", "-inf"); // without bounds
  static constexpr OptionSpec kBad[] = {
      {"crowd", OptionSpec::Int, "9", "bad default", nullptr, {0, 8}}};
  expectError(TENON_ERR_OPTION, {"'crowd'", "default '9'", "in [0,8]"}, [] {
    registerOptions({"bounded", kBad});
  });
  EXPECT_NE(database.help("workers").find("<integer in [0,64]>"), std::string::npos);
}

TEST(Options, TheLibrarysOwnHaveBounds) {
  OptionDatabase database;
  for (const auto& [key, value] :
       std::initializer_list<std::pair<const char*, const char*>>{{"-tenon_agree_timeout", "0"},
                                                                  {"-tenon_agree_timeout", "-3"},
                                                                  {"-tenon_agree_timeout", "inf"},
                                                                  {"-tenon_agree_timeout", "1e300"},
                                                                  {"-tenon_threads", "-1"},
                                                                  {"-tenon_verbose", "-1"},
                                                                  {"-tenon_log_trace_events", "0"}})
    expectError(TENON_ERR_OPTION, {key, value}, [&] { database.set(key, value); });
}

TEST(Options, AnOptionWithoutADefaultHasOnlyGivenValues) {
  OptionDatabase database;
  static constexpr OptionSpec kOpen[] = {
      {"open_count", OptionSpec::Int, nullptr, "no default"},
      {"open_text", OptionSpec::String, nullptr, "no default"},
  };
  registerOptions({"open", kOpen});
  expectError(TENON_ERR_OPTION, {"'-tenon_open_count'", "neither a value nor a default"},
              [&] { database.getInt("", "open_count"); });
  expectError(TENON_ERR_OPTION, {"'-tenon_a_open_text'", "neither a value nor a default"},
              [&] { database.getString("a", "open_text"); });
  EXPECT_EQ(database.findInt("", "open_count"), std::nullopt);
  database.set("-tenon_open_count", "7");
  EXPECT_EQ(database.getInt("", "open_count"), 7);
}

TEST(Options, DeclarationsThatCannotWorkAreErrors) {
  const auto refused = [](const char* owner, OptionSpec spec, const char* why) {
    expectError(TENON_ERR_OPTION, {why}, [&] {
      declareProgramOptions({owner, std::span(&spec, 1)});
    });
  };
  for (const char* name : {"", "-x", "two words", "a=b", "7", "1e3", "inf", "tab\t", "#"})
    refused("odd", {name, OptionSpec::Int, "0", "bad name"}, "expected a name of letters");
  refused("odd", {"tenon_mine", OptionSpec::Int, "0", "the library's"}, "begin with tenon_");
  refused("", {"mine", OptionSpec::Int, "0", "no owner"}, "without an owner");
  for (const auto type : {OptionSpec::Flag, OptionSpec::Int, OptionSpec::Real})
    refused("odd", {"mine", type, "", "empty is no number"}, "default ''");
  refused("odd", {"mine", OptionSpec::Choice, nullptr, "no choices"}, "expected a|b|c");
  refused("odd", {"mine", OptionSpec::Choice, "a", "an empty choice", "a||b"}, "expected a|b|c");
  refused("odd", {"mine", OptionSpec::Int, "1", "an integer", "a|b"}, "none for other types");
  const OptionSpec one{"odd_size", OptionSpec::Int, "1", "a size"};
  declareProgramOptions({"odd", std::span(&one, 1)});
  declareProgramOptions({"odd", std::span(&one, 1)});
  refused("odd", {"odd_size", OptionSpec::Int, "2", "a size"}, "declare it once");
  refused("other", {"odd_size", OptionSpec::Int, "2", "a size"}, "declare it once");
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

TEST(Options, OneThatIsSetAfterItWasReadIsSaidToBeSo) {
  OptionDatabase database;
  EXPECT_FALSE(database.findFlag("conv1_", "bias").has_value());
  database.set("-tenon_conv1_bias", "true");
  ASSERT_EQ(database.unused().size(), 1U);
  EXPECT_EQ(database.adviceOn("-tenon_conv1_bias"), "it was set after it had been read");
}

TEST(Options, ANameInPlaceOfAPrefixIsToldApart) {
  OptionDatabase database;
  database.findFlag("", "bias");
  EXPECT_EQ(database.adviceOn("-tenon_surface1_bias"), "did you mean -tenon_bias?");
  database.noteOtherPrefix("surface1", "layer \"surface1\"", "");
  database.noteOtherPrefix("surface2", "layer \"surface2\"", "s2_");
  EXPECT_EQ(database.adviceOn("-tenon_surface1_bias"),
            "layer \"surface1\" has no options prefix, and its name is not one; set it by "
            "TenonObjectSetOptionsPrefix(object, \"surface1_\")");
  EXPECT_EQ(database.adviceOn("-tenon_surface2_bias"),
            "the options of layer \"surface2\" begin with -tenon_s2_");
  EXPECT_EQ(database.adviceOn("-tenon_surface12_bias"), "did you mean -tenon_bias?");
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
