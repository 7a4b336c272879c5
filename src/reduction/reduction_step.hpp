// SPDX-License-Identifier: BSD-2-Clause
// The steps of a reduction program as schedules. The C elements of a rank's array, in row-major order,
// are cut into k balanced chunks, one for each member of its reduction group; fewer elements than
// members give empty ones. In a step from what members hold before to what they hold after (the
// rows of reduction/holdings.hpp, as elements), member i of a group gives member j
//
//     before(i) and after(j)     but in a Broadcast only the first member gives,
//
// and j adds what it gets. This is AllReduce, ReduceScatter, Reduce and AllGather, as only in the
// first three may two members hold one element. A member that is in no group keeps what it has. A
// member holds its elements without gaps, in their order.
//
// So each step is a linear map on raw memory, and its transpose is that of the schedule: AllReduce
// is its own transpose, ReduceScatter and AllGather are each other's, and so are Reduce and
// Broadcast.
#pragma once

#include "geometry/schedule.hpp"
#include "machine/link.hpp"
#include "reduction/holdings.hpp"

namespace tenon {

// Elements in rising order, with gaps between.
using ElementRuns = std::vector<Interval>;
Index elementsIn(const ElementRuns& runs);

// What all ranks must agree on.
struct ReductionPlan {
  Hierarchy hierarchy; // sizes above 1; their product is the size of a reduction group
  Program program;
  LinkRates rates = {}; // between members (program_price.hpp)
  // Which of a group's ranks, counted by rising coordinates, each member is; empty if member i is
  // the i-th.
  std::vector<int> order = {};
};

struct ReductionStep {
  int instruction = 0; // of the program, from 0; a large AllReduce is two steps
  CollectiveKind kind = CollectiveKind::AllReduce;
  DeviceGroups groups;                    // of members
  std::vector<ElementRuns> before, after; // of each member
};

// The steps of a reduction of `elements` elements on each member of the hierarchy. An AllReduce of
// several members becomes a ReduceScatter and an AllGather where these are cheaper, at these rates,
// for an array of mostBytes, which is the same on all ranks; the result is the same bit by bit. The
// program must reduce.
std::vector<ReductionStep> reductionSteps(const Program& program, const Hierarchy& hierarchy,
                                          Index elements, Index mostBytes, const LinkRates& rates);

// At least the elements of the largest local array; the same on all ranks.
Index mostElements(const Layout& layout);

// The schedule of a member in a step; `ranks` are those of all members, in order.
Schedule reductionSchedule(const ReductionStep& step, int member, const std::vector<int>& ranks);

} // namespace tenon
