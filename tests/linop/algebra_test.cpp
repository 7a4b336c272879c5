// SPDX-License-Identifier: BSD-2-Clause
// Tests sums, multiples, casts and compositions of operators: their values, and the errors if
// operators do not fit. That they are linear and have adjoints is tested in
// every_operator_test.cpp.
#include "operators.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

using test::elementsOf;
using test::Ends;
using test::onLine;
using test::world;

LinearOpRef conversion(const char* from, const char* to, TenonDataType type = TENON_FLOAT64) {
  return test::conversion(onLine({10, 7}, from), onLine({10, 7}, to), type);
}

std::vector<double> valueOf(LinearOp& op, std::uint64_t seed) {
  const Ends ends(op, Sense::Forward, seed);
  op.apply(*ends.x, *ends.y);
  return elementsOf(*ends.y);
}

TEST(Sum, AddsItsOperators) {
  const LinearOpRef whole = conversion("S0", "B");
  const LinearOpRef detour = compose({conversion("S0", "R"), conversion("R", "B")});
  const auto once = valueOf(*whole, 3), thrice = valueOf(*sum({whole, detour, whole}), 3);
  for (std::size_t i = 0; i < once.size(); ++i)
    EXPECT_EQ(thrice[i], 3 * once[i]);
}

TEST(Sum, NamesTheOperatorThatDoesNotFit) {
  if (world()->size() > 1) // one process holds the same in all layouts
    expectError(TENON_ERR_LAYOUT, {"operator 0", "operator 2"}, [] {
      sum({conversion("S0", "B"), conversion("S0", "B"), conversion("S0", "R")});
    });
  expectError(TENON_ERR_DATATYPE, {"operator 1", "float32"}, [] {
    sum({conversion("S0", "B"), conversion("S0", "B", TENON_FLOAT32)});
  });
  expectError(TENON_ERR_ARG, {"at least 1"}, [] { sum({}); });
}

TEST(Scale, MultipliesAlsoIntegers) {
  const LinearOpRef labels = conversion("S0", "B", TENON_INT64);
  const auto once = valueOf(*labels, 3), five = valueOf(*scale(5, labels), 3);
  for (std::size_t i = 0; i < once.size(); ++i)
    EXPECT_EQ(five[i], 5 * once[i]);
  expectError(TENON_ERR_DATATYPE, {"integer", "0.5"}, [&] { scale(0.5, labels); });
  const Ends ends(*labels, Sense::Forward, 1);
  expectError(TENON_ERR_DATATYPE, {"integer", "1.5"},
              [&] { labels->apply(1.5, *ends.x, 0, *ends.y); });
}

// Each factor is an integer that int32 holds, but not their product.
TEST(Scale, RefusesProductsOfFactorsThatIntegersCannotHold) {
  const LinearOpRef multiple = scale(100000, conversion("S0", "B", TENON_INT32));
  const Ends ends(*multiple, Sense::Forward, 1);
  expectError(TENON_ERR_DATATYPE, {"integer", "10000000000", "int32"},
              [&] { multiple->apply(100000, *ends.x, 0, *ends.y); });
  expectError(TENON_ERR_DATATYPE, {"integer", "-2147483648"},
              [] { scale(-0x1p31, conversion("S0", "B", TENON_INT32)); });
}

TEST(Scale, ShowsItsFactor) {
  EXPECT_NE(scale(2.5, conversion("S0", "B"))->describe().find("2.5"), std::string::npos);
}

TEST(Cast, RoundsOnce) {
  const Layout layout = onLine({10, 7}, "S0");
  const auto narrow = makeRef<Cast>(world(), layout, TENON_FLOAT64, TENON_FLOAT32);
  const auto widen = makeRef<Cast>(world(), layout, TENON_FLOAT32, TENON_FLOAT64);
  EXPECT_EQ(narrow->domainType(), TENON_FLOAT64);
  EXPECT_EQ(narrow->rangeType(), TENON_FLOAT32);
  EXPECT_EQ(narrow->type(), "cast");
  const Ends ends(*compose({narrow, widen}), Sense::Forward, 1);
  fillRaw(*ends.x, 5, /*integers=*/false);
  compose({narrow, widen})->apply(0.1, *ends.x, 0, *ends.y);
  const auto before = elementsOf(*ends.x), after = elementsOf(*ends.y);
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(after[i], 0.1 * static_cast<double>(static_cast<float>(before[i])));
}

TEST(Cast, KnowsNoIntegers) {
  expectError(TENON_ERR_DATATYPE, {"a cast", "int64"},
              [] { makeRef<Cast>(world(), onLine({4}, "B"), TENON_INT64, TENON_FLOAT64); });
  const Cast identity(world(), onLine({4}, "B"), TENON_INT64, TENON_INT64);
  EXPECT_EQ(identity.type(), "identity");
}

TEST(Composition, AsksForACastBetweenTypes) {
  expectError(TENON_ERR_DATATYPE, {"operator 0", "float64", "operator 1", "float32", "cast"}, [] {
    compose({conversion("S0", "B"), conversion("B", "S0", TENON_FLOAT32)});
  });
}

} // namespace
} // namespace tenon
