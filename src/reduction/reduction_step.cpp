// SPDX-License-Identifier: BSD-2-Clause
// Follows what each member holds through the steps of a program, and makes each step a schedule. A
// member holds its elements without gaps, so that an element has two numbers, one in the whole and
// one in a member's array: schedules are made by counting both.
#include "reduction/reduction_step.hpp"

#include "geometry/cuts.hpp"
#include "reduction/program_price.hpp"

#include <algorithm>

namespace tenon {

namespace {

void append(ElementRuns& runs, Interval run) {
  if (run.empty())
    return;
  if (!runs.empty() && runs.back().end == run.begin)
    runs.back().end = run.end;
  else
    runs.push_back(run);
}

std::vector<ElementRuns> elementsOf(const Holdings& held, const std::vector<Index>& cuts) {
  std::vector<ElementRuns> elements(held.size());
  for (std::size_t member = 0; member < held.size(); ++member)
    for (const RowRange& rows : held[member])
      append(elements[member], {cuts[rows.begin], cuts[rows.end]});
  return elements;
}

// The elements that stand at the places begin ... end-1 when the runs are counted through.
ElementRuns shareOf(const ElementRuns& runs, Interval places) {
  ElementRuns share;
  Index place = 0;
  for (const Interval& run : runs) {
    const Interval taken = intersect(places, {place, place + run.size()});
    append(share, {run.begin + taken.begin - place, run.begin + taken.end - place});
    place += run.size();
  }
  return share;
}

// What members hold between the two steps of an AllReduce: all of a group had the same, and each
// keeps a balanced share of it.
std::vector<ElementRuns> shared(const DeviceGroups& groups, std::vector<ElementRuns> held) {
  for (const std::vector<int>& group : groups) {
    const ElementRuns whole = held[group.front()];
    const std::vector<Index> cuts = balancedCuts(elementsIn(whole), static_cast<int>(group.size()));
    for (std::size_t i = 0; i < group.size(); ++i)
      held[group[i]] = shareOf(whole, {cuts[i], cuts[i + 1]});
  }
  return held;
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

// The elements that one member holds before the step and another after it, with their places in
// both arrays. Both lists of runs rise, so that one walk along the two finds all.
Transfer transferOf(int peer, const ElementRuns& source, const ElementRuns& target) {
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

// A member in no group gives to itself alone, and so keeps what it has.
std::vector<int> groupOf(const DeviceGroups& groups, int member) {
  for (const std::vector<int>& group : groups)
    if (std::find(group.begin(), group.end(), member) != group.end())
      return group;
  return {member};
}

} // namespace

Index elementsIn(const ElementRuns& runs) {
  Index sum = 0;
  for (const Interval& run : runs)
    sum += run.size();
  return sum;
}

std::vector<ReductionStep> reductionSteps(const Program& program, const Hierarchy& hierarchy,
                                          Index elements, Index mostBytes, const LinkRates& rates) {
  const int members = deviceCount(hierarchy);
  const std::vector<Index> cuts = balancedCuts(elements, members);
  Holdings held = initialHoldings(members);
  std::vector<ReductionStep> steps;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const CollectiveKind kind = program[i].collective;
    DeviceGroups groups = groupsOf(hierarchy, program[i]);
    // All ranks must divide the same steps in two, so that the price is that of one group for all
    // of them.
    const std::vector<int>& first = groups.front();
    const double bytes = static_cast<double>(mostBytes) * rowsIn(held[first.front()]) / members;
    Holdings next = holdingsAfter(kind, groups, held);
    ReductionStep step{static_cast<int>(i), kind, std::move(groups), elementsOf(held, cuts),
                       elementsOf(next, cuts)};
    held = std::move(next);
    if (kind != CollectiveKind::AllReduce ||
        !isCheaperInTwo(MemberGroup::of(hierarchy, program[i]), bytes, rates)) {
      steps.push_back(std::move(step));
      continue;
    }
    ReductionStep scatter = step;
    scatter.kind = CollectiveKind::ReduceScatter;
    step.kind = CollectiveKind::AllGather;
    scatter.after = step.before = shared(step.groups, step.before);
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

Schedule reductionSchedule(const ReductionStep& step, int member, const std::vector<int>& ranks) {
  const std::vector<int> group = groupOf(step.groups, member);
  // After a Broadcast all members hold what the root held; what others held before it does not
  // count.
  const bool rootGives = step.kind == CollectiveKind::Broadcast;
  const ElementRuns &before = step.before[member], &after = step.after[member];
  Schedule schedule;
  for (int other : group) {
    if (!rootGives || member == group.front())
      if (Transfer t = transferOf(ranks[other], before, step.after[other]); t.elements > 0)
        schedule.sends.push_back(std::move(t));
    if (!rootGives || other == group.front())
      if (Transfer t = transferOf(ranks[other], step.before[other], after); t.elements > 0)
        schedule.receives.push_back(std::move(t));
  }
  schedule.sourceExtent = {elementsIn(before)};
  schedule.targetExtent = {elementsIn(after)};
  schedule.sourceGaps.zeros = untouched(schedule.sends, true, elementsIn(before));
  schedule.targetGaps.zeros = untouched(schedule.receives, false, elementsIn(after));
  schedule.sumsOnReceipt = step.kind == CollectiveKind::AllReduce ||
                           step.kind == CollectiveKind::ReduceScatter ||
                           step.kind == CollectiveKind::Reduce;
  schedule.sumsOnTranspose = step.kind == CollectiveKind::AllReduce ||
                             step.kind == CollectiveKind::AllGather ||
                             step.kind == CollectiveKind::Broadcast;
  return schedule;
}

} // namespace tenon
