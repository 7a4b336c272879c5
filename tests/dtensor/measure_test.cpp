// SPDX-License-Identifier: BSD-2-Clause
// Tests pairings and norms against sums over the global tensor, which every rank computes alone
// from the random numbers by global index.
#include "dtensor/measure.hpp"

#include "dtensor/fill.hpp"
#include "support/random_layout.hpp"
#include "support/world.hpp"
#include "sys/expect_error.hpp"
#include "sys/random.hpp"
#include "sys/traps.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tenon {
namespace {

using test::LayoutDraw;
using test::world;

bool sameBitsOnAllRanks(double value) {
  double first = value;
  MPI_Bcast(&first, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  int same = first == value;
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return same != 0;
}

Layout drawLayout(LayoutDraw& draw, bool halos) {
  const Shape shape = draw.shape(1, 3, 6);
  return draw.layout(shape, draw.grid(world()->size(), 3), halos ? 40 : 0, /*coveringHalos=*/true);
}

TEST(Pairing, OfValidTensorsIsTheDotProductOfTheirValues) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    LayoutDraw draw(seed);
    const Layout layout = drawLayout(draw, /*halos=*/false);
    DTensor x(world(), layout, TENON_FLOAT64), y(world(), layout.dual(), TENON_FLOAT64);
    fillNormal(x, /*seed=*/1, seed, 0, 1);
    fillNormal(y, /*seed=*/2, seed, 0, 1);
    double expected = 0, scale = 0;
    for (Index i = 0; i < elements(layout.shape()); ++i) {
      const double term = normalAt(1, seed, i) * normalAt(2, seed, i);
      expected += term;
      scale += std::abs(term);
    }
    const double result = pairing(x, y);
    EXPECT_NEAR(result, expected, 1e-14 * scale) << layout.describe();
    EXPECT_TRUE(sameBitsOnAllRanks(result));
  }
}

TEST(Pairing, SumsAllMemoryOfAllRanks) {
  const Layout copies(
      {.shape = {5}, .grid = Grid::make({world()->size()}), .properties = parseProperties("B")});
  DTensor x(world(), copies, TENON_FLOAT32), y(world(), copies.dual(), TENON_FLOAT32);
  for (int i = 0; i < 5; ++i) {
    x.mutableData<float>()[i] = static_cast<float>(i);
    y.mutableData<float>()[i] = static_cast<float>(world()->rank() + 1);
  }
  const int n = world()->size();
  EXPECT_EQ(pairing(x, y), 10.0 * n * (n + 1) / 2);
}

TEST(Pairing, WantsTheDual) {
  const Layout copies(
      {.shape = {5}, .grid = Grid::make({world()->size()}), .properties = parseProperties("B")});
  DTensor x(world(), copies, TENON_FLOAT32), single(world(), copies.dual(), TENON_FLOAT64);
  if (world()->size() > 1) // one process holds the same in all layouts
    expectError(TENON_ERR_LAYOUT, {"second tensor", "] P", "] B"}, [&] { pairing(x, x); });
  expectError(TENON_ERR_DATATYPE, {"float32", "float64"}, [&] { pairing(x, single); });
}

TEST(Norm, CountsEachElementOnce) {
  int tried = 0;
  for (unsigned seed = 100; seed < 200; ++seed) {
    LayoutDraw draw(seed);
    const Layout layout = drawLayout(draw, /*halos=*/true);
    DTensor x(world(), layout, TENON_FLOAT64);
    fillNormal(x, /*seed=*/1, seed, 0, 1);
    if (layout.holdsPartialSums()) {
      expectError(TENON_ERR_SUPPORT, {"norm", "reduce"}, [&] { norm(x); });
      continue;
    }
    double squares = 0;
    for (Index i = 0; i < elements(layout.shape()); ++i)
      squares += normalAt(1, seed, i) * normalAt(1, seed, i);
    const double result = norm(x);
    EXPECT_NEAR(result, std::sqrt(squares), 1e-13 * std::sqrt(squares)) << layout.describe();
    EXPECT_TRUE(sameBitsOnAllRanks(result));
    ++tried;
  }
  EXPECT_GT(tried, 20);
}

TEST(RawNorm, CountsCopiesToo) {
  const Layout copies(
      {.shape = {4}, .grid = Grid::make({world()->size()}), .properties = parseProperties("B")});
  DTensor x(world(), copies, TENON_FLOAT64);
  fillConstant(x, 3);
  EXPECT_EQ(norm(x), 6);
  EXPECT_NEAR(rawNorm(x), 6 * std::sqrt(world()->size()), 1e-13);
}

TEST(MaxAbsolute, FindsTheLargestAndNotANumber) {
  const NoTraps noTraps; // NaN is compared
  const Layout split({.shape = {3 * world()->size()},
                      .grid = Grid::make({world()->size()}),
                      .properties = parseProperties("S0")});
  DTensor x(world(), split, TENON_FLOAT32);
  fillByIndex(x, [](Index i) { return static_cast<double>(-i); });
  EXPECT_EQ(maxAbsolute(x), 3 * world()->size() - 1);
  if (world()->rank() == 0)
    x.mutableData<float>()[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(maxAbsolute(x)));
}

TEST(Measures, RefuseIntegers) {
  const Layout copies(
      {.shape = {4}, .grid = Grid::make({world()->size()}), .properties = parseProperties("B")});
  DTensor x(world(), copies, TENON_INT64);
  expectError(TENON_ERR_DATATYPE, {"int64"}, [&] { norm(x); });
  expectError(TENON_ERR_DATATYPE, {"int64"}, [&] { maxAbsolute(x); });
}

} // namespace
} // namespace tenon
