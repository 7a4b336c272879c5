// SPDX-License-Identifier: BSD-2-Clause
// Chooses the reduction program of a sum (sum_plan.hpp), and prices many sums for a planner.
// levelsOfSum() finds the levels of the machine between the summed ranks, and cheapestSum() the
// program. The sums of a planner are many but of few kinds, so SumPrices caches levels by grid and
// axes, and prices by size.
#include "reduction/sum_plan.hpp"

#include "geometry/schedule/axis_change.hpp"
#include "machine/route.hpp"
#include "reduction/reduction_groups.hpp"
#include "sys/errors/error.hpp"

#include <algorithm>

namespace tenon {

LinkRates withAssumedNodes(LinkRates rates, const Hierarchy& levels) {
  Index ranks = deviceCount(levels); // in a unit of the level; first in the whole machine
  bool isNode = true;
  for (std::size_t level = 0; level + 1 < levels.size(); ++level) {
    ranks /= levels[level];
    // The outermost level with more than one unit is that of the nodes.
    const double linkBandwidth =
        isNode ? rates.bandwidth / static_cast<double>(ranks) : rates.bandwidth;
    if (levels[level] > 1)
      rates.levels.push_back({ranks, rates.latency, linkBandwidth});
    isNode = isNode && levels[level] == 1;
  }
  return rates;
}

ReductionPlan levelsOfSum(const Grid& grid, const SumChange& sum, const Hierarchy& machine,
                          const LinkRates& rates) {
  ReductionPlan plan;
  plan.goal = sum.goal;
  plan.hierarchy = reductionHierarchy(grid, sum.axes, machine);
  plan.order = memberOrder(grid, sum.axes, machine);
  plan.rates = ratesOfMembers(rates, reductionGroupOf(grid, sum.axes, grid.rank(0), plan.order));
  return plan;
}

// Without a level between members, the route of the conversion is as good as any program.
std::optional<SumPlan> cheapestPlan(ReductionPlan levels, double bytes) {
  if (levels.rates.levels.empty())
    return std::nullopt;
  CheapestSum best = cheapestSum(levels.hierarchy, bytes, levels.rates, levels.goal);
  levels.hierarchy = std::move(best.hierarchy);
  levels.program = std::move(best.program);
  return SumPlan{std::move(levels), best.seconds};
}

// The comparisons are those of findRoute(), with the same factors (machine/route.hpp).
double secondsOfSumRoute(Index members, double bytes, const LinkRates& rates) {
  struct RouteCost {
    // `seconds` is the predicted time. `cost` is the same with a handicap for collectives of MPI,
    // and decides which route is used.
    double seconds, cost;
  };
  const MemberGroup group{members, 1};
  const auto collective = [&](CollectiveKind kind) {
    const double seconds =
        priceOfCollective(kind, static_cast<int>(members), static_cast<Index>(bytes), rates);
    return RouteCost{seconds, kCollectiveHandicap * seconds};
  };
  const auto byCost = [](const RouteCost& a, const RouteCost& b) {
    return a.cost < b.cost ? a : b;
  };
  const auto step = [&](CollectiveKind kind) {
    const double exchange = priceOfStep(kind, group, bytes, rates);
    return byCost(collective(kind), {exchange, exchange});
  };
  const RouteCost scatter = step(CollectiveKind::ReduceScatter),
                  gather = step(CollectiveKind::AllGather);
  const double exchange = priceOfStep(CollectiveKind::AllReduce, group, bytes, rates);
  const RouteCost scatterGatherOrCollective =
      byCost({scatter.seconds + gather.seconds, scatter.cost + gather.cost},
             collective(CollectiveKind::AllReduce));
  return scatterGatherOrCollective.cost < kRouteGain * exchange ? scatterGatherOrCollective.seconds
                                                                : exchange;
}

SumPrices::SumPrices(LinkRates rates, int ranks)
    : rates_(std::move(rates)), machine_(levelsOf(rates_, ranks)) {}

std::optional<double> SumPrices::seconds(const Layout& from, const Layout& to, Index elementBytes) {
  if (!haveLevels())
    return std::nullopt;
  const std::optional<SumChange> sum = sumBetween(from, to);
  if (!sum)
    return std::nullopt;
  const std::optional<ReductionPlan>& levels = levelsFor(from.gridPtr(), *sum);
  if (!levels)
    return std::nullopt;
  const Index bytes = mostElements(sum->isTransposed ? to : from) * elementBytes;
  const auto [entry, isNew] = seconds_.try_emplace({&*levels, bytes});
  if (isNew)
    if (const auto plan = cheapestPlan(*levels, static_cast<double>(bytes)))
      entry->second = plan->seconds;
  return entry->second;
}

std::optional<double> SumPrices::secondsInUnit(const Layout& from, const Layout& to,
                                               Index elementBytes) {
  // Most conversions are not such sums, which their properties show without further work.
  bool sums = false;
  for (int axis = 0; axis < std::min(from.grid().axes(), to.grid().axes()); ++axis)
    sums = sums || (from.property(axis).isPartial() && to.property(axis).isBroadcast());
  const std::vector<int> axes = sums ? changedAxes(from, to) : std::vector<int>();
  if (axes.empty() || !from.property(axes.front()).isPartial() ||
      !to.property(axes.front()).isBroadcast())
    return std::nullopt;
  LinkRates links = rates_;
  if (haveLevels()) {
    const std::optional<ReductionPlan>& levels =
        levelsFor(from.gridPtr(), {.axes = axes, .goal = SumGoal::All});
    if (!levels || !levels->rates.levels.empty())
      return std::nullopt;
    links = levels->rates;
  }
  const auto bytes = static_cast<double>(from.mostOwnedElements() * elementBytes);
  return secondsOfSumRoute(from.grid().extentOf(axes), bytes, links);
}

const std::optional<ReductionPlan>& SumPrices::levelsFor(const GridPtr& grid,
                                                         const SumChange& sum) {
  const auto [entry, isNew] = levels_.try_emplace({grid.get(), sum.axes, sum.goal});
  if (!isNew)
    return entry->second;
  grids_.push_back(grid);
  try {
    entry->second = levelsOfSum(*grid, sum, machine_, rates_);
  } catch (const Error&) {
    // The groups do not fit the levels: the sum uses its route, as it does when it is executed.
  }
  return entry->second;
}

} // namespace tenon
