// SPDX-License-Identifier: BSD-2-Clause
// Linear operators between layouts in the C API: conversions, halo exchanges, compositions,
// adjoints, and the errors of their creation and application. Values are checked by norms and
// counts that follow from the layouts; adjoints by TenonLinearOpTestAdjoint(), which compares <y, A
// x> with <A* y, x> for integer values, where both must be equal exactly.
#include "capi/expect_code.hpp"

#include <algorithm>
#include <vector>

namespace tenon::test {
namespace {

// Fixture: an 8 x 3 tensor with its rows split among the ranks (split_, "S0"), copied to all ranks
// (copies_, "B"), and the conversion from the first layout to the second (gather_).
class LinearOpCApi : public CApi {
protected:
  void SetUp() override {
    CApi::SetUp();
    split_ = layout({8, 3}, "S0");
    copies_ = layout({8, 3}, "B");
    expectSuccess(TenonLinearOpCreateConversion(split_, copies_, TENON_FLOAT64, &gather_));
    TenonSetFatalErrorHandler(TenonReturnErrorHandler, nullptr);
  }
  void TearDown() override {
    TenonSetFatalErrorHandler(nullptr, nullptr);
    expectSuccess(TenonLinearOpDestroy(&gather_));
    expectSuccess(TenonLayoutDestroy(&split_));
    expectSuccess(TenonLayoutDestroy(&copies_));
    CApi::TearDown();
  }

  // The 8 x 3 tensor with a periodic halo of `width` rows on both sides of dimension 0.
  TenonLayout withHalo(const char* properties, TenonInt width) {
    const TenonInt shape[2] = {8, 3};
    TenonLayout created = nullptr;
    expectSuccess(TenonLayoutCreate(all_, &created));
    expectSuccess(TenonLayoutSetShape(created, 2, shape));
    expectSuccess(TenonLayoutSetProperties(created, properties));
    expectSuccess(TenonLayoutSetHalo(created, 0, width, width, TENON_BOUNDARY_PERIODIC,
                                     TENON_BOUNDARY_PERIODIC));
    expectSuccess(TenonLayoutSetUp(created));
    return created;
  }

  void expectExactAdjoint(TenonLinearOp op) {
    double forward = 0, adjoint = 1, relative = 1;
    expectSuccess(TenonLinearOpTestAdjoint(op, 5, TENON_TRUE, &forward, &adjoint, &relative));
    EXPECT_EQ(forward, adjoint);
    EXPECT_EQ(relative, 0);
  }

  TenonLayout split_ = nullptr, copies_ = nullptr;
  TenonLinearOp gather_ = nullptr;
};

// The conversion copies the tensor to all ranks, so it preserves the norm. Its adjoint sums what
// the ranks have: with 1 in all elements on each rank, the sum is the number of ranks.
TEST_F(LinearOpCApi, AConversionMovesTheTensorAndItsAdjointSumsIt) {
  TenonDTensor x = tensor(split_, TENON_FLOAT64), y = tensor(copies_, TENON_FLOAT64);
  expectSuccess(TenonDTensorFillNormal(x, /*seed=*/1, /*stream=*/2, 0, 1));
  expectSuccess(TenonLinearOpApply(gather_, x, y));
  double before = 0, after = 1;
  expectSuccess(TenonDTensorNorm(x, &before));
  expectSuccess(TenonDTensorNorm(y, &after));
  EXPECT_NEAR(before, after, 1e-14 * before);
  TenonLayout contributions = nullptr;
  expectSuccess(TenonLayoutGetDual(copies_, &contributions));
  TenonDTensor dy = tensor(contributions, TENON_FLOAT64), dx = tensor(split_, TENON_FLOAT64);
  void* array = nullptr;
  expectSuccess(TenonDTensorGetArray(dy, TENON_FLOAT64, &array));
  std::fill_n(static_cast<double*>(array), 24, 1.0);
  expectSuccess(TenonDTensorRestoreArray(dy, &array));
  expectSuccess(TenonLinearOpApplyAdjoint(gather_, dy, dx));
  double largest = 0;
  expectSuccess(TenonDTensorMaxAbs(dx, &largest));
  EXPECT_EQ(largest, worldSize());
  for (TenonDTensor* one : {&x, &y, &dx, &dy})
    expectSuccess(TenonDTensorDestroy(one));
  expectSuccess(TenonLayoutDestroy(&contributions));
  expectExactAdjoint(gather_);
}

TEST_F(LinearOpCApi, OperatorsKnowTheirLayoutsTypeAndTraffic) {
  TenonLayout domain = nullptr, range = nullptr;
  expectSuccess(TenonLinearOpGetDomain(gather_, &domain));
  expectSuccess(TenonLinearOpGetRange(gather_, &range));
  TenonBool equal = TENON_FALSE;
  expectSuccess(TenonLayoutIsEqual(domain, split_, &equal));
  EXPECT_EQ(equal, TENON_TRUE);
  expectSuccess(TenonLayoutIsEqual(range, copies_, &equal));
  EXPECT_EQ(equal, TENON_TRUE);
  TenonDataType from = TENON_FLOAT32, to = TENON_FLOAT32;
  expectSuccess(TenonLinearOpGetDataTypes(gather_, &from, &to));
  EXPECT_EQ(from, TENON_FLOAT64);
  EXPECT_EQ(to, TENON_FLOAT64);
  TenonInt low[2], high[2], messages = -1, bytes = -1;
  expectSuccess(TenonLayoutGetBox(split_, low, high));
  expectSuccess(TenonLinearOpGetTraffic(gather_, &messages, &bytes));
  // A rank with rows sends them to each other rank: 3 float64 numbers of 8 bytes per row.
  const TenonInt others = high[0] > low[0] ? worldSize() - 1 : 0;
  EXPECT_EQ(messages, others);
  EXPECT_EQ(bytes, others * (high[0] - low[0]) * 3 * 8);
  expectSuccess(TenonLayoutDestroy(&domain));
  expectSuccess(TenonLayoutDestroy(&range));
}

TEST_F(LinearOpCApi, NamedFormsCheckWhatTheirNamesPromise) {
  TenonLayout halo = withHalo("S0", 2), wrong = withHalo("B", 2), contributions = nullptr;
  expectSuccess(TenonLayoutGetDual(split_, &contributions));
  TenonLinearOp op = nullptr;
  expectSuccess(TenonLinearOpCreateHalo(split_, halo, TENON_FLOAT32, &op));
  expectExactAdjoint(op);
  expectSuccess(TenonLinearOpDestroy(&op));
  expectCommonCode(TENON_ERR_LAYOUT, TenonLinearOpCreateHalo(split_, split_, TENON_FLOAT32, &op),
                   {"`to`", "has none", "TenonLayoutSetHalo"});
  expectCommonCode(TENON_ERR_LAYOUT, TenonLinearOpCreateHalo(halo, split_, TENON_FLOAT32, &op),
                   {"`to`", "has none"});
  if (worldSize() > 1) // on one process all these layouts are the same
    expectCommonCode(TENON_ERR_LAYOUT, TenonLinearOpCreateHalo(split_, wrong, TENON_FLOAT32, &op),
                     {"] S0", "] B"});
  for (TenonLayout* one : {&halo, &wrong, &contributions})
    expectSuccess(TenonLayoutDestroy(one));
}

TEST_F(LinearOpCApi, CompositionsAndAdjointsAreOperators) {
  TenonLinearOp back = nullptr, chain = nullptr, adjoint = nullptr;
  expectSuccess(TenonLinearOpCreateConversion(copies_, split_, TENON_FLOAT64, &back));
  const TenonLinearOp ops[2] = {gather_, back}, wrong[2] = {gather_, gather_};
  expectSuccess(TenonLinearOpCreateComposition(2, ops, &chain));
  expectSuccess(TenonLinearOpCreateAdjoint(chain, &adjoint));
  expectSuccess(TenonLinearOpDestroy(&back)); // the composition has a reference to it
  expectExactAdjoint(chain);
  expectExactAdjoint(adjoint);
  TenonInt messages = 0, bytes = 0;
  expectCode(TENON_ERR_SUPPORT, TenonLinearOpGetTraffic(chain, &messages, &bytes), {"composition"});
  expectSuccess(TenonLinearOpDestroy(&adjoint));
  expectSuccess(TenonLinearOpDestroy(&chain));
  if (worldSize() > 1) // on one process all these layouts are the same
    expectCommonCode(TENON_ERR_LAYOUT, TenonLinearOpCreateComposition(2, wrong, &chain),
                     {"operator 0", "operator 1"});
  expectCode(TENON_ERR_ARG, TenonLinearOpCreateComposition(0, ops, &chain), {"at least 1"});
  const TenonLinearOp hole[2] = {gather_, isLast() ? nullptr : gather_};
  const TenonErrorCode code = TenonLinearOpCreateComposition(2, hole, &chain);
  EXPECT_NE(code, TENON_SUCCESS);
  EXPECT_EQ(chain, nullptr);
}

TEST_F(LinearOpCApi, BadArgumentsOfACreationAreTheSameErrorOnAllRanks) {
  TenonLayout other = layout({9, 3}, "B");
  TenonLinearOp op = nullptr;
  expectCommonCode(TENON_ERR_SHAPE,
                   TenonLinearOpCreateConversion(split_, other, TENON_FLOAT64, &op),
                   {"8,3", "9,3"});
  expectCommonCode(
      TENON_ERR_SHAPE,
      TenonLinearOpCreateConversion(split_, isLast() ? other : copies_, TENON_FLOAT64, &op),
      {"9,3"});
  expectCommonCode(
      TENON_ERR_NULL,
      TenonLinearOpCreateConversion(isLast() ? nullptr : split_, copies_, TENON_FLOAT64, &op),
      {"from is NULL"});
  if (worldSize() > 1)
    expectCommonCode(
        TENON_ERR_COLLECTIVE,
        TenonLinearOpCreateConversion(split_, isLast() ? split_ : copies_, TENON_FLOAT64, &op),
        {"layouts and data type"});
  EXPECT_EQ(op, nullptr);
  expectExactAdjoint(gather_); // the failed calls have left no messages behind
  TenonLinearOp again = nullptr;
  expectSuccess(TenonLinearOpCreateConversion(split_, copies_, TENON_FLOAT32, &again));
  expectExactAdjoint(again);
  expectSuccess(TenonLinearOpDestroy(&again));
  expectSuccess(TenonLayoutDestroy(&other));
}

TEST_F(LinearOpCApi, LayoutsOnDifferentCommunicatorsDoNotMeet) {
  MPI_Comm twin = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  const int extent = worldSize();
  const TenonInt shape[2] = {8, 3};
  TenonPartition partition = nullptr;
  TenonLayout there = nullptr;
  expectSuccess(TenonPartitionCreate(twin, 1, &extent, &partition));
  expectSuccess(TenonLayoutCreateSharded(partition, 2, shape, "B", &there));
  TenonLinearOp op = nullptr;
  expectCommonCode(TENON_ERR_ARG, TenonLinearOpCreateConversion(split_, there, TENON_FLOAT64, &op),
                   {"different communicators"});
  expectSuccess(TenonLayoutDestroy(&there));
  expectSuccess(TenonPartitionDestroy(&partition));
  MPI_Comm_free(&twin);
}

// The calls of the fatal error handler below.
struct Fatal {
  int calls = 0;
  TenonErrorCode code = TENON_SUCCESS;
};

void noteFatal(TenonErrorCode code, int, const char*, const char*, const char*, int,
               void* context) {
  auto& fatal = *static_cast<Fatal*>(context);
  ++fatal.calls;
  fatal.code = code;
}

// Apply does not compare its arguments between ranks. A rank with a wrong argument cannot tell the
// others, which would wait for its messages, so the error is fatal if there are several ranks. Here
// all ranks pass the wrong argument, and the handler of fatal errors returns.
TEST_F(LinearOpCApi, AWrongArgumentOfApplyIsNamedAndFatalAmongSeveral) {
  TenonLayout other = layout({9, 3}, "B");
  TenonDTensor x = tensor(split_, TENON_FLOAT64), y = tensor(copies_, TENON_FLOAT64),
               single = tensor(split_, TENON_FLOAT32), wide = tensor(other, TENON_FLOAT64);
  Fatal fatal;
  TenonSetFatalErrorHandler(noteFatal, &fatal);
  expectCode(TENON_ERR_DATATYPE, TenonLinearOpApply(gather_, single, y), {"float64", "float32"});
  EXPECT_EQ(fatal.calls, worldSize() > 1 ? 1 : 0);
  expectCode(TENON_ERR_SHAPE, TenonLinearOpApply(gather_, x, wide), {"[8,3]", "[9,3]"});
  if (worldSize() > 1) // on one process all these layouts are the same
    expectCode(TENON_ERR_LAYOUT, TenonLinearOpApply(gather_, y, x), {"input", "] S0", "] B"});
  if (worldSize() > 1) // on one process all these layouts are the same
    expectCode(TENON_ERR_LAYOUT, TenonLinearOpApplyAdjoint(gather_, y, x),
               {"adjoint input", "] P"});
  expectCode(TENON_ERR_NULL, TenonLinearOpApply(gather_, nullptr, y), {"x is NULL"});
  expectCode(TENON_ERR_NULL, TenonLinearOpApply(nullptr, x, y), {"op is NULL"});
  void* array = nullptr;
  expectSuccess(TenonDTensorGetArray(x, TENON_FLOAT64, &array));
  expectCode(TENON_ERR_STATE, TenonLinearOpApply(gather_, x, y), {"in use for writing"});
  expectSuccess(TenonDTensorRestoreArray(x, &array));
  EXPECT_EQ(fatal.calls, worldSize() > 1 ? 7 : 0);
  expectSuccess(TenonLinearOpApply(gather_, x, y));
  for (TenonDTensor* one : {&x, &y, &single, &wide})
    expectSuccess(TenonDTensorDestroy(one));
  expectSuccess(TenonLayoutDestroy(&other));
}

TEST_F(LinearOpCApi, TheAdjointTestAgreesOnItsArguments) {
  TenonLinearOp labels = nullptr;
  expectSuccess(TenonLinearOpCreateConversion(split_, copies_, TENON_INT64, &labels));
  expectCode(TENON_ERR_DATATYPE,
             TenonLinearOpTestAdjoint(labels, 1, TENON_TRUE, nullptr, nullptr, nullptr), {"int64"});
  expectSuccess(TenonLinearOpDestroy(&labels));
  if (worldSize() > 1)
    expectCommonCode(
        TENON_ERR_COLLECTIVE,
        TenonLinearOpTestAdjoint(gather_, worldRank(), TENON_TRUE, nullptr, nullptr, nullptr),
        {"seed"});
}

} // namespace
} // namespace tenon::test
