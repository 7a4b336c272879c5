// SPDX-License-Identifier: BSD-2-Clause
// Tests the routes of conversions that sum over grid axes and also redistribute, such as P,S0 ->
// B,S1 (P: partial sums, B: copies, S0: split of dimension 0): the list of routes in which sums are
// separate steps is compared with lists written by hand, and the cheapest route with times computed
// by hand.
#include "reduction/sum_route.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon {
namespace {

const GridPtr kGrid = Grid::make({4, 2});

Layout on(const char* properties, const GridPtr& grid = kGrid) {
  return Layout({.shape = {16, 32}, .grid = grid, .properties = parseProperties(properties)});
}

// Returns the routes between two layouts, each as the properties of the layouts in between, sorted.
std::vector<std::string> textsOf(const char* from, const char* to) {
  std::vector<std::string> texts;
  for (const auto& way : pathsWithSeparateSums(on(from), on(to))) {
    std::string text;
    for (const Layout& between : way)
      text += (text.empty() ? "" : " ") + describe(between.properties());
    texts.push_back(std::move(text));
  }
  std::ranges::sort(texts);
  return texts;
}

TEST(SumRoute, SumsComeFirstOrLast) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(textsOf("P,S0", "B,S1"), (Texts{"B,S0", "P,S1", "S0,S0 S0,S1", "S1,S0 S1,S1"}));
  EXPECT_EQ(textsOf("P,S0", "R,S1"), (Texts{"P,S1", "R,S0"}));
  EXPECT_EQ(textsOf("R,S0", "B,S1"), (Texts{"B,S0", "R,S1"}));
  EXPECT_EQ(textsOf("S0,S0", "S1,B"), (Texts{"S0,B", "S1,S0"}));
  // Another goal on each axis: one sum is the rest of the other.
  EXPECT_EQ(textsOf("P,P", "B,R"), (Texts{"B,P", "P,R", "S0,P S0,R", "S1,P S1,R"}));
  // A gather as well: it may come between.
  const Texts many = textsOf("P,S0", "B,B");
  EXPECT_NE(std::ranges::find(many, "B,S0"), many.end());
  EXPECT_NE(std::ranges::find(many, "P,B"), many.end());
}

TEST(SumRoute, ThereIsNothingToPart) {
  for (const auto& [from, to] : {std::pair("P,S0", "B,S0"),
                                 {"P,P", "S0,S0"},
                                 {"P,S0", "P,S1"},
                                 {"S0,S1", "S1,S0"},
                                 {"B,S0", "B,S1"},
                                 {"B,B", "P,S0"}})
    EXPECT_TRUE(pathsWithSeparateSums(on(from), on(to)).empty()) << from << " -> " << to;
}

// The adjoint conversion has the same routes, reversed and with dual layouts.
TEST(SumRoute, WaysAreThoseOfTheAdjoint) {
  for (const auto& [from, to] : {std::pair("P,S0", "B,S1"),
                                 {"S1,S0", "B,S1"},
                                 {"P,P", "B,R"},
                                 {"P,S0", "B,B"},
                                 {"P,S1", "S0,S0"}}) {
    auto forward = pathsWithSeparateSums(on(from), on(to));
    auto back = pathsWithSeparateSums(on(to).dual(), on(from).dual());
    EXPECT_EQ(forward.size(), back.size());
    for (auto& way : back) {
      std::ranges::reverse(way);
      for (Layout& between : way)
        between = between.dual();
      EXPECT_NE(std::ranges::find(forward, way), forward.end()) << from << " -> " << to;
    }
  }
}

SumRoute cheapest(const Layout& from, const Layout& to, const LinkRates& rates, int ranks) {
  SumPrices prices(rates, ranks);
  return cheapestSumRoute(from, to, 8, prices, [&](const Layout& begin, const Layout& end) {
    return priceOfExchange(begin, end, 8, rates, Sampling::All).seconds;
  });
}

// Four nodes of two ranks. The NIC of a node gives each of them half of a rank's bandwidth, and
// nothing else has a cost. In P,S0 each rank has h = 16 * 32 * 8 / 2 bytes, which are summed over
// the nodes. If the sum is first, each rank sends 2 (3/4) h to other nodes, for a ReduceScatter and
// an AllGather; then the two ranks of a node exchange half of their data, h / 2, at the full rate.
// In a single exchange, each rank sends h / 2 to both ranks of each of the 3 other nodes.
TEST(SumRoute, TakesTheCheapestSteps) {
  const LinkRates links{
      .latency = 1e-12, .overhead = 1e-15, .bandwidth = 1e6, .copyBandwidth = 1e15};
  const LinkRates rates = withAssumedNodes(links, {4, 2});
  const Layout from = on("P,S0"), to = on("B,S1");
  const double h = 16.0 * 32 * 8 / 2;
  const SumRoute best = cheapest(from, to, rates, 8);
  ASSERT_EQ(best.steps.size(), 2u);
  EXPECT_EQ(best.steps.front().to, on("B,S0"));
  EXPECT_NEAR(best.steps.front().seconds, 1.5 * h / 0.5e6, 1e-6);
  EXPECT_NEAR(best.steps.back().seconds, 0.5 * h / 1e6, 1e-6);
  EXPECT_NEAR(best.seconds, 3.5 * h / 1e6, 1e-6);
  const SumRoute direct = cheapest(from, to, links, 8); // without levels there are no programs
  EXPECT_EQ(direct.steps.size(), 1u);
  // The redistribution is first if it reduces the data that is summed.
  const SumRoute last = cheapest(on("P,B"), on("B,S0"), rates, 8);
  ASSERT_EQ(last.steps.size(), 2u);
  EXPECT_EQ(last.steps.front().to, on("P,S0"));
  EXPECT_NEAR(last.seconds, 1.5 * h / 0.5e6, 1e-6);
}

// Sums between ranks inside one unit of the machine. Over several axes a route can also sum axis by
// axis, which is cheaper for short arrays.
TEST(SumPrices, ASumWithinAUnitCostsWhatItsRouteCosts) {
  const LinkRates slow{.latency = 2e-6, .overhead = 3e-7, .bandwidth = 6e9, .copyBandwidth = 1e10};
  for (const LinkRates& rates : {LinkRates(), slow})
    for (const int ranks : {2, 3, 4, 8, 12, 64, 256})
      for (const Index each : {1, 100, 10000, 1000000}) {
        const auto secondsOnRoute = [&](const Layout& from, const Layout& to) {
          double seconds = 0;
          for (const RouteStep& step :
               findRoute(from, to, 8, {.mode = RouteMode::Auto, .rates = rates}))
            seconds += step.seconds;
          return seconds;
        };
        const auto on = [&](const GridPtr& grid, const char* properties) {
          return Layout(
              {.shape = {ranks * each}, .grid = grid, .properties = parseProperties(properties)});
        };
        SumPrices prices(rates, ranks);
        const GridPtr line = Grid::make({ranks});
        const double price = *prices.secondsInUnit(on(line, "P"), on(line, "B"), 8);
        EXPECT_NEAR(price, secondsOnRoute(on(line, "P"), on(line, "B")), 1e-9 * price)
            << ranks << " " << each;
        EXPECT_FALSE(prices.secondsInUnit(on(line, "P"), on(line, "S0"), 8));
        if (ranks % 2 != 0)
          continue;
        const GridPtr two = Grid::make({2, ranks / 2});
        EXPECT_EQ(prices.secondsInUnit(on(two, "P,P"), on(two, "B,B"), 8), price);
        const double route = secondsOnRoute(on(two, "P,P"), on(two, "B,B"));
        EXPECT_LE(route, price * (1 + 1e-9)) << ranks << " " << each;
        if (each >= 10000) {
          EXPECT_NEAR(route, price, 0.01 * price) << ranks << " " << each;
        }
      }
  // On two nodes of four ranks, a sum over axis 1 is inside a node; sums over axis 0 are between
  // nodes.
  const GridPtr nodes = Grid::make({2, 4});
  SumPrices prices(withAssumedNodes({}, {2, 4}), 8);
  const auto sum = [&](const char* from, const char* to) {
    const auto layout = [&](const char* properties) {
      return Layout({.shape = {8000}, .grid = nodes, .properties = parseProperties(properties)});
    };
    return prices.secondsInUnit(layout(from), layout(to), 8);
  };
  EXPECT_EQ(sum("B,P", "B,B"), secondsOfSumRoute(/*members=*/4, /*bytes=*/8 * 8000, {}));
  EXPECT_FALSE(sum("P,B", "B,B"));
  EXPECT_FALSE(sum("P,P", "B,B"));
}

} // namespace
} // namespace tenon
