// SPDX-License-Identifier: BSD-2-Clause
// The steps of a reduction program as communication schedules. The data of a rank is an array whose
// columns are divided into k chunks, one for each member of its reduction group. Either all C
// elements are one line, in row-major order, in balanced chunks (some empty if there are fewer
// elements than members); or, if each member is to get a share of a tensor dimension, the
// dimensions before it are the lines, and the chunks are the shares. A step takes the members from
// the columns that they hold before it to those that they hold after it (the rows of
// reduction/holdings.hpp). Member i of a group sends to member j
//
//     before(i) and after(j)     except that in a Broadcast only the first member sends,
//
// and j adds the contributions that it receives. This implements AllReduce, ReduceScatter, Reduce
// and AllGather, because two members can hold the same element only in the first three. A member
// that is in no group keeps its data. A member stores its columns contiguously, in ascending order.
//
// If the sum is for the first member only, only the first member of a group stores the result of an
// AllReduce or AllGather; the others end with no data.
//
// So each step is a linear map on memory, and its transpose is the transpose of the schedule:
// AllReduce is its own transpose, ReduceScatter and AllGather are each other's, and so are Reduce
// and Broadcast. The transposed steps in reverse order are the program of the adjoint: S -> B for
// shares, R -> B for a sum for the first.
#pragma once

#include "geometry/schedule/axis_change.hpp"
#include "geometry/schedule/schedule.hpp"
#include "machine/link.hpp"
#include "reduction/holdings.hpp"

namespace tenon {

// Ascending disjoint ranges of columns, with gaps between them.
using ColumnRuns = std::vector<Interval>;
Index columnsIn(const ColumnRuns& runs);

// Shape and chunks of a rank's array.
struct SummedArray {
  Index lines = 1;
  // Chunk boundaries of the columns, by the group's ranks in coordinate order.
  std::vector<Index> cuts;
};
// Returns the array on the side of the contributions, with the chunks of the other side; without
// columns if the rank holds no data.
SummedArray summedArray(const Layout& contributions, const Layout& sums, const SumChange& change,
                        int rank);

// The parameters of a sum, which must be equal on all ranks.
struct ReductionPlan {
  Hierarchy hierarchy; // sizes above 1; their product is the number of members
  Program program;
  LinkRates rates = {}; // rates between members (program_price.hpp)
  // Position of each member among the group's ranks in coordinate order; empty if member i is the
  // i-th.
  std::vector<int> order = {};
  SumGoal goal = SumGoal::All;
};

// One step, as seen by one member.
struct ReductionStep {
  int instruction = 0; // index in the program; a large AllReduce becomes two steps
  CollectiveKind kind = CollectiveKind::AllReduce;
  std::vector<int> group;                // members that act together, including this one
  std::vector<ColumnRuns> before, after; // for each member of the group
};

// Returns the steps of a member. If all members are to get the sum, an AllReduce becomes a
// ReduceScatter and an AllGather where that is cheaper, at the plan's rates, for an array of
// mostBytes bytes, which must be equal on all ranks; the result is bitwise the same. The program
// must reduce, to shares if these are the goal.
std::vector<ReductionStep> reductionSteps(const ReductionPlan& plan, int member,
                                          const std::vector<Index>& cuts, Index mostBytes);

// Returns an upper bound on the elements of any local array, equal on all ranks.
Index mostElements(const Layout& layout);

// Returns the schedule of a member in one of its steps, for an array [lines, columns]; `ranks` are
// those of all members, in order.
Schedule reductionSchedule(const ReductionStep& step, int member, const std::vector<int>& ranks,
                           Index lines = 1);

// A step of one rank, with its schedule.
struct ScheduledStep {
  int instruction = 0;
  CollectiveKind kind = CollectiveKind::AllReduce;
  Schedule schedule;
};
// Returns all steps of a rank, in the order of the sum; a transposed sum runs the transposed steps
// in reverse order. A rank outside the grid has the same number of steps, with empty schedules.
std::vector<ScheduledStep> scheduledSteps(const ReductionPlan& plan, const Layout& from,
                                          const Layout& to, const SumChange& change,
                                          Index elementBytes, int rank);
// Returns the messages that a rank sends in these steps as a source (in the sum), or as a target
// (in the adjoint).
Traffic sentInSteps(const std::vector<ScheduledStep>& steps, const SumChange& change, int rank,
                    Role role);

} // namespace tenon
