// SPDX-License-Identifier: BSD-2-Clause
// Tests reductionHierarchy(): the levels of a machine that the ranks of a sum span. Ranks are
// numbered level by level: on the levels [2, 4], ranks 0-3 are the first node. A sum over axes of a
// process grid is among the ranks that differ only in these axes. Expected hierarchies are written
// by hand.
#include "reduction/reduction_groups.hpp"

#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(ReductionHierarchy, HasTheLevelsThatTheAxesSpan) {
  const GridPtr grid = Grid::make({2, 4});
  EXPECT_EQ(reductionHierarchy(*grid, {0}, {2, 4}), Hierarchy{2});
  EXPECT_EQ(reductionHierarchy(*grid, {1}, {2, 4}), Hierarchy{4});
  EXPECT_EQ(reductionHierarchy(*grid, {0, 1}, {2, 4}), (Hierarchy{2, 4}));
  EXPECT_EQ(reductionHierarchy(*grid, {1}, {2, 2, 2}), (Hierarchy{2, 2}));
  EXPECT_EQ(reductionHierarchy(*grid, {1}, {4, 2}), (Hierarchy{2, 2}));
  EXPECT_EQ(reductionHierarchy(*grid, {0, 1}, {8}), Hierarchy{8});
  EXPECT_EQ(reductionHierarchy(*grid, {0, 1}, {1, 8, 1}), Hierarchy{8});
  EXPECT_EQ(reductionHierarchy(*Grid::make({1, 3}), {0}, {3}), Hierarchy{});
}

// Ranks 0 2 4 6 in the first row, 1 3 5 7 in the second.
TEST(ReductionHierarchy, FollowsTheRanksOfTheGrid) {
  const GridPtr grid = Grid::make({2, 4}, {0, 2, 4, 6, 1, 3, 5, 7});
  EXPECT_EQ(reductionHierarchy(*grid, {0}, {2, 4}), Hierarchy{2});
  EXPECT_EQ(reductionHierarchy(*grid, {1}, {2, 4}), (Hierarchy{2, 2}));
}

// The grid has only a part of the machine's ranks.
TEST(ReductionHierarchy, TakesAPartOfTheMachine) {
  EXPECT_EQ(reductionHierarchy(*Grid::make({4}, {1, 3, 9, 11}), {0}, {2, 8}), (Hierarchy{2, 2}));
}

TEST(ReductionHierarchy, NamesTheRanksThatBreakIt) {
  expectError(TENON_ERR_ARG, {"ranks 0,1,2 ", "[2,2]", "2,2 places", "TenonPartitionCreatePlaced"},
              [] {
                reductionHierarchy(*Grid::make({3}), {0}, {2, 2});
              });
  expectError(TENON_ERR_ARG, {"ranks 0,3 "}, [] {
    reductionHierarchy(*Grid::make({2, 2}, {0, 3, 1, 2}), {1}, {2, 2});
  });
  expectError(TENON_ERR_ARG, {"ranks 0,1 ", "ranks 2,6 ", "all groups must be alike"}, [] {
    reductionHierarchy(*Grid::make({2, 2}, {0, 1, 2, 6}), {1}, {2, 2, 2});
  });
  expectError(TENON_ERR_ARG, {"[2,2]", "4 places", "rank 4", "-tenon_machine_levels"}, [] {
    reductionHierarchy(*Grid::make({5}), {0}, {2, 2});
  });
}

} // namespace
} // namespace tenon
