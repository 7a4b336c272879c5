// SPDX-License-Identifier: BSD-2-Clause
// The rows (chunks of the data) that each device holds before and after each step of a reduction
// program (holdings.hpp), as few sorted ranges. holdingsAfter() computes them for all devices, one
// step at a time; FollowedHoldings for single devices, by recursion over the steps before.
// Contributions are not tracked, so the results are right only for programs that checkReduces()
// accepts.
#include "reduction/holdings.hpp"

#include <algorithm>

namespace tenon {

namespace {

// Sorts ranges and merges those that overlap or are contiguous.
RowSet joined(RowSet ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const RowRange& a, const RowRange& b) { return a.begin < b.begin; });
  RowSet merged;
  for (const RowRange& range : ranges)
    if (!merged.empty() && merged.back().end >= range.begin)
      merged.back().end = std::max(merged.back().end, range.end);
    else
      merged.push_back(range);
  return merged;
}

// Returns the rows at positions [begin, end) of those that are held: positions [1, 3) of the rows
// 0 1 4 5 are the rows 1 and 4.
RowSet cut(const RowSet& rows, int begin, int end) {
  RowSet part;
  int position = 0;
  for (const RowRange& range : rows) {
    const int low = std::max(range.begin, range.begin + begin - position);
    const int high = std::min(range.end, range.begin + end - position);
    if (low < high)
      part.push_back({low, high});
    position += range.end - range.begin;
  }
  return part;
}

// Returns the rows of a member after a collective. `source` is the result of a Broadcast or
// AllGather, which is equal for all members.
RowSet memberAfter(CollectiveKind kind, const RowSet& ownRows, const RowSet& source, int member,
                   int members) {
  const int share = rowsIn(ownRows) / members;
  switch (kind) {
  case CollectiveKind::ReduceScatter:
    return cut(ownRows, member * share, (member + 1) * share);
  case CollectiveKind::Reduce:
    return member == 0 ? ownRows : RowSet{};
  case CollectiveKind::AllReduce:
    return ownRows;
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
      revertedScatter_(program_.size(), -1) {
  // Find for each AllGather the ReduceScatter that it reverts. An intermediate sum can be ignored:
  // members of a sum hold equal rows, so its groups are across those of the scatter, and it does
  // not change rows.
  std::vector<int> scattered; // the open ReduceScatters, the last one innermost
  for (std::size_t i = 0; i < program_.size(); ++i) {
    const CollectiveKind kind = program_[i].collective;
    if (kind == CollectiveKind::AllReduce)
      continue;
    if (kind == CollectiveKind::ReduceScatter) {
      scattered.push_back(static_cast<int>(i));
    } else if (kind == CollectiveKind::AllGather && !scattered.empty() &&
               formSameGroups(hierarchy_, program_[scattered.back()], program_[i])) {
      revertedScatter_[i] = scattered.back();
      scattered.pop_back();
    } else {
      // After another AllGather, a Reduce or a Broadcast, devices no longer hold the shares of the
      // open scatters, so no later AllGather can revert these.
      scattered.clear();
    }
  }
}

const RowSet& FollowedHoldings::before(std::size_t instruction, int device) {
  const auto key = std::pair(instruction, device);
  if (const auto existing = rows_.find(key); existing != rows_.end())
    return existing->second;
  RowSet rows =
      instruction == 0 ? RowSet{{0, deviceCount(hierarchy_)}} : after(instruction - 1, device);
  return rows_.emplace(key, std::move(rows)).first->second;
}

RowSet FollowedHoldings::after(std::size_t instruction, int device) {
  const Instruction& current = program_[instruction];
  const CollectiveKind kind = current.collective;
  const std::vector<int> group = groupOf(hierarchy_, current, device);
  const RowSet& ownRows = before(instruction, device);
  const int members = static_cast<int>(group.size());
  if (members == 1)
    return ownRows;
  const int me = static_cast<int>(std::ranges::find(group, device) - group.begin());
  if (firstKeeps_ && kind != CollectiveKind::ReduceScatter && me > 0)
    return {};
  RowSet source;
  if (kind == CollectiveKind::Broadcast) {
    source = before(instruction, group.front());
  } else if (kind == CollectiveKind::AllGather && revertedScatter_[instruction] >= 0) {
    // A device without rows, because it stores no results, takes no part in the gather.
    if (!ownRows.empty())
      source = before(revertedScatter_[instruction], device);
  } else if (kind == CollectiveKind::AllGather) {
    for (const int other : group) {
      const RowSet& rows = before(instruction, other);
      source.insert(source.end(), rows.begin(), rows.end());
    }
    source = joined(std::move(source));
  }
  return memberAfter(kind, ownRows, source, me, members);
}

} // namespace tenon
