// SPDX-License-Identifier: BSD-2-Clause
// Tests the choice of the cheapest reduction program for a sum, and the prices of programs. The
// price, a closed formula, is compared with one that is counted from the schedules (the messages)
// of all members of the sum; the choice is compared with all other programs; both on random
// machines with one to three levels of links.
#include "reduction/cheapest_sum.hpp"

#include "geometry/layout/cuts.hpp"
#include "placement/synthesis.hpp"
#include "reduction/execution.hpp"
#include "reduction/reduction_groups.hpp"
#include "reduction/reduction_step.hpp"
#include "support/draws.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

namespace tenon {
namespace {

// The price of a program, counted from the schedules of all members: for each step that of the
// member with the highest price. A member takes the largest latency of the levels that it uses, an
// overhead for each message, the time of its bytes on each level, and that of copying what it packs
// and writes (the formula of reduction/program_price.hpp).
double countedPrice(const ReductionPlan& plan, Index elements, Index elementBytes) {
  std::vector<int> ranks(deviceCount(plan.hierarchy));
  std::iota(ranks.begin(), ranks.end(), 0);
  const std::vector<Index> cuts = balancedCuts(elements, static_cast<int>(ranks.size()));
  std::vector<std::vector<ReductionStep>> steps;
  for (int member : ranks)
    steps.push_back(reductionSteps(plan, member, cuts, elements * elementBytes));
  const LinkRates& rates = plan.rates;
  const std::size_t levels = rates.levels.size();
  double seconds = 0;
  for (std::size_t i = 0; i < steps.front().size(); ++i) {
    double dearest = 0;
    for (int member : ranks) {
      const Schedule schedule = reductionSchedule(steps[member][i], member, ranks);
      std::vector<double> out(levels + 1), in(levels + 1);
      double sends = 0, receives = 0, packed = 0, written = 0, latency = 0, transfer = 0;
      for (const Transfer& t : schedule.sends)
        if (t.peer != member) { // its own share is not packed, only written
          ++sends;
          packed += double(t.elements);
          out[rates.levelBetween(member, t.peer)] += double(t.elements);
        }
      for (const Transfer& t : schedule.receives) {
        written += double(t.elements);
        if (t.peer != member) {
          ++receives;
          in[rates.levelBetween(member, t.peer)] += double(t.elements);
        }
      }
      for (std::size_t level = 0; level <= levels; ++level)
        if (const double most = std::max(out[level], in[level]); most > 0) {
          const LinkRates links = rates.onLevel(level);
          latency = std::max(latency, links.latency);
          transfer += most * double(elementBytes) / links.bandwidth;
        }
      dearest =
          std::max(dearest, latency + std::max(sends, receives) * rates.overhead + transfer +
                                (packed + written) * double(elementBytes) / rates.copyBandwidth);
    }
    seconds += dearest;
  }
  return seconds;
}

struct DrawnSum {
  Hierarchy hierarchy;
  LinkRates rates;
  Index elements;
};

// A machine of one to three levels, each slower than those inside it.
DrawnSum drawnSum(std::mt19937& random) {
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const auto power = [&](double low, double high) {
    return std::pow(10, std::uniform_real_distribution<double>(low, high)(random));
  };
  DrawnSum sum;
  const int levels = draw(1, 3);
  for (int level = 0; level < levels; ++level)
    sum.hierarchy.push_back(draw(2, levels == 3 ? 4 : 6));
  sum.rates = {.latency = power(-7, -5),
               .overhead = power(-7, -6),
               .bandwidth = power(9, 10.5),
               .copyBandwidth = power(9.5, 10.5)};
  Index unit = 1;
  double latency = sum.rates.latency, bandwidth = sum.rates.bandwidth;
  for (int level = levels - 1; level > 0; --level) {
    unit *= sum.hierarchy[level];
    latency *= power(0, 1);
    bandwidth *= power(-1.5, 0);
    sum.rates.levels.insert(sum.rates.levels.begin(),
                            {.ranks = unit, .latency = latency, .bandwidth = bandwidth});
  }
  // Each member has the same share, so that the price is exact.
  sum.elements = deviceCount(sum.hierarchy) * Index(std::lround(power(0, 5)));
  return sum;
}

TEST(CheapestSum, IsPricedAsWhatItsSchedulesMove) {
  std::mt19937 random(38);
  for (int i = 0; i < test::drawsAlone(2000); ++i) {
    const DrawnSum sum = drawnSum(random);
    const SumGoal goal = std::array{SumGoal::All, SumGoal::Share, SumGoal::First}[i % 3];
    const double bytes = 8.0 * double(sum.elements);
    const CheapestSum best = cheapestSum(sum.hierarchy, bytes, sum.rates, goal);
    checkReduces(best.program, int(best.hierarchy.size()), goal == SumGoal::Share);
    ASSERT_EQ(deviceCount(best.hierarchy), deviceCount(sum.hierarchy));
    ASSERT_NEAR(best.seconds, priceOfProgram(best.program, best.hierarchy, bytes, sum.rates, goal),
                1e-9 * best.seconds);
    const double counted = countedPrice(
        {.hierarchy = best.hierarchy, .program = best.program, .rates = sum.rates, .goal = goal},
        sum.elements, 8);
    ASSERT_NEAR(best.seconds, counted, 1e-9 * counted) << i << ": " << describe(best.program);
  }
}

// Random programs of the language, also those with roots (Reduce, Broadcast).
TEST(ProgramPrice, IsWhatSchedulesMove) {
  std::mt19937 random(4);
  for (int i = 0; i < 300; ++i) {
    const DrawnSum sum = drawnSum(random);
    const auto set = reductionPrograms(int(sum.hierarchy.size()), 4);
    const Program program =
        set->program(std::uniform_int_distribution<Index>(0, set->count() - 1)(random));
    const double counted = countedPrice(
        {.hierarchy = sum.hierarchy, .program = program, .rates = sum.rates}, sum.elements, 8);
    ASSERT_NEAR(priceOfProgram(program, sum.hierarchy, 8.0 * double(sum.elements), sum.rates),
                counted, 1e-9 * counted)
        << describe(program);
  }
}

// The chosen program is not more expensive than any program of the language without roots, in any
// order of the levels.
TEST(CheapestSum, IsTheLeastOfAllPrograms) {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    const DrawnSum sum = drawnSum(random);
    const double bytes = 8.0 * double(sum.elements);
    const double best = cheapestSum(sum.hierarchy, bytes, sum.rates).seconds;
    const auto set = reductionPrograms(int(sum.hierarchy.size()), 5);
    for (Index p = 0; p < set->count(); ++p) {
      const Program program = set->program(p);
      const bool hasRoots = std::ranges::any_of(program, [](const Instruction& step) {
        return step.form == GroupForm::Master || step.collective == CollectiveKind::Reduce;
      });
      if (hasRoots)
        continue;
      ASSERT_LE(best, (1 + 1e-9) * priceOfProgram(program, sum.hierarchy, bytes, sum.rates))
          << describe(program);
    }
  }
}

constexpr LinkRates kNode{.latency = 1e-6, .overhead = 3e-7, .bandwidth = 5e9};

// Nodes of this number of ranks, which share the bandwidth of their node's network adapter.
LinkRates nodesOf(Index ranks) {
  LinkRates rates = kNode;
  rates.levels = {{.ranks = ranks, .latency = 2e-6, .bandwidth = 5e9 / double(ranks)}};
  return rates;
}

// Elements that leave and enter each node in a large sum, counted from the schedules, in multiples
// of the array. At least (n-1)/n must leave until each of the n nodes has its share of the sum, and
// as much again until all have the whole sum. `most` is the upper bound of both together, 2 (n-1)/n
// and 0.05 of the array more.
TEST(CheapestSum, LeavesANodeAboutOnceEachWay) {
  for (const auto& [nodes, most] : {std::pair(2, 1.05), {4, 1.55}, {8, 1.8}})
    for (const SumGoal goal : {SumGoal::All, SumGoal::Share, SumGoal::First}) {
      const int ranks = 8 * nodes;
      const Index elements = 1 << 20;
      const LinkRates rates = nodesOf(8);
      const CheapestSum best = cheapestSum({nodes, 8}, 8.0 * elements, rates, goal);
      const ReductionPlan plan{
          .hierarchy = best.hierarchy, .program = best.program, .rates = rates, .goal = goal};
      std::vector<int> members(ranks);
      std::iota(members.begin(), members.end(), 0);
      const std::vector<Index> cuts = balancedCuts(elements, ranks);
      std::vector<Index> out(nodes), in(nodes); // the transpose sends what the sum receives
      for (const int member : members)
        for (const ReductionStep& step : reductionSteps(plan, member, cuts, 8 * elements)) {
          const Schedule schedule = reductionSchedule(step, member, members);
          for (const Transfer& t : schedule.sends)
            out[member / 8] += t.peer / 8 != member / 8 ? t.elements : 0;
          for (const Transfer& t : schedule.receives)
            in[member / 8] += t.peer / 8 != member / 8 ? t.elements : 0;
        }
      const double share = goal == SumGoal::Share ? 0.5 : 1;
      for (const auto* counts : {&out, &in})
        for (const Index one : *counts)
          EXPECT_LE(double(one), share * most * double(elements)) << describe(best.program);
    }
}

// The number of messages of a rank is of the order of the ranks of a node plus the logarithm of the
// number of nodes, and the program has at most 8 levels.
TEST(CheapestSum, OfShortArraysHasFewMessages) {
  const CheapestSum nodes = cheapestSum({64, 8}, 8, nodesOf(8));
  Index messages = 0;
  for (const Index size : nodes.hierarchy)
    messages += size - 1;
  EXPECT_LE(messages, 8 + 3 * 6) << describe(nodes.program); // 64 nodes = 2^6
  const CheapestSum many = cheapestSum({1024}, 8, nodesOf(1));
  EXPECT_LE(many.hierarchy.size(), 8u);
  EXPECT_EQ(deviceCount(many.hierarchy), 1024);
}

TEST(CheapestSum, OfOneMemberIsNothing) {
  EXPECT_TRUE(cheapestSum({}, 8, kNode).program.empty());
  EXPECT_EQ(cheapestSum({}, 8, kNode).seconds, 0);
}

TEST(RatesOfMembers, CountMembersInUnits) {
  LinkRates rates = kNode;
  rates.levels = {{.ranks = 16, .latency = 3e-6, .bandwidth = 1e8},
                  {.ranks = 4, .latency = 2e-6, .bandwidth = 1e9}};
  EXPECT_EQ(levelsOf(rates, 32), (Hierarchy{2, 4, 4}));
  // Two of the four ranks of each group, in two groups of each unit of 16. A unit then has four
  // members and a group two.
  const LinkRates some = ratesOfMembers(rates, {0, 1, 4, 5, 16, 17, 20, 21});
  EXPECT_EQ(some.levels,
            (std::vector<LevelRates>{{.ranks = 4, .latency = 3e-6, .bandwidth = 1e8},
                                     {.ranks = 2, .latency = 2e-6, .bandwidth = 1e9}}));
  // Members of one group cross no level. Members 0 and 16 cross the outer one, at whose rates they
  // are units of one member.
  EXPECT_TRUE(ratesOfMembers(rates, {4, 5, 6, 7}).levels.empty());
  const LinkRates far = ratesOfMembers(rates, {0, 16});
  EXPECT_EQ(far.levels, (std::vector<LevelRates>{{.ranks = 1, .latency = 3e-6, .bandwidth = 1e8}}));
}

} // namespace
} // namespace tenon
