// SPDX-License-Identifier: BSD-2-Clause
// Tests the lower bound on prices that the route search uses: for random layouts it must not exceed
// the price of one step, or of two steps through a third layout; and it is exact in cases by hand.
#include "machine/route_search.hpp"

#include "machine/price.hpp"
#include "support/random_layout.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

double least(const Layout& from, const Layout& to, Index elementBytes, const LinkRates& rates) {
  return LeastPrice(from, to, elementBytes, rates)
      .seconds(LeastPrice::spreadOf(from), LeastPrice::spreadOf(to));
}

double price(const Layout& from, const Layout& to, Index elementBytes, const LinkRates& rates) {
  return priceOfMove(from, to, elementBytes, rates, Sampling::All).seconds;
}

constexpr double kRounding = 1 + 1e-12;

TEST(LeastPrice, NoStepAndNoTwoStepsCostLess) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    test::LayoutDraw draw(seed);
    const Shape shape = draw.shape(1, 3, draw.chance(50) ? 6 : 200);
    const GridPtr grid = draw.grid(12, 3), other = draw.chance(70) ? grid : draw.grid(12, 3);
    const Layout a = draw.layout(shape, grid, /*haloPercent=*/0, /*coveringHalos=*/false);
    const Layout b = draw.layout(shape, draw.chance(50) ? grid : other, /*haloPercent=*/0,
                                 /*coveringHalos=*/false);
    const Layout c = draw.layout(shape, other, /*haloPercent=*/0, /*coveringHalos=*/false);
    const LinkRates rates{.levels = draw.chance(50)
                                        ? std::vector<LevelRates>{}
                                        : std::vector<LevelRates>{{4, 5e-6, 1e9}, {2, 2e-7, 2e9}}};
    ASSERT_LE(least(a, c, 8, rates), price(a, c, 8, rates) * kRounding) << seed;
    ASSERT_LE(least(a, c, 8, rates), (price(a, b, 8, rates) + price(b, c, 8, rates)) * kRounding)
        << seed << '\n'
        << a.describe() << '\n'
        << b.describe() << '\n'
        << c.describe();
  }
}

// There are 4 ranks and 8 elements of 8 bytes. The expected times are (bytes that a rank receives)
// / bandwidth + (bytes that it copies + bytes that it writes) / copyBandwidth.
TEST(LeastPrice, IsExactIfNoRankReceivesMoreThanItNeeds) {
  const GridPtr grid = Grid::make({4});
  const auto line = [&](const char* property) {
    return Layout({.shape = {8}, .grid = grid, .properties = parseProperties(property)});
  };
  const LinkRates rates{.latency = 1e-9, .overhead = 1e-9, .bandwidth = 4, .copyBandwidth = 8};
  EXPECT_DOUBLE_EQ(least(line("S0"), line("B"), 8, rates), 48.0 / 4 + (48 + 64) / 8.0);
  EXPECT_DOUBLE_EQ(least(line("B"), line("S0"), 8, rates), 16 / 8.0);
  EXPECT_DOUBLE_EQ(least(line("P"), line("S0"), 8, rates), 48.0 / 4 + (48 + 48) / 8.0);
  EXPECT_DOUBLE_EQ(least(line("P"), line("B"), 8, rates), 64.0 / 4 + (64 + 64) / 8.0);
}

} // namespace
} // namespace tenon
