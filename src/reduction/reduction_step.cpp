// SPDX-License-Identifier: BSD-2-Clause
// Builds the schedule of each step of a reduction program. reductionSteps() computes the columns
// that each member of a group holds before and after each step; reductionSchedule() intersects
// those before with those after, for each pair of members, which gives the messages. A member
// stores only the columns that it holds, contiguously, so a column has two indices: one in the
// whole array and one in the member's array. Both are counted while the intersection is computed.
#include "reduction/reduction_step.hpp"

#include "geometry/layout/cuts.hpp"
#include "reduction/program_price.hpp"
#include "reduction/reduction_groups.hpp"

#include <algorithm>

namespace tenon {

namespace {

// Adds a run, merged with the last one if they are contiguous.
void append(ColumnRuns& runs, Interval run) {
  if (run.empty())
    return;
  if (!runs.empty() && runs.back().end == run.begin)
    runs.back().end = run.end;
  else
    runs.push_back(run);
}

// Returns the columns of a set of rows. Row i is chunk i, or chunk chunks[i] if `chunks` is given.
ColumnRuns columnsOf(const RowSet& rowSet, const std::vector<Index>& cuts,
                     const std::vector<int>& chunks) {
  ColumnRuns columns;
  if (chunks.empty()) {
    for (const RowRange& rows : rowSet)
      append(columns, {cuts[rows.begin], cuts[rows.end]});
    return columns;
  }
  std::vector<int> chunkNumbers;
  for (const RowRange& rows : rowSet)
    chunkNumbers.insert(chunkNumbers.end(), chunks.begin() + rows.begin, chunks.begin() + rows.end);
  std::ranges::sort(chunkNumbers);
  for (int chunk : chunkNumbers)
    append(columns, {cuts[chunk], cuts[chunk + 1]});
  return columns;
}

// Returns the columns at positions [begin, end) of the runs.
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

// Merges blocks that are contiguous on both sides, for longer runs in kernels and messages.
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
  Index sourcePlace = 0, targetPlace = 0;
  for (std::size_t i = 0, j = 0; i < source.size() && j < target.size();) {
    const Interval common = intersect(source[i], target[j]);
    if (!common.empty())
      addBlock(transfer.blocks, sourcePlace + common.begin - source[i].begin,
               targetPlace + common.begin - target[j].begin, common.size());
    transfer.elements += common.size();
    if (source[i].end <= target[j].end)
      sourcePlace += source[i++].size();
    else
      targetPlace += target[j++].size();
  }
  return transfer;
}

// Returns the elements of an array that no transfer reaches; the executor scales them by beta.
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

} // namespace

Index columnsIn(const ColumnRuns& runs) {
  Index sum = 0;
  for (const Interval& run : runs)
    sum += run.size();
  return sum;
}

namespace {

FollowedHoldings holdingsOf(const ReductionPlan& plan) {
  return {plan.hierarchy, plan.program, plan.goal == SumGoal::First};
}

// Returns the number of the chunk that each row is. A member must end with its own chunk, so the
// row that the program leaves on a member is the chunk of that member.
std::vector<int> chunksOfShares(const ReductionPlan& plan, int members) {
  FollowedHoldings holdings = holdingsOf(plan);
  std::vector<int> chunks(members);
  for (int member = 0; member < members; ++member)
    chunks[holdings.before(plan.program.size(), member).front().begin] =
        plan.order.empty() ? member : plan.order[member];
  return chunks;
}

} // namespace

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
  const std::vector<int> chunks =
      plan.goal == SumGoal::Share ? chunksOfShares(plan, members) : std::vector<int>{};
  FollowedHoldings holdings = holdingsOf(plan);
  std::vector<ReductionStep> steps;
  for (std::size_t i = 0; i < plan.program.size(); ++i) {
    const Instruction& instruction = plan.program[i];
    const CollectiveKind kind = instruction.collective;
    // All ranks must divide the same steps in two, so the decision uses the price of one group for
    // all: the first, which contains the first member.
    const double bytes = static_cast<double>(mostBytes) * rowsIn(holdings.before(i, 0)) / members;
    const bool reduces = plan.goal == SumGoal::First && kind == CollectiveKind::AllReduce;
    ReductionStep step{.instruction = static_cast<int>(i),
                       .kind = reduces ? CollectiveKind::Reduce : kind,
                       .group = groupOf(plan.hierarchy, instruction, member),
                       .before = {},
                       .after = {}};
    for (int other : step.group) {
      step.before.push_back(columnsOf(holdings.before(i, other), cuts, chunks));
      step.after.push_back(columnsOf(holdings.before(i + 1, other), cuts, chunks));
    }
    if (plan.goal != SumGoal::All || kind != CollectiveKind::AllReduce ||
        !isCheaperInTwo(MemberGroup::of(plan.hierarchy, instruction), bytes, plan.rates)) {
      steps.push_back(std::move(step));
      continue;
    }
    ReductionStep scatter = step;
    scatter.kind = CollectiveKind::ReduceScatter;
    step.kind = CollectiveKind::AllGather;
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
  for (int d = 0; d < layout.rank(); ++d) {
    Index extent = 0;
    for (int part = 0; part < layout.parts(d); ++part)
      extent = std::max(extent, layout.owned(d, part).size());
    product *= extent;
  }
  return product;
}

namespace {

// Adds a leading dimension of `lines` lines to a schedule.
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

Schedule reductionSchedule(const ReductionStep& step, int member, const std::vector<int>& ranks,
                           Index lines) {
  const std::size_t me = std::ranges::find(step.group, member) - step.group.begin();
  // After a Broadcast all members hold the root's data; their own earlier data is not used.
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
  schedule.sourceGaps.zeros = untouched(schedule.sends, true, columnsIn(before));
  schedule.targetGaps.zeros = untouched(schedule.receives, false, columnsIn(after));
  schedule.sumsOnReceipt = step.kind == CollectiveKind::AllReduce ||
                           step.kind == CollectiveKind::ReduceScatter ||
                           step.kind == CollectiveKind::Reduce;
  // If only the first member stores the result, each member's part of the transpose is a single
  // value.
  const auto keeps = [](const ColumnRuns& runs) { return !runs.empty(); };
  schedule.sumsOnTranspose = std::ranges::count_if(step.after, keeps) > 1 &&
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
  for (const ReductionStep& step :
       reductionSteps(plan, group.empty() ? 0 : member, array.cuts, mostBytes)) {
    ScheduledStep& scheduled = steps.emplace_back(ScheduledStep{step.instruction, step.kind, {}});
    scheduled.schedule.sourceExtent = scheduled.schedule.targetExtent = {0};
    if (!group.empty())
      scheduled.schedule = reductionSchedule(step, member, group, array.lines);
  }
  return steps;
}

Traffic sentInSteps(const std::vector<ScheduledStep>& steps, const SumChange& change, int rank,
                    Role role) {
  const bool isForward = (role == Role::Source) != change.isTransposed;
  Traffic sum;
  for (const ScheduledStep& step : steps)
    sum += isForward ? sentTraffic(step.schedule, rank) : receivedTraffic(step.schedule, rank);
  return sum;
}

} // namespace tenon
