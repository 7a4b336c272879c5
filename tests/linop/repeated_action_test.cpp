// SPDX-License-Identifier: BSD-2-Clause
// Tests that an operator which remembers its last action (the tensors, their arrays and the
// factors) notices everything that changes until the next one: arrays that overlap or are constant,
// locks, other strides, a tensor at the address of a destroyed one, other factors. Each test first
// makes the action that is remembered, twice.
#include "linop/exchange/conversion.hpp"
#include "operators.hpp"
#include "sys/expect_error.hpp"

namespace tenon {
namespace {

using test::elementsOf;
using test::Ends;
using test::world;

constexpr Index kRows = 10, kColumns = 7;

class RepeatedActions : public testing::TestWithParam<Transport> {
protected:
  // Every rank sends its rows to all others.
  LinearOpRef op_ = makeRef<Conversion>(world(), test::onLine({kRows, kColumns}, "S0"),
                                        test::onLine({kRows, kColumns}, "B"), TENON_FLOAT64,
                                        test::by(GetParam()));
  Ends ends_{*op_, Sense::Forward, 3};
  std::vector<double> all_ = remembered();

  std::vector<double> remembered() {
    op_->apply(*ends_.x, *ends_.y);
    op_->apply(*ends_.x, *ends_.y);
    return elementsOf(*ends_.y);
  }
  void place(DTensor& tensor, std::vector<double>& array, const std::vector<Index>& strides,
             bool readOnly = false) {
    tensor.placeArray(array.data(), strides, {0, 0}, {0, 0}, readOnly);
  }
  void expectRight() {
    op_->apply(*ends_.x, *ends_.y);
    EXPECT_EQ(elementsOf(*ends_.y), all_);
  }
};

TEST_P(RepeatedActions, RefuseArraysThatOverlapNow) {
  if (ends_.x->extent()[0] < 2)
    return; // Nothing overlaps. The others send nothing, since they all fail.
  std::vector<double> array(2 * kRows * kColumns);
  place(*ends_.x, array, {kColumns, 1});
  // The second row of x is the first of y.
  ends_.y->placeArray(array.data() + kColumns, {kColumns, 1}, {0, 0}, {0, 0}, /*readOnly=*/false);
  expectError(TENON_ERR_ARG, {"overlap"}, [&] { op_->apply(*ends_.x, *ends_.y); });
}

TEST_P(RepeatedActions, RefuseAConstantArray) {
  std::vector<double> array(kRows * kColumns);
  place(*ends_.y, array, {kColumns, 1}, /*readOnly=*/true);
  expectError(TENON_ERR_STATE, {"constant"}, [&] { op_->apply(*ends_.x, *ends_.y); });
  ends_.y->resetArray();
  expectRight();
}

TEST_P(RepeatedActions, RefuseArraysInUse) {
  const void* x = arrayOf(*ends_.x);
  ends_.x->lendForWriting();
  expectError(TENON_ERR_STATE, {"in use for writing"}, [&] { op_->apply(*ends_.x, *ends_.y); });
  ends_.x->endWriting(x);
  ends_.y->lendForReading();
  expectError(TENON_ERR_STATE, {"in use for reading"}, [&] { op_->apply(*ends_.x, *ends_.y); });
  ends_.y->endReading(arrayOf(*ends_.y));
  expectRight();
}

TEST_P(RepeatedActions, RefuseArraysThatAreNotGathered) {
  const auto fresh = makeRef<DTensor>(world(), op_->domain(), TENON_FLOAT64);
  const Index rows = fresh->extent()[0];
  std::vector<std::vector<double>> columns(kColumns, std::vector<double>(std::max<Index>(rows, 1)));
  std::vector<void*> first;
  for (auto& column : columns)
    first.push_back(column.data());
  fresh->placeArrays(1, first, {1, 1}, {0, 0}, {0, 0}, /*readOnly=*/false);
  if (rows == 0)
    return; // A rank without elements has nothing to gather.
  expectError(TENON_ERR_STATE, {"never gathered"}, [&] { op_->apply(*fresh, *ends_.y); });
}

TEST_P(RepeatedActions, FollowArraysAndStrides) {
  std::vector<double> first(kRows * kColumns, -1), second(kRows * kColumns, -1);
  const auto expectIn = [&](const std::vector<double>& array, Index row, Index column) {
    for (Index i = 0; i < kRows; ++i)
      for (Index j = 0; j < kColumns; ++j)
        ASSERT_EQ(array[i * row + j * column], all_[kColumns * i + j]);
  };
  for (int round = 0; round < 2; ++round) {
    for (std::vector<double>* array : {&first, &second}) {
      std::ranges::fill(*array, -1);
      place(*ends_.y, *array, {kColumns, 1});
      op_->apply(*ends_.x, *ends_.y);
      expectIn(*array, kColumns, 1);
    }
    place(*ends_.y, second, {1, kRows}); // The same array with other strides.
    op_->apply(*ends_.x, *ends_.y);
    expectIn(second, 1, kRows);
  }
  ends_.y->setPrivate(true);
  ends_.y->resetArray();
  expectRight();
  ends_.x->setPrivate(true); // Its elements are elsewhere now.
  expectRight();
}

// The new tensor usually has the address of the destroyed one.
TEST_P(RepeatedActions, CheckATensorAtTheAddressOfADestroyedOne) {
  const std::vector<double> values = elementsOf(*ends_.x);
  const auto replaced = [&](const Layout& layout, TenonDataType type) {
    ends_.x = {};
    ends_.x = makeRef<DTensor>(world(), layout, type);
  };
  replaced(test::onLine({kRows, kColumns + 1}, "S0"), TENON_FLOAT64);
  expectError(TENON_ERR_SHAPE, {"input"}, [&] { op_->apply(*ends_.x, *ends_.y); });
  replaced(op_->domain(), TENON_FLOAT32);
  expectError(TENON_ERR_DATATYPE, {"input"}, [&] { op_->apply(*ends_.x, *ends_.y); });
  replaced(op_->domain(), TENON_FLOAT64);
  op_->apply(*ends_.x, *ends_.y);
  EXPECT_EQ(elementsOf(*ends_.y), std::vector<double>(kRows * kColumns));
  test::setCells(*ends_.x, values);
  expectRight();
}

TEST_P(RepeatedActions, UseOtherFactors) {
  const auto expectTimes = [&](double factor) {
    const std::vector<double> y = elementsOf(*ends_.y);
    for (std::size_t i = 0; i < all_.size(); ++i)
      ASSERT_EQ(y[i], factor * all_[i]);
  };
  for (int round = 0; round < 2; ++round) {
    op_->apply(1, *ends_.x, 0, *ends_.y);
    expectTimes(1);
    op_->apply(1, *ends_.x, 1, *ends_.y);
    expectTimes(2);
    op_->apply(4, *ends_.x, 0, *ends_.y);
    expectTimes(4);
    op_->apply(2, *ends_.x, -1, *ends_.y);
    expectTimes(-2);
    op_->apply(0, *ends_.x, 3, *ends_.y);
    expectTimes(-6);
  }
}

TEST_P(RepeatedActions, RefuseOtherFactorsOfIntegers) {
  Conversion integers(world(), op_->domain(), op_->range(), TENON_INT64, test::by(GetParam()));
  const Ends ends(integers, Sense::Forward, 3);
  integers.apply(1, *ends.x, 0, *ends.y);
  integers.apply(1, *ends.x, 0, *ends.y);
  expectError(TENON_ERR_DATATYPE, {"0.5"}, [&] { integers.apply(0.5, *ends.x, 0, *ends.y); });
  expectError(TENON_ERR_DATATYPE, {"1.5"}, [&] { integers.apply(1, *ends.x, 1.5, *ends.y); });
}

TEST_P(RepeatedActions, DistinguishTheSenses) {
  const Ends cotangents(*op_, Sense::Adjoint, 5);
  op_->applyAdjoint(*cotangents.x, *cotangents.y);
  const std::vector<double> want = elementsOf(*cotangents.y);
  for (int round = 0; round < 3; ++round) {
    fillRaw(*cotangents.y, 9, /*integers=*/true);
    op_->applyAdjoint(*cotangents.x, *cotangents.y);
    EXPECT_EQ(elementsOf(*cotangents.y), want);
    expectRight();
  }
  if (world()->size() > 1) // else the layouts are equal
    expectError(TENON_ERR_LAYOUT, {"adjoint input"},
                [&] { op_->applyAdjoint(*ends_.y, *cotangents.y); });
}

INSTANTIATE_TEST_SUITE_P(Linop, RepeatedActions,
                         testing::Values(Transport::Messages, Transport::Auto),
                         [](const auto& info) { return transportName(info.param); });

} // namespace
} // namespace tenon
