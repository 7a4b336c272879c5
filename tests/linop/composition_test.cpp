// SPDX-License-Identifier: BSD-2-Clause
// Tests compositions of operators, and the view of an operator's adjoint: a ReduceScatter followed
// by an AllGather must be the AllReduce, the adjoint identity must hold exactly on integers, and an
// error names the operators that do not fit. Layouts are named by their property on the one axis of
// the grid: P (partial sums), S0 (split), B (copies), R (root).
#include "dtensor/fill.hpp"
#include "linop/algebra/adjoint_test.hpp"
#include "linop/algebra/composition.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon {
namespace {

using test::world;

Layout layout(const char* text) {
  return Layout({.shape = {10, 7},
                 .grid = Grid::make({world()->size()}),
                 .properties = parseProperties(text)});
}

// The conversion between two layouts.
LinearOpRef between(const char* from, const char* to) {
  return makeConversion(world(), layout(from), layout(to), TENON_FLOAT64);
}

TEST(Composition, OfAReduceScatterAndAnAllGatherIsTheAllReduce) {
  const LinearOpRef chain = compose({between("P", "S0"), between("S0", "B")});
  const LinearOpRef direct = between("P", "B");
  DTensor x(world(), layout("P"), TENON_FLOAT64), y(world(), layout("B"), TENON_FLOAT64),
      z(world(), layout("B"), TENON_FLOAT64);
  fillRaw(x, 1, /*integers=*/true);
  chain->apply(x, y);
  direct->apply(x, z);
  for (Index i = 0; i < 70; ++i)
    EXPECT_EQ(y.data<double>()[i], z.data<double>()[i]);
}

TEST(Composition, HasTheReversedAdjoints) {
  const LinearOpRef chain = compose({between("R", "S1"), between("S1", "S0"), between("S0", "B")});
  const AdjointTestResult result = testAdjoint(*chain, 3, /*integers=*/true);
  EXPECT_EQ(result.forwardPairing, result.adjointPairing);
}

TEST(AdjointView, ExchangesBothDirections) {
  const LinearOpRef gather = between("S0", "B");
  const LinearOpRef view = adjointView(gather);
  EXPECT_TRUE(view->domain() == layout("P"));
  EXPECT_TRUE(view->range() == layout("S0"));
  const AdjointTestResult result = testAdjoint(*view, 4, /*integers=*/true);
  EXPECT_EQ(result.forwardPairing, result.adjointPairing);
  DTensor p(world(), layout("P"), TENON_FLOAT64), byView(world(), layout("S0"), TENON_FLOAT64),
      byOp(world(), layout("S0"), TENON_FLOAT64);
  fillRaw(p, 2, /*integers=*/true);
  view->apply(p, byView);
  gather->applyAdjoint(p, byOp);
  EXPECT_TRUE(std::equal(byView.data<double>(), byView.data<double>() + byView.localElements(),
                         byOp.data<double>()));
}

TEST(Composition, NamesThePairThatDoesNotFit) {
  if (world()->size() == 1)
    GTEST_SKIP() << "on one process all layouts of a shape are equal";
  try {
    compose({between("R", "S1"), between("S0", "B")});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TENON_ERR_LAYOUT);
    EXPECT_NE(error.text().find("operator 0"), std::string::npos);
  }
  EXPECT_THROW(compose({}), Error);
}

} // namespace
} // namespace tenon
