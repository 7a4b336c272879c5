// SPDX-License-Identifier: BSD-2-Clause
// Follows what each member holds through the steps of a program, and makes each step a schedule. A
// member holds its columns without gaps, so that a column has two numbers, one in the whole and one
// in a member's array: schedules are made by counting both.
#include "reduction/reduction_step.hpp"

#include "geometry/layout/cuts.hpp"
#include "reduction/program_price.hpp"
#include "reduction/reduction_groups.hpp"

#include <algorithm>

namespace tenon {

namespace {

void append(ColumnRuns& runs, Interval run) {
  if (run.empty())
    return;
  if (!runs.empty() && runs.back().end == run.begin)
    runs.back().end = run.end;
  else
    runs.push_back(run);
}

// The columns of some of the rows that programs count, each of which is a chunk: row i is the i-th
// chunk, or that which `chunks` names.
ColumnRuns columnsOf(const RowSet& held, const std::vector<Index>& cuts,
                     const std::vector<int>& chunks) {
  ColumnRuns columns;
  if (chunks.empty()) {
    for (const RowRange& rows : held)
      append(columns, {cuts[rows.begin], cuts[rows.end]});
    return columns;
  }
  std::vector<int> named;
  for (const RowRange& rows : held)
    named.insert(named.end(), chunks.begin() + rows.begin, chunks.begin() + rows.end);
  std::ranges::sort(named);
  for (int chunk : named)
    append(columns, {cuts[chunk], cuts[chunk + 1]});
  return columns;
}

// The columns that stand at the places begin ... end-1 when the runs are counted through.
ColumnRuns shareOf(const ColumnRuns& runs, Interval places) {
  ColumnRuns share;
  Index place = 0;
  for (const Interval& run : runs) {
    const Interval taken = intersect(places, {place, place + run.size()});
    append(share, {run.begin + taken.begin - place, run.begin + taken.end - place});
    place += run.size();
  }
  return share;
}

// What a group holds between the two steps of an AllReduce: all had the same, and each keeps a
// balanced share of it.
std::vector<ColumnRuns> shared(const std::vector<ColumnRuns>& held) {
  const std::vector<Index> cuts =
      balancedCuts(columnsIn(held.front()), static_cast<int>(held.size()));
  std::vector<ColumnRuns> shares;
  for (std::size_t i = 0; i < held.size(); ++i)
    shares.push_back(shareOf(held.front(), {cuts[i], cuts[i + 1]}));
  return shares;
}

// Blocks that continue each other on both sides become one, so that kernels and messages see long
// runs.
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

// The columns that one member holds before the step and another after it, with their places in
// both arrays. Both lists of runs rise, so that one walk along the two finds all.
Transfer transferOf(int peer, const ColumnRuns& source, const ColumnRuns& target) {
  Transfer transfer{.peer = peer, .elements = 0, .blocks = {}};
  Index sourcePlace = 0, targetPlace = 0;
  for (std::size_t i = 0, j = 0; i < source.size() && j < target.size();) {
    const Interval both = intersect(source[i], target[j]);
    if (!both.empty())
      addBlock(transfer.blocks, sourcePlace + both.begin - source[i].begin,
               targetPlace + both.begin - target[j].begin, both.size());
    transfer.elements += both.size();
    if (source[i].end <= target[j].end)
      sourcePlace += source[i++].size();
    else
      targetPlace += target[j++].size();
  }
  return transfer;
}

// The elements of an array that no transfer reaches: the executor only scales them by beta.
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

// Which chunk each row is: that of the member which is left with it.
std::vector<int> chunksOfShares(const ReductionPlan& plan, int members) {
  FollowedHoldings held = holdingsOf(plan);
  std::vector<int> chunks(members);
  for (int member = 0; member < members; ++member)
    chunks[held.before(plan.program.size(), member).front().begin] =
        plan.order.empty() ? member : plan.order[member];
  return chunks;
}

} // namespace

SummedArray summedArray(const Layout& contributions, const Layout& sums, const SumChange& change,
                        int rank) {
  const int members = contributions.grid().extentOf(change.axes);
  const Shape extent = extents(contributions.boxOfRank(rank));
  const Index all = elements(extent);
  if (change.goal != SumGoal::Share || all == 0)
    return {.lines = 1, .cuts = balancedCuts(all, members)};
  const auto at = extent.begin() + change.dim;
  SummedArray array{.lines = elements(Shape(extent.begin(), at)),
                    .cuts = pieceCuts(sums, sums.grid().position(rank), change.dim, members)};
  const Index inner = elements(Shape(at + 1, extent.end()));
  for (Index& cut : array.cuts)
    cut *= inner;
  return array;
}

std::vector<ReductionStep> reductionSteps(const ReductionPlan& plan, int member,
                                          const std::vector<Index>& cuts, Index mostBytes) {
  const int members = deviceCount(plan.hierarchy);
  const std::vector<int> chunks =
      plan.goal == SumGoal::Share ? chunksOfShares(plan, members) : std::vector<int>{};
  FollowedHoldings held = holdingsOf(plan);
  std::vector<ReductionStep> steps;
  for (std::size_t i = 0; i < plan.program.size(); ++i) {
    const Instruction& instruction = plan.program[i];
    const CollectiveKind kind = instruction.collective;
    // All ranks must divide the same steps in two, so that the price is that of one group for all
    // of them: the first, in which the first member is.
    const double bytes = static_cast<double>(mostBytes) * rowsIn(held.before(i, 0)) / members;
    const bool reduces = plan.goal == SumGoal::First && kind == CollectiveKind::AllReduce;
    ReductionStep step{.instruction = static_cast<int>(i),
                       .kind = reduces ? CollectiveKind::Reduce : kind,
                       .group = groupOf(plan.hierarchy, instruction, member),
                       .before = {},
                       .after = {}};
    for (int other : step.group) {
      step.before.push_back(columnsOf(held.before(i, other), cuts, chunks));
      step.after.push_back(columnsOf(held.before(i + 1, other), cuts, chunks));
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
      scatter.after = step.before = shared(step.before);
    steps.push_back(std::move(scatter));
    steps.push_back(std::move(step));
  }
  return steps;
}

Index mostElements(const Layout& layout) {
  // A part is largest in each dimension by itself, so that this can be more than any rank holds.
  Index most = 1;
  for (int d = 0; d < layout.rank(); ++d) {
    Index extent = 0;
    for (int part = 0; part < layout.parts(d); ++part)
      extent = std::max(extent, layout.owned(d, part).size());
    most *= extent;
  }
  return most;
}

namespace {

// The schedule with as many lines as given in front of its columns.
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
  // After a Broadcast all members hold what the root held; what others held before it does not
  // count.
  const bool rootGives = step.kind == CollectiveKind::Broadcast;
  const ColumnRuns &before = step.before[me], &after = step.after[me];
  Schedule schedule;
  for (std::size_t i = 0; i < step.group.size(); ++i) {
    const int peer = ranks[step.group[i]];
    if (!rootGives || me == 0)
      if (Transfer t = transferOf(peer, before, step.after[i]); t.elements > 0)
        schedule.sends.push_back(std::move(t));
    if (!rootGives || i == 0)
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
  // Of what the first alone keeps, each member's part of the transpose has one value.
  const auto keeps = [](const ColumnRuns& runs) { return !runs.empty(); };
  schedule.sumsOnTranspose = std::ranges::count_if(step.after, keeps) > 1 &&
                             (step.kind == CollectiveKind::AllReduce ||
                              step.kind == CollectiveKind::AllGather || rootGives);
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
  // Whether a large AllReduce becomes two steps must be the same on all ranks, whatever the size of
  // their own arrays: hence the largest.
  const Index mostBytes = mostElements(contributions) * elementBytes;
  std::vector<ScheduledStep> steps;
  for (const ReductionStep& step :
       reductionSteps(plan, group.empty() ? 0 : member, array.cuts, mostBytes)) {
    ScheduledStep& mine = steps.emplace_back(ScheduledStep{step.instruction, step.kind, {}});
    mine.schedule.sourceExtent = mine.schedule.targetExtent = {0};
    if (!group.empty())
      mine.schedule = reductionSchedule(step, member, group, array.lines);
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
