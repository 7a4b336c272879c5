// SPDX-License-Identifier: BSD-2-Clause
// Follows the rows that each device holds from step to step, as few sorted ranges. Who has
// contributed is not followed, so these steps are right only for programs that checkReduces()
// accepts.
#include "reduction/holdings.hpp"

#include <algorithm>

namespace tenon {

namespace {

RowSet joined(const Holdings& held, const std::vector<int>& group) {
  RowSet all;
  for (int device : group)
    all.insert(all.end(), held[device].begin(), held[device].end());
  std::sort(all.begin(), all.end(),
            [](const RowRange& a, const RowRange& b) { return a.begin < b.begin; });
  RowSet merged;
  for (const RowRange& range : all)
    if (!merged.empty() && merged.back().end >= range.begin)
      merged.back().end = std::max(merged.back().end, range.end);
    else
      merged.push_back(range);
  return merged;
}

// The rows at the places begin ... end-1 among those held.
RowSet cut(const RowSet& rows, int begin, int end) {
  RowSet kept;
  int place = 0;
  for (const RowRange& range : rows) {
    const int low = std::max(range.begin, range.begin + begin - place);
    const int high = std::min(range.end, range.begin + end - place);
    if (low < high)
      kept.push_back({low, high});
    place += range.end - range.begin;
  }
  return kept;
}

// `source` is what a broadcast or a gather gives to all.
RowSet memberAfter(CollectiveKind kind, const RowSet& own, const RowSet& source, int member,
                   int members) {
  const int share = rowsIn(own) / members;
  switch (kind) {
  case CollectiveKind::ReduceScatter:
    return cut(own, member * share, (member + 1) * share);
  case CollectiveKind::Reduce:
    return member == 0 ? own : RowSet{};
  case CollectiveKind::AllReduce:
    return own;
  case CollectiveKind::Broadcast:
  case CollectiveKind::AllGather:
    break;
  }
  return source;
}

} // namespace

int rowsIn(const RowSet& rows) {
  int sum = 0;
  for (const RowRange& range : rows)
    sum += range.end - range.begin;
  return sum;
}

Holdings initialHoldings(int devices) {
  return Holdings(devices, RowSet{{0, devices}});
}

Holdings holdingsAfter(CollectiveKind kind, const DeviceGroups& groups, const Holdings& before) {
  Holdings after = before;
  for (const std::vector<int>& group : groups) {
    const bool gathers = kind == CollectiveKind::AllGather;
    const RowSet source = gathers ? joined(before, group) : before[group.front()];
    const int members = static_cast<int>(group.size());
    for (int i = 0; i < members; ++i)
      after[group[i]] = memberAfter(kind, before[group[i]], source, i, members);
  }
  return after;
}

} // namespace tenon
