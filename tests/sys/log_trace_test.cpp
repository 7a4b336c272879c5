// SPDX-License-Identifier: BSD-2-Clause
// Tests the trace of one process, which a JSON parser reads back, and NewFile, by which it is
// written: a file that replaces another one as a whole or not at all.
#include "sys/files/part_file.hpp"
#include "sys/log/log.hpp"
#include "sys/log/log_trace.hpp"

#include "sys/expect_error.hpp"
#include "sys/hand_clock.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace {

using namespace tenon;
using nlohmann::json;
using test::seconds;

class TraceTest : public ::testing::Test {
protected:
  void SetUp() override {
    seconds = 100;
    setLogClock([] { return seconds; });
    logEnable(true);
    traceStart(3);
  }
  void TearDown() override {
    traceStop();
    logEnable(false);
    setLogClock(nullptr);
  }

  static json events() { return json::parse("[{}" + traceEvents(7, 0, traceSize()) + "]"); }
};

TEST_F(TraceTest, AnEventHasBeginDurationAndWork) {
  seconds += 0.5;
  logStagePush("training");
  {
    LogScope outer(logEvent("Outer"));
    seconds += 0.25;
    LogScope inner(logEvent("Inner"));
    seconds += 0.125;
    logMessage(64);
    logFlops(1e12);
  }
  logStagePop();
  const json all = events();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1], json::parse(R"({"name":"Inner","cat":"training","ph":"X","pid":7,"tid":0,
      "ts":750000.0,"dur":125000.0,"args":{"bytes":64,"messages":1,"flops":1000000000000}})"));
  EXPECT_EQ(all[2]["name"], "Outer");
  EXPECT_EQ(all[2]["ts"], 500000.0);
  EXPECT_EQ(all[2]["dur"], 375000.0);
  EXPECT_EQ(all[2]["args"]["bytes"], 64); // inclusive
}

TEST_F(TraceTest, NamesAreMadeSafe) {
  { LogScope scope(logEvent("a \"quoted\\\" näme")); }
  EXPECT_EQ(events()[1]["name"], "a \"quoted\\\" näme");
}

TEST_F(TraceTest, EachThreadHasItsNumber) {
  const auto run = [] { LogScope scope(logEvent("Threads")); };
  run();
  std::thread(run).join();
  const json all = events();
  EXPECT_NE(all[1]["tid"], all[2]["tid"]);
}

TEST_F(TraceTest, KeepsTheFirstEventsAndCountsTheRest) {
  for (int i = 0; i < 5; ++i) {
    LogScope scope(logEvent("Many"));
    seconds += 1;
  }
  EXPECT_EQ(traceSize(), 3);
  EXPECT_EQ(traceDropped(), 2);
  EXPECT_EQ(events()[3]["ts"], 2e6);
  const json head = json::parse("[" + traceHead(0) + "]");
  EXPECT_EQ(head[0]["args"]["name"], "rank 0");
  EXPECT_EQ(head[2]["args"]["labels"], "2 later events left out");
  traceStart(3);
  EXPECT_EQ(traceDropped(), 0);
  EXPECT_EQ(json::parse("[" + traceHead(0) + traceHead(1) + "]").size(), 4U);
  expectError(TENON_ERR_ARG, {"0 events", ">= 1"}, [] { traceStart(0); });
}

TEST_F(TraceTest, OnceStoppedNothingIsKept) {
  traceStop();
  { LogScope scope(logEvent("After")); }
  EXPECT_EQ(traceSize(), 0);
  EXPECT_EQ(traceDropped(), 0);
}

namespace fs = std::filesystem;

// Each test writes in a folder of its own and checks that no temporary file is left there.
class NewFileTest : public ::testing::Test {
protected:
  void SetUp() override { fs::create_directory(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  static std::string contentOf(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  void expectAlone(const std::string& path) const {
    for (const auto& entry : fs::directory_iterator(folder_))
      EXPECT_EQ(entry.path(), path);
  }
  // Expects an error, after which the object at the path is unchanged.
  void expectRefused(const char* what) {
    expectError(TENON_ERR_FILE, {path_.c_str(), what}, [&] { NewFile file(path_); });
    expectAlone(path_);
  }
  const std::string folder_ = testing::TempDir() + "tenon_new_file." + std::to_string(getpid());
  const std::string path_ = folder_ + "/file.txt";
};

TEST_F(NewFileTest, TakesItsPlaceOnlyWhenItIsWhole) {
  std::ofstream(path_) << "old";
  {
    NewFile file(path_);
    file.write("half");
  }
  EXPECT_EQ(contentOf(path_), "old");
  expectAlone(path_);
  NewFile file(path_);
  file.write("new");
  file.commit();
  EXPECT_EQ(contentOf(path_), "new");
  expectAlone(path_);
}

TEST_F(NewFileTest, BadPathsAreNamed) {
  expectError(TENON_ERR_FILE, {"/nowhere/trace.json", "No such file"},
              [] { NewFile("/nowhere/trace.json"); });
  expectError(TENON_ERR_FILE, {"a folder"}, [] { NewFile{testing::TempDir()}; });
  expectError(TENON_ERR_FILE, {"''"}, [] { NewFile(""); });
}

TEST_F(NewFileTest, TouchesNoFileOfAnothersName) {
  const std::string other = path_ + ".part";
  std::ofstream(other) << "mine";
  {
    NewFile file(path_);
    file.write("text");
    file.commit();
  }
  EXPECT_EQ(contentOf(other), "mine");
}

TEST_F(NewFileTest, FollowsNoLink) {
  const std::string target = folder_ + ".target";
  std::ofstream(target) << "mine";
  for (const std::string& link : {path_, path_ + ".part"})
    fs::create_symlink(target, link);
  expectError(TENON_ERR_FILE, {path_.c_str(), "a symbolic link"}, [&] { NewFile file(path_); });
  fs::remove(path_);
  {
    NewFile file(path_);
    file.write("text");
    file.commit();
  }
  EXPECT_EQ(contentOf(path_), "text");
  EXPECT_EQ(contentOf(target), "mine");
  fs::remove(target);
}

TEST_F(NewFileTest, ReplacesRegularFilesOnly) {
  expectError(TENON_ERR_FILE, {"'/dev/null'", "a device"}, [] { NewFile("/dev/null"); });
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  expectRefused("a pipe");
  EXPECT_TRUE(fs::is_fifo(path_));
  fs::remove(path_);
  fs::create_directory(path_);
  expectRefused("a folder");
}

// A link is created at the path while the file is written under its temporary name.
TEST_F(NewFileTest, LooksAgainBeforeItTakesThePlace) {
  {
    NewFile file(path_);
    file.write("text");
    fs::create_symlink("/dev/null", path_);
    expectError(TENON_ERR_FILE, {"a symbolic link"}, [&] { file.commit(); });
  }
  expectAlone(path_);
}

TEST_F(NewFileTest, HasThePermissionsThatUmaskGives) {
  const mode_t before = umask(0027);
  {
    NewFile file(path_);
    file.commit();
  }
  umask(before);
  EXPECT_EQ(static_cast<int>(fs::status(path_).permissions()), 0640);
}

} // namespace
