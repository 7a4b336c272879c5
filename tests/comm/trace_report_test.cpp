// SPDX-License-Identifier: BSD-2-Clause
// Tests -tenon_log_trace: one file with the events of all ranks, which a JSON parser reads back, or
// the same error on all ranks.
#include "comm/exchange.hpp"
#include "comm/session/session.hpp"
#include "support/world.hpp"
#include "sys/expect_error.hpp"
#include "sys/log/log.hpp"
#include "sys/options/options.hpp"
#include "sys/text/output.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace tenon {
namespace {

using nlohmann::json;

class TraceReport : public testing::Test {
protected:
  void SetUp() override {
    finalize();
    setErrorSink([this](std::string_view text) { errors_ += text; });
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    path_ = testing::TempDir() + "tenon_trace_" + std::to_string(size_) + ".json";
  }
  void TearDown() override {
    setErrorSink({});
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0)
      std::filesystem::remove(path_);
    initialize(nullptr, nullptr, MPI_COMM_WORLD, "");
  }
  static void start(std::vector<const char*> words) {
    words.insert(words.begin(), "program");
    int argc = static_cast<int>(words.size());
    char** argv = const_cast<char**>(words.data());
    initialize(&argc, &argv, MPI_COMM_WORLD, "");
  }
  // Rank 0 has written the file when its finalize returns.
  json readTrace() const {
    MPI_Barrier(MPI_COMM_WORLD);
    return json::parse(std::ifstream(path_));
  }

  std::string path_, errors_;
  int rank_ = 0, size_ = 0;
};

TEST_F(TraceReport, HasTheEventsOfEveryRank) {
  start({"-tenon_log_trace", path_.c_str()});
  for (int i = 0; i <= rank_; ++i) {
    LogScope scope(logEvent("Traced"));
    logMessage(10 + rank_);
  }
  finalize();
  std::vector<int> found(size_), named(size_);
  const json trace = readTrace();
  for (const json& event : trace["traceEvents"]) {
    const int pid = event.at("pid");
    if (event.at("name") == "process_name")
      ++named.at(pid);
    if (event.at("name") != "Traced")
      continue;
    ++found.at(pid);
    EXPECT_EQ(event.at("ph"), "X");
    EXPECT_GE(event.at("ts").get<double>(), 0.0);
    EXPECT_GE(event.at("dur").get<double>(), 0.0);
    EXPECT_EQ(event.at("args").at("bytes"), 10 + pid);
  }
  for (int r = 0; r < size_; ++r) {
    EXPECT_EQ(found[r], r + 1);
    EXPECT_EQ(named[r], 1);
  }
  EXPECT_EQ(errors_, "");
}

TEST_F(TraceReport, SaysWhatItLeftOut) {
  start({"-tenon_log_trace", path_.c_str(), "-tenon_log_trace_events", "1"});
  for (int i = 0; i < 4; ++i)
    LogScope scope(logEvent("Traced"));
  finalize();
  EXPECT_EQ(readTrace()["traceEvents"].size(),
            4U * size_); // a head of 3, with the note of what is missing, and an event
  EXPECT_EQ(errors_.find("up to 3 later events") != std::string::npos, rank_ == 0) << errors_;
}

// The events of a rank are sent in blocks of 20000 (log_report.cpp), so these are two.
TEST_F(TraceReport, TakesManyEvents) {
  start({"-tenon_log_trace", path_.c_str()});
  const int event = logEvent("Many");
  for (int i = 0; i < 25000; ++i)
    LogScope scope(event);
  finalize();
  if (rank_ == 0) {
    // A head of 2, the name of the process and its place in the list, and the events.
    EXPECT_EQ(json::parse(std::ifstream(path_))["traceEvents"].size(), 25002U * size_);
  }
}

TEST_F(TraceReport, ABadPathIsAnErrorOnAllRanksAtOnce) {
  expectError(TENON_ERR_FILE, {"/nowhere/trace.json", "No such file"}, [] {
    start({"-tenon_log_trace", "/nowhere/trace.json"});
  });
  EXPECT_FALSE(isInitialized());
  expectError(TENON_ERR_OPTION, {"'-tenon_log_trace_events'", "in [1,1000000000]"}, [&] {
    start({"-tenon_log_trace", path_.c_str(), "-tenon_log_trace_events", "0"});
  });
  start({});
  finalize();
}

TEST_F(TraceReport, APathThatTurnsBadIsAnErrorOnAllRanksAtTheEnd) {
  const std::string folder = path_ + ".d";
  if (rank_ == 0)
    std::filesystem::create_directory(folder);
  MPI_Barrier(MPI_COMM_WORLD);
  start({"-tenon_log_trace", (folder + "/trace.json").c_str()});
  { LogScope scope(logEvent("Traced")); }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ == 0)
    std::filesystem::remove(folder);
  expectError(TENON_ERR_FILE, {"trace.json", "No such file"}, [] { finalize(); });
  EXPECT_FALSE(isInitialized());
  EXPECT_TRUE(options().values().empty());
}

} // namespace
} // namespace tenon
