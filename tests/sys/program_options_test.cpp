// SPDX-License-Identifier: BSD-2-Clause
// Tests options of a program that owns its command line (ownCommandLine()): every key on it must be
// declared, and -help is answered by the library.
#include "sys/options/options.hpp"

#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace tenon;

constexpr OptionSpec kProgramSpecs[] = {
    {"epochs", OptionSpec::Int, "8", "passes over the data"},
    {"data", OptionSpec::String, "", "folder of IDX files"},
    {"verbose", OptionSpec::Flag, "false", "the program's own, of another type than Tenon's"},
};

class Program : public ::testing::Test {
protected:
  void SetUp() override {
    declareProgramOptions({"lenet5", kProgramSpecs});
    ownCommandLine();
  }
  std::vector<std::string> load(std::vector<const char*> words) {
    words.insert(words.begin(), "program");
    return database_.load(static_cast<int>(words.size()), words.data());
  }

  OptionDatabase database_;
};

TEST_F(Program, ReadsItsOwnBesideTenons) {
  const auto rest = load({"info", "-epochs", "3", "-tenon_verbose", "2", "-verbose"});
  EXPECT_EQ(rest, std::vector<std::string>{"info"});
  EXPECT_EQ(database_.getInt(kProgram, "epochs"), 3);
  EXPECT_EQ(database_.getString(kProgram, "data"), "");
  EXPECT_TRUE(database_.getFlag(kProgram, "verbose"));
  EXPECT_EQ(database_.getInt("", "verbose"), 2);
  EXPECT_TRUE(database_.unused().empty());
}

TEST_F(Program, EveryUndeclaredOptionIsAnError) {
  expectError(TENON_ERR_OPTION, {"'-epoch'", "(command line)", "'-epochs'"}, [&] {
    load({"-epoch", "3"});
  });
  expectError(TENON_ERR_OPTION, {"'--epochs'", "'-epochs'"}, [&] { load({"--epochs", "3"}); });
  expectError(TENON_ERR_OPTION, {"'-log_view'"}, [&] { load({"-log_view"}); });
  // No prefixes for a program's own.
  expectError(TENON_ERR_OPTION, {"'-my_epochs'"}, [&] { load({"-my_epochs", "3"}); });
  expectError(TENON_ERR_OPTION, {"'-tenon_epochs'"}, [&] { load({"-tenon_epochs", "3"}); });
}

TEST_F(Program, HelpListsItsOwnFirst) {
  const std::string help = database_.help("");
  EXPECT_EQ(help.find("lenet5\n  -epochs <integer>\n"), 0U) << help;
  EXPECT_NE(help.find("tenon\n"), std::string::npos);
}

TEST_F(Program, AsksForItsHelpInThreeWays) {
  for (const char* word : {"-help", "-h", "--help"}) {
    database_.clear();
    EXPECT_FALSE(database_.getFlag(kProgram, "help"));
    load({word});
    EXPECT_TRUE(database_.getFlag(kProgram, "help")) << word;
  }
}

TEST_F(Program, ItsHelpListsItsOwnAlone) {
  const std::string help = database_.programHelp();
  for (const char* part : {"  -epochs <integer>\n      passes over the data (default: 8)\n",
                           "-data <text>", "-help [true|false]", "-tenon_help"})
    EXPECT_NE(help.find(part), std::string::npos) << part << " in\n" << help;
  EXPECT_EQ(help.find("-tenon_[prefix_]"), std::string::npos) << help;
}

} // namespace
