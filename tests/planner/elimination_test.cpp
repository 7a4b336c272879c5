// SPDX-License-Identifier: BSD-2-Clause
// Tests the searches of least sums (planner/search/): elimination with min-marginals and lists of
// best plans, the memory bound, and Pareto fronts, on random tables of whole numbers, against an
// exhaustive search of all plans. Sums are exact, so results must be equal.
#include "planner/random_tables.hpp"
#include "planner/search/elimination.hpp"
#include "planner/search/memory_bound.hpp"
#include "planner/search/pareto.hpp"
#include "sys/expect_error.hpp"

#include <algorithm>

namespace tenon {
namespace {

using test::forAllPlans;
using test::forRandomTables;
using test::leastByForce;

TEST(Elimination, FindsTheLeastSum) {
  forRandomTables(17, [](const CostTables& tables) {
    Elimination elimination(tables);
    EXPECT_EQ(elimination.run(), *leastByForce(tables));
    EXPECT_EQ(tables.secondsOf(elimination.choice()), *leastByForce(tables));
  });
}

TEST(Elimination, WeighsBytes) {
  forRandomTables(17, [](const CostTables& tables) {
    Elimination elimination(tables);
    double least = std::numeric_limits<double>::infinity();
    forAllPlans(tables, [&](const std::vector<int>& choice) {
      least = std::min(least, tables.secondsOf(choice) + 3 * tables.bytesOf(choice));
    });
    EXPECT_EQ(elimination.run(3), least);
  });
}

TEST(Elimination, MinMarginalsAreTheBestPlansWithEachState) {
  forRandomTables(17, [](const CostTables& tables) {
    std::vector<std::vector<double>> least;
    for (const auto& states : tables.seconds)
      least.emplace_back(states.size(), std::numeric_limits<double>::infinity());
    forAllPlans(tables, [&](const std::vector<int>& choice) {
      for (int layer = 0; layer < tables.layers(); ++layer)
        least[layer][choice[layer]] =
            std::min(least[layer][choice[layer]], tables.secondsOf(choice));
    });
    Elimination elimination(tables);
    elimination.run();
    EXPECT_EQ(elimination.minMarginals(), least);
  });
}

TEST(Elimination, ListsTheBestPlansInOrder) {
  forRandomTables(17, [](const CostTables& tables) {
    std::vector<double> sums;
    forAllPlans(tables,
                [&](const std::vector<int>& choice) { sums.push_back(tables.secondsOf(choice)); });
    std::sort(sums.begin(), sums.end());
    Elimination elimination(tables);
    elimination.run();
    const std::vector<std::vector<int>> best = elimination.best(40);
    ASSERT_EQ(best.size(), std::min<std::size_t>(40, sums.size()));
    EXPECT_EQ(best.front(), elimination.choice());
    for (std::size_t k = 0; k < best.size(); ++k) {
      EXPECT_EQ(tables.secondsOf(best[k]), sums[k]);
      EXPECT_EQ(std::count(best.begin(), best.end(), best[k]), 1);
    }
  });
}

// Six layers, each a neighbour of all others: the table of any layer has 57^6 entries, more than
// kMaxCombinations.
TEST(Elimination, RefusesTooManyConnections) {
  CostTables tables;
  for (int layer = 0; layer < 6; ++layer) {
    tables.names.push_back("L" + std::to_string(layer));
    tables.seconds.emplace_back(57, 0.0);
    tables.bytes.emplace_back(57, 0.0);
    for (int other = 0; other < layer; ++other)
      tables.pairs.push_back(
          {.from = other, .to = layer, .seconds = std::vector<double>(57 * 57, 0.0)});
  }
  expectError(TENON_ERR_SUPPORT, {"layer L0", "L1, L2, L3, L4, L5", "fix the parallelization"},
              [&] { Elimination elimination(tables); });
  // With the parallelizations of two layers fixed, 57^4 combinations remain.
  const std::vector<int> one = {5};
  std::vector<int> all(57);
  for (int k = 0; k < 57; ++k)
    all[k] = k;
  EXPECT_EQ(Elimination(tables.restrictedTo({one, one, all, all, all, all})).run(), 0);
}

TEST(MemoryBound, FindsTheFastestWithinTheLimit) {
  forRandomTables(17, [](const CostTables& tables) {
    double least = 0, most = 0;
    for (const auto& bytes : tables.bytes) {
      least += *std::min_element(bytes.begin(), bytes.end());
      most += *std::max_element(bytes.begin(), bytes.end());
    }
    for (double share : {0.0, 0.1, 0.3, 0.5, 0.9}) {
      const double limit = std::max(1.0, least + std::floor(share * (most - least)));
      const BoundedPlan found = fastestPlan(tables, limit);
      EXPECT_EQ(found.seconds, *leastByForce(tables, limit)) << limit;
      EXPECT_EQ(tables.secondsOf(found.choice), found.seconds);
      EXPECT_LE(tables.bytesOf(found.choice), limit);
      EXPECT_LT(found.gap, 1e-11);
    }
  });
}

// The bounds by which states are excluded are lower bounds of all plans within the limit.
TEST(MemoryBound, MinMarginalsAreLowerBounds) {
  forRandomTables(17, [](const CostTables& tables) {
    const double limit = 20.0 * tables.layers();
    if (!leastByForce(tables, limit))
      return;
    const BoundedPlan found = fastestPlan(tables, limit);
    forAllPlans(tables, [&](const std::vector<int>& choice) {
      if (tables.bytesOf(choice) > limit)
        return;
      for (int layer = 0; layer < tables.layers(); ++layer)
        ASSERT_LE(found.minMarginals[layer][choice[layer]], tables.secondsOf(choice) + 1e-6);
    });
  });
}

TEST(MemoryBound, NamesTheLayersThatNeedMost) {
  CostTables tables;
  tables.names = {"small", "large"};
  tables.seconds = {{1, 2}, {1}};
  tables.bytes = {{10, 5}, {100}};
  expectError(TENON_ERR_MEMORY_LIMIT,
              {"limit is 90 B", "at least 105 B", "15 B more", "large 100 B, small 5 B"},
              [&] { fastestPlan(tables, 90); });
  // The limit excludes the faster state of the small layer, which needs 10 bytes.
  EXPECT_EQ(fastestPlan(tables, 105).choice, (std::vector<int>{1, 0}));
}

TEST(Pareto, StopsAtTooManyLabels) {
  std::mt19937 random(3);
  const CostTables tables = test::randomTables(test::smallGraphs()[5], random);
  EXPECT_FALSE(fastestWithin(tables, 1e9, 1e9, 3).finished);
  const ParetoResult all = fastestWithin(tables, 1e9, 1e9, 1 << 20);
  ASSERT_TRUE(all.finished);
  EXPECT_EQ(tables.secondsOf(*all.choice), *leastByForce(tables));
  EXPECT_FALSE(fastestWithin(tables, -1, 1e9, 1 << 20).choice);
}

} // namespace
} // namespace tenon
