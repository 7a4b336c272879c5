// SPDX-License-Identifier: BSD-2-Clause
// Tests conversions on every route: in one exchange, in a chain of exchanges, by collectives, and
// as the library chooses for fast and slow links. For random layouts, the value of a tensor (the
// dense array that it represents) must be the same before and after; it is known on all ranks
// without messages. Also tested: the adjoint identity, copies that must be equal bit by bit,
// counted messages, and strides.
#include "dtensor/fill.hpp"
#include "linop/algebra/adjoint_test.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "operators.hpp"
#include "support/conversion_definition.hpp"
#include "support/draws.hpp"
#include "support/random_layout.hpp"
#include "sys/log/log.hpp"
#include "sys/options/options.hpp"
#include "sys/random.hpp"

#include <tenon.h>

#include <algorithm>
#include <cmath>

namespace tenon {
namespace {

using test::world;

struct RouteCase {
  Layout from, to;
};

RouteCase drawRouteCase(unsigned seed) {
  test::LayoutDraw draw(seed);
  const int ranks = world()->size();
  const Shape shape = draw.shape(1, 3, 7);
  const int axes = draw.chance(70) ? 3 : 6;
  const GridPtr a = draw.grid(ranks, axes);
  const GridPtr b = draw.chance(70) ? a : draw.grid(ranks, axes);
  return {draw.layout(shape, a, /*haloPercent=*/0, /*coveringHalos=*/false),
          draw.layout(shape, b, /*haloPercent=*/0, /*coveringHalos=*/false)};
}

// Row-major index of an element in the whole tensor.
Index numberOf(const Layout& layout, const std::vector<Index>& global) {
  Index number = 0;
  for (int d = 0; d < layout.ndim(); ++d)
    number = number * layout.shape()[d] + global[d];
  return number;
}

// The value of the whole tensor at this index, the same in all layouts.
double valueAt(Index number) {
  return std::floor(16 * uniformAt(7, 0, number)) - 8;
}

// The number of a position along the axes with this property: its number among the contributions to
// an element (Partial), or among the copies (Broadcast).
int numberAlong(const Layout& layout, int position, PropertyKind kind) {
  int number = 0;
  for (int axis = 0; axis < layout.grid().axes(); ++axis)
    if (layout.property(axis).kind == kind)
      number = number * layout.grid().extent(axis) + layout.grid().coordinate(position, axis);
  return number;
}

int countAlong(const Layout& layout, PropertyKind kind) {
  int count = 1;
  for (int axis = 0; axis < layout.grid().axes(); ++axis)
    if (layout.property(axis).kind == kind)
      count *= layout.grid().extent(axis);
  return count;
}

// The contribution with this number to an element. All but number 0 are random; number 0 is the
// remainder to the value.
double contributionAt(const Layout& layout, int contribution, Index number) {
  const int contributions = countAlong(layout, PropertyKind::Partial);
  const auto drawn = [&](int which) { return std::floor(8 * uniformAt(8, which, number)) - 4; };
  if (contribution > 0)
    return drawn(contribution);
  double rest = valueAt(number);
  for (int other = 1; other < contributions; ++other)
    rest -= drawn(other);
  return rest;
}

// Calls f(index of the element in the local array, index in the whole tensor) for the local
// elements.
template <class F>
void forEachCell(const DTensor& x, F f) {
  Index local = 0;
  test::forEach(x.extent(), [&](const std::vector<Index>& cell) {
    f(local++,
      numberOf(x.layout(), *test::globalOf(x.layout(), x.position(), cell, /*asSource=*/false)));
  });
}

// Fills x with contributions to the value.
void fillValid(DTensor& x) {
  std::vector<double> values(x.localElements());
  forEachCell(x, [&](Index local, Index global) {
    values[local] = contributionAt(
        x.layout(), numberAlong(x.layout(), x.position(), PropertyKind::Partial), global);
  });
  test::setCells(x, values);
}

// Whether, for each copy, the sum of the contributions is the value.
bool holdsTheValue(const DTensor& y) {
  const Layout& layout = y.layout();
  const Index all = elements(layout.shape());
  std::vector<double> sums(all * countAlong(layout, PropertyKind::Broadcast), 0);
  const std::vector<double> values = test::elementsOf(y);
  forEachCell(y, [&](Index local, Index global) {
    const int copy = numberAlong(layout, y.position(), PropertyKind::Broadcast);
    sums[copy * all + global] += values[local];
  });
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i] != valueAt(static_cast<Index>(i) % all))
      return false;
  return true;
}

// A kind of routes to test.
struct Way {
  const char* name;
  RoutePolicy policy;
};

// If messages cost almost nothing, sums are divided into pieces instead of computed along trees.
constexpr LinkRates kSlowLinks{.latency = 1e-12, .overhead = 1e-12};

class ConversionRoutes : public testing::TestWithParam<Way> {
protected:
  LinearOpRef make(const Layout& from, const Layout& to, TenonDataType type) const {
    return makeConversion(world(), from, to, type, test::by(GetParam().policy));
  }
};

TEST_P(ConversionRoutes, KeepTheValueOfValidTensors) {
  for (unsigned seed = 0, end = test::draws(50); seed < end; ++seed) {
    const RouteCase c = drawRouteCase(seed);
    for (TenonDataType type :
         {TENON_FLOAT32, TENON_FLOAT64, seed % 2 == 0 ? TENON_INT64 : TENON_INT32}) {
      const auto op = make(c.from, c.to, type);
      DTensor x(world(), c.from, type), y(world(), c.to, type);
      fillValid(x);
      fillRaw(y, seed, /*integers=*/true); // y must be overwritten
      op->apply(x, y);
      ASSERT_TRUE(holdsTheValue(y)) << "seed " << seed << ": " << op->describe();
    }
  }
}

TEST_P(ConversionRoutes, MultiplyAndAddInHalvesAndBound) {
  for (unsigned seed = 0, end = test::draws(30); seed < end; ++seed) {
    const RouteCase c = drawRouteCase(500 + seed);
    for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
      const auto op = make(c.from, c.to, TENON_FLOAT64);
      test::Ends ends(*op, sense, seed);
      const std::vector<double> old = test::elementsOf(*ends.y);
      test::act(*op, sense, 1, *ends.x, 0, *ends.y);
      const std::vector<double> plain = test::elementsOf(*ends.y);
      op->bind(sense, *ends.x, *ends.y);
      test::act(*op, sense, 1, *ends.x, 0, *ends.y);
      ASSERT_EQ(test::elementsOf(*ends.y), plain) << op->describe();
      test::setCells(*ends.y, old);
      op->begin(sense, -2, *ends.x, 3, *ends.y);
      op->end(sense);
      std::vector<double> expected;
      for (std::size_t i = 0; i < old.size(); ++i)
        expected.push_back(-2 * plain[i] + 3 * old[i]);
      ASSERT_EQ(test::elementsOf(*ends.y), expected) << op->describe();
      op->unbind();
    }
  }
}

TEST_P(ConversionRoutes, SatisfyTheAdjointIdentity) {
  for (unsigned seed = 0, end = test::draws(50); seed < end; ++seed) {
    const RouteCase c = drawRouteCase(1000 + seed);
    for (TenonDataType type : {TENON_FLOAT32, TENON_FLOAT64}) {
      const auto op = make(c.from, c.to, type);
      const AdjointTestResult exact = testAdjoint(*op, seed, /*integers=*/true);
      ASSERT_EQ(exact.forwardPairing, exact.adjointPairing) << op->describe();
      ASSERT_LT(testAdjoint(*op, seed, /*integers=*/false).relativeError,
                type == TENON_FLOAT64 ? 1e-13 : 1e-5)
          << op->describe();
    }
  }
}

TEST_P(ConversionRoutes, SendWhatTheyCount) {
  for (unsigned seed = 0, end = test::draws(30); seed < end; ++seed) {
    const RouteCase c = drawRouteCase(2000 + seed);
    const auto op = make(c.from, c.to, TENON_FLOAT64);
    DTensor x(world(), c.from, TENON_FLOAT64), y(world(), c.to, TENON_FLOAT64);
    logEnable(true);
    logReset();
    op->apply(x, y);
    Index messages = 0, bytes = 0;
    for (const EventRecord& record : logSnapshot())
      if (record.event == "LinearOpApply") {
        messages = record.messages;
        bytes = record.bytes;
      }
    logEnable(false);
    ASSERT_EQ(messages, op->trafficOf(world()->rank())->messages) << op->describe();
    ASSERT_EQ(bytes, op->trafficOf(world()->rank())->elements * 8) << op->describe();
  }
}

// The contributions are real numbers, whose sums depend on the order of addition.
TEST_P(ConversionRoutes, MakeCopiesThatAreEqualBitByBit) {
  const int ranks = world()->size();
  std::vector<std::pair<Layout, Layout>> cases;
  for (Index length : {3, 1000}) {
    const GridPtr line = Grid::make({ranks});
    cases.emplace_back(test::layoutOn(line, {length}, "P"), test::layoutOn(line, {length}, "B"));
    if (ranks % 2 == 0) {
      const GridPtr grid = Grid::make({2, ranks / 2});
      cases.emplace_back(test::layoutOn(grid, {length}, "P,P"),
                         test::layoutOn(grid, {length}, "B,B"));
    }
  }
  for (const auto& [from, to] : cases) {
    const auto op = make(from, to, TENON_FLOAT32);
    DTensor x(world(), from, TENON_FLOAT32), y(world(), to, TENON_FLOAT32);
    fillRaw(x, 5, /*integers=*/false);
    op->apply(x, y);
    const int length = static_cast<int>(y.localElements());
    std::vector<float> first(y.data<float>(), y.data<float>() + length);
    MPI_Bcast(first.data(), length, MPI_FLOAT, 0, MPI_COMM_WORLD);
    EXPECT_TRUE(std::equal(first.begin(), first.end(), y.data<float>())) << op->describe();
  }
}

// Sums along one axis; the other axis has copies, so all lines have the same contributions and must
// get the same sums.
TEST_P(ConversionRoutes, MakeSumsThatAreEqualInEachLine) {
  const int ranks = world()->size();
  if (ranks % 2 != 0)
    return;
  const GridPtr grid = Grid::make({2, ranks / 2});
  const Layout from = test::layoutOn(grid, {501}, "B,P"), to = test::layoutOn(grid, {501}, "B,B");
  const auto op = make(from, to, TENON_FLOAT32);
  DTensor x(world(), from, TENON_FLOAT32), y(world(), to, TENON_FLOAT32);
  for (Index i = 0; i < 501; ++i)
    x.mutableData<float>()[i] =
        static_cast<float>(uniformAt(3, grid->coordinate(world()->rank(), 1), i) - 0.5);
  op->apply(x, y);
  std::vector<float> first(y.data<float>(), y.data<float>() + 501);
  MPI_Bcast(first.data(), 501, MPI_FLOAT, 0, MPI_COMM_WORLD);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), y.data<float>())) << op->describe();
}

TEST_P(ConversionRoutes, ReadAndWriteArraysOfAnyStride) {
  const Shape shape = {6, 2 * world()->size() + 1};
  for (const char* from : {"S0", "S1", "P", "R", "B"})
    for (const char* to : {"S0", "S1", "P", "R", "B"}) {
      const Layout a = test::onLine(shape, from), b = test::onLine(shape, to);
      const auto op = make(a, b, TENON_FLOAT64);
      DTensor x(world(), a, TENON_FLOAT64), y(world(), b, TENON_FLOAT64),
          z(world(), b, TENON_FLOAT64);
      std::vector<double> memory(2 * y.localElements() + 1), source(3 * x.localElements() + 1);
      y.placeArray(memory.data(), {2, 2 * y.extent()[0]}, {0, 0}, {0, 0}, /*readOnly=*/false);
      x.placeArray(source.data(), {3, 3 * x.extent()[0]}, {0, 0}, {0, 0}, /*readOnly=*/false);
      test::forEach(x.extent(), [&](const std::vector<Index>& cell) {
        const Index number =
            numberOf(a, *test::globalOf(a, x.position(), cell, /*asSource=*/false));
        source[3 * (cell[0] + x.extent()[0] * cell[1])] =
            contributionAt(a, numberAlong(a, x.position(), PropertyKind::Partial), number);
      });
      op->apply(x, y);
      op->apply(x, z);
      EXPECT_TRUE(holdsTheValue(z)) << op->describe();
      Index local = 0;
      test::forEach(z.extent(), [&](const std::vector<Index>& cell) {
        ASSERT_EQ(memory[2 * (cell[0] + z.extent()[0] * cell[1])], z.data<double>()[local++])
            << op->describe();
      });
    }
}

std::string nameOfWay(const testing::TestParamInfo<Way>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    All, ConversionRoutes,
    testing::Values(Way{"Auto", {}},
                    Way{"AutoOnSlowLinks", {.mode = RouteMode::Auto, .rates = kSlowLinks}},
                    Way{"Exchange", {.mode = RouteMode::Exchange, .rates = {}}},
                    Way{"Chain", {.mode = RouteMode::Chain, .rates = {}}},
                    Way{"Collective", {.mode = RouteMode::Collective, .rates = {}}},
                    Way{"CollectiveInPieces",
                        {.mode = RouteMode::Collective, .rates = kSlowLinks}}),
    nameOfWay);

TEST(RouteChoice, ViewsTellTheSteps) {
  const Layout p = test::onLine({40}, "P"), b = test::onLine({40}, "B");
  const LinearOpRef chain = makeConversion(
      world(), p, b, TENON_FLOAT64, test::by(RoutePolicy{.mode = RouteMode::Chain, .rates = {}}));
  const Conversion one(world(), p, b, TENON_FLOAT64, CarrierPolicy::fromOptions());
  EXPECT_NE(one.describe().find("one exchange"), std::string::npos) << one.describe();
  if (world()->size() > 1) {
    EXPECT_NE(chain->describe().find(": exchange "), std::string::npos) << chain->describe();
    EXPECT_NE(chain->describe().find("; predicted "), std::string::npos) << chain->describe();
  }
}

// If ranks have different options, the creation of a conversion in C fails on all ranks.
TEST(RouteChoice, OfDifferentOptionsFailsAlikeOnAllRanks) {
  if (world()->size() == 1)
    return;
  TenonPartition partition = nullptr;
  TenonLayout p = nullptr, b = nullptr;
  const int extent = world()->size();
  const TenonInt shape[] = {10};
  ASSERT_EQ(TenonPartitionCreate(MPI_COMM_WORLD, 1, &extent, &partition), TENON_SUCCESS);
  ASSERT_EQ(TenonLayoutCreateSharded(partition, 1, shape, "P", &p), TENON_SUCCESS);
  ASSERT_EQ(TenonLayoutCreateSharded(partition, 1, shape, "B", &b), TENON_SUCCESS);
  TenonPushErrorHandler(TenonReturnErrorHandler, nullptr);
  for (const char* first : {"collective", "chain", "exchange"}) {
    options().set("-tenon_conversion_route", world()->rank() == 0 ? first : "auto");
    TenonLinearOp op = nullptr;
    EXPECT_EQ(TenonLinearOpCreateConversion(p, b, TENON_FLOAT64, &op), TENON_ERR_COLLECTIVE);
    options().set("-tenon_conversion_route", "auto");
    EXPECT_EQ(TenonLinearOpCreateConversion(p, b, TENON_FLOAT64, &op), TENON_SUCCESS);
    EXPECT_EQ(TenonLinearOpDestroy(&op), TENON_SUCCESS);
  }
  TenonPopErrorHandler();
  TenonLayoutDestroy(&p);
  TenonLayoutDestroy(&b);
  TenonPartitionDestroy(&partition);
}

} // namespace
} // namespace tenon
