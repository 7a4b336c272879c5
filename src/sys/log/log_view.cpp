// SPDX-License-Identifier: BSD-2-Clause
// Reduces the snapshots of all ranks to a table. Times are those of the slowest rank and work is
// summed, and the ratio of slowest to fastest shows imbalance; a rank that never ran an event
// counts as one that took no time in it.
#include "sys/log/log_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

constexpr std::size_t kNameWidth = 28;

struct Reduction {
  LogViewRow row;
  double minTime = 0;
  int ranks = 0;
};

void addRecord(Reduction& sum, const EventRecord& record) {
  LogViewRow& row = sum.row;
  row.count = std::max(row.count, record.count);
  row.maxTime = std::max(row.maxTime, record.time);
  sum.minTime = sum.ranks == 0 ? record.time : std::min(sum.minTime, record.time);
  row.maxSelfTime = std::max(row.maxSelfTime, record.selfTime);
  row.flops += record.flops;
  row.messages += record.messages;
  row.bytes += record.bytes;
  ++sum.ranks;
}

Reduction& reductionOf(std::vector<Reduction>& all, const EventRecord& record) {
  for (auto& sum : all)
    if (sum.row.event == record.event && sum.row.stage == record.stage)
      return sum;
  all.emplace_back();
  all.back().row.stage = record.stage;
  all.back().row.event = record.event;
  return all.back();
}

// A large number in four characters or so: 0, 87, 1.2k, 45.1M.
std::string brief(double value) {
  static constexpr const char* kUnits[] = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t unit = 0;
  // From 999.95 on a number would be printed as 1000.0.
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

std::vector<LogViewRow> reduceLog(std::span<const std::vector<EventRecord>> ranks) {
  std::vector<Reduction> sums;
  for (const auto& snapshot : ranks)
    for (const auto& record : snapshot)
      addRecord(reductionOf(sums, record), record);
  std::vector<LogViewRow> rows;
  for (auto& sum : sums) {
    // A rank without the event took no time in it, so its ratio is without bound and shown as none.
    const bool everywhere = static_cast<std::size_t>(sum.ranks) == ranks.size();
    const double least = everywhere ? sum.minTime : 0.0;
    if (sum.row.maxTime > 0)
      sum.row.ratio = least > 0 ? sum.row.maxTime / least : 0.0;
    rows.push_back(std::move(sum.row));
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
  // The rows of one stage are printed together, and stages in the order in which they were first
  // seen.
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
