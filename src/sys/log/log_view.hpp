// SPDX-License-Identifier: BSD-2-Clause
// The table of -tenon_log_view: the snapshots of all ranks are reduced to one row per event, and
// formatted with at most 100 columns:
//
//   Event           Count   Time (s)  Ratio     %   Self (s)   Flops Messages    Bytes
//   --- stage main
//   Exchange          200     0.0312    1.4   2.1     0.0312       0     1.6k    45.1M
//
// Each rank has its LogSums; gatherSums() in comm/session/log_report.cpp adds them along a tree of
// ranks, sent as text (encode() and decode()), and rank 0 formats the rows.
#pragma once

#include "sys/log/log.hpp"

#include <span>
#include <string>
#include <vector>

namespace tenon {

// A row of the table.
struct LogViewRow {
  std::string stage;
  std::string event;
  Index count = 0;    // maximum over ranks
  double maxTime = 0; // time of the slowest rank
  double ratio = 1;   // slowest over fastest rank; 0 if a rank spent no time in the event
  double maxSelfTime = 0;
  double flops = 0; // sums over ranks
  Index messages = 0;
  Index bytes = 0;
};

// The lines above the table.
struct LogViewHead {
  int ranks = 1;
  double seconds = 0;       // duration of the whole run
  Index maxHighWater = 0;   // memory of the rank that used most
  Index totalHighWater = 0; // memory of all ranks
};

// The snapshots of some ranks, reduced. The size does not depend on the number of ranks. Events are
// in the order of their first occurrence.
class LogSums {
public:
  // Adds the snapshot of one more rank.
  void add(const std::vector<EventRecord>& snapshot);
  // Adds the sums of ranks that follow these.
  void add(const LogSums& more);
  // Serialised as text, for communication.
  std::string encode() const;
  static LogSums decode(const std::string& text);
  // The rows for this number of ranks; a rank without an event spent no time in it.
  std::vector<LogViewRow> rows(int ranks) const;

private:
  struct Sum {
    LogViewRow row;
    double minTime = 0;
    int ranks = 0;
  };
  void addSum(const Sum& more);

  std::vector<Sum> sums_;
};

std::string formatLogView(const LogViewHead& head, std::span<const LogViewRow> rows);

} // namespace tenon
