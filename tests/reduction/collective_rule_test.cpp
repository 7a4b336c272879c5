// SPDX-License-Identifier: BSD-2-Clause
// Tests the rules of the collectives (Figure 8 of the paper cited in
// reduction/collective_rule.hpp): the states of a group's devices after each collective, and each
// reason to reject one, on examples written by hand. A state is written as a list of its rows
// (chunks of the data), each the list of the devices whose contributions are in it: {"01", "01",
// "", ""} holds the first two of four chunks, with the contributions of devices 0 and 1.
#include "reduction/collective_rule.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tenon {
namespace {

// A state in this notation.
using Drawn = std::vector<std::string>;

DeviceState state(const Drawn& rows) {
  DeviceState made(static_cast<int>(rows.size()), static_cast<int>(rows.size()));
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (char column : rows[r])
      made.add(static_cast<int>(r), column - '0');
  return made;
}

std::vector<DeviceState> group(const std::vector<Drawn>& drawn) {
  std::vector<DeviceState> states;
  for (const Drawn& one : drawn)
    states.push_back(state(one));
  return states;
}

std::vector<const DeviceState*> addresses(const std::vector<DeviceState>& states) {
  std::vector<const DeviceState*> result;
  for (const DeviceState& one : states)
    result.push_back(&one);
  return result;
}

// Expects that a collective is valid on these states, and their values after it.
void expectStep(CollectiveKind kind, const std::vector<Drawn>& before,
                const std::vector<Drawn>& after) {
  const std::vector<DeviceState> states = group(before);
  EXPECT_EQ(refusalOf(kind, addresses(states)), Refusal::None) << wordOf(kind);
  EXPECT_EQ(statesAfter(kind, addresses(states)), group(after)) << wordOf(kind);
}

void expectRefused(Refusal refusal, CollectiveKind kind, const std::vector<Drawn>& before) {
  const std::vector<DeviceState> states = group(before);
  EXPECT_EQ(refusalOf(kind, addresses(states)), refusal) << wordOf(kind);
  EXPECT_STRNE(sentenceOf(refusal), "");
}

const Drawn kNothing{"", "", "", ""};
const Drawn k0{"0", "0", "0", "0"}, k1{"1", "1", "1", "1"}, k01{"01", "01", "01", "01"};
constexpr CollectiveKind kSums[] = {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter,
                                    CollectiveKind::Reduce};

TEST(CollectiveRule, AllReduceGivesAllTheSum) {
  expectStep(CollectiveKind::AllReduce, {k0, k1}, {k01, k01});
  expectStep(CollectiveKind::AllReduce, {{"02", "", "", ""}, {"1", "", "", ""}, {"3", "", "", ""}},
             {{"0123", "", "", ""}, {"0123", "", "", ""}, {"0123", "", "", ""}});
  // Contributors need to be disjoint in each row, not over all rows.
  expectStep(CollectiveKind::AllReduce, {{"0", "1", "", ""}, {"1", "0", "", ""}},
             {{"01", "01", "", ""}, {"01", "01", "", ""}});
}

TEST(CollectiveRule, ReduceScatterGivesEachItsShareOfTheRowsHeld) {
  expectStep(CollectiveKind::ReduceScatter, {k0, k1}, {{"01", "01", "", ""}, {"", "", "01", "01"}});
  expectStep(CollectiveKind::ReduceScatter, {{"", "0", "", "0"}, {"", "1", "", "1"}},
             {{"", "01", "", ""}, {"", "", "", "01"}});
}

TEST(CollectiveRule, ReduceGivesTheFirstTheSumAndClearsTheRest) {
  expectStep(CollectiveKind::Reduce, {k0, k1}, {k01, kNothing});
}

TEST(CollectiveRule, AllGatherGivesAllAllRows) {
  expectStep(CollectiveKind::AllGather, {{"", "01", "", ""}, {"23", "", "", ""}},
             {{"23", "01", "", ""}, {"23", "01", "", ""}});
}

TEST(CollectiveRule, BroadcastGivesAllWhatTheFirstHas) {
  expectStep(CollectiveKind::Broadcast, {k01, kNothing, k1}, {k01, k01, k01});
  // A member that gets nothing new is allowed if another one does.
  expectStep(CollectiveKind::Broadcast, {k01, k01, k0}, {k01, k01, k01});
}

TEST(CollectiveRule, ASumRefusesOtherChunks) {
  for (CollectiveKind kind : kSums) {
    expectRefused(Refusal::RowsDiffer, kind, {{"0", "0", "", ""}, {"", "", "1", "1"}});
    expectRefused(Refusal::RowsDiffer, kind, {{"0", "0", "0", ""}, {"1", "1", "", ""}});
    expectRefused(Refusal::RowsDiffer, kind, {k0, kNothing});
    expectRefused(Refusal::RowsDiffer, kind, {kNothing, k0});
    // Also if only the last member differs.
    expectRefused(Refusal::RowsDiffer, kind, {k0, k1, {"2", "2", "2", ""}});
  }
}

TEST(CollectiveRule, ASumRefusesToAddTwice) {
  for (CollectiveKind kind : kSums) {
    expectRefused(Refusal::AddedTwice, kind, {k01, k1});
    expectRefused(Refusal::AddedTwice, kind, {{"0", "01", "", ""}, {"1", "1", "", ""}});
    expectRefused(Refusal::AddedTwice, kind, {k0, k1, {"2", "2", "2", "1"}});
  }
}

TEST(CollectiveRule, AScatterRefusesRowsThatCannotBeShared) {
  expectRefused(Refusal::Indivisible, CollectiveKind::ReduceScatter,
                {{"0", "0", "0", ""}, {"1", "1", "1", ""}});
  expectRefused(Refusal::Indivisible, CollectiveKind::ReduceScatter,
                {k0, k1, {"2", "2", "2", "2"}});
}

TEST(CollectiveRule, AGatherRefusesUnequalNumbersAndRowsHeldTwice) {
  expectRefused(Refusal::RowCountsDiffer, CollectiveKind::AllGather,
                {{"0", "0", "", ""}, {"", "", "0", ""}});
  expectRefused(Refusal::RowCountsDiffer, CollectiveKind::AllGather, {k0, kNothing});
  expectRefused(Refusal::RowTwice, CollectiveKind::AllGather,
                {{"0", "0", "", ""}, {"", "0", "0", ""}});
  expectRefused(Refusal::RowTwice, CollectiveKind::AllGather,
                {{"0", "", "", ""}, {"", "0", "", ""}, {"1", "", "", ""}});
}

TEST(CollectiveRule, ABroadcastRefusesALessKnowingRootAndNoNews) {
  expectRefused(Refusal::FirstKnowsLess, CollectiveKind::Broadcast, {k0, k1});
  expectRefused(Refusal::FirstKnowsLess, CollectiveKind::Broadcast, {kNothing, k1});
  expectRefused(Refusal::FirstKnowsLess, CollectiveKind::Broadcast,
                {{"01", "01", "", ""}, kNothing, {"0", "", "0", ""}});
  expectRefused(Refusal::NothingToBroadcast, CollectiveKind::Broadcast, {k01, k01, k01});
}

TEST(CollectiveRule, AGroupInWhichNobodyHoldsAnythingDoesNothing) {
  for (CollectiveKind kind :
       {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter, CollectiveKind::Reduce,
        CollectiveKind::AllGather, CollectiveKind::Broadcast})
    expectRefused(Refusal::NobodyHolds, kind, {kNothing, kNothing});
}

// Columns are bits of words of 64; a state of 3 rows and 130 columns has three words per row.
TEST(DeviceState, HoldsMoreColumnsThanAWordHasBits) {
  DeviceState one(3, 130, {0, 64, 129}), other(3, 130, {65});
  EXPECT_TRUE(one.has(2, 129));
  EXPECT_FALSE(one.has(2, 128));
  EXPECT_FALSE(one.sharesEntry(other));
  EXPECT_TRUE(one.hasSameRows(other));
  other.add(0, 129);
  EXPECT_TRUE(one.sharesEntry(other));
  one.join(other);
  EXPECT_TRUE(one.has(1, 65));
  EXPECT_TRUE(other.isWithin(one));
  EXPECT_FALSE(one.isWithin(other));
  EXPECT_NE(one, other);
  EXPECT_EQ(one.share(1, 3).heldRows(), 1);
  EXPECT_TRUE(one.share(1, 3).has(1, 64));
}

} // namespace
} // namespace tenon
