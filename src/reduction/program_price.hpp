// SPDX-License-Identifier: BSD-2-Clause
// The predicted time of a reduction program as Tenon runs it (reduction_step.hpp). The same price
// is used to choose sums, to plan them and to simulate them. A step is one exchange of messages,
// and has the price of any exchange (machine/price.hpp):
//
//     latency + messages overhead + bytes / bandwidth + (packed + written) / copyBandwidth
//
// for the first member of the first group, which has the largest chunks and is the root of every
// Reduce and Broadcast. It exchanges with each of the n-1 others of its group, where t is the
// number of bytes held before a sum or after a gather,
//
//     AllReduce, Reduce, Broadcast   t bytes    ReduceScatter, AllGather   t / n bytes
//
// at the latency and bandwidth of the level that the message crosses. If the sum is for the first
// member only, an AllReduce is priced as a Reduce, and only the first member gathers. A transposed
// sum has the same price.
#pragma once

#include "geometry/schedule/axis_change.hpp"
#include "reduction/grouping.hpp"

namespace tenon {

// The first of an instruction's groups: `members` members, whose numbers are `stride` apart.
struct MemberGroup {
  Index members = 1, stride = 1;
  // Throws TENON_ERR_ARG if the hierarchy does not have the instruction's level.
  static MemberGroup of(const Hierarchy& hierarchy, const Instruction& instruction);
};

// Returns the rates between the members of a reduction, which are these ranks, in order. Levels
// that no pair of them crosses are left out, and the size of a level's unit is the number of
// members in the first member's unit.
LinkRates ratesOfMembers(const LinkRates& rates, const std::vector<int>& ranks);

// Returns the seconds of one step, at rates between members.
double priceOfStep(CollectiveKind kind, MemberGroup group, double bytes, const LinkRates& rates,
                   SumGoal goal = SumGoal::All);
// Whether an AllReduce is cheaper as a ReduceScatter followed by an AllGather. For two members it
// is not: they send the same amount in both cases, and the second round adds latency.
bool isCheaperInTwo(MemberGroup group, double bytes, const LinkRates& rates);

// Returns the seconds of a program on `bytes` bytes on each member.
double priceOfProgram(const Program& program, const Hierarchy& hierarchy, double bytes,
                      const LinkRates& rates, SumGoal goal = SumGoal::All);
std::vector<double> pricesOfSteps(const Program& program, const Hierarchy& hierarchy, double bytes,
                                  const LinkRates& rates, SumGoal goal = SumGoal::All);

} // namespace tenon
