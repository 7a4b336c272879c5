// SPDX-License-Identifier: BSD-2-Clause
// The table of the log: the measurements of all ranks, reduced to one row per event. Times are
// those of the slowest rank, work is summed over the ranks, and the ratio of slowest to fastest
// shows load imbalance. A rank that never ran an event counts with time 0.
#include "sys/log/log_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace tenon {

namespace {

constexpr std::size_t kNameWidth = 28;

// A large number in about four characters: 0, 87, 1.2k, 45.1M.
std::string brief(double value) {
  static constexpr const char* kUnits[] = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t unit = 0;
  // Numbers from 999.95 on would be printed as 1000.0.
  while (value >= (unit == 0 ? 1000.0 : 999.95) && unit + 1 < std::size(kUnits)) {
    value /= 1000.0;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}{}", value, kUnits[unit]);
}

std::string brief(Index value) {
  return brief(static_cast<double>(value));
}

std::string shortened(const std::string& name) {
  return name.size() <= kNameWidth ? name : name.substr(0, kNameWidth - 2) + "..";
}

std::string ratioText(double ratio) {
  if (ratio <= 0)
    return "-";
  return ratio < 1000 ? fmt::format("{:.1f}", ratio) : brief(ratio);
}

std::string rowText(const LogViewRow& row, double seconds) {
  const double share = seconds > 0 ? 100.0 * row.maxTime / seconds : 0.0;
  return fmt::format("{:<28} {:>7} {:>10.4f} {:>6} {:>5.1f} {:>10.4f} {:>7} {:>8} {:>8}\n",
                     shortened(row.event), brief(row.count), row.maxTime, ratioText(row.ratio),
                     std::min(share, 999.9), row.maxSelfTime, brief(row.flops), brief(row.messages),
                     brief(row.bytes));
}

} // namespace

void LogSums::addSum(const Sum& more) {
  const auto entry = std::find_if(sums_.begin(), sums_.end(), [&](const Sum& sum) {
    return sum.row.event == more.row.event && sum.row.stage == more.row.stage;
  });
  if (entry == sums_.end()) {
    sums_.push_back(more);
    return;
  }
  LogViewRow& row = entry->row;
  row.count = std::max(row.count, more.row.count);
  row.maxTime = std::max(row.maxTime, more.row.maxTime);
  row.maxSelfTime = std::max(row.maxSelfTime, more.row.maxSelfTime);
  row.flops += more.row.flops;
  row.messages += more.row.messages;
  row.bytes += more.row.bytes;
  entry->minTime = std::min(entry->minTime, more.minTime);
  entry->ranks += more.ranks;
}

void LogSums::add(const std::vector<EventRecord>& snapshot) {
  for (const EventRecord& r : snapshot)
    addSum({.row = {.stage = r.stage,
                    .event = r.event,
                    .count = r.count,
                    .maxTime = r.time,
                    .maxSelfTime = r.selfTime,
                    .flops = r.flops,
                    .messages = r.messages,
                    .bytes = r.bytes},
            .minTime = r.time,
            .ranks = 1});
}

void LogSums::add(const LogSums& more) {
  for (const Sum& sum : more.sums_)
    addSum(sum);
}

// One line per sum, with fields separated by tabs, which names cannot contain.
std::string LogSums::encode() const {
  std::string text;
  for (const Sum& sum : sums_)
    text += fmt::format("{}\t{}\t{} {} {} {} {} {} {} {}\n", sum.row.stage, sum.row.event,
                        sum.row.count, sum.row.maxTime, sum.row.maxSelfTime, sum.row.flops,
                        sum.row.messages, sum.row.bytes, sum.minTime, sum.ranks);
  return text;
}

LogSums LogSums::decode(const std::string& text) {
  LogSums sums;
  std::istringstream lines(text);
  for (Sum s; std::getline(lines, s.row.stage, '\t') && std::getline(lines, s.row.event, '\t');) {
    lines >> s.row.count >> s.row.maxTime >> s.row.maxSelfTime >> s.row.flops >> s.row.messages >>
        s.row.bytes >> s.minTime >> s.ranks;
    lines.ignore(1);
    sums.sums_.push_back(s);
  }
  return sums;
}

std::vector<LogViewRow> LogSums::rows(int ranks) const {
  std::vector<LogViewRow> rows;
  for (const Sum& sum : sums_) {
    rows.push_back(sum.row);
    // If a rank spent no time in the event, the ratio is unbounded and printed as "-".
    const double minTime = sum.ranks == ranks ? sum.minTime : 0.0;
    if (sum.row.maxTime > 0)
      rows.back().ratio = minTime > 0 ? sum.row.maxTime / minTime : 0.0;
  }
  return rows;
}

std::string formatLogView(const LogViewHead& head, std::span<const LogViewRow> rows) {
  std::string text = fmt::format(
      "Tenon log: {} {}, {:.4f} s, memory high water {}B (largest rank), {}B (all ranks)\n"
      "{:<28} {:>7} {:>10} {:>6} {:>5} {:>10} {:>7} {:>8} {:>8}\n",
      head.ranks, head.ranks == 1 ? "process" : "processes", head.seconds, brief(head.maxHighWater),
      brief(head.totalHighWater), "Event", "Count", "Time (s)", "Ratio", "%", "Self (s)", "Flops",
      "Messages", "Bytes");
  if (rows.empty())
    text += "no event of the library or of the program ran while the log was on\n";
  // The rows of a stage are printed together, and stages in the order of their first occurrence.
  std::vector<std::string> stages;
  for (const auto& row : rows)
    if (std::find(stages.begin(), stages.end(), row.stage) == stages.end())
      stages.push_back(row.stage);
  for (const auto& stage : stages) {
    text += fmt::format("--- stage {}\n", stage.substr(0, 80));
    for (const auto& row : rows)
      if (row.stage == stage)
        text += rowText(row, head.seconds);
  }
  return text;
}

} // namespace tenon
