// SPDX-License-Identifier: BSD-2-Clause
// Builds the schedule (the messages of one rank) of each step of a reduction program: a list of
// collectives that sum the arrays of k ranks, the members, and give each member all of the sum
// (SumGoal::All), a share (Share), or the first member all of it (First). Words and rule are those
// of reduction_step.hpp; nothing here communicates. For k = 4 members and an array of 10 columns:
//
//     column   0  1  2  3  4  5  6  7  8  9        cuts = 0 3 6 8 10
//     chunk    ---0---  ---1---  --2--  --3--      chunk c has columns cuts[c] ... cuts[c + 1] - 1
//
// A row is the number by which the program knows a chunk (holdings.hpp says which rows a member
// holds). Row i is chunk i, except if the goal is Share (chunkOfEachRow()). After a ReduceScatter
// of all members, member 1 holds row 1, that is columns 3 ... 5, and stores nothing else: column 4
// has the index 4 in the array of a member that holds everything, and 1 in the array of member 1.
//
//   reductionSteps()     computes the columns that each member of a group holds before and after a
//                        step
//   reductionSchedule()  intersects those before with those after, for each pair of members, which
//                        gives the messages, and counts the indices in both arrays meanwhile
//   scheduledSteps()     does both, for one rank of a conversion between two layouts
#include "reduction/reduction_step.hpp"

#include "geometry/layout/cuts.hpp"
#include "reduction/program_price.hpp"
#include "reduction/reduction_groups.hpp"

#include <algorithm>

namespace tenon {

namespace {

// Adds a run of columns at the end, merged with the last run if they are contiguous.
void append(ColumnRuns& runs, Interval run) {
  if (run.empty())
    return;
  if (!runs.empty() && runs.back().end == run.begin)
    runs.back().end = run.end;
  else
    runs.push_back(run);
}

// Returns the columns of a set of rows. Row i is chunk chunkOfRow[i], or chunk i if that is empty.
ColumnRuns columnsOf(const RowSet& rowSet, const std::vector<Index>& cuts,
                     const std::vector<int>& chunkOfRow) {
  ColumnRuns columns;
  if (chunkOfRow.empty()) {
    for (const RowRange& rows : rowSet)
      append(columns, {cuts[rows.begin], cuts[rows.end]});
    return columns;
  }
  std::vector<int> chunkNumbers;
  for (const RowRange& rows : rowSet)
    chunkNumbers.insert(chunkNumbers.end(), chunkOfRow.begin() + rows.begin,
                        chunkOfRow.begin() + rows.end);
  std::ranges::sort(chunkNumbers);
  for (int chunk : chunkNumbers)
    append(columns, {cuts[chunk], cuts[chunk + 1]});
  return columns;
}

// Returns the columns at these positions of the runs, where position 0 is the first column of the
// first run: positions [2, 4) of the runs [3, 6) [8, 10) are the columns [5, 6) [8, 9).
ColumnRuns shareOf(const ColumnRuns& runs, Interval positions) {
  ColumnRuns share;
  Index position = 0;
  for (const Interval& run : runs) {
    const Interval common = intersect(positions, {position, position + run.size()});
    append(share, {run.begin + common.begin - position, run.begin + common.end - position});
    position += run.size();
  }
  return share;
}

// Returns the columns of each member between the ReduceScatter and the AllGather that replace an
// AllReduce: all members had the same columns, and each gets a balanced share of them.
std::vector<ColumnRuns> sharesOf(const std::vector<ColumnRuns>& held) {
  const std::vector<Index> cuts =
      balancedCuts(columnsIn(held.front()), static_cast<int>(held.size()));
  std::vector<ColumnRuns> shares;
  for (std::size_t i = 0; i < held.size(); ++i)
    shares.push_back(shareOf(held.front(), {cuts[i], cuts[i + 1]}));
  return shares;
}

// Adds a block of elements, merged with the last one if they are contiguous in both arrays, for
// longer runs in kernels and messages.
void addBlock(std::vector<ElementBlock>& blocks, Index source, Index target, Index elements) {
  if (!blocks.empty()) {
    ElementBlock& last = blocks.back();
    const Index extent = last.extent[0];
    if (last.sourceBegin[0] + extent == source && last.targetBegin[0] + extent == target) {
      last.extent[0] += elements;
      return;
    }
  }
  blocks.push_back({.extent = {elements},
                    .sourceBegin = {source},
                    .targetBegin = {target},
                    .sourceStep = {1},
                    .targetStep = {1}});
}

// Returns the columns that one member holds before the step and another after it, with their
// positions in both arrays. Both lists are ascending, so one pass over both is sufficient.
Transfer transferOf(int peer, const ColumnRuns& source, const ColumnRuns& target) {
  Transfer transfer{.peer = peer, .elements = 0, .blocks = {}};
  // Indices in the two arrays of the first columns of source[i] and target[j].
  Index sourceIndex = 0, targetIndex = 0;
  for (std::size_t i = 0, j = 0; i < source.size() && j < target.size();) {
    const Interval common = intersect(source[i], target[j]);
    if (!common.empty())
      addBlock(transfer.blocks, sourceIndex + common.begin - source[i].begin,
               targetIndex + common.begin - target[j].begin, common.size());
    transfer.elements += common.size();
    if (source[i].end <= target[j].end)
      sourceIndex += source[i++].size();
    else
      targetIndex += target[j++].size();
  }
  return transfer;
}

// Returns the elements of the source array (or the target array) of `elements` elements that are in
// no transfer. They get no contribution, so in y <- alpha A x + beta y the executor of the schedule
// only scales them by beta.
std::vector<ElementBox> untouched(const std::vector<Transfer>& transfers, bool bySource,
                                  Index elements) {
  std::vector<Interval> runs;
  for (const Transfer& transfer : transfers)
    for (const ElementBlock& block : transfer.blocks) {
      const Index begin = (bySource ? block.sourceBegin : block.targetBegin)[0];
      runs.push_back({begin, begin + block.extent[0]});
    }
  return gapsOf({coverage(std::move(runs), {0, elements})});
}

// Returns the object that computes the rows of each member before each step.
FollowedHoldings holdingsOf(const ReductionPlan& plan) {
  return {plan.hierarchy, plan.program, plan.goal == SumGoal::First};
}

// For SumGoal::Share: returns the chunk of each row, by row. The program leaves one row on each
// member, and the layout of the sums decides which chunk that must be: chunk c belongs to the c-th
// rank of the group in coordinate order, and member m is rank plan.order[m] in that order. So the
// last row of member m is chunk plan.order[m].
std::vector<int> chunkOfEachRow(const ReductionPlan& plan, int members) {
  FollowedHoldings holdings = holdingsOf(plan);
  std::vector<int> chunkOfRow(members);
  for (int member = 0; member < members; ++member) {
    const int lastRow = holdings.before(plan.program.size(), member).front().begin;
    chunkOfRow[lastRow] = plan.order.empty() ? member : plan.order[member];
  }
  return chunkOfRow;
}

// Adds a leading dimension of `lines` lines to a schedule of one line: each block of columns is
// then sent for all lines.
void widen(Schedule& schedule, Index lines) {
  for (auto* transfers : {&schedule.sends, &schedule.receives})
    for (Transfer& transfer : *transfers) {
      transfer.elements *= lines;
      for (ElementBlock& block : transfer.blocks) {
        block.extent.insert(block.extent.begin(), lines);
        block.sourceBegin.insert(block.sourceBegin.begin(), 0);
        block.targetBegin.insert(block.targetBegin.begin(), 0);
        block.sourceStep.insert(block.sourceStep.begin(), 1);
        block.targetStep.insert(block.targetStep.begin(), 1);
      }
    }
  for (Gaps* gaps : {&schedule.sourceGaps, &schedule.targetGaps})
    for (ElementBox& box : gaps->zeros) {
      box.begin.insert(box.begin.begin(), 0);
      box.extent.insert(box.extent.begin(), lines);
    }
  schedule.sourceExtent.insert(schedule.sourceExtent.begin(), lines);
  schedule.targetExtent.insert(schedule.targetExtent.begin(), lines);
}

} // namespace

Index columnsIn(const ColumnRuns& runs) {
  Index sum = 0;
  for (const Interval& run : runs)
    sum += run.size();
  return sum;
}

// Without shares the array is one line of all elements in balanced chunks. With shares of dimension
// `dim` of the array [..., dim, ...], the dimensions before it are the lines, the others the
// columns, and the chunks are the members' parts of `dim`: [5, 8, 2] divided in dimension 1 among 4
// members has 5 lines of 16 columns and cuts 0 4 8 12 16.
SummedArray summedArray(const Layout& contributions, const Layout& sums, const SumChange& change,
                        int rank) {
  const int members = contributions.grid().extentOf(change.axes);
  const Shape extent = extents(contributions.boxOfRank(rank));
  const Index count = elements(extent);
  if (change.goal != SumGoal::Share || count == 0)
    return {.lines = 1, .cuts = balancedCuts(count, members)};
  const auto dim = extent.begin() + change.dim;
  SummedArray array{.lines = elements(Shape(extent.begin(), dim)),
                    .cuts = pieceCuts(sums, sums.grid().position(rank), change.dim, members)};
  const Index inner = elements(Shape(dim + 1, extent.end()));
  for (Index& cut : array.cuts)
    cut *= inner;
  return array;
}

std::vector<ReductionStep> reductionSteps(const ReductionPlan& plan, int member,
                                          const std::vector<Index>& cuts, Index mostBytes) {
  const int members = deviceCount(plan.hierarchy);
  const std::vector<int> chunkOfRow =
      plan.goal == SumGoal::Share ? chunkOfEachRow(plan, members) : std::vector<int>{};
  FollowedHoldings holdings = holdingsOf(plan);
  std::vector<ReductionStep> steps;
  for (std::size_t i = 0; i < plan.program.size(); ++i) {
    const Instruction& instruction = plan.program[i];
    const CollectiveKind kind = instruction.collective;
    // All ranks must divide the same steps in two, so the decision uses the price of one group for
    // all: the first, which contains the first member.
    const double bytes = static_cast<double>(mostBytes) * rowsIn(holdings.before(i, 0)) / members;
    // If only the first member stores the result, an AllReduce is in fact a Reduce.
    const bool isReduce = plan.goal == SumGoal::First && kind == CollectiveKind::AllReduce;
    ReductionStep step{.instruction = static_cast<int>(i),
                       .kind = isReduce ? CollectiveKind::Reduce : kind,
                       .group = groupOf(plan.hierarchy, instruction, member),
                       .before = {},
                       .after = {}};
    for (int other : step.group) {
      step.before.push_back(columnsOf(holdings.before(i, other), cuts, chunkOfRow));
      step.after.push_back(columnsOf(holdings.before(i + 1, other), cuts, chunkOfRow));
    }
    if (plan.goal != SumGoal::All || kind != CollectiveKind::AllReduce ||
        !isCheaperInTwo(MemberGroup::of(plan.hierarchy, instruction), bytes, plan.rates)) {
      steps.push_back(std::move(step));
      continue;
    }
    ReductionStep scatter = step;
    scatter.kind = CollectiveKind::ReduceScatter;
    step.kind = CollectiveKind::AllGather;
    // A member that is in no group of this step keeps all of its columns in both halves.
    if (step.group.size() > 1)
      scatter.after = step.before = sharesOf(step.before);
    steps.push_back(std::move(scatter));
    steps.push_back(std::move(step));
  }
  return steps;
}

Index mostElements(const Layout& layout) {
  // The largest extent in each dimension separately; the product can exceed the size of any block.
  Index product = 1;
  for (int d = 0; d < layout.ndim(); ++d) {
    Index extent = 0;
    for (int part = 0; part < layout.parts(d); ++part)
      extent = std::max(extent, layout.owned(d, part).size());
    product *= extent;
  }
  return product;
}

Schedule reductionSchedule(const ReductionStep& step, int member, const std::vector<int>& ranks,
                           Index lines) {
  const std::size_t me = std::ranges::find(step.group, member) - step.group.begin();
  // `me` and i are indices in the group; the member with index 0 is the root of a Broadcast. After
  // a Broadcast all members hold the root's data; their own earlier data is not used.
  const bool isBroadcast = step.kind == CollectiveKind::Broadcast;
  const ColumnRuns &before = step.before[me], &after = step.after[me];
  Schedule schedule;
  for (std::size_t i = 0; i < step.group.size(); ++i) {
    const int peer = ranks[step.group[i]];
    if (!isBroadcast || me == 0)
      if (Transfer t = transferOf(peer, before, step.after[i]); t.elements > 0)
        schedule.sends.push_back(std::move(t));
    if (!isBroadcast || i == 0)
      if (Transfer t = transferOf(peer, step.before[i], after); t.elements > 0)
        schedule.receives.push_back(std::move(t));
  }
  schedule.sourceExtent = {columnsIn(before)};
  schedule.targetExtent = {columnsIn(after)};
  schedule.sourceGaps.zeros = untouched(schedule.sends, /*bySource=*/true, columnsIn(before));
  schedule.targetGaps.zeros = untouched(schedule.receives, /*bySource=*/false, columnsIn(after));
  schedule.sumsOnReceipt = step.kind == CollectiveKind::AllReduce ||
                           step.kind == CollectiveKind::ReduceScatter ||
                           step.kind == CollectiveKind::Reduce;
  // In the transposed step, the members that hold the result send it back. A source element gets
  // several contributions, to be summed, only if several members hold a result.
  const auto holdsColumns = [](const ColumnRuns& runs) { return !runs.empty(); };
  schedule.sumsOnTranspose = std::ranges::count_if(step.after, holdsColumns) > 1 &&
                             (step.kind == CollectiveKind::AllReduce ||
                              step.kind == CollectiveKind::AllGather || isBroadcast);
  if (lines != 1)
    widen(schedule, lines);
  return schedule;
}

std::vector<ScheduledStep> scheduledSteps(const ReductionPlan& plan, const Layout& from,
                                          const Layout& to, const SumChange& change,
                                          Index elementBytes, int rank) {
  const Layout &contributions = change.isTransposed ? to : from,
               &sums = change.isTransposed ? from : to;
  const std::vector<int> group = reductionGroupOf(from.grid(), change.axes, rank, plan.order);
  const auto member = static_cast<int>(std::ranges::find(group, rank) - group.begin());
  const SummedArray array = summedArray(contributions, sums, change, rank);
  // All ranks must make the same choice for a large AllReduce, whatever their own sizes, so it is
  // based on the largest array.
  const Index mostBytes = mostElements(contributions) * elementBytes;
  std::vector<ScheduledStep> steps;
  // A rank outside the grid (empty group) gets the steps of member 0 with empty schedules.
  for (const ReductionStep& step :
       reductionSteps(plan, group.empty() ? 0 : member, array.cuts, mostBytes)) {
    ScheduledStep& scheduled =
        steps.emplace_back(ScheduledStep{step.instruction, step.kind, /*schedule=*/{}});
    scheduled.schedule.sourceExtent = scheduled.schedule.targetExtent = {0};
    if (!group.empty())
      scheduled.schedule = reductionSchedule(step, member, group, array.lines);
  }
  return steps;
}

Traffic sentInSteps(const std::vector<ScheduledStep>& steps, const SumChange& change, int rank,
                    Role role) {
  // The schedules are those of the sum. A transposed sum (S -> B, R -> B) runs them backwards, so
  // there the adjoint runs them forward.
  const bool isForward = (role == Role::Source) != change.isTransposed;
  Traffic sum;
  for (const ScheduledStep& step : steps)
    sum += isForward ? sentTraffic(step.schedule, rank) : receivedTraffic(step.schedule, rank);
  return sum;
}

} // namespace tenon
