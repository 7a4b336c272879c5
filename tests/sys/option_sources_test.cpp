// SPDX-License-Identifier: BSD-2-Clause
// Tests the sources of options: command line, environment variable TENON_OPTIONS, options files and
// calls; which of them has priority; and words of a host program, which are left to it.
#include "sys/options/environment.hpp"
#include "sys/options/options.hpp"

#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace tenon;

constexpr OptionSpec kSpecs[] = {
    {"size", OptionSpec::Int, "0", "a size"},
    {"switch", OptionSpec::Flag, "false", "a switch"},
    {"title", OptionSpec::String, "none", "a title"},
};
const OptionRegistration kOptions{{"sources", kSpecs}};

class OptionSources : public ::testing::Test {
protected:
  void SetUp() override { unsetenv("TENON_OPTIONS"); }
  void TearDown() override {
    unsetenv("TENON_OPTIONS");
    for (const auto& path : files_)
      std::remove(path.c_str());
  }
  std::string writeFile(const std::string& text) {
    files_.push_back(testing::TempDir() + "tenon_" + std::to_string(files_.size()) + ".opt");
    std::ofstream(files_.back(), std::ios::binary) << text;
    return files_.back();
  }
  std::vector<std::string> load(std::vector<const char*> words) {
    words.insert(words.begin(), "program");
    return database_.load(static_cast<int>(words.size()), words.data());
  }

  OptionDatabase database_;
  std::vector<std::string> files_;
};

TEST_F(OptionSources, TheEnvironmentIsReadHere) {
  EXPECT_EQ(environment("TENON_OPTIONS"), std::nullopt);
  setenv("TENON_OPTIONS", "", 1);
  EXPECT_EQ(environment("TENON_OPTIONS"), "");
}

TEST_F(OptionSources, AHostsOwnOptionsAreLeftAlone) {
  const auto rest = load({"-ksp_type", "cg", "-tenon_size", "-3", "-size", "4", "mesh.msh",
                          "-tenon_switch", "input.dat", "-log_view"});
  EXPECT_EQ(rest, (std::vector<std::string>{"-ksp_type", "cg", "-size", "4", "mesh.msh",
                                            "input.dat", "-log_view"}));
  EXPECT_EQ(database_.getInt("", "size"), -3);
  EXPECT_TRUE(database_.getFlag("", "switch"));
  EXPECT_EQ(database_.lookup("", "size")->place, "command line");
}

// A program that declares options can use other libraries, whose options it does not declare.
TEST_F(OptionSources, AHostsDeclaredOptionsAreReadAmongOthers) {
  static constexpr OptionSpec kHost[] = {{"host_cells", OptionSpec::Int, "1", "the host's own"}};
  declareProgramOptions({"host", kHost});
  const auto rest =
      load({"-ksp_converged_reason", "-host_cells", "7", "-host_cell", "8", "-help", "-h"});
  EXPECT_EQ(rest,
            (std::vector<std::string>{"-ksp_converged_reason", "-host_cell", "8", "-help", "-h"}));
  EXPECT_EQ(database_.getInt(kProgram, "host_cells"), 7);
  expectError(TENON_ERR_OPTION, {"'-tenon_siez'"}, [&] { load({"-tenon_siez", "3"}); });
  expectError(TENON_ERR_OPTION, {"'-host_cell'", "'-host_cells'"},
              [&] { database_.set("-host_cell", "8"); });
  expectError(TENON_ERR_OPTION, {"'-host_cells'", "'many'"}, [&] {
    load({"-host_cells", "many"});
  });
}

TEST_F(OptionSources, AFlagTakesATruthValueOnly) {
  load({"-tenon_switch", "off"});
  EXPECT_FALSE(database_.getFlag("", "switch"));
  load({"-tenon_a_switch", "-tenon_size", "1"});
  EXPECT_TRUE(database_.getFlag("a_", "switch"));
}

TEST_F(OptionSources, AWordMayBeLeftOut) {
  load({"-tenon_help"});
  EXPECT_EQ(database_.findString("", "help"), "");
  load({"-tenon_help", "conv"});
  EXPECT_EQ(database_.findString("", "help"), "conv");
}

TEST_F(OptionSources, BadCommandLinesNameTheSource) {
  expectError(TENON_ERR_OPTION, {"'-tenon_sise'", "(command line)", "'-tenon_size'"}, [&] {
    load({"-tenon_sise", "3"});
  });
  expectError(TENON_ERR_OPTION, {"'-tenon_size'", "(command line)", "has no value"},
              [&] { load({"-tenon_size"}); });
  expectError(TENON_ERR_OPTION, {"'-tenon_size'", "has no value"}, [&] {
    load({"-tenon_size", "-tenon_switch"});
  });
}

TEST_F(OptionSources, EachSourceOutranksThoseBefore) {
  const auto file = writeFile("-tenon_size 1\n");
  const std::string named = "-tenon_options_file " + file;
  EXPECT_EQ(database_.getInt("", "size"), 0);

  setenv("TENON_OPTIONS", named.c_str(), 1);
  load({});
  EXPECT_EQ(database_.getInt("", "size"), 1);
  EXPECT_EQ(database_.lookup("", "size")->place, "file " + file + ":1");

  setenv("TENON_OPTIONS", (named + " -tenon_size 2").c_str(), 1);
  load({});
  EXPECT_EQ(database_.getInt("", "size"), 2);
  EXPECT_EQ(database_.lookup("", "size")->place, "environment TENON_OPTIONS");

  load({"-tenon_size", "3"});
  EXPECT_EQ(database_.getInt("", "size"), 3);

  database_.set("-tenon_size", "4");
  EXPECT_EQ(database_.getInt("", "size"), 4);
  load({"-tenon_size", "3"});
  database_.insertFile(file);
  EXPECT_EQ(database_.getInt("", "size"), 4);
}

TEST_F(OptionSources, WithinASourceTheLastWins) {
  load({"-tenon_size", "3", "-tenon_size", "5"});
  EXPECT_EQ(database_.getInt("", "size"), 5);
}

TEST_F(OptionSources, TheCommandLinesFileOutranksTheEnvironments) {
  const auto first = writeFile("-tenon_size 1");
  const auto second = writeFile("-tenon_size 2");
  setenv("TENON_OPTIONS", ("-tenon_options_file " + first).c_str(), 1);
  load({"-tenon_options_file", second.c_str()});
  EXPECT_EQ(database_.getInt("", "size"), 2);
  EXPECT_EQ(database_.unused().size(), 0U);
}

TEST_F(OptionSources, FilesHaveCommentsQuotesAndBlankLines) {
  database_.insertFileText("# a comment\n\n  -tenon_size 8 # more\r\n-tenon_switch\n"
                           "-tenon_title \"two words\"",
                           "run.opt");
  EXPECT_EQ(database_.getInt("", "size"), 8);
  EXPECT_TRUE(database_.getFlag("", "switch"));
  EXPECT_EQ(database_.getString("", "title"), "two words");
}

TEST_F(OptionSources, ABadFileNamesTheLineAndChangesNothing) {
  expectError(TENON_ERR_OPTION, {"'-tenon_sise'", "file run.opt:2"},
              [&] { database_.insertFileText("-tenon_size 1\n-tenon_sise 2\n", "run.opt"); });
  EXPECT_TRUE(database_.values().empty());
  expectError(TENON_ERR_OPTION, {"'maybe'", "file run.opt:1"},
              [&] { database_.insertFileText("-tenon_switch maybe", "run.opt"); });
  expectError(TENON_ERR_OPTION, {"-tenon_size 1 2", "file run.opt:1", "not one option"},
              [&] { database_.insertFileText("-tenon_size 1 2", "run.opt"); });
  expectError(TENON_ERR_OPTION, {"'size 1'", "not one option"},
              [&] { database_.insertFileText("size 1", "run.opt"); });
  expectError(TENON_ERR_OPTION, {"unknown option '-size'"},
              [&] { database_.insertFileText("-size 1", "run.opt"); });
  expectError(TENON_ERR_OPTION, {"inside an options file"},
              [&] { database_.insertFileText("-tenon_options_file x", "run.opt"); });
}

TEST_F(OptionSources, DevicesAndPipesAreErrors) {
  expectError(TENON_ERR_FILE, {"options file", "'/dev/zero'", "not a regular file"}, [&] {
    load({"-tenon_options_file", "/dev/zero"});
  });
  const std::string pipe = testing::TempDir() + "tenon_options.pipe";
  std::filesystem::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expectError(TENON_ERR_FILE, {pipe.c_str(), "not a regular file"}, [&] {
    load({"-tenon_options_file", pipe.c_str()});
  });
  std::filesystem::remove(pipe);
}

TEST_F(OptionSources, AMissingFileIsNamed) {
  expectError(TENON_ERR_FILE, {"/nowhere/run.opt", "No such file"}, [&] {
    load({"-tenon_options_file", "/nowhere/run.opt"});
  });
  EXPECT_TRUE(database_.values().empty());
}

TEST_F(OptionSources, StrayWordsInTheEnvironmentAreErrors) {
  setenv("TENON_OPTIONS", "-tenon_switch maybe", 1);
  expectError(TENON_ERR_OPTION, {"'maybe'", "TENON_OPTIONS"}, [&] { load({}); });
}

} // namespace
