// SPDX-License-Identifier: BSD-2-Clause
// Follows the rows that each device holds from step to step, as few sorted ranges. Who has
// contributed is not followed, so these steps are right only for programs that checkReduces()
// accepts.
#include "reduction/holdings.hpp"

#include <algorithm>

namespace tenon {

namespace {

RowSet joined(RowSet all) {
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
    RowSet source = before[group.front()];
    if (kind == CollectiveKind::AllGather) {
      for (std::size_t i = 1; i < group.size(); ++i)
        source.insert(source.end(), before[group[i]].begin(), before[group[i]].end());
      source = joined(std::move(source));
    }
    const int members = static_cast<int>(group.size());
    for (int i = 0; i < members; ++i)
      after[group[i]] = memberAfter(kind, before[group[i]], source, i, members);
  }
  return after;
}

FollowedHoldings::FollowedHoldings(Hierarchy hierarchy, Program program, bool firstKeeps)
    : hierarchy_(std::move(hierarchy)), program_(std::move(program)), firstKeeps_(firstKeeps),
      undone_(program_.size(), -1) {
  // Members of a sum hold the same rows, so that no sum between a scatter and its gather is within
  // their groups, and it leaves the rows of those that go on as they are.
  std::vector<int> scattered;
  for (std::size_t i = 0; i < program_.size(); ++i) {
    const CollectiveKind kind = program_[i].collective;
    if (kind == CollectiveKind::AllReduce)
      continue;
    if (kind == CollectiveKind::ReduceScatter) {
      scattered.push_back(static_cast<int>(i));
    } else if (kind == CollectiveKind::AllGather && !scattered.empty() &&
               formSameGroups(hierarchy_, program_[scattered.back()], program_[i])) {
      undone_[i] = scattered.back();
      scattered.pop_back();
    } else {
      scattered.clear();
    }
  }
}

const RowSet& FollowedHoldings::before(std::size_t instruction, int device) {
  const auto key = std::pair(instruction, device);
  if (const auto known = known_.find(key); known != known_.end())
    return known->second;
  RowSet rows =
      instruction == 0 ? RowSet{{0, deviceCount(hierarchy_)}} : after(instruction - 1, device);
  return known_.emplace(key, std::move(rows)).first->second;
}

RowSet FollowedHoldings::after(std::size_t instruction, int device) {
  const Instruction& one = program_[instruction];
  const CollectiveKind kind = one.collective;
  const std::vector<int> group = groupOf(hierarchy_, one, device);
  const RowSet& own = before(instruction, device);
  const int members = static_cast<int>(group.size());
  if (members == 1)
    return own;
  const int me = static_cast<int>(std::ranges::find(group, device) - group.begin());
  if (firstKeeps_ && kind != CollectiveKind::ReduceScatter && me > 0)
    return {};
  RowSet source;
  if (kind == CollectiveKind::Broadcast) {
    source = before(instruction, group.front());
  } else if (kind == CollectiveKind::AllGather && undone_[instruction] >= 0) {
    if (!own.empty())
      source = before(undone_[instruction], device);
  } else if (kind == CollectiveKind::AllGather) {
    for (const int other : group) {
      const RowSet& rows = before(instruction, other);
      source.insert(source.end(), rows.begin(), rows.end());
    }
    source = joined(std::move(source));
  }
  return memberAfter(kind, own, source, me, members);
}

} // namespace tenon
