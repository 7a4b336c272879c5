// SPDX-License-Identifier: BSD-2-Clause
// Tests shell operators, which are defined by functions of the user, and the registry of operator
// types by name. The shells are small: their results are compared with the user's function, and
// their errors must reach the caller unchanged.
#include "linop/algebra/shell.hpp"

#include "linop/algebra/adjoint_test.hpp"
#include "linop/algebra/type_registry.hpp"
#include "operators.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

using test::Ends;
using test::onLine;
using test::world;

Ref<Shell> shell(Shell::Functions functions) {
  const Layout layout = onLine({6}, "S0");
  return makeRef<Shell>(world(), layout, layout, TENON_FLOAT64, TENON_FLOAT64,
                        std::move(functions));
}

TEST(Shell, IsFoundOutIfItsMapsAreNotAdjoint) {
  const auto op = shell({.apply = [](const DTensor& x, DTensor& y) { axpby(2, x, 0, y); },
                         .applyAdjoint = [](const DTensor& y, DTensor& x) { axpby(3, y, 0, x); }});
  EXPECT_GT(testAdjoint(*op, 1, /*integers=*/true).relativeError, 0.01);
}

TEST(Shell, WritesPlainResultsInPlace) {
  const DTensor* written = nullptr;
  const auto op =
      shell({.apply = [&](const DTensor&, DTensor& y) { written = &y; }, .applyAdjoint = {}});
  const Ends ends(*op, Sense::Forward, 1);
  op->apply(*ends.x, *ends.y);
  EXPECT_EQ(written, ends.y.get());
  op->apply(1, *ends.x, 1, *ends.y);
  EXPECT_NE(written, ends.y.get());
}

TEST(Shell, MayHaveNoAdjoint) {
  const auto op = shell({.apply = [](const DTensor&, DTensor&) {}, .applyAdjoint = {}});
  const Ends ends(*op, Sense::Adjoint, 1);
  expectError(TENON_ERR_SUPPORT, {"shell", "function for applyAdjoint"},
              [&] { op->applyAdjoint(*ends.x, *ends.y); });
}

TEST(Shell, IsUsableAfterAnErrorOfItsFunction) {
  bool fails = true;
  const auto op = shell({.apply =
                             [&](const DTensor& x, DTensor& y) {
                               if (fails)
                                 throw Error(TENON_ERR_ARG, "the user's reason");
                               axpby(1, x, 0, y);
                             },
                         .applyAdjoint = {}});
  const Ends ends(*op, Sense::Forward, 1);
  expectError(TENON_ERR_ARG, {"the user's reason"}, [&] { op->apply(*ends.x, *ends.y); });
  op->begin(Sense::Forward, 1, *ends.x, 0, *ends.y);
  expectError(TENON_ERR_ARG, {"the user's reason"}, [&] { op->end(Sense::Forward); });
  fails = false;
  op->apply(*ends.x, *ends.y);
  EXPECT_EQ(test::elementsOf(*ends.x), test::elementsOf(*ends.y));
}

TEST(Shell, TellsOnceThatItIsGone) {
  int calls = 0;
  {
    auto op = shell({});
    op->onDestroy([&] { ++calls; });
    const LinearOpRef chain = compose({op, op});
    op = {};
    EXPECT_EQ(calls, 0);
  }
  EXPECT_EQ(calls, 1);
}

LinearOpRef ofType(const char* name, const Layout& domain, const Layout& range,
                   TenonDataType domainType = TENON_FLOAT64,
                   TenonDataType rangeType = TENON_FLOAT64) {
  return linearOpTypes().find(name)({world(), domain, range, domainType, rangeType}, nullptr);
}

TEST(TypeRegistry, KnowsTheLibrarysOwnTypes) {
  const Layout s = onLine({6}, "S0"), b = onLine({6}, "B");
  EXPECT_EQ(ofType("conversion", s, b)->type(), "conversion");
  EXPECT_EQ(ofType("zero", s, b)->type(), "zero");
  EXPECT_EQ(ofType("identity", s, s)->type(), "identity");
  EXPECT_EQ(ofType("cast", s, s, TENON_FLOAT32)->rangeType(), TENON_FLOAT64);
}

TEST(TypeRegistry, SaysWhatATypeCannotMap) {
  const Layout s = onLine({6}, "S0"), b = onLine({6}, "B");
  if (world()->size() > 1) // one process holds the same in all layouts
    expectError(TENON_ERR_LAYOUT, {"the identity", "] S0", "] B"},
                [&] { ofType("identity", s, b); });
  expectError(TENON_ERR_DATATYPE, {"a conversion", "float32", "float64"},
              [&] { ofType("conversion", s, b, TENON_FLOAT32); });
  expectError(TENON_ERR_TYPE, {"convertion", "did you mean 'conversion'"},
              [&] { ofType("convertion", s, b); });
}

} // namespace
} // namespace tenon
