// SPDX-License-Identifier: BSD-2-Clause
// Tests routes: steps that can be predicted by hand, with the traffic of a rank; and for random
// pairs of layouts that a route begins and ends with them and consists of the steps that its mode
// allows.
#include "machine/route.hpp"

#include "geometry/schedule/traffic.hpp"
#include "support/random_layout.hpp"
#include "sys/errors/error.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

Layout layoutOn(const GridPtr& grid, Shape shape, const char* properties) {
  return Layout(
      {.shape = std::move(shape), .grid = grid, .properties = parseProperties(properties)});
}

Route route(const Layout& from, const Layout& to, RouteMode mode = RouteMode::Auto) {
  return findRoute(from, to, 8, {.mode = mode, .rates = {}});
}

// "P -exchange-> S0 -exchange-> B"
std::string told(const Route& route) {
  std::string text = describe(route.front().from.properties());
  for (const RouteStep& step : route)
    text += std::string(" -") + step.name() + (step.tree ? " by tree" : "") + "-> " +
            describe(step.to.properties());
  return text;
}

Index mostElements(const Route& route) {
  Index most = 0;
  for (int rank : route.front().from.grid().ranks())
    most = std::max(most, sentOnRoute(route, rank).elements);
  return most;
}

TEST(Route, ALargeSumIsCutAndJoined) {
  const GridPtr grid = Grid::make({8});
  const Layout p = layoutOn(grid, {1000, 800}, "P"), b = layoutOn(grid, {1000, 800}, "B");
  const Route found = route(p, b);
  EXPECT_EQ(told(found), "P -exchange-> S0 -exchange-> B");
  EXPECT_EQ(mostElements(found), 2 * 7 * 100000); // 2 (n-1)/n of the tensor
  EXPECT_EQ(mostElements(route(p, b, RouteMode::Exchange)), 7 * 800000);
}

TEST(Route, TwoRanksGainNothingByCutting) {
  const GridPtr grid = Grid::make({2});
  EXPECT_EQ(told(route(layoutOn(grid, {100000}, "P"), layoutOn(grid, {100000}, "B"))),
            "P -exchange-> B");
}

TEST(Route, ASmallTensorOnFewRanksTakesOneExchange) {
  const GridPtr grid = Grid::make({8});
  for (const char* from : {"S0", "P", "R", "B"})
    for (const char* to : {"S0", "P", "R", "B"})
      EXPECT_EQ(route(layoutOn(grid, {8}, from), layoutOn(grid, {8}, to)).size(), 1u)
          << from << " to " << to;
}

TEST(Route, ManyRanksTakeTrees) {
  const GridPtr grid = Grid::make({4096});
  EXPECT_EQ(told(route(layoutOn(grid, {1}, "R"), layoutOn(grid, {1}, "B"))), "R -broadcast-> B");
  EXPECT_EQ(told(route(layoutOn(grid, {1}, "P"), layoutOn(grid, {1}, "B"))),
            "P -all-reduce by tree-> B");
  EXPECT_EQ(told(route(layoutOn(grid, {1}, "P"), layoutOn(grid, {1}, "R"))),
            "P -reduce by tree-> R");
}

TEST(Route, AChainThatMovesFourteenTimesMoreIsNotTaken) {
  const GridPtr grid = Grid::make({8, 8});
  const Layout rows = layoutOn(grid, {512, 512}, "S0,S0");
  const Layout columns = layoutOn(grid, {512, 512}, "S1,S1");
  EXPECT_EQ(told(route(rows, columns)), "S0,S0 -exchange-> S1,S1");
  // A rank keeps 8 x 8 of its 8 x 512 elements.
  EXPECT_EQ(mostElements(route(rows, columns)), 8 * 512 - 8 * 8);
  const Route collectives = route(rows, columns, RouteMode::Collective);
  EXPECT_EQ(told(collectives),
            "S0,S0 -all-gather-> S0,B -all-gather-> B,B -exchange-> S1,S1"); // which is a slice
}

TEST(Route, EndsInTheTargetsOwnCuts) {
  const GridPtr grid = Grid::make({2, 4});
  const Layout p = layoutOn(grid, {100000, 3}, "B,P");
  LayoutSpec spec = layoutOn(grid, {100000, 3}, "B,S0").spec();
  spec.cuts[0] = {0, 10, 10, 70000, 100000};
  const Layout own(spec);
  for (RouteMode mode : {RouteMode::Auto, RouteMode::Chain, RouteMode::Collective})
    EXPECT_EQ(route(p, own, mode).back().to, own);
  EXPECT_EQ(told(route(p, own, RouteMode::Collective)), "B,P -reduce-scatter-> B,S0");
}

TEST(Route, CopiesAreMadeOnTheOtherGrid) {
  const Layout here = layoutOn(Grid::make({4}, {0, 1, 2, 3}), {1000000}, "S0");
  const Layout there = layoutOn(Grid::make({4}, {4, 5, 6, 7}), {1000000}, "B");
  EXPECT_EQ(told(route(here, there, RouteMode::Chain)), "S0 -exchange-> S0 -exchange-> B");
}

TEST(Route, AxesThatAreAlikeAreMerged) {
  const GridPtr grid = Grid::make({2, 2, 2, 2, 2});
  const Index n = 1 << 19; // 4 MiB
  const Layout p = layoutOn(grid, {n}, "P,P,P,P,P"), b = layoutOn(grid, {n}, "B,B,B,B,B");
  const Route found = route(p, b);
  EXPECT_EQ(told(found), "P,P,P,P,P -exchange-> S0,S0,S0,S0,S0 -exchange-> B,B,B,B,B");
  EXPECT_EQ(mostElements(found), 2 * 31 * n / 32); // 7.75 MiB instead of 124
  const Route collective = route(p, b, RouteMode::Collective);
  EXPECT_EQ(collective.front().axes, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(mostElements(collective), n); // 31 shares of 32 to the others, one to all
  // Three merged axes of 2 are lines of eight ranks, and the other two axes cut the tensor in four.
  const Route lines = route(layoutOn(grid, {n}, "P,S0,P,P,S0"), layoutOn(grid, {n}, "B,S0,B,B,S0"),
                            RouteMode::Collective);
  EXPECT_EQ(lines.front().axes, (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(mostElements(lines), n / 4);
  EXPECT_EQ(whyNotSearched(p, b), "");
}

// The expected number is the least for a sum over nodes: each rank exchanges only its share of the
// elements with the ranks of other nodes, once to reduce it and once to distribute the result.
TEST(Route, SlowLinksBetweenNodesAreSpared) {
  const GridPtr grid = Grid::make({4, 8}); // nodes of 8 ranks
  const Index n = 1 << 20;
  const Layout p = layoutOn(grid, {n}, "P,P"), b = layoutOn(grid, {n}, "B,B");
  LinkRates rates;
  rates.levels = {{8, 1e-6, 1e8}};
  const Route found = findRoute(p, b, 8, {.mode = RouteMode::Auto, .rates = rates});
  Index between = 0;
  for (const RouteStep& step : found) {
    ASSERT_FALSE(step.collective);
    between += countFlow(step.from, step.to, 0, Role::Source, {8}).others.front().elements;
  }
  EXPECT_EQ(between, 2 * 3 * n / 32) << told(found);
}

TEST(Route, HalosAndManyAxesTakeOneExchange) {
  const GridPtr many = Grid::make({2, 2, 2, 2, 2});
  const Layout mixed = layoutOn(many, {9, 9}, "P,S0,B,S1,R"),
               b = layoutOn(many, {9, 9}, "B,B,B,B,B");
  LayoutSpec spec = layoutOn(Grid::make({2}), {8}, "S0").spec();
  spec.halos = {Halo{.boxes = {{0, 5}, {3, 8}}, .low = Boundary::Zero, .high = Boundary::Zero}};
  const Layout wide(spec);
  for (RouteMode mode : {RouteMode::Auto, RouteMode::Chain, RouteMode::Collective}) {
    const Route halo = route(wide.withoutHalos(), wide, mode);
    EXPECT_EQ(halo.size(), 1u);
    EXPECT_EQ(halo.front().seconds,
              priceOfExchange(wide.withoutHalos(), wide, 8, {}, Sampling::All).seconds);
    EXPECT_GT(halo.front().seconds, 0);
    EXPECT_EQ(sentOnRoute(halo, 0).elements, 1);
    EXPECT_EQ(told(route(mixed, b, mode)), "P,S0,B,S1,R -exchange-> B,B,B,B,B");
  }
  EXPECT_NE(whyNotSearched(mixed, b).find("more than 4 axes"), std::string::npos);
}

TEST(Route, RefusesAChangeOfShape) {
  const GridPtr grid = Grid::make({2});
  EXPECT_THROW(route(layoutOn(grid, {8}, "S0"), layoutOn(grid, {9}, "S0")), Error);
}

TEST(Route, DrawnRoutesLeadFromEndToEndAsTheirModeSays) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    test::LayoutDraw draw(seed);
    const Shape shape = draw.shape(1, 3, 40);
    const int axes = seed % 2 == 0 ? 3 : 7;
    const GridPtr grid = draw.grid(12, axes), other = draw.chance(70) ? grid : draw.grid(12, axes);
    const Layout from = draw.layout(shape, grid, /*haloPercent=*/0, /*coveringHalos=*/false);
    const Layout to = draw.layout(shape, other, /*haloPercent=*/0, /*coveringHalos=*/false);
    for (RouteMode mode :
         {RouteMode::Auto, RouteMode::Exchange, RouteMode::Chain, RouteMode::Collective}) {
      const Route found = route(from, to, mode);
      ASSERT_EQ(found.front().from, from);
      ASSERT_EQ(found.back().to, to);
      for (std::size_t i = 0; i + 1 < found.size(); ++i)
        ASSERT_EQ(found[i].to, found[i + 1].from);
      ASSERT_TRUE(mode != RouteMode::Exchange || found.size() == 1);
      for (const RouteStep& step : found)
        ASSERT_TRUE(mode != RouteMode::Collective || found.size() == 1 || step.collective ||
                    mostElements({step}) == 0)
            << told(found);
    }
  }
}

} // namespace
} // namespace tenon
