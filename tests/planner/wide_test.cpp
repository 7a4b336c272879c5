// SPDX-License-Identifier: BSD-2-Clause
// Tests the search of tables that are too wide for exact elimination (planner/search/wide.hpp). On
// small random tables its bounds and results are compared with an exhaustive search. On a dense
// block of eight layers, a planted plan is the best by construction and must be found, or no plan
// may be below the proven bound.
#include "planner/search/forest.hpp"
#include "planner/search/memory_bound.hpp"
#include "planner/search/wide.hpp"
#include "random_tables.hpp"

namespace tenon::test {
namespace {

TEST(WideSearch, BoundsAreTrueAndSmallTablesExact) {
  constexpr double kSum = 1e-9; // rounding of moved costs
  forRandomTables(23, [](const CostTables& tables) {
    Forest forest(tables);
    forest.run();
    const WideResult found = searchWide(tables, 0, forest.goodPlan());
    const double least = *leastByForce(tables);
    EXPECT_NEAR(found.least, least, kSum);
    EXPECT_NEAR(tables.secondsOf(found.choice), least, kSum);
    forAllPlans(tables, [&](const std::vector<int>& choice) {
      for (int layer = 0; layer < tables.layers(); ++layer)
        ASSERT_LE(found.bounds[layer][choice[layer]], tables.secondsOf(choice) + kSum);
    });
  });
}

// Eight layers, each a neighbour of all others: with 40 states, elimination would need 40^8
// combinations. The planted plan costs 1 in each table; all other entries are at least
// leastOfOthers.
CostTables denseBlock(std::mt19937& random, double leastOfOthers, const std::vector<int>& planted) {
  const auto layers = static_cast<int>(planted.size());
  constexpr int kStates = 40;
  std::uniform_real_distribution<double> others(leastOfOthers, 2);
  CostTables tables;
  for (int layer = 0; layer < layers; ++layer) {
    tables.names.push_back("layer" + std::to_string(layer));
    auto& seconds = tables.seconds.emplace_back();
    for (int k = 0; k < kStates; ++k)
      seconds.push_back(k == planted[layer] ? 1 : others(random));
    tables.bytes.emplace_back(kStates, 1);
  }
  for (int from = 0; from < layers; ++from)
    for (int to = from + 1; to < layers; ++to) {
      PairTable& pair = tables.pairs.emplace_back(PairTable{from, to, {}});
      for (int i = 0; i < kStates; ++i)
        for (int k = 0; k < kStates; ++k)
          pair.seconds.push_back(i == planted[from] && k == planted[to] ? 1 : others(random));
    }
  return tables;
}

TEST(WideSearch, FindsThePlanOfADenseBlockThatIsBestEverywhere) {
  std::mt19937 random(29);
  const std::vector<int> planted = {3, 39, 0, 17, 8, 21, 30, 5};
  const CostTables tables = denseBlock(random, 1.1, planted);
  const BoundedPlan found = fastestPlan(tables, 0);
  EXPECT_EQ(found.choice, planted);
  EXPECT_EQ(found.seconds, tables.secondsOf(planted));
  EXPECT_LT(found.gap, 1e-9);
}

// Here other entries can be below the 1 of the planted plan, and the search need not find the best.
TEST(WideSearch, TellsTheGapOfAnyDenseBlock) {
  std::mt19937 random(31);
  const std::vector<int> planted = {3, 39, 0, 17, 8, 21, 30, 5};
  const CostTables tables = denseBlock(random, 0.5, planted);
  for (const double limit : {0.0, 8.0}) { // none, and one that each plan meets: a byte per layer
    const BoundedPlan found = fastestPlan(tables, limit);
    EXPECT_EQ(found.seconds, tables.secondsOf(found.choice));
    EXPECT_GT(found.gap, 0);
    EXPECT_LT(found.gap, 1);
    // No plan is below the bound: neither the planted one nor those drawn.
    const double least = found.seconds / (1 + found.gap) * (1 - 1e-9);
    EXPECT_GE(tables.secondsOf(planted), least);
    for (int draw = 0; draw < 1000; ++draw) {
      std::vector<int> choice;
      for (int layer = 0; layer < tables.layers(); ++layer)
        choice.push_back(std::uniform_int_distribution<int>(0, 39)(random));
      EXPECT_GE(tables.secondsOf(choice), least);
    }
  }
}

} // namespace
} // namespace tenon::test
