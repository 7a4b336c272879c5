// SPDX-License-Identifier: BSD-2-Clause
// Tests the properties that every linear operator must have, on one operator of each kind
// (operators.hpp), in both directions and both floating types: the adjoint identity <F x, y> = <x,
// F* y>, exact on small integers; y <- alpha F x + beta y; the same results in two halves (begin,
// end), on bound arrays, and with other tensors; and the errors of wrong calls in between. The
// tests Refill.* compare the filling of a halo without messages with a halo exchange.
#include "geometry/schedule/refill.hpp"
#include "linop/algebra/adjoint_test.hpp"
#include "operators.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tenon {
namespace {

using test::act;
using test::elementsOf;
using test::Ends;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class EveryOperator : public testing::TestWithParam<test::NamedOp> {
protected:
  // Calls check(operator, sense) for each type and direction.
  template <class Check>
  static void forEach(Check check) {
    for (TenonDataType type : {TENON_FLOAT32, TENON_FLOAT64}) {
      const LinearOpRef op = GetParam().make(type);
      for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
        SCOPED_TRACE(op->describe() + (sense == Sense::Forward ? "" : ", adjoint"));
        check(*op, sense);
      }
    }
  }
  static std::vector<double> applied(LinearOp& op, Sense sense, const Ends& ends) {
    act(op, sense, 1, *ends.x, 0, *ends.y);
    return elementsOf(*ends.y);
  }
};

TEST_P(EveryOperator, SatisfiesTheAdjointIdentityExactlyOnIntegers) {
  for (TenonDataType type : {TENON_FLOAT32, TENON_FLOAT64})
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const AdjointTestResult result = testAdjoint(*GetParam().make(type), seed, /*integers=*/true);
      EXPECT_EQ(result.forwardPairing, result.adjointPairing);
    }
}

TEST_P(EveryOperator, MultipliesAndAdds) {
  forEach([](LinearOp& op, Sense sense) {
    Ends ends(op, sense, 7);
    const std::vector<double> before = elementsOf(*ends.y), plain = applied(op, sense, ends);
    for (double alpha : {1.0, 3.0, -2.0, 0.0})
      for (double beta : {1.0, -2.0, 0.0}) {
        test::setCells(*ends.y, before);
        act(op, sense, alpha, *ends.x, beta, *ends.y);
        const std::vector<double> after = elementsOf(*ends.y);
        for (std::size_t i = 0; i < after.size(); ++i)
          ASSERT_EQ(after[i], alpha * plain[i] + beta * before[i])
              << "cell " << i << ", alpha " << alpha << ", beta " << beta;
      }
  });
}

TEST_P(EveryOperator, DoesNotReadWhatItMultipliesByZero) {
  forEach([](LinearOp& op, Sense sense) {
    Ends ends(op, sense, 7);
    const std::vector<double> before = elementsOf(*ends.y), plain = applied(op, sense, ends);
    test::setCells(*ends.y, std::vector<double>(before.size(), kNan));
    act(op, sense, 3, *ends.x, 0, *ends.y);
    const std::vector<double> tripled = elementsOf(*ends.y);
    for (std::size_t i = 0; i < tripled.size(); ++i)
      ASSERT_EQ(tripled[i], 3 * plain[i]);
    test::setCells(*ends.x, std::vector<double>(ends.x->localElements(), kNan));
    test::setCells(*ends.y, before);
    act(op, sense, 0, *ends.x, 2, *ends.y);
    const std::vector<double> kept = elementsOf(*ends.y);
    for (std::size_t i = 0; i < kept.size(); ++i)
      ASSERT_EQ(kept[i], 2 * before[i]);
  });
}

TEST_P(EveryOperator, DoesTheSameInTwoHalves) {
  forEach([](LinearOp& op, Sense sense) {
    Ends whole(op, sense, 9), halves(op, sense, 9);
    act(op, sense, -2, *whole.x, 3, *whole.y);
    op.begin(sense, -2, *halves.x, 3, *halves.y);
    op.end(sense);
    EXPECT_EQ(elementsOf(*halves.y), elementsOf(*whole.y));
  });
}

TEST_P(EveryOperator, KeepsItsTensorsBetweenTheHalves) {
  forEach([](LinearOp& op, Sense sense) {
    const Sense other = reversed(sense);
    Ends ends(op, sense, 9), more(op, sense, 11), back(op, other, 13);
    expectError(TENON_ERR_STATE, {"Begin() first"}, [&] { op.end(sense); });
    const std::vector<double> expected = applied(op, sense, more);
    op.begin(sense, 1, *ends.x, 0, *ends.y);
    EXPECT_TRUE(op.isBegun());
    expectError(TENON_ERR_STATE, {"Begin() first"}, [&] { op.end(other); });
    expectError(TENON_ERR_STATE, {"in flight", "End"},
                [&] { op.begin(sense, 1, *more.x, 0, *more.y); });
    expectError(TENON_ERR_STATE, {"in flight"}, [&] { act(op, other, 1, *back.x, 0, *back.y); });
    expectError(TENON_ERR_STATE, {"in flight"}, [&] { op.bind(sense, *more.x, *more.y); });
    expectError(TENON_ERR_STATE, {"in flight"}, [&] { op.unbind(); });
    expectError(TENON_ERR_STATE, {"in use for writing"}, [&] { ends.y->checkReadable(); });
    expectError(TENON_ERR_STATE, {"in use for reading"}, [&] { ends.x->checkWritable(); });
    op.end(sense);
    EXPECT_FALSE(op.isBegun());
    ends.x->checkWritable();
    ends.y->checkWritable();
    EXPECT_EQ(applied(op, sense, more), expected);
  });
}

TEST_P(EveryOperator, CompletesWhatIsInFlightWhoeverHasGivenTheArrayBack) {
  forEach([](LinearOp& op, Sense sense) {
    Ends ends(op, sense, 9), more(op, sense, 9);
    const void* array = arrayOf(*ends.y);
    const std::vector<double> expected = applied(op, sense, more);
    op.begin(sense, 1, *ends.x, 0, *ends.y);
    ends.y->endWriting(array);
    expectError(TENON_ERR_STATE, {"not in use for writing"}, [&] { op.end(sense); });
    EXPECT_EQ(elementsOf(*ends.y), expected);
    EXPECT_EQ(applied(op, sense, more), expected);
  });
}

TEST_P(EveryOperator, IsTheSameOnBoundArrays) {
  forEach([](LinearOp& op, Sense sense) {
    Ends bound(op, sense, 17), other(op, sense, 19), back(op, reversed(sense), 23);
    const auto expected = applied(op, sense, bound), expectedOther = applied(op, sense, other);
    const auto expectedBack = applied(op, reversed(sense), back);
    op.bind(sense, *bound.x, *bound.y);
    op.bind(reversed(sense), *back.x, *back.y);
    for (int round = 0; round < 3; ++round) {
      fillRaw(*bound.y, 1, /*integers=*/true);
      fillRaw(*back.y, 2, /*integers=*/true);
      EXPECT_EQ(applied(op, sense, bound), expected);
      EXPECT_EQ(applied(op, sense, other), expectedOther); // arrays that are not bound
      EXPECT_EQ(applied(op, reversed(sense), back), expectedBack);
    }
    fillRaw(*bound.x, 29, /*integers=*/true);
    Ends fresh(op, sense, 29);
    EXPECT_EQ(applied(op, sense, bound), applied(op, sense, fresh));
    op.begin(sense, 1, *bound.x, 0, *bound.y);
    op.end(sense);
    EXPECT_EQ(elementsOf(*bound.y), elementsOf(*fresh.y));
    op.unbind();
    EXPECT_EQ(applied(op, sense, bound), elementsOf(*fresh.y));
  });
}

TEST_P(EveryOperator, SeesTheChangeOfItsOutputAlsoWhenBound) {
  forEach([](LinearOp& op, Sense sense) {
    Ends ends(op, sense, 17);
    op.bind(sense, *ends.x, *ends.y);
    const std::uint64_t before = ends.y->state();
    act(op, sense, 1, *ends.x, 0, *ends.y);
    EXPECT_GT(ends.y->state(), before);
    op.unbind();
  });
}

TEST_P(EveryOperator, RefusesOneTensorForBoth) {
  forEach([](LinearOp& op, Sense sense) {
    const Ends ends(op, sense, 1);
    if (ends.x->layout() == ends.y->layout() && ends.x->dataType() == ends.y->dataType())
      expectError(TENON_ERR_ARG, {"the same tensor"},
                  [&] { act(op, sense, 1, *ends.x, 0, *ends.x); });
  });
}

INSTANTIATE_TEST_SUITE_P(Linop, EveryOperator, testing::ValuesIn(test::allOperators()),
                         test::nameOfParameter);

TEST(Refill, GivesWhatAnExchangeGives) {
  const Layout plain = test::onLine({11, 2}, "S0");
  for (const Boundary mode : test::refilledModes()) {
    const LinearOpRef op = test::refill(plain, mode, TENON_FLOAT64);
    EXPECT_TRUE(canRefill(op->domain(), op->range())) << op->describe();
    const auto made = [](const Layout& layout) {
      return makeRef<DTensor>(test::world(), layout, TENON_FLOAT64);
    };
    const Ref<DTensor> x = made(plain), wide = made(op->domain()), got = made(op->range()),
                       want = made(op->range());
    fillRaw(*x, 3, /*integers=*/true);
    test::conversion(plain, op->domain(), TENON_FLOAT64)->apply(*x, *wide);
    test::conversion(plain, op->range(), TENON_FLOAT64)->apply(*x, *want);
    op->apply(*wide, *got);
    EXPECT_EQ(elementsOf(*got), elementsOf(*want)) << op->describe();
  }
}

TEST(Refill, NeedsWhatLiesBeyondTheDomainToBeNothingOrTheSame) {
  const Layout plain = test::onLine({11, 2}, "S0");
  const auto with = [&](Index width, Boundary mode) { return test::withHalo(plain, width, mode); };
  EXPECT_FALSE(canRefill(with(4, Boundary::Zero), with(2, Boundary::Reflect)));
  EXPECT_FALSE(canRefill(with(4, Boundary::None), with(2, Boundary::Values)));
  EXPECT_TRUE(canRefill(with(4, Boundary::Values), with(2, Boundary::Values)));
  EXPECT_FALSE(canRefill(plain, with(2, Boundary::Linked)));
  EXPECT_FALSE(canRefill(with(2, Boundary::None).dual(), with(1, Boundary::Zero)));
  // On one rank, its part has all elements of the new halo; on several ranks it does not.
  const bool isAlone = test::world()->size() == 1;
  EXPECT_EQ(canRefill(plain, with(2, Boundary::Reflect)), isAlone);
  EXPECT_EQ(canRefill(with(2, Boundary::None), with(2, Boundary::Periodic)), isAlone);
  EXPECT_EQ(canRefill(with(1, Boundary::None), with(2, Boundary::Zero)), isAlone);
}

} // namespace
} // namespace tenon
