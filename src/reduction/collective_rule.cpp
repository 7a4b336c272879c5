// SPDX-License-Identifier: BSD-2-Clause
#include "reduction/collective_rule.hpp"

#include <algorithm>

namespace tenon {

namespace {

DeviceState unionOf(GroupStates group) {
  DeviceState all = *group.front();
  for (const DeviceState* state : group.subspan(1))
    all.join(*state);
  return all;
}

Refusal whyNoSum(GroupStates group) {
  const DeviceState& first = *group.front();
  for (const DeviceState* state : group.subspan(1))
    if (!state->hasSameRows(first))
      return Refusal::RowsDiffer;
  if (first.isEmpty())
    return Refusal::NobodyHolds;
  DeviceState sum = first;
  for (const DeviceState* state : group.subspan(1)) {
    if (state->sharesEntry(sum))
      return Refusal::AddedTwice;
    sum.join(*state);
  }
  return Refusal::None;
}

Refusal whyNoGather(GroupStates group) {
  const int held = group.front()->heldRows();
  for (const DeviceState* state : group.subspan(1))
    if (state->heldRows() != held)
      return Refusal::RowCountsDiffer;
  if (held == 0)
    return Refusal::NobodyHolds;
  DeviceState all = *group.front();
  for (const DeviceState* state : group.subspan(1)) {
    if (state->sharesRow(all))
      return Refusal::RowTwice;
    all.join(*state);
  }
  return Refusal::None;
}

Refusal whyNoBroadcast(GroupStates group) {
  const DeviceState& first = *group.front();
  bool someoneLearns = false;
  for (const DeviceState* state : group.subspan(1)) {
    if (!state->isWithin(first))
      return Refusal::FirstKnowsLess;
    someoneLearns |= *state != first;
  }
  if (someoneLearns)
    return Refusal::None;
  return first.isEmpty() ? Refusal::NobodyHolds : Refusal::NothingToBroadcast;
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

Refusal refusalOf(CollectiveKind kind, GroupStates group) {
  if (kind == CollectiveKind::AllGather)
    return whyNoGather(group);
  if (kind == CollectiveKind::Broadcast)
    return whyNoBroadcast(group);
  const Refusal refusal = whyNoSum(group);
  const int members = static_cast<int>(group.size());
  if (refusal == Refusal::None && kind == CollectiveKind::ReduceScatter &&
      group.front()->heldRows() % members != 0)
    return Refusal::Indivisible;
  return refusal;
}

std::vector<DeviceState> statesAfter(CollectiveKind kind, GroupStates group) {
  const DeviceState all = kind == CollectiveKind::Broadcast ? *group.front() : unionOf(group);
  const int members = static_cast<int>(group.size());
  std::vector<DeviceState> after;
  after.reserve(group.size());
  for (int i = 0; i < members; ++i) {
    if (kind == CollectiveKind::ReduceScatter)
      after.push_back(all.share(i, members));
    else if (kind == CollectiveKind::Reduce && i > 0)
      after.emplace_back(all.rows(), all.columns());
    else
      after.push_back(all);
  }
  return after;
}

} // namespace tenon
