// SPDX-License-Identifier: BSD-2-Clause
// Counted flows against schedules, and layouts that differ on one axis.
#include "geometry/axis_change.hpp"
#include "geometry/traffic.hpp"
#include "support/random_layout.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

Index keptIn(const std::vector<Transfer>& transfers, int rank) {
  for (const Transfer& t : transfers)
    if (t.peer == rank)
      return t.cells;
  return 0;
}

TEST(CountFlow, EqualsTheSchedule) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    test::LayoutDraw draw(seed);
    const int ranks = draw.between(1, 12);
    const Shape shape = draw.shape(1, 4, 6);
    const MeshPtr a = draw.mesh(ranks, 3);
    const MeshPtr b = draw.chance(60) ? a : draw.mesh(ranks, 3);
    const Layout from = draw.layout(shape, a, 0, false), to = draw.layout(shape, b, 0, false);
    for (int rank = 0; rank < ranks; ++rank) {
      const Schedule schedule = makeSchedule(from, to, rank);
      const Flow out = countFlow(from, to, rank, Role::Source);
      const Flow in = countFlow(from, to, rank, Role::Target);
      ASSERT_EQ(out.others.messages, sentTraffic(schedule, rank).messages) << seed;
      ASSERT_EQ(out.others.cells, sentTraffic(schedule, rank).cells) << seed;
      ASSERT_EQ(in.others.messages, receivedTraffic(schedule, rank).messages) << seed;
      ASSERT_EQ(in.others.cells, receivedTraffic(schedule, rank).cells) << seed;
      ASSERT_EQ(out.keptCells, keptIn(schedule.sends, rank)) << seed;
      ASSERT_EQ(in.keptCells, out.keptCells) << seed;
    }
  }
}

Layout layoutOn(const MeshPtr& mesh, Shape shape, const char* properties,
                std::vector<std::vector<Index>> cuts = {}) {
  return Layout({.shape = std::move(shape),
                 .mesh = mesh,
                 .properties = parseProperties(properties),
                 .splitAxes = {},
                 .cuts = std::move(cuts)});
}

TEST(AxisChange, AnAxisLeavesAndEntersAsTheMinorOne) {
  const MeshPtr mesh = Mesh::make({2, 3});
  const Layout both = layoutOn(mesh, {12, 5}, "S0,S0", {{0, 1, 2, 3, 4, 8, 12}, {0, 5}});
  EXPECT_FALSE(withProperty(both, 0, Property::broadcast()));
  const Layout joined = *withProperty(both, 1, Property::broadcast());
  EXPECT_EQ(joined.cuts(0), (std::vector<Index>{0, 3, 12}));
  const Layout entered = *withProperty(joined, 1, Property::shard(0));
  EXPECT_EQ(entered.cuts(0), (std::vector<Index>{0, 1, 2, 3, 6, 9, 12}));
  EXPECT_EQ(*withProperty(joined, 1, Property::shard(0), &both), both);
}

TEST(AxisChange, TheGoalsCutsCountOnlyIfTheyDivideTheParts) {
  const MeshPtr mesh = Mesh::make({2, 2});
  const Layout goal = layoutOn(mesh, {8}, "S0,S0", {{0, 1, 2, 3, 8}});
  const Layout other = layoutOn(mesh, {8}, "S0,B");
  EXPECT_EQ(withProperty(other, 1, Property::shard(0), &goal)->cuts(0),
            (std::vector<Index>{0, 2, 4, 6, 8}));
  EXPECT_FALSE(changedAxis(other, goal));
}

TEST(AxisChange, FindsTheOneAxisThatChanges) {
  const MeshPtr mesh = Mesh::make({2, 2});
  const Layout start = layoutOn(mesh, {8, 8}, "P,S0");
  EXPECT_EQ(changedAxis(start, layoutOn(mesh, {8, 8}, "B,S0")), 0);
  EXPECT_EQ(changedAxis(start, layoutOn(mesh, {8, 8}, "P,S1")), 1);
  EXPECT_FALSE(changedAxis(start, layoutOn(mesh, {8, 8}, "B,S1")));
  EXPECT_FALSE(changedAxis(start, start));
  // Axis 0 would become the major one.
  EXPECT_FALSE(changedAxis(start, layoutOn(mesh, {8, 8}, "S0,S0")));
  EXPECT_FALSE(changedAxis(start, layoutOn(Mesh::make({4}), {8, 8}, "B")));
}

} // namespace
} // namespace tenon
