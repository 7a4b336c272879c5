// SPDX-License-Identifier: BSD-2-Clause
// Tests the levels of a machine that joinPlaces() determines from the places of ranks, lists {node,
// package, core}, against levels and notes written by hand.
#include "machine/places.hpp"

#include "sys/errors/error.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tenon;

using Order = std::vector<Index>;

JoinedPlaces joinRanks(std::vector<std::vector<Index>> places) {
  return joinPlaces("job", {"rank", {"node", "package", "core"}, std::move(places)});
}

void expectLevels(std::vector<Level> levels, const JoinedPlaces& joined) {
  EXPECT_EQ(levels, joined.machine.levels()) << joined.machine.draw();
}

TEST(Places, BecomeLevels) {
  const auto joined = joinRanks(
      {{0, 0, 0}, {0, 0, 1}, {0, 1, 2}, {0, 1, 3}, {1, 0, 0}, {1, 0, 1}, {1, 1, 2}, {1, 1, 3}});
  expectLevels({{"node", 2}, {"package", 2}, {"rank", 2}}, joined);
  EXPECT_EQ((Order{0, 1, 2, 3, 4, 5, 6, 7}), joined.order);
  EXPECT_TRUE(joined.notes.empty());
}

TEST(Places, OrderDevicesByUnit) {
  const auto joined = joinRanks({{0, 0, 0}, {1, 0, 0}, {0, 1, 1}, {1, 1, 1}});
  expectLevels({{"node", 2}, {"rank", 2}}, joined);
  EXPECT_EQ((Order{0, 2, 1, 3}), joined.order);
}

// Several ranks on a core make it a level of its own.
TEST(Places, KeepSharedCores) {
  const auto joined = joinRanks({{0, 0, 0}, {0, 0, 1}, {0, 0, 0}, {0, 0, 1}});
  expectLevels({{"core", 2}, {"rank", 2}}, joined);
  EXPECT_EQ((Order{0, 2, 1, 3}), joined.order);
}

TEST(Places, LeaveOutUnequalUnits) {
  const auto joined =
      joinRanks({{0, 0, 0}, {0, 0, 0}, {0, 1, 1}, {1, 0, 0}, {1, 0, 1}, {1, 0, 2}, {1, 0, 3}});
  expectLevels({{"rank", 7}}, joined);
  ASSERT_EQ(3U, joined.notes.size());
  EXPECT_EQ("level 'node' is left out: its units hold from 3 to 4 ranks"
            "; start as many on each node to keep it (srun --ntasks-per-node=N, mpiexec "
            "--map-by ppr:N:node)",
            joined.notes[0]);
}

// Package 0 of one node is not package 0 of the other, even where nodes are no level.
TEST(Places, TellUnitsOfDifferentNodesApart) {
  const auto joined =
      joinRanks({{0, 0, kNoUnit}, {0, 0, kNoUnit}, {1, 0, 0}, {1, 0, 1}, {1, 1, 2}, {1, 1, 3}});
  expectLevels({{"package", 3}, {"rank", 2}}, joined);
  ASSERT_EQ(2U, joined.notes.size());
  EXPECT_EQ("level 'node' is left out: its units hold from 2 to 4 ranks"
            "; start as many on each node to keep it (srun --ntasks-per-node=N, mpiexec "
            "--map-by ppr:N:node)",
            joined.notes[0]);
  EXPECT_EQ("rank 0 is bound to no single core, so these levels are left out: core; start the "
            "ranks bound to cores to see them",
            joined.notes[1]);
}

TEST(Places, OfUnboundRanksKeepTheNodes) {
  const std::vector<Index> free0{0, kNoUnit, kNoUnit}, free1{1, kNoUnit, kNoUnit};
  const auto joined = joinRanks({free0, {0, 0, 0}, free1, free1});
  expectLevels({{"node", 2}, {"rank", 2}}, joined);
  ASSERT_EQ(1U, joined.notes.size());
  EXPECT_NE(joined.notes[0].find("rank 0 is bound to no single package"), std::string::npos);
  EXPECT_NE(joined.notes[0].find("left out: package, core;"), std::string::npos);
}

TEST(Places, OfOneDevice) {
  expectLevels({{"rank", 1}}, joinRanks({{0, 0, 0}}));
  EXPECT_THROW(joinRanks({}), Error);
}

} // namespace
