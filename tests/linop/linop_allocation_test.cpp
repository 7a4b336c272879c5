// SPDX-License-Identifier: BSD-2-Clause
// Tests that no operator allocates memory from the second call on, with any factors, in one call or
// two halves, bound or not, and for several fields. Allocations are counted by a replaced operator
// new (support/count_allocations.hpp), which the MPI library does not call.
#include "linop/exchange/block_diagonal.hpp"
#include "operators.hpp"
#include "support/count_allocations.hpp"
#include "sys/memory/memory.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

using test::world;

class Allocation : public testing::TestWithParam<test::NamedOp> {};

// Applies an operator in each form.
void useEveryForm(LinearOp& op, const test::Ends& forward, const test::Ends& adjoint) {
  for (Sense sense : {Sense::Forward, Sense::Adjoint}) {
    const test::Ends& ends = sense == Sense::Forward ? forward : adjoint;
    test::act(op, sense, 1, *ends.x, 0, *ends.y);
    test::act(op, sense, 2, *ends.x, -1, *ends.y);
    test::act(op, sense, 0, *ends.x, 1, *ends.y);
    op.begin(sense, 2, *ends.x, 1, *ends.y);
    op.end(sense);
  }
}

// Applies it to two fields.
void useFields(LinearOp& op, const test::Ends& first, const test::Ends& second) {
  const DTensor* const x[] = {first.x.get(), second.x.get()};
  DTensor* const y[] = {first.y.get(), second.y.get()};
  op.applyMany(Sense::Forward, x, y);
}

// From the second call on, also with another first field.
void expectNoAllocations(LinearOp& op, const test::Ends& first, const test::Ends& second,
                         const test::Ends& other) {
  const auto use = [&] {
    useFields(op, first, second);
    useFields(op, other, second);
  };
  use();
  const long before = test::allocations;
  use();
  EXPECT_EQ(test::allocations - before, 0);
}

TEST_P(Allocation, IsZeroFromTheSecondCallOn) {
  for (bool bound : {false, true}) {
    const LinearOpRef op = GetParam().make(TENON_FLOAT64);
    op->setName("an operator with a name too long for a short string");
    const test::Ends forward(*op, Sense::Forward, 1), adjoint(*op, Sense::Adjoint, 2);
    if (bound) {
      op->bind(Sense::Forward, *forward.x, *forward.y);
      op->bind(Sense::Adjoint, *adjoint.x, *adjoint.y);
    }
    useEveryForm(*op, forward, adjoint);
    const long before = test::allocations;
    const Index alive = bytesAlive();
    useEveryForm(*op, forward, adjoint);
    EXPECT_EQ(test::allocations - before, 0);
    EXPECT_EQ(bytesAlive(), alive);
  }
}

TEST_P(Allocation, IsZeroFromTheSecondCallForSeveralFieldsOn) {
  const LinearOpRef op = GetParam().make(TENON_FLOAT64);
  op->setName("an operator with a name too long for a short string");
  const test::Ends first(*op, Sense::Forward, 1), second(*op, Sense::Forward, 2),
      third(*op, Sense::Forward, 3);
  expectNoAllocations(*op, first, second, third);
}

TEST(AllocationOfBlockDiagonal, IsZeroFromTheSecondCallOn) {
  const Layout plain = test::onLine({5 * world()->size(), 4}, "S0");
  const auto op = [&](Index width, TenonDataType type) {
    return test::conversion(plain, test::withHalo(plain, width, Boundary::Zero), type);
  };
  const std::vector<LinearOpRef> ops = {op(1, TENON_FLOAT32), op(2, TENON_FLOAT64)};
  const LinearOpRef diagonal = blockDiagonal(ops, CarrierPolicy::fromOptions());
  const test::Ends first(*ops[0], Sense::Forward, 1), second(*ops[1], Sense::Forward, 2),
      third(*ops[0], Sense::Forward, 3);
  expectNoAllocations(*diagonal, first, second, third);
}

INSTANTIATE_TEST_SUITE_P(Linop, Allocation, testing::ValuesIn(test::allOperators()),
                         test::nameOfParameter);

} // namespace
} // namespace tenon
