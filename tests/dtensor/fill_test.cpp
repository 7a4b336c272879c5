// SPDX-License-Identifier: BSD-2-Clause
// Tests fills: the tensor's value must be the same in every layout. The value is computed by its
// definition: at each global index the sum over contributions, or any copy. Layouts are random.
#include "dtensor/fill.hpp"

#include "support/conversion_definition.hpp"
#include "support/random_layout.hpp"
#include "support/world.hpp"
#include "sys/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tenon {
namespace {

using test::LayoutDraw;
using test::world;

Index globalNumber(const Layout& layout, const std::vector<Index>& index) {
  Index number = 0;
  for (int d = 0; d < layout.ndim(); ++d)
    number = number * layout.shape()[d] + index[d];
  return number;
}

// True for the positions with coordinate 0 on all B axes: of equal copies, theirs is counted.
bool onFirstCopy(const Layout& layout, int position) {
  for (int axis = 0; axis < layout.grid().axes(); ++axis)
    if (layout.property(axis).isBroadcast() && layout.grid().coordinate(position, axis) != 0)
      return false;
  return true;
}

// The global value, on every rank: the sum over the elements of all first copies. asSource selects
// the cells that a conversion from the layout would read: also halos of contributions (G*), but no
// halos of copies (G).
template <class T>
std::vector<double> valueOf(const DTensor& x) {
  std::vector<double> value(elements(x.layout().shape()), 0);
  Index number = 0;
  test::forEach(x.extent(), [&](const std::vector<Index>& cell) {
    const auto global = test::globalOf(x.layout(), x.position(), cell, /*asSource=*/true);
    if (global && onFirstCopy(x.layout(), x.position()))
      value[globalNumber(x.layout(), *global)] +=
          test::signOf(x.layout(), x.position(), cell, /*asSource=*/true) *
          static_cast<double>(x.data<T>()[number]);
    ++number;
  });
  MPI_Allreduce(MPI_IN_PLACE, value.data(), static_cast<int>(value.size()), MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);
  return value;
}

// Expects that copies and halos of values (G) have the value at their global index. Without
// asSource these are the cells that a conversion to the layout would fill.
template <class T>
void expectValid(const DTensor& x, const std::vector<double>& value) {
  if (x.layout().holdsPartialSums())
    return;
  Index number = 0;
  test::forEach(x.extent(), [&](const std::vector<Index>& cell) {
    const auto global = test::globalOf(x.layout(), x.position(), cell, /*asSource=*/false);
    const double expected = global
                                ? test::signOf(x.layout(), x.position(), cell, /*asSource=*/false) *
                                      value[globalNumber(x.layout(), *global)]
                                : 0;
    EXPECT_EQ(static_cast<double>(x.data<T>()[number++]), expected) << x.layout().describe();
  });
}

template <class T>
class Fill : public testing::Test {};
using RealTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(Fill, RealTypes);

TYPED_TEST(Fill, GivesTheSameTensorInEveryLayout) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    LayoutDraw draw(seed);
    const Shape shape = draw.shape(1, 3, 6);
    Layout layout = draw.layout(shape, draw.grid(world()->size(), 3), /*haloPercent=*/40,
                                /*coveringHalos=*/true);
    draw.poles(layout);
    Layout unused = layout; // modesByChannel() is for a pair of layouts
    draw.modesByChannel(layout, unused);
    DTensor x(world(), layout, dataTypeOf<TypeParam>());
    fillNormal(x, /*seed=*/17, seed, 2, 0.5);
    std::vector<double> expected(elements(shape));
    for (Index i = 0; i < static_cast<Index>(expected.size()); ++i)
      expected[i] = static_cast<TypeParam>(2 + 0.5 * normalAt(17, seed, i));
    ASSERT_EQ(valueOf<TypeParam>(x), expected) << layout.describe();
    expectValid<TypeParam>(x, expected);
  }
}

TEST(FillKinds, ConstantAndUniformHaveTheirValues) {
  const Layout layout({.shape = {50, 20},
                       .grid = Grid::make({world()->size()}),
                       .properties = parseProperties("P")});
  DTensor x(world(), layout, TENON_FLOAT64);
  fillConstant(x, 2.5);
  EXPECT_EQ(valueOf<double>(x), std::vector<double>(1000, 2.5));
  fillUniform(x, /*seed=*/3, /*stream=*/4, -1, 3);
  const auto value = valueOf<double>(x);
  double mean = 0;
  for (double v : value) {
    EXPECT_GE(v, -1);
    EXPECT_LT(v, 3);
    mean += v / 1000;
  }
  EXPECT_NEAR(mean, 1, 4 * 4 / std::sqrt(12.0) / std::sqrt(1000.0)); // four standard errors
}

TEST(FillKinds, IntegersAreRounded) {
  const Layout layout(
      {.shape = {7}, .grid = Grid::make({world()->size()}), .properties = parseProperties("S0")});
  DTensor x(world(), layout, TENON_INT64);
  fillByIndex(x, [](Index i) { return static_cast<double>(i) - 3.4; });
  EXPECT_EQ(valueOf<std::int64_t>(x), (std::vector<double>{-3, -2, -1, 0, 1, 2, 3}));
  DTensor y(world(), layout, TENON_INT32);
  fillByIndex(y, [](Index i) { return static_cast<double>(i) - 3.4; });
  EXPECT_EQ(valueOf<std::int32_t>(y), (std::vector<double>{-3, -2, -1, 0, 1, 2, 3}));
}

// fillRaw() is for adjoint tests, which need independent numbers in all memory: the copies (B) on
// the ranks must differ.
TEST(FillKinds, RawMemoryDiffersBetweenRanksAndIsSmallIntegersIfAsked) {
  const Layout layout(
      {.shape = {64}, .grid = Grid::make({world()->size()}), .properties = parseProperties("B")});
  DTensor x(world(), layout, TENON_FLOAT32);
  fillRaw(x, 1, /*integers=*/true);
  for (int i = 0; i < 64; ++i) {
    const float v = x.data<float>()[i];
    EXPECT_TRUE(v == std::floor(v) && v >= -8 && v <= 7) << v;
  }
  std::vector<float> first(x.data<float>(), x.data<float>() + 64);
  MPI_Bcast(first.data(), 64, MPI_FLOAT, 0, MPI_COMM_WORLD);
  EXPECT_EQ(std::equal(first.begin(), first.end(), x.data<float>()), world()->rank() == 0);
}

} // namespace
} // namespace tenon
