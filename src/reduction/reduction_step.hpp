// SPDX-License-Identifier: BSD-2-Clause
// The steps of a reduction program as communication schedules. A program is a list of collectives
// in groups of ranks, which together sum the arrays of the k members of a reduction group. The
// array of a rank is a matrix [lines, columns], whose columns are divided into k chunks. Either all
// C elements are one line, in row-major order, in balanced chunks (some empty if there are fewer
// elements than members); or, if each member is to get a share of a tensor dimension, the
// dimensions before it are the lines, and the chunks are the shares. For example, 10 elements of 4
// members are one line with the chunk boundaries 0 3 6 8 10. Before and after each step,
// every member holds some chunks (the rows of reduction/holdings.hpp). In a step member i of a
// group sends to member j
//
//     the columns in both before(i) and after(j)    (in a Broadcast only the first member sends)
//
// and j adds the contributions that it receives. For example, in a ReduceScatter before(i) has all
// columns and after(j) the j-th share. One rule implements AllReduce, ReduceScatter, Reduce and
// AllGather, because two members can hold the same element only in the first three. A member that
// is in no group does not change its data. A member stores its columns contiguously, in ascending
// order.
//
// If the sum is for the first member only, only the first member of a group stores the result of an
// AllReduce or AllGather; the others end with no data.
//
// Each step is a linear map on memory, and its transpose is the transpose of the schedule:
// AllReduce is its own transpose, ReduceScatter and AllGather are transposes of each other, and so
// are Reduce and Broadcast. The transposed steps in reverse order compute the adjoint: shares are
// gathered (S -> B) if the sum is divided into shares, and the root's array is broadcast (R -> B)
// if the sum is for the first member only.
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
// Returns lines and chunks of the rank's array of contributions; the chunks are the shares that the
// members get in `sums`, if it is divided. Without columns if the rank holds no data.
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
  SumGoal goal = SumGoal::All; // Which members get the sum: all, each a share, or the first only.
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
