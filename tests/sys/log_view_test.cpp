// SPDX-License-Identifier: BSD-2-Clause
// Tests the table of the log: the reduction of the snapshots of several ranks to one row per event,
// and the text of the table, against values written by hand.
#include "sys/log/log_view.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace tenon;

std::vector<std::string> linesOf(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

TEST(LogView, ReducesMaximaAndSums) {
  // Stage, event, count, time, self time, flops, messages and bytes (EventRecord).
  LogSums sums, second;
  sums.add({{"main", "Conv", 2, 3.0, 1.0, 10.0, 1, 100}});
  second.add(
      {{"main", "Conv", 4, 6.0, 0.5, 30.0, 2, 50}, {"main", "Read", 1, 0.25, 0.25, 0, 0, 0}});
  sums.add(LogSums::decode(second.encode()));
  const auto rows = sums.rows(2);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].event, "Conv");
  EXPECT_EQ(rows[0].count, 4);
  EXPECT_EQ(rows[0].maxTime, 6.0);
  EXPECT_EQ(rows[0].ratio, 2.0);
  EXPECT_EQ(rows[0].maxSelfTime, 1.0);
  EXPECT_EQ(rows[0].flops, 40.0);
  EXPECT_EQ(rows[0].messages, 3);
  EXPECT_EQ(rows[0].bytes, 150);
  EXPECT_EQ(rows[1].event, "Read");
  EXPECT_EQ(rows[1].ratio, 0.0); // one rank took no time
}

TEST(LogView, SaysThatThereIsNothingToSay) {
  const auto lines = linesOf(formatLogView({1, 3.0, 0, 0}, {}));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(lines[2].find("no event"), std::string::npos) << lines[2];
}

TEST(LogView, OneEventInTwoStagesIsTwoRows) {
  LogSums sums;
  sums.add({{"main", "Conv", 1, 1.0, 1.0, 0, 0, 0}, {"train", "Conv", 1, 1.0, 1.0, 0, 0, 0}});
  EXPECT_EQ(sums.rows(1).size(), 2U);
}

TEST(LogView, HasOneLineAnEventUnderItsStage) {
  std::vector<LogViewRow> rows(3);
  rows[0] = {"main", "Conv", 12, 1.5, 1.25, 0.5, 2.5e9, 1200, 4000000};
  rows[1] = {"train", "Step", 1, 0.5, 0.0, 0.5, 0, 0, 0};
  rows[2] = {"main", "Pool", 3, 0.25, 1.0, 0.25, 999, 1000, 7};
  const auto lines = linesOf(formatLogView({4, 3.0, 1500000, 6000000}, rows));
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_NE(lines[0].find("4 processes, 3.0000 s"), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find("1.5MB (largest rank), 6.0MB (all ranks)"), std::string::npos);
  for (const char* head : {"Event", "Count", "Time", "Ratio", "Flops", "Messages", "Bytes"})
    EXPECT_NE(lines[1].find(head), std::string::npos) << lines[1];
  EXPECT_EQ(lines[2], "--- stage main");
  for (const char* part : {"Conv", " 12 ", "1.5000", "1.2", " 50.0 ", "2.5G", "1.2k", "4.0M"})
    EXPECT_NE(lines[3].find(part), std::string::npos) << part << " in " << lines[3];
  EXPECT_EQ(lines[4].substr(0, 4), "Pool");
  for (const char* part : {" 999 ", "1.0k", " 7"})
    EXPECT_NE(lines[4].find(part), std::string::npos) << part << " in " << lines[4];
  EXPECT_EQ(lines[5], "--- stage train");
  EXPECT_NE(lines[6].find(" - "), std::string::npos) << lines[6];
}

TEST(LogView, StaysWithinAHundredColumns) {
  LogViewRow row{std::string(300, 's'),
                 std::string(300, 'e'),
                 Index{1} << 60,
                 99999.9999,
                 1e9,
                 99999.9999,
                 1e20,
                 Index{1} << 60,
                 Index{1} << 60};
  const std::vector<LogViewRow> rows{row};
  for (const auto& line :
       linesOf(formatLogView({100000, 99999.9, Index{1} << 60, Index{1} << 60}, rows)))
    EXPECT_LE(line.size(), 100U) << line;
}

} // namespace
