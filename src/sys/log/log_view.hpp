// SPDX-License-Identifier: BSD-2-Clause
// The table that -tenon_log_view prints: the snapshots of all ranks reduced to one row an event,
// and the rows as text of at most 100 columns.
#pragma once

#include "sys/log/log.hpp"

#include <span>
#include <string>
#include <vector>

namespace tenon {

struct LogViewRow {
  std::string stage;
  std::string event;
  Index count = 0;    // the largest count of all ranks
  double maxTime = 0; // time of the slowest rank
  double ratio = 1;   // slowest over fastest; 0 if some rank took no time at all
  double maxSelfTime = 0;
  double flops = 0; // sums over ranks
  Index messages = 0;
  Index bytes = 0;
};

struct LogViewHead {
  int ranks = 1;
  double seconds = 0;       // duration of the whole run
  Index maxHighWater = 0;   // memory of the rank that used most
  Index totalHighWater = 0; // memory of all ranks
};

// The snapshots of some ranks, reduced: as much for many ranks as for one. Order: first seen first.
class LogSums {
public:
  // Those of one more rank.
  void add(const std::vector<EventRecord>& snapshot);
  // Those of more ranks, which are behind these.
  void add(const LogSums& more);
  // As text, for other ranks.
  std::string encode() const;
  static LogSums decode(const std::string& text);
  // Of so many ranks; one without an event took no time in it.
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
