// SPDX-License-Identifier: BSD-2-Clause
// Tests conversions between two layouts in one exchange, for random layouts: each target element is
// compared with the sum that the definition gives (support/conversion_definition.hpp), from the
// elements of all ranks, which every rank can compute; the adjoint identity; the counted messages
// and bytes; arrays with strides; and errors. Properties that hold on every route are tested in
// route_test.cpp.
#include "dtensor/fill.hpp"
#include "linop/algebra/adjoint_test.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "support/conversion_definition.hpp"
#include "support/draws.hpp"
#include "support/random_layout.hpp"
#include "support/world.hpp"
#include "sys/log/log.hpp"
#include "sys/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tenon {
namespace {

using test::LayoutDraw;
using test::world;

struct Case {
  Layout from, to;
};

// Draws two layouts of the same shape, on one grid or two.
Case drawCase(unsigned seed) {
  LayoutDraw draw(seed);
  const int ranks = world()->size();
  const Shape shape = draw.shape(1, 4, 6);
  const GridPtr a = draw.grid(ranks, 3);
  const GridPtr b = draw.chance(60) ? a : draw.grid(ranks, 3);
  Case made{draw.layout(shape, a, /*haloPercent=*/30, /*coveringHalos=*/false),
            draw.layout(shape, b, /*haloPercent=*/30, /*coveringHalos=*/false)};
  draw.poles(made.from);
  draw.poles(made.to);
  draw.modesByChannel(made.from, made.to);
  return made;
}

// The integer that fillRaw() writes to element number `cell` of a rank.
double rawValue(std::uint64_t seed, int rank, Index cell) {
  return std::floor(8 * (2 * uniformAt(seed, rank, cell) - 1));
}

// The value of one target element of this rank by the definition: the sum over all source elements
// with the same position in the domain.
double expected(const Case& c, int ownPosition, const std::vector<Index>& cell,
                std::uint64_t seed) {
  const auto global = test::globalOf(c.to, ownPosition, cell, /*asSource=*/false);
  double sum = 0;
  if (!global)
    return sum;
  for (int r = 0; r < world()->size(); ++r) {
    const int position = c.from.grid().position(r);
    if (!c.from.isHolder(position) || !test::mayTalk(c.from, position, c.to, ownPosition))
      continue;
    Index number = 0;
    test::forEach(extents(c.from.box(position)), [&](const std::vector<Index>& i) {
      if (test::globalOf(c.from, position, i, /*asSource=*/true) == global)
        sum += test::signOf(c.from, position, i, /*asSource=*/true) * rawValue(seed, r, number);
      ++number;
    });
  }
  return test::signOf(c.to, ownPosition, cell, /*asSource=*/false) * sum;
}

template <class T>
class ConversionDraws : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ConversionDraws, Types);

TYPED_TEST(ConversionDraws, EqualTheDefinition) {
  for (unsigned seed = 0, end = test::draws(120); seed < end; ++seed) {
    const Case c = drawCase(seed);
    Conversion op(world(), c.from, c.to, dataTypeOf<TypeParam>(), CarrierPolicy::fromOptions());
    DTensor x(world(), c.from, op.domainType()), y(world(), c.to, op.domainType());
    fillRaw(x, seed, /*integers=*/true);
    fillRaw(y, seed + 1, /*integers=*/true); // y must be overwritten
    op.apply(x, y);
    Index number = 0;
    test::forEach(y.extent(), [&](const std::vector<Index>& cell) {
      ASSERT_EQ(y.data<TypeParam>()[number++], expected(c, y.position(), cell, seed))
          << "seed " << seed << ": " << op.describe();
    });
  }
}

TYPED_TEST(ConversionDraws, MultiplyAndAddInHalvesAndBound) {
  for (unsigned seed = 0, end = test::draws(60); seed < end; ++seed) {
    const Case c = drawCase(4000 + seed);
    const TenonDataType type = dataTypeOf<TypeParam>();
    DTensor x(world(), c.from, type), y(world(), c.to, type);
    // The operator is bound to x and y below, so it must be destroyed before them.
    Conversion op(world(), c.from, c.to, type, CarrierPolicy::fromOptions());
    fillRaw(x, seed, /*integers=*/true);
    fillRaw(y, seed + 1, /*integers=*/true);
    const std::vector<TypeParam> old(y.data<TypeParam>(), y.data<TypeParam>() + y.localElements());
    op.begin(Sense::Forward, -2, x, 3, y);
    op.end(Sense::Forward);
    auto check = [&](double alpha, double beta) {
      Index number = 0;
      test::forEach(y.extent(), [&](const std::vector<Index>& cell) {
        const double added = beta == 0 ? 0 : beta * static_cast<double>(old[number]);
        ASSERT_EQ(y.data<TypeParam>()[number++],
                  alpha * expected(c, y.position(), cell, seed) + added)
            << "seed " << seed << ": " << op.describe();
      });
    };
    check(-2, 3);
    op.bind(Sense::Forward, x, y);
    op.apply(x, y);
    check(1, 0);
  }
}

TYPED_TEST(ConversionDraws, SatisfyTheAdjointIdentityExactlyOnIntegers) {
  for (unsigned seed = 0, end = test::draws(200); seed < end; ++seed) {
    const Case c = drawCase(1000 + seed);
    Conversion op(world(), c.from, c.to, dataTypeOf<TypeParam>(), CarrierPolicy::fromOptions());
    const AdjointTestResult result = testAdjoint(op, seed, /*integers=*/true);
    ASSERT_EQ(result.forwardPairing, result.adjointPairing)
        << "seed " << seed << ": " << op.describe();
  }
}

TYPED_TEST(ConversionDraws, SatisfyTheAdjointIdentityOnReals) {
  const double tolerance = sizeof(TypeParam) == 8 ? 1e-13 : 1e-5;
  for (unsigned seed = 0, end = test::draws(60); seed < end; ++seed) {
    const Case c = drawCase(2000 + seed);
    Conversion op(world(), c.from, c.to, dataTypeOf<TypeParam>(), CarrierPolicy::fromOptions());
    ASSERT_LT(testAdjoint(op, seed, /*integers=*/false).relativeError, tolerance) << op.describe();
  }
}

TEST(Conversion, SendsWhatItsScheduleCounts) {
  for (unsigned seed = 0, end = test::draws(40); seed < end; ++seed) {
    const Case c = drawCase(3000 + seed);
    Conversion op(world(), c.from, c.to, TENON_FLOAT64, CarrierPolicy::fromOptions());
    DTensor x(world(), c.from, TENON_FLOAT64), y(world(), c.to, TENON_FLOAT64);
    logEnable(true);
    logReset();
    op.apply(x, y);
    Index messages = 0, bytes = 0;
    for (const EventRecord& record : logSnapshot())
      if (record.event == "LinearOpApply") {
        messages = record.messages;
        bytes = record.bytes;
      }
    logEnable(false);
    ASSERT_EQ(messages, op.trafficOf(world()->rank())->messages);
    ASSERT_EQ(bytes, op.trafficOf(world()->rank())->elements * 8);
  }
}

TEST(Conversion, WorksOnArraysOfAnyStride) {
  // The tensor is a part of a larger user array, in column-major order, with ghosts.
  const Layout rows({.shape = {9, 5},
                     .grid = Grid::make({world()->size()}),
                     .properties = parseProperties("S0")});
  const Layout columns({.shape = {9, 5},
                        .grid = Grid::make({world()->size()}),
                        .properties = parseProperties("S1")});
  Conversion op(world(), rows, columns, TENON_FLOAT64, CarrierPolicy::fromOptions());
  DTensor x(world(), rows, TENON_FLOAT64), y(world(), columns, TENON_FLOAT64);
  const Index leading = x.extent()[0] + 3;
  std::vector<double> memory(leading * (x.extent()[1] + 4), -1);
  x.placeArray(&memory[1 + 2 * leading], {1, leading}, {1, 2}, {2, 2}, /*readOnly=*/false);
  fillByIndex(x, [](Index i) { return static_cast<double>(i); });
  op.apply(x, y);
  Index number = 0;
  test::forEach(y.extent(), [&](const std::vector<Index>& cell) {
    ASSERT_EQ(y.data<double>()[number++],
              5 * (y.box()[0].begin + cell[0]) + y.box()[1].begin + cell[1]);
  });
  EXPECT_EQ(std::count(memory.begin(), memory.end(), -1.0),
            static_cast<Index>(memory.size()) - x.localElements());
}

TEST(Conversion, TheLargestReplacesTheSum) {
  const GridPtr grid = Grid::make({world()->size()});
  const Layout partial({.shape = {4}, .grid = grid, .properties = parseProperties("P")});
  Conversion op(world(), partial, partial.dual(), TENON_FLOAT64, CarrierPolicy::fromOptions());
  DTensor x(world(), partial, TENON_FLOAT64), y(world(), partial.dual(), TENON_FLOAT64);
  // All numbers are negative, so a maximum that begins with 0 would be seen. They grow with the
  // rank for odd i, and fall for even i.
  for (Index i = 0; i < 4; ++i)
    x.mutableData<double>()[i] = -10.0 + world()->rank() * (i % 2 ? 1 : -1);
  op.applyMax(x, y);
  for (Index i = 0; i < 4; ++i)
    EXPECT_EQ(y.data<double>()[i], i % 2 ? -10.0 + world()->size() - 1 : -10.0);
}

TEST(Conversion, RefusesOtherTensors) {
  if (world()->size() == 1)
    GTEST_SKIP() << "on one process all layouts of a shape are equal";
  const GridPtr grid = Grid::make({world()->size()});
  const Layout a({.shape = {8}, .grid = grid, .properties = parseProperties("S0")});
  const Layout b({.shape = {8}, .grid = grid, .properties = parseProperties("B")});
  Conversion op(world(), a, b, TENON_FLOAT64, CarrierPolicy::fromOptions());
  DTensor x(world(), a, TENON_FLOAT64), y(world(), b, TENON_FLOAT64),
      single(world(), a, TENON_FLOAT32);
  auto codeOf = [](auto&& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code();
    }
    return TENON_SUCCESS;
  };
  EXPECT_EQ(codeOf([&] { op.apply(y, x); }), TENON_ERR_LAYOUT);
  EXPECT_EQ(codeOf([&] { op.apply(single, y); }), TENON_ERR_DATATYPE);
  EXPECT_EQ(codeOf([&] { op.applyAdjoint(y, x); }), TENON_ERR_LAYOUT); // y is not in the dual
  const Layout other({.shape = {9}, .grid = grid, .properties = parseProperties("S0")});
  EXPECT_EQ(codeOf([&] { makeConversion(world(), a, other, TENON_FLOAT64); }), TENON_ERR_SHAPE);
  Conversion same(world(), a, a, TENON_FLOAT64, CarrierPolicy::fromOptions());
  EXPECT_EQ(codeOf([&] { same.apply(x, x); }), TENON_ERR_ARG);
}

TEST(SameHolding, SeesThroughAxesOfOneAndHalosOfNothing) {
  const GridPtr grid = Grid::make({world()->size(), 1});
  auto layout = [&](const char* text, std::vector<std::optional<Halo>> halos = {}) {
    return Layout({.shape = {8, 3},
                   .grid = grid,
                   .properties = parseProperties(text),
                   .splitAxes = {},
                   .cuts = {},
                   .halos = std::move(halos)});
  };
  EXPECT_TRUE(haveSameMemory(layout("S0,B"), layout("S0,P")));
  EXPECT_TRUE(haveSameMemory(layout("S0,S1"), layout("S0,S0")));
  const Halo nothing{.boxes = {{0, 3}}, .low = Boundary::Zero, .high = Boundary::Zero};
  const Halo wider{.boxes = {{-1, 3}}, .low = Boundary::Zero, .high = Boundary::Zero};
  EXPECT_TRUE(haveSameMemory(layout("S0,B"), layout("S0,B", {std::nullopt, nothing})));
  EXPECT_FALSE(haveSameMemory(layout("S0,B"), layout("S0,B", {std::nullopt, wider})));
  EXPECT_EQ(haveSameMemory(layout("S0,B"), layout("B,B")), world()->size() == 1);
}

} // namespace
} // namespace tenon
