// SPDX-License-Identifier: BSD-2-Clause
// The predicted time of a reduction program, by the formula in program_price.hpp: for one member,
// latency, overhead, transfer and copies of each step. The members of a group are equally spaced,
// so the number of peers on each level of the machine is a quotient, and the work does not depend
// on the number of members. For example, a group of 8 members with stride 1 on nodes of 4 has 3
// peers in the same node and 4 in the other one.
#include "reduction/program_price.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace tenon {

namespace {

Index productOf(const Hierarchy& hierarchy, int first, int last) {
  return std::accumulate(hierarchy.begin() + first, hierarchy.begin() + last, Index(1),
                         std::multiplies<>());
}

// Whether a message has only a share of the data.
bool isShared(CollectiveKind kind) {
  return kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::AllGather;
}

} // namespace

MemberGroup MemberGroup::of(const Hierarchy& hierarchy, const Instruction& instruction) {
  const int levels = static_cast<int>(hierarchy.size());
  const bool inside = instruction.form == GroupForm::InsideGroup;
  const int first = inside ? instruction.slice : instruction.ancestor;
  const int last = inside ? levels : instruction.slice;
  if (first < 0 || first > last || last > levels)
    throw Error(TENON_ERR_ARG, fmt::format("{} names a level that the hierarchy [{}] has not",
                                           instruction.describe(), fmt::join(hierarchy, ",")));
  return {productOf(hierarchy, first, last), productOf(hierarchy, last, levels)};
}

LinkRates ratesOfMembers(const LinkRates& rates, const std::vector<int>& ranks) {
  LinkRates memberRates = rates;
  memberRates.levels.clear();
  for (LevelRates level : rates.levels) {
    const Index unit = level.ranks;
    level.ranks =
        std::ranges::count_if(ranks, [&](int rank) { return rank / unit == ranks.front() / unit; });
    // The outermost level that two members cross determines the rate, so a level whose units are
    // those of the level around it has no effect.
    const Index around = memberRates.levels.empty() ? static_cast<Index>(ranks.size())
                                                    : memberRates.levels.back().ranks;
    if (level.ranks < around)
      memberRates.levels.push_back(level);
  }
  return memberRates;
}

double priceOfStep(CollectiveKind kind, MemberGroup group, double bytes, const LinkRates& rates,
                   SumGoal goal) {
  const double messageBytes = isShared(kind) ? bytes / static_cast<double>(group.members) : bytes;
  double latency = 0, transfer = 0;
  Index remaining = group.members; // members in the first member's unit of the levels so far
  // Adds the messages to the peers across one level.
  const auto cross = [&](Index peers, double levelLatency, double bandwidth) {
    if (peers == 0)
      return;
    latency = std::max(latency, levelLatency);
    transfer += static_cast<double>(peers) * messageBytes / bandwidth;
  };
  for (const LevelRates& level : rates.levels) {
    // Peers in the same unit of this level are counted at the inner levels.
    const Index inUnit =
        std::clamp((level.ranks + group.stride - 1) / group.stride, Index(1), remaining);
    cross(remaining - inUnit, level.latency, level.bandwidth);
    remaining = inUnit;
  }
  cross(remaining - 1, rates.latency, rates.bandwidth);
  // The first member of a sum to one rank packs nothing; a Broadcast writes only its own copy.
  const double moved = static_cast<double>(group.members - 1) * messageBytes;
  const bool toFirst = kind == CollectiveKind::Reduce ||
                       (goal == SumGoal::First && kind != CollectiveKind::ReduceScatter);
  const double packed = toFirst ? 0 : moved;
  const double written = (kind == CollectiveKind::Broadcast ? 0 : moved) + messageBytes;
  return latency + static_cast<double>(group.members - 1) * rates.overhead + transfer +
         (packed + written) / rates.copyBandwidth;
}

namespace {

// Price of an AllReduce as a ReduceScatter and an AllGather.
double priceInTwo(MemberGroup group, double bytes, const LinkRates& rates) {
  return priceOfStep(CollectiveKind::ReduceScatter, group, bytes, rates) +
         priceOfStep(CollectiveKind::AllGather, group, bytes, rates);
}

} // namespace

bool isCheaperInTwo(MemberGroup group, double bytes, const LinkRates& rates) {
  return group.members > 2 && priceInTwo(group, bytes, rates) <
                                  priceOfStep(CollectiveKind::AllReduce, group, bytes, rates);
}

// `bytes` is the data of a member, which grows at a gather and shrinks at a scatter.
std::vector<double> pricesOfSteps(const Program& program, const Hierarchy& hierarchy, double bytes,
                                  const LinkRates& rates, SumGoal goal) {
  std::vector<double> seconds;
  for (const Instruction& instruction : program) {
    const MemberGroup group = MemberGroup::of(hierarchy, instruction);
    const double members = static_cast<double>(group.members);
    const CollectiveKind kind = instruction.collective;
    if (kind == CollectiveKind::AllGather)
      bytes *= members;
    const bool inTwo = goal == SumGoal::All && kind == CollectiveKind::AllReduce &&
                       isCheaperInTwo(group, bytes, rates);
    seconds.push_back(inTwo ? priceInTwo(group, bytes, rates)
                            : priceOfStep(kind, group, bytes, rates, goal));
    if (kind == CollectiveKind::ReduceScatter)
      bytes /= members;
  }
  return seconds;
}

double priceOfProgram(const Program& program, const Hierarchy& hierarchy, double bytes,
                      const LinkRates& rates, SumGoal goal) {
  const std::vector<double> steps = pricesOfSteps(program, hierarchy, bytes, rates, goal);
  return std::accumulate(steps.begin(), steps.end(), 0.0);
}

} // namespace tenon
