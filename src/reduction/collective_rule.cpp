// SPDX-License-Identifier: BSD-2-Clause
#include "reduction/collective_rule.hpp"

#include <algorithm>

namespace tenon {

namespace {

using Group = std::span<DeviceState>;

DeviceState unionOf(Group group) {
  DeviceState all = group.front();
  for (const DeviceState& state : group.subspan(1))
    all.join(state);
  return all;
}

Refusal whyNoSum(Group group) {
  DeviceState sum = group.front();
  for (const DeviceState& state : group.subspan(1)) {
    if (!state.hasSameRows(sum))
      return Refusal::RowsDiffer;
    if (state.sharesEntry(sum))
      return Refusal::AddedTwice;
    sum.join(state);
  }
  return sum.isEmpty() ? Refusal::NobodyHolds : Refusal::None;
}

Refusal whyNoGather(Group group) {
  DeviceState all = group.front();
  for (const DeviceState& state : group.subspan(1)) {
    if (state.heldRows() != group.front().heldRows())
      return Refusal::RowCountsDiffer;
    if (state.sharesRow(all))
      return Refusal::RowTwice;
    all.join(state);
  }
  return all.isEmpty() ? Refusal::NobodyHolds : Refusal::None;
}

Refusal whyNoBroadcast(Group group) {
  bool someoneLearns = false;
  for (const DeviceState& state : group.subspan(1)) {
    if (!state.isWithin(group.front()))
      return Refusal::FirstKnowsLess;
    someoneLearns |= state != group.front();
  }
  if (someoneLearns)
    return Refusal::None;
  return group.front().isEmpty() ? Refusal::NobodyHolds : Refusal::NothingToBroadcast;
}

Refusal whyNot(CollectiveKind kind, Group group) {
  if (kind == CollectiveKind::AllGather)
    return whyNoGather(group);
  if (kind == CollectiveKind::Broadcast)
    return whyNoBroadcast(group);
  const Refusal refusal = whyNoSum(group);
  const int members = static_cast<int>(group.size());
  if (refusal == Refusal::None && kind == CollectiveKind::ReduceScatter &&
      group.front().heldRows() % members != 0)
    return Refusal::Indivisible;
  return refusal;
}

} // namespace

const char* sentenceOf(Refusal refusal) {
  switch (refusal) {
  case Refusal::None:
    return "";
  case Refusal::NobodyHolds:
    return "no member of the group holds any chunk";
  case Refusal::RowsDiffer:
    return "members of a sum hold different chunks";
  case Refusal::AddedTwice:
    return "a contribution would be added twice";
  case Refusal::Indivisible:
    return "the chunks held cannot be shared equally among the members";
  case Refusal::RowCountsDiffer:
    return "members of a gather hold different numbers of chunks";
  case Refusal::RowTwice:
    return "two members of a gather hold the same chunk";
  case Refusal::FirstKnowsLess:
    return "a member holds something that the first one would have to broadcast and has not";
  case Refusal::NothingToBroadcast:
    return "all members already hold what the first one would broadcast";
  }
  return "";
}

const char* wordOf(CollectiveKind kind) {
  constexpr const char* kWords[] = {"AllGather", "ReduceScatter", "AllReduce", "Broadcast",
                                    "Reduce"};
  return kWords[static_cast<int>(kind)];
}

Refusal applyCollective(CollectiveKind kind, std::span<DeviceState> group) {
  const Refusal refusal = whyNot(kind, group);
  if (refusal != Refusal::None)
    return refusal;
  const DeviceState all = kind == CollectiveKind::Broadcast ? group.front() : unionOf(group);
  const int members = static_cast<int>(group.size());
  for (int i = 0; i < members; ++i) {
    if (kind == CollectiveKind::ReduceScatter)
      group[i] = all.share(i, members);
    else if (kind == CollectiveKind::Reduce && i > 0)
      group[i] = DeviceState(all.rows(), all.columns());
    else
      group[i] = all;
  }
  return Refusal::None;
}

} // namespace tenon
