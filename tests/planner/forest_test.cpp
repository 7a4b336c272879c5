// SPDX-License-Identifier: BSD-2-Clause
// Tests the lower bounds of a spanning forest (planner/search/forest.hpp) and the elimination of
// the states that they leave (pruned.hpp), on random tables of whole numbers, against an exhaustive
// search. Sums are exact, so results must be equal.
#include "planner/random_tables.hpp"
#include "planner/search/forest.hpp"
#include "planner/search/pruned.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace tenon {
namespace {

using test::forAllPlans;
using test::forRandomTables;
using test::leastByForce;

double weighed(const CostTables& tables, const std::vector<int>& choice, double secondsPerByte) {
  return tables.secondsOf(choice) + secondsPerByte * tables.bytesOf(choice);
}

// By layer and state: the least sum of all plans in which the layer has this state.
std::vector<std::vector<double>> leastWithEach(const CostTables& tables, double secondsPerByte) {
  std::vector<std::vector<double>> least;
  for (const auto& states : tables.seconds)
    least.emplace_back(states.size(), std::numeric_limits<double>::infinity());
  forAllPlans(tables, [&](const std::vector<int>& choice) {
    for (int layer = 0; layer < tables.layers(); ++layer)
      least[layer][choice[layer]] =
          std::min(least[layer][choice[layer]], weighed(tables, choice, secondsPerByte));
  });
  return least;
}

TEST(Forest, BoundsAreAtMostTheLeastSums) {
  int exact = 0, all = 0;
  forRandomTables(29, [&](const CostTables& tables) {
    for (const double perByte : {0.0, 2.0}) {
      Forest forest(tables);
      forest.run(perByte);
      const auto least = leastWithEach(tables, perByte);
      const bool isTree = static_cast<int>(tables.pairs.size()) < tables.layers();
      for (int layer = 0; layer < tables.layers(); ++layer)
        for (int state = 0; state < tables.states(layer); ++state) {
          ASSERT_LE(forest.bounds()[layer][state], least[layer][state]);
          exact += forest.bounds()[layer][state] == least[layer][state];
          ++all;
          // Without cycles nothing is left out.
          if (isTree) {
            EXPECT_EQ(forest.bounds()[layer][state], least[layer][state]);
          }
          // A good plan has the state that was requested.
          EXPECT_EQ(forest.goodPlan(layer, state)[layer], state);
        }
    }
  });
  EXPECT_GT(exact, all / 3); // a bound of 0 would also be at most the least sum
}

// The pairs of states of every plan whose sum is at most a given number are visited.
TEST(Forest, VisitsWhateverIsInAPlanOfAtMostASum) {
  forRandomTables(29, [](const CostTables& tables) {
    Forest forest(tables);
    forest.run();
    const double most = tables.secondsOf(forest.goodPlan());
    std::vector<std::vector<bool>> isVisited;
    for (const PairTable& pair : tables.pairs)
      isVisited.emplace_back(pair.seconds.size(), false);
    forest.visitUpTo(most, [&](std::size_t pair, int from, int to) {
      isVisited[pair][from * tables.states(tables.pairs[pair].to) + to] = true;
    });
    forAllPlans(tables, [&](const std::vector<int>& choice) {
      if (tables.secondsOf(choice) > most)
        return;
      for (std::size_t p = 0; p < tables.pairs.size(); ++p) {
        const PairTable& pair = tables.pairs[p];
        ASSERT_TRUE(isVisited[p][choice[pair.from] * tables.states(pair.to) + choice[pair.to]]);
      }
    });
  });
}

TEST(PrunedElimination, FindsWhatEliminationFinds) {
  std::size_t dropped = 0;
  forRandomTables(29, [&](const CostTables& tables) {
    for (const double perByte : {0.0, 3.0}) {
      Forest forest(tables);
      forest.run(perByte);
      const double most = weighed(tables, forest.goodPlan(), perByte);
      const PrunedElimination pruned(tables, eliminationOrder(tables), forest, perByte, most);
      Elimination whole(tables);
      const double least = whole.run(perByte);
      EXPECT_EQ(pruned.choice(), whole.choice());
      EXPECT_EQ(weighed(tables, pruned.choice(), perByte), least);
      const auto all = leastWithEach(tables, perByte), found = pruned.minMarginals();
      for (int layer = 0; layer < tables.layers(); ++layer)
        for (int state = 0; state < tables.states(layer); ++state)
          if (all[layer][state] <= most) {
            EXPECT_EQ(found[layer][state], all[layer][state]);
          } else {
            EXPECT_GT(found[layer][state], most);
            ++dropped;
          }
    }
  });
  EXPECT_GT(dropped, 100u); // or nothing was pruned, and the test shows nothing
}

} // namespace
} // namespace tenon
