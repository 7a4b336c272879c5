// SPDX-License-Identifier: BSD-2-Clause
// What a program costs as it is run (reduction_step.hpp): the one price by which sums are chosen,
// planned and simulated. A step costs like one exchange (machine/price.hpp), which it is:
//
//     latency + messages overhead + bytes / bandwidth + (packed + written) / copyBandwidth
//
// for the first member of the first group, which has the largest chunks and is the root of every
// Reduce and Broadcast. Each of the n-1 others of its group gets or gives, of t bytes held before a
// sum and after a gather,
//
//     AllReduce, Reduce, Broadcast   t          ReduceScatter, AllGather   t / n
//
// and what crosses a level goes by that level's latency and bandwidth. Where the sum is for the
// first member alone, an AllReduce is a Reduce, and the first member gathers for itself. A
// transposed sum costs what the sum does.
#pragma once

#include "geometry/schedule/axis_change.hpp"
#include "reduction/grouping.hpp"

namespace tenon {

// The first of the groups that an instruction forms: `members` of them, each so many numbers after
// the one before it.
struct MemberGroup {
  Index members = 1, stride = 1;
  // Throws TENON_ERR_ARG if the hierarchy has no such level.
  static MemberGroup of(const Hierarchy& hierarchy, const Instruction& instruction);
};

// The rates between the members of a reduction that these ranks are, in order: levels that none of
// them crosses are left out, and a unit of a level has as many members as there are beside the
// first.
LinkRates ratesOfMembers(const LinkRates& rates, const std::vector<int>& ranks);

// Seconds of one step, by the rates between members.
double priceOfStep(CollectiveKind kind, MemberGroup group, double bytes, const LinkRates& rates,
                   SumGoal goal = SumGoal::All);
// Whether an AllReduce costs less as a ReduceScatter and an AllGather. Two members send as much
// either way, so that they gain nothing by a second round.
bool isCheaperInTwo(MemberGroup group, double bytes, const LinkRates& rates);

// Seconds of a program, of `bytes` bytes on each member.
double priceOfProgram(const Program& program, const Hierarchy& hierarchy, double bytes,
                      const LinkRates& rates, SumGoal goal = SumGoal::All);
std::vector<double> pricesOfSteps(const Program& program, const Hierarchy& hierarchy, double bytes,
                                  const LinkRates& rates, SumGoal goal = SumGoal::All);

} // namespace tenon
