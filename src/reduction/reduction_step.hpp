// SPDX-License-Identifier: BSD-2-Clause
// The steps of a reduction program as schedules. What a rank has is an array whose columns are cut
// into k chunks, one for each member of its reduction group: its C elements in row-major order as
// one line, in balanced chunks, of which fewer elements than members leave some empty; or, where
// each member is to keep a share of a dimension, what comes before this dimension as lines, and the
// shares as chunks. In a step from what members hold before to what they hold after (the rows of
// reduction/holdings.hpp, as columns), member i of a group gives member j
//
//     before(i) and after(j)     but in a Broadcast only the first member gives,
//
// and j adds what it gets. This is AllReduce, ReduceScatter, Reduce and AllGather, as only in the
// first three may two members hold one element. A member that is in no group keeps what it has. A
// member holds its columns without gaps, in their order.
//
// Where the sum is for the first member alone, only the first of a group keeps what an AllReduce or
// an AllGather leaves; the others end with nothing.
//
// So each step is a linear map on raw memory, and its transpose is that of the schedule: AllReduce
// is its own transpose, ReduceScatter and AllGather are each other's, and so are Reduce and
// Broadcast. The transposed steps, backwards, are the program of the adjoint: S -> B of shares, and
// R -> B of a sum for the first.
#pragma once

#include "geometry/schedule/axis_change.hpp"
#include "geometry/schedule/schedule.hpp"
#include "machine/link.hpp"
#include "reduction/holdings.hpp"

namespace tenon {

// Columns in rising order, with gaps between.
using ColumnRuns = std::vector<Interval>;
Index columnsIn(const ColumnRuns& runs);

// The array of a rank.
struct SummedArray {
  Index lines = 1;
  std::vector<Index> cuts; // of the columns, one chunk for each of the group's ranks by coordinates
};
// Of the array on the side of the contributions, and its chunks on the other; with no columns where
// the rank holds nothing.
SummedArray summedArray(const Layout& contributions, const Layout& sums, const SumChange& change,
                        int rank);

// What all ranks must agree on.
struct ReductionPlan {
  Hierarchy hierarchy; // sizes above 1; their product is the size of a reduction group
  Program program;
  LinkRates rates = {}; // between members (program_price.hpp)
  // Which of a group's ranks, counted by rising coordinates, each member is; empty if member i is
  // the i-th.
  std::vector<int> order = {};
  SumGoal goal = SumGoal::All;
};

// A step of one member.
struct ReductionStep {
  int instruction = 0; // of the program, from 0; a large AllReduce is two steps
  CollectiveKind kind = CollectiveKind::AllReduce;
  std::vector<int> group;                // members that act together, this one among them
  std::vector<ColumnRuns> before, after; // of each of the group
};

// The steps of a member. An AllReduce of several members, if all are to have the sum, becomes a
// ReduceScatter and an AllGather where these are cheaper, at the plan's rates, for an array of
// mostBytes, which is the same on all ranks; the result is the same bit by bit. The program must
// reduce, to shares if these are the goal.
std::vector<ReductionStep> reductionSteps(const ReductionPlan& plan, int member,
                                          const std::vector<Index>& cuts, Index mostBytes);

// At least the elements of the largest local array; the same on all ranks.
Index mostElements(const Layout& layout);

// The schedule of a member in one of its steps, on arrays of one line or of [lines, columns];
// `ranks` are those of all members, in order.
Schedule reductionSchedule(const ReductionStep& step, int member, const std::vector<int>& ranks,
                           Index lines = 1);

// A step of one rank, with its schedule.
struct ScheduledStep {
  int instruction = 0;
  CollectiveKind kind = CollectiveKind::AllReduce;
  Schedule schedule;
};
// All steps of a rank, in the order of the sum. A transposed sum runs them backwards, transposed. A
// rank outside the grid has as many steps, with empty schedules.
std::vector<ScheduledStep> scheduledSteps(const ReductionPlan& plan, const Layout& from,
                                          const Layout& to, const SumChange& change,
                                          Index elementBytes, int rank);
// What a rank sends in them as a source, and as a target what it sends in the adjoint.
Traffic sentInSteps(const std::vector<ScheduledStep>& steps, const SumChange& change, int rank,
                    Role role);

} // namespace tenon
