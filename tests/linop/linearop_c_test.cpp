// SPDX-License-Identifier: BSD-2-Clause
// Tests the C functions for operators other than conversions: each function that creates an
// operator, each way to use it, and each error. Values are compared with numbers computed here, and
// adjoints by the library's test of the adjoint identity, exactly on integers.
#include "capi/expect_code.hpp"

#include <tenon/ext/linearop.h>

#include <functional>
#include <vector>

namespace tenon::test {
namespace {

class LinearOpC : public CApi {
protected:
  void SetUp() override {
    CApi::SetUp();
    split_ = layout({8, 3}, "S0");
    copies_ = layout({8, 3}, "B");
    expectSuccess(
        TenonLinearOpCreatePrimitive(split_, "allgather", 0, -1, TENON_FLOAT64, &gather_));
    x_ = tensor(split_, TENON_FLOAT64);
    y_ = tensor(copies_, TENON_FLOAT64);
    expectSuccess(TenonDTensorFillUniform(x_, /*seed=*/1, /*stream=*/2, -1, 1));
    TenonSetFatalErrorHandler(TenonReturnErrorHandler, nullptr);
  }
  void TearDown() override {
    TenonSetFatalErrorHandler(nullptr, nullptr);
    for (TenonDTensor* one : {&x_, &y_})
      expectSuccess(TenonDTensorDestroy(one));
    expectSuccess(TenonLinearOpDestroy(&gather_));
    for (TenonLayout* one : {&split_, &copies_})
      expectSuccess(TenonLayoutDestroy(one));
    CApi::TearDown();
  }

  static std::string typeOf(TenonLinearOp op) {
    char text[64] = "";
    expectSuccess(TenonObjectGetType((TenonObject)op, text, sizeof text, nullptr));
    return text;
  }
  static void expectExactAdjoint(TenonLinearOp op) {
    double forward = 0, adjoint = 1;
    expectSuccess(TenonLinearOpTestAdjoint(op, 5, TENON_TRUE, &forward, &adjoint, nullptr));
    EXPECT_EQ(forward, adjoint);
  }
  // Checks a new operator, which a call that returned `code` has made: its type, and its adjoint
  // exactly; then destroys it.
  static void expectOperator(const char* type, TenonErrorCode code, TenonLinearOp* op) {
    expectSuccess(code);
    EXPECT_EQ(typeOf(*op), type);
    expectExactAdjoint(*op);
    expectSuccess(TenonLinearOpDestroy(op));
  }
  static std::vector<double> valuesOf(TenonDTensor tensor) {
    const void* array = nullptr;
    TenonInt elements = 0;
    expectSuccess(TenonDTensorGetLocalSize(tensor, &elements));
    expectSuccess(TenonDTensorGetArrayRead(tensor, TENON_FLOAT64, &array));
    const auto* first = static_cast<const double*>(array);
    std::vector<double> values(first, first + elements);
    expectSuccess(TenonDTensorRestoreArrayRead(tensor, &array));
    return values;
  }

  TenonLayout split_ = nullptr, copies_ = nullptr;
  TenonLinearOp gather_ = nullptr;
  TenonDTensor x_ = nullptr, y_ = nullptr;
};

// The numbers after the name are the axis of the grid, which has only axis 0, and the dimension
// that the axis splits in the range, or -1 for a primitive to R, B or P.
TEST_F(LinearOpC, EachPrimitiveIsMadeByName) {
  TenonLayout columns = layout({8, 3}, "S1"), partial = layout({8, 3}, "P"),
              root = layout({8, 3}, "R");
  TenonLinearOp op = nullptr;
  const TenonDataType f = TENON_FLOAT32;
  expectOperator("conversion", TenonLinearOpCreatePrimitive(root, "broadcast", 0, -1, f, &op), &op);
  expectOperator("conversion", TenonLinearOpCreatePrimitive(partial, "sumreduce", 0, -1, f, &op),
                 &op);
  expectOperator("conversion", TenonLinearOpCreatePrimitive(partial, "allreduce", 0, -1, f, &op),
                 &op);
  expectOperator("conversion", TenonLinearOpCreatePrimitive(root, "scatter", 0, 1, f, &op), &op);
  expectOperator("conversion", TenonLinearOpCreatePrimitive(columns, "gather", 0, -1, f, &op), &op);
  expectOperator("conversion", TenonLinearOpCreatePrimitive(split_, "allgather", 0, -1, f, &op),
                 &op);
  expectOperator("conversion", TenonLinearOpCreatePrimitive(partial, "reducescatter", 0, 1, f, &op),
                 &op);
  expectOperator("conversion", TenonLinearOpCreatePrimitive(split_, "alltoall", 0, 1, f, &op), &op);
  expectOperator("conversion", TenonLinearOpCreatePrimitive(copies_, "slice", 0, 1, f, &op), &op);
  expectOperator("conversion", TenonLinearOpCreatePrimitive(columns, "zeropad", 0, -1, f, &op),
                 &op);
  expectCommonCode(TENON_ERR_LAYOUT,
                   TenonLinearOpCreatePrimitive(split_, "broadcast", 0, -1, f, &op),
                   {"broadcast needs property R", "S0"});
  expectCommonCode(TENON_ERR_ARG, TenonLinearOpCreatePrimitive(root, "scatter", 1, 0, f, &op),
                   {"is 1"});
  expectCommonCode(TENON_ERR_TYPE,
                   TenonLinearOpCreatePrimitive(split_, "all_gather", 0, -1, f, &op),
                   {"'all_gather'", "did you mean 'allgather'?", "reducescatter"});
  expectCommonCode(TENON_ERR_ARG, TenonLinearOpCreatePrimitive(split_, "allgather", 0, 0, f, &op),
                   {"dim is 0", "allgather"});
  expectCommonCode(TENON_ERR_ARG, TenonLinearOpCreatePrimitive(root, "scatter", 0, -1, f, &op),
                   {"-1"});
  expectCommonCode(TENON_ERR_ARG,
                   TenonLinearOpCreatePrimitive(copies_, "slice", 0, isLast() ? 2 : 1, f, &op),
                   {"S2"});
  if (worldSize() > 1)
    expectCommonCode(TENON_ERR_COLLECTIVE,
                     TenonLinearOpCreatePrimitive(copies_, "slice", 0, isLast() ? 0 : 1, f, &op),
                     {"layouts"});
  for (TenonLayout* one : {&columns, &partial, &root})
    expectSuccess(TenonLayoutDestroy(one));
}

TEST_F(LinearOpC, ThePrimitivesRangeFollows) {
  TenonLayout range = nullptr;
  TenonBool equal = TENON_FALSE;
  expectSuccess(TenonLinearOpGetRange(gather_, &range));
  expectSuccess(TenonLayoutIsEqual(range, copies_, &equal));
  EXPECT_EQ(equal, TENON_TRUE);
  expectSuccess(TenonLayoutDestroy(&range));
}

TEST_F(LinearOpC, IsAppliedToSeveralFields) {
  TenonLinearOp adjoint = nullptr;
  TenonDTensor x = tensor(split_, TENON_FLOAT64), y = tensor(copies_, TENON_FLOAT64),
               single = tensor(split_, TENON_FLOAT32);
  expectSuccess(TenonDTensorFillUniform(x, /*seed=*/3, /*stream=*/4, -1, 1));
  std::vector<std::vector<double>> want;
  for (TenonDTensor one : {x_, x}) {
    expectSuccess(TenonLinearOpApply(gather_, one, y_));
    want.push_back(valuesOf(y_));
  }
  const TenonDTensor from[] = {x_, x}, to[] = {y_, y};
  expectSuccess(TenonLinearOpApplyMany(gather_, 2, from, to));
  EXPECT_EQ(valuesOf(y_), want[0]);
  EXPECT_EQ(valuesOf(y), want[1]);
  TenonLayout partial = nullptr;
  expectSuccess(TenonLinearOpCreateAdjoint(gather_, &adjoint));
  expectSuccess(TenonLinearOpGetDomain(adjoint, &partial));
  const TenonDTensor dy[] = {tensor(partial, TENON_FLOAT64), tensor(partial, TENON_FLOAT64)},
                     dx[] = {tensor(split_, TENON_FLOAT64), tensor(split_, TENON_FLOAT64)};
  for (int i : {0, 1})
    expectSuccess(TenonDTensorFillConstant(dy[i], 1 + i));
  expectSuccess(TenonLinearOpApplyMany(adjoint, 2, dy, dx));
  for (int i : {0, 1})
    for (double value : valuesOf(dx[i]))
      EXPECT_EQ(value, 1 + i);
  const auto expectRefused = [&](TenonErrorCode code, int count, const TenonDTensor* inputs,
                                 const TenonDTensor* outputs,
                                 std::initializer_list<const char*> text) {
    expectCode(code, TenonLinearOpApplyMany(gather_, count, inputs, outputs), text);
  };
  expectRefused(TENON_ERR_ARG, 0, from, to, {"at least one"});
  expectRefused(TENON_ERR_ARG, 65, from, to, {"the length of x is 65", "0 to 64"});
  expectRefused(TENON_ERR_NULL, 2, nullptr, to, {"x is NULL"});
  const TenonDTensor missing[] = {y_, nullptr}, twice[] = {y_, y_}, mixed[] = {x_, single};
  expectRefused(TENON_ERR_NULL, 2, from, missing, {"y is NULL"});
  expectRefused(TENON_ERR_ARG, 2, from, twice, {"output of field 0", "output of field 1"});
  expectRefused(TENON_ERR_DATATYPE, 2, mixed, to, {"field 1", "input"});
  expectSuccess(TenonLinearOpDestroy(&adjoint));
  expectSuccess(TenonLayoutDestroy(&partial));
  for (TenonDTensor one : {x, y, single, dx[0], dx[1], dy[0], dy[1]})
    expectSuccess(TenonDTensorDestroy(&one));
}

// A gather of float64 beside one of float32 with another shape.
TEST_F(LinearOpC, ABlockDiagonalIsAppliedToFieldsOfItsOperators) {
  TenonLayout rows = layout({5}, "S0"), all = layout({5}, "B"), domain = nullptr;
  TenonLinearOp small = nullptr, both = nullptr, adjoint = nullptr, none = nullptr;
  expectSuccess(TenonLinearOpCreateConversion(rows, all, TENON_FLOAT32, &small));
  const TenonLinearOp ops[] = {small, gather_};
  expectSuccess(TenonLinearOpCreateBlockDiagonal(2, ops, &both));
  const TenonDTensor x[] = {tensor(rows, TENON_FLOAT32), x_},
                     y[] = {tensor(all, TENON_FLOAT32), y_};
  expectSuccess(TenonDTensorFillConstant(x[0], 3));
  expectSuccess(TenonLinearOpApply(gather_, x_, y_));
  const std::vector<double> want = valuesOf(y_);
  expectSuccess(TenonDTensorFillConstant(y_, -1));
  expectSuccess(TenonLinearOpApplyMany(both, 2, x, y));
  EXPECT_EQ(valuesOf(y_), want);
  double largest = 0, forward = 0, backward = 1;
  expectSuccess(TenonDTensorMaxAbs(y[0], &largest));
  EXPECT_EQ(largest, 3);
  TenonInt messages[3], bytes[3];
  for (const auto& [op, i] : {std::pair(small, 0), {gather_, 1}, {both, 2}})
    expectSuccess(TenonLinearOpGetTraffic(op, &messages[i], &bytes[i]));
  EXPECT_EQ(messages[2], std::max(messages[0], messages[1]));
  EXPECT_EQ(bytes[2], bytes[0] + bytes[1]);
  expectSuccess(
      TenonLinearOpTestAdjoint(both, /*seed=*/4, TENON_TRUE, &forward, &backward, nullptr));
  EXPECT_EQ(forward, backward);
  expectSuccess(TenonLinearOpCreateAdjoint(both, &adjoint));
  expectSuccess(
      TenonLinearOpTestAdjoint(adjoint, /*seed=*/4, TENON_TRUE, &forward, &backward, nullptr));
  EXPECT_EQ(forward, backward);
  expectSuccess(TenonObjectView(objectOf(both)));
  expectCode(TENON_ERR_ARG, TenonLinearOpApplyMany(both, 1, x, y), {"2 operators", "1 inputs"});
  expectCode(TENON_ERR_SUPPORT, TenonLinearOpApply(both, x_, y_), {"TenonLinearOpApplyMany()"});
  expectCode(TENON_ERR_SUPPORT, TenonLinearOpGetDomain(both, &domain), {"maps 2 tensors"});
  expectCode(TENON_ERR_SUPPORT, TenonLinearOpGetRange(both, &domain), {"maps 2 tensors"});
  TenonDataType type = TENON_FLOAT64;
  expectCode(TENON_ERR_SUPPORT, TenonLinearOpGetDataTypes(both, &type, nullptr), {"this query"});
  expectCommonCode(TENON_ERR_SUPPORT, TenonLinearOpCreateSum(1, &both, nullptr, &none),
                   {"a sum needs an operator on one"});
  expectCommonCode(TENON_ERR_ARG, TenonLinearOpCreateBlockDiagonal(0, ops, &none), {"at least 1"});
  TenonLinearOp product = nullptr;
  expectSuccess(TenonLinearOpCreateComposition(1, &small, &product));
  const TenonLinearOp mixed[] = {gather_, product};
  expectCommonCode(TENON_ERR_SUPPORT, TenonLinearOpCreateBlockDiagonal(2, mixed, &none),
                   {"operator 1", "composition", "not one exchange"});
  if (worldSize() > 1) {
    const TenonLinearOp swapped[] = {gather_, small};
    expectCommonCode(TENON_ERR_COLLECTIVE,
                     TenonLinearOpCreateBlockDiagonal(2, isLast() ? swapped : ops, &none),
                     {"layouts and data types"});
  }
  for (TenonLinearOp* op : {&small, &both, &adjoint, &product})
    expectSuccess(TenonLinearOpDestroy(op));
  for (TenonDTensor one : {x[0], y[0]})
    expectSuccess(TenonDTensorDestroy(&one));
  for (TenonLayout* one : {&rows, &all})
    expectSuccess(TenonLayoutDestroy(one));
}

// A transfer to another process is a conversion between two grids of one process each.
TEST_F(LinearOpC, AConversionMovesATensorToAnotherProcess) {
  const int one = 1;
  const TenonInt shape[1] = {5};
  TenonLayout onRank[2] = {};
  TenonDTensor tensors[2] = {};
  for (int i : {0, 1}) {
    const int rank = i == 0 ? 0 : worldSize() - 1;
    TenonPartition alone = nullptr;
    expectSuccess(TenonPartitionCreateFromRanks(MPI_COMM_WORLD, 1, &one, &rank, &alone));
    expectSuccess(TenonLayoutCreateSharded(alone, 1, shape, "B", &onRank[i]));
    expectSuccess(TenonPartitionDestroy(&alone));
    tensors[i] = tensor(onRank[i], TENON_FLOAT64);
  }
  expectSuccess(TenonDTensorFillConstant(tensors[0], 3));
  TenonLinearOp op = nullptr;
  expectSuccess(TenonLinearOpCreateConversion(onRank[0], onRank[1], TENON_FLOAT64, &op));
  expectSuccess(TenonLinearOpApply(op, tensors[0], tensors[1]));
  const std::vector<double> expected(isLast() ? 5 : 0, 3);
  EXPECT_EQ(valuesOf(tensors[1]), expected);
  expectSuccess(TenonLinearOpDestroy(&op));
  for (int i : {0, 1}) {
    expectSuccess(TenonDTensorDestroy(&tensors[i]));
    expectSuccess(TenonLayoutDestroy(&onRank[i]));
  }
}

TEST_F(LinearOpC, EachMemoryOperatorHasItsCreate) {
  TenonLayout memory = layout({4 * worldSize(), 3}, "S0"),
              larger = layout({6 * worldSize(), 3}, "S0");
  TenonLinearOp op = nullptr;
  const TenonInt low[2] = {0, 1}, high[2] = {2, 3}, to[2] = {2, 0}, at[2] = {1, 0},
                 beyond[2] = {3, 0};
  const TenonDataType f = TENON_FLOAT64;
  expectOperator("allocate", TenonLinearOpCreateAllocate(memory, larger, at, f, &op), &op);
  const auto create = [&](const char* name, const TenonInt* from, const TenonInt* end,
                          const TenonInt* target) {
    return TenonLinearOpCreateMemory(memory, name, from, end, target, f, &op);
  };
  expectOperator("clear", create("clear", low, high, nullptr), &op);
  for (const char* name : {"add", "copy", "move"})
    expectOperator(name, create(name, low, high, to), &op);
  expectCommonCode(TENON_ERR_ARG, create("copy", low, high, isLast() ? beyond : to),
                   {"the target", "outside"});
  expectCommonCode(TENON_ERR_ARG, create("clear", high, low, nullptr), {"high must be >= low"});
  expectCommonCode(TENON_ERR_NULL, create("clear", nullptr, high, nullptr), {"low is NULL"});
  expectCommonCode(TENON_ERR_NULL, create("add", low, high, nullptr), {"to is NULL"});
  expectCommonCode(TENON_ERR_ARG, create("clear", low, high, to),
                   {"to is not NULL", "clear has no second box"});
  expectCommonCode(TENON_ERR_TYPE, create("cpy", low, high, to), {"'cpy'", "nearest is 'copy'"});
  for (TenonLayout* one : {&memory, &larger})
    expectSuccess(TenonLayoutDestroy(one));
}

TEST_F(LinearOpC, SumsMultiplesAndCasts) {
  TenonLinearOp op = nullptr, tripled = nullptr;
  const double three = 3, factors[2] = {2, -0.5};
  expectSuccess(TenonLinearOpCreateSum(1, &gather_, &three, &tripled));
  const TenonLinearOp both[2] = {gather_, tripled};
  expectOperator("sum", TenonLinearOpCreateSum(2, both, nullptr, &op), &op);
  expectOperator("sum", TenonLinearOpCreateSum(1, &tripled, factors, &op), &op);
  // y <- 2 x - 0.5 (3 x), and the adjoint of this.
  expectSuccess(TenonLinearOpCreateSum(2, both, factors, &op));
  double relative = 1, norm = 0, half = 0;
  expectSuccess(TenonLinearOpTestAdjoint(op, 1, TENON_FALSE, nullptr, nullptr, &relative));
  EXPECT_LT(relative, 1e-14);
  expectSuccess(TenonDTensorFillConstant(x_, 3));
  expectSuccess(TenonLinearOpApply(gather_, x_, y_));
  expectSuccess(TenonDTensorMaxAbs(y_, &norm));
  expectSuccess(TenonLinearOpApply(op, x_, y_));
  expectSuccess(TenonDTensorMaxAbs(y_, &half));
  EXPECT_EQ(half, 0.5 * norm);
  expectOperator("sum", TENON_SUCCESS, &op);
  const auto named = [&](const char* name, TenonLayout range) {
    return TenonLinearOpCreateType(split_, range, TENON_FLOAT32, TENON_FLOAT32, name, nullptr, &op);
  };
  expectOperator("identity", named("identity", split_), &op);
  expectOperator("zero", named("zero", copies_), &op);
  const auto castTo = [&](TenonDataType type) {
    return TenonLinearOpCreateType(split_, split_, TENON_FLOAT64, type, "cast", nullptr, &op);
  };
  expectSuccess(castTo(TENON_FLOAT32));
  TenonDataType from = TENON_INT64, to = TENON_INT64;
  expectSuccess(TenonLinearOpGetDataTypes(op, &from, &to));
  EXPECT_EQ(from, TENON_FLOAT64);
  EXPECT_EQ(to, TENON_FLOAT32);
  const TenonLinearOp unequal[2] = {gather_, op};
  expectOperator("cast", TENON_SUCCESS, &op);
  expectCode(TENON_ERR_HANDLE, TenonLinearOpCreateSum(2, unequal, nullptr, &op), {"ops[1]"});
  expectCode(TENON_ERR_ARG, TenonLinearOpCreateSum(0, both, nullptr, &op), {"at least 1"});
  expectCommonCode(TENON_ERR_DATATYPE, castTo(TENON_INT64), {"int64"});
  TenonLinearOp labels = nullptr;
  expectSuccess(TenonLinearOpCreateConversion(split_, copies_, TENON_INT64, &labels));
  expectCommonCode(TENON_ERR_DATATYPE, TenonLinearOpCreateSum(1, &labels, &factors[1], &op),
                   {"integer", "-0.5"});
  expectSuccess(TenonLinearOpDestroy(&labels));
  const double differing[2] = {1, static_cast<double>(2 * worldRank())};
  if (worldSize() > 1)
    expectCommonCode(TENON_ERR_COLLECTIVE, TenonLinearOpCreateSum(2, both, differing, &op),
                     {"; 0 times"});
  expectSuccess(TenonLinearOpDestroy(&tripled));
}

// Compositions on two ranks have the same domain and range, but different operators: an error on
// all ranks.
TEST_F(LinearOpC, RanksMustComposeTheSameOperators) {
  TenonLayout partial = layout({8, 3}, "P"), root = layout({8, 3}, "R");
  TenonLinearOp all = nullptr, op = nullptr, routes[2][2] = {};
  const TenonDataType f = TENON_FLOAT64;
  expectSuccess(TenonLinearOpCreatePrimitive(partial, "reducescatter", 0, 0, f, &routes[0][0]));
  expectSuccess(TenonLinearOpCreatePrimitive(split_, "allgather", 0, -1, f, &routes[0][1]));
  expectSuccess(TenonLinearOpCreatePrimitive(partial, "sumreduce", 0, -1, f, &routes[1][0]));
  expectSuccess(TenonLinearOpCreatePrimitive(root, "broadcast", 0, -1, f, &routes[1][1]));
  if (worldSize() > 1)
    expectCommonCode(TENON_ERR_COLLECTIVE, TenonLinearOpCreateComposition(2, routes[isLast()], &op),
                     {"composition", "] S0", "then", "] R"});
  expectSuccess(TenonLinearOpCreateComposition(2, routes[0], &op));
  expectSuccess(TenonLinearOpCreatePrimitive(partial, "allreduce", 0, -1, f, &all));
  const TenonLinearOp sums[2][2] = {{all, op}, {op, all}};
  TenonLinearOp sum = nullptr;
  if (worldSize() > 1)
    expectCommonCode(TENON_ERR_COLLECTIVE, TenonLinearOpCreateSum(2, sums[isLast()], nullptr, &sum),
                     {"plus"});
  for (TenonLinearOp* one : {&all, &op, &routes[0][0], &routes[0][1], &routes[1][0], &routes[1][1]})
    expectSuccess(TenonLinearOpDestroy(one));
  for (TenonLayout* one : {&partial, &root})
    expectSuccess(TenonLayoutDestroy(one));
}

TEST_F(LinearOpC, ApplyAddMultipliesAndAdds) {
  expectSuccess(TenonLinearOpApply(gather_, x_, y_));
  const auto once = valuesOf(y_);
  expectSuccess(TenonLinearOpApplyAdd(gather_, 2, x_, 0.5, y_));
  const auto after = valuesOf(y_);
  for (std::size_t i = 0; i < once.size(); ++i)
    EXPECT_EQ(after[i], 2 * once[i] + 0.5 * once[i]);
  TenonLayout partial = layout({8, 3}, "P");
  TenonDTensor dy = tensor(partial, TENON_FLOAT64);
  TenonLinearOp adjoint = nullptr;
  expectSuccess(TenonLinearOpCreateAdjoint(gather_, &adjoint));
  expectSuccess(TenonLinearOpApplyAdd(adjoint, 2, dy, 0, x_)); // dy is zero
  expectSuccess(TenonLinearOpDestroy(&adjoint));
  double largest = 1;
  expectSuccess(TenonDTensorMaxAbs(x_, &largest));
  EXPECT_EQ(largest, 0);
  expectSuccess(TenonDTensorDestroy(&dy));
  expectSuccess(TenonLayoutDestroy(&partial));
}

TEST_F(LinearOpC, BeginAndEndBelongTogether) {
  expectSuccess(TenonLinearOpApply(gather_, x_, y_));
  const auto expected = valuesOf(y_);
  expectCode(TENON_ERR_STATE, TenonLinearOpApplyEnd(gather_), {"ApplyBegin() first"});
  expectSuccess(TenonLinearOpApplyBegin(gather_, 1, x_, 0, y_));
  expectCode(TENON_ERR_STATE, TenonLinearOpApplyBegin(gather_, 1, x_, 0, y_), {"ApplyEnd() first"});
  expectCode(TENON_ERR_STATE, TenonLinearOpApply(gather_, x_, y_), {"in flight"});
  expectCode(TENON_ERR_STATE, TenonLinearOpBind(gather_, x_, y_), {"in flight"});
  expectCode(TENON_ERR_STATE, TenonLinearOpBind(gather_, nullptr, nullptr), {"in flight"});
  expectCode(TENON_ERR_STATE, TenonLinearOpDestroy(&gather_), {"before TenonLinearOpDestroy()"});
  void* array = nullptr;
  expectCode(TENON_ERR_STATE, TenonDTensorGetArray(x_, TENON_FLOAT64, &array), {"in use"});
  expectSuccess(TenonLinearOpApplyEnd(gather_));
  EXPECT_EQ(valuesOf(y_), expected);
}

TEST_F(LinearOpC, TheAdjointHasItsHalvesToo) {
  TenonLayout partial = layout({8, 3}, "P");
  TenonDTensor dy = tensor(partial, TENON_FLOAT64);
  expectSuccess(TenonDTensorFillUniform(dy, /*seed=*/3, /*stream=*/4, -1, 1));
  expectSuccess(TenonLinearOpApplyAdjoint(gather_, dy, x_));
  const auto expected = valuesOf(x_);
  TenonLinearOp adjoint = nullptr;
  expectSuccess(TenonLinearOpCreateAdjoint(gather_, &adjoint));
  expectSuccess(TenonLinearOpBind(adjoint, dy, x_));
  expectSuccess(TenonLinearOpApplyBegin(adjoint, 1, dy, 0, x_));
  expectCode(TENON_ERR_STATE, TenonLinearOpApplyEnd(gather_), {"ApplyBegin() first"});
  expectCode(TENON_ERR_STATE, TenonLinearOpApply(gather_, x_, y_), {"of its adjoint", "end first"});
  expectSuccess(TenonLinearOpApplyEnd(adjoint));
  EXPECT_EQ(valuesOf(x_), expected);
  expectSuccess(TenonLinearOpBind(adjoint, nullptr, nullptr));
  expectSuccess(TenonLinearOpDestroy(&adjoint));
  expectSuccess(TenonDTensorDestroy(&dy));
  expectSuccess(TenonLayoutDestroy(&partial));
}

TEST_F(LinearOpC, BindKeepsTheTensors) {
  TenonDTensor from = tensor(split_, TENON_FLOAT64);
  if (worldSize() > 1) // one process holds the same in all layouts
    expectCode(TENON_ERR_LAYOUT, TenonLinearOpBind(gather_, y_, x_), {"input"});
  expectSuccess(TenonLinearOpBind(gather_, from, y_));
  expectCode(TENON_ERR_NULL, TenonLinearOpBind(gather_, nullptr, y_), {"x"});
  expectCode(TENON_ERR_NULL, TenonLinearOpBind(gather_, from, nullptr), {"y"});
  expectSuccess(TenonDTensorDestroy(&from)); // the operator holds it
  expectSuccess(TenonLinearOpApply(gather_, x_, y_));
  expectSuccess(TenonLinearOpBind(gather_, nullptr, nullptr));
  expectSuccess(TenonLinearOpBind(gather_, nullptr, nullptr));
}

// The context of a shell operator of the user: y = factor x.
struct Diagonal {
  double factor = 1;
  int uses = 0, destroyed = 0;
  TenonErrorCode fails = TENON_SUCCESS;
};

TenonErrorCode multiply(TenonDTensor x, TenonDTensor y, void* context) {
  auto& diagonal = *static_cast<Diagonal*>(context);
  ++diagonal.uses;
  if (diagonal.fails != TENON_SUCCESS)
    return diagonal.fails;
  const void* from = nullptr;
  void* to = nullptr;
  TenonInt elements = 0;
  TenonCall(TenonDTensorGetLocalSize(x, &elements));
  TenonCall(TenonDTensorGetArrayRead(x, TENON_FLOAT64, &from));
  TenonCall(TenonDTensorGetArray(y, TENON_FLOAT64, &to));
  for (TenonInt i = 0; i < elements; ++i)
    static_cast<double*>(to)[i] = diagonal.factor * static_cast<const double*>(from)[i];
  TenonCall(TenonDTensorRestoreArray(y, &to));
  TenonCall(TenonDTensorRestoreArrayRead(x, &from));
  return TENON_SUCCESS;
}

void noteDestroyed(void* context) {
  ++static_cast<Diagonal*>(context)->destroyed;
}

TEST_F(LinearOpC, AShellIsAnOperatorLikeAnyOther) {
  Diagonal user{.factor = 3};
  TenonLinearOp shell = nullptr, chain = nullptr;
  expectSuccess(TenonLinearOpCreateShell(split_, split_, TENON_FLOAT64, TENON_FLOAT64, multiply,
                                         multiply, &user, noteDestroyed, &shell));
  EXPECT_EQ(typeOf(shell), "shell");
  const TenonLinearOp ops[2] = {shell, gather_};
  expectSuccess(TenonLinearOpCreateComposition(2, ops, &chain));
  expectSuccess(TenonLinearOpDestroy(&shell));
  expectExactAdjoint(chain);
  expectSuccess(TenonLinearOpApply(gather_, x_, y_));
  const auto once = valuesOf(y_);
  expectSuccess(TenonLinearOpApplyAdd(chain, 2, x_, 0, y_));
  const auto six = valuesOf(y_);
  for (std::size_t i = 0; i < once.size(); ++i)
    EXPECT_NEAR(six[i], 6 * once[i], 1e-15);
  EXPECT_EQ(user.destroyed, 0);
  expectSuccess(TenonLinearOpDestroy(&chain));
  EXPECT_EQ(user.destroyed, 1);
}

TEST_F(LinearOpC, AShellsErrorsPassThrough) {
  Diagonal user;
  TenonLinearOp shell = nullptr;
  TenonDTensor z = tensor(split_, TENON_FLOAT64);
  expectSuccess(TenonLinearOpCreateShell(split_, split_, TENON_FLOAT64, TENON_FLOAT64, multiply,
                                         nullptr, &user, nullptr, &shell));
  user.fails = TENON_ERR_FILE;
  expectCode(TENON_ERR_FILE, TenonLinearOpApply(shell, x_, z), {"apply"});
  user.fails = TENON_SUCCESS;
  expectSuccess(TenonLinearOpApply(shell, x_, z));
  expectCode(TENON_ERR_SUPPORT, TenonLinearOpApplyAdjoint(shell, x_, z),
             {"function for applyAdjoint"});
  expectSuccess(TenonLinearOpDestroy(&shell));
  expectSuccess(TenonDTensorDestroy(&z));
}

TEST_F(LinearOpC, AShellThatIsNotMadeLeavesTheContextAlone) {
  Diagonal user;
  TenonLinearOp shell = nullptr;
  expectCommonCode(TENON_ERR_NULL,
                   TenonLinearOpCreateShell(split_, split_, TENON_FLOAT64, TENON_FLOAT64,
                                            isLast() ? nullptr : multiply, multiply, &user,
                                            noteDestroyed, &shell),
                   {"apply is NULL"});
  if (worldSize() > 1)
    expectCommonCode(TENON_ERR_COLLECTIVE,
                     TenonLinearOpCreateShell(split_, split_, TENON_FLOAT64, TENON_FLOAT64,
                                              multiply, isLast() ? nullptr : multiply, &user,
                                              noteDestroyed, &shell),
                     {"without an adjoint"});
  EXPECT_EQ(shell, nullptr);
  EXPECT_EQ(user.destroyed, 0);
}

// A registered operator type; its parameters are a counter of its operators.
TenonErrorCode createCounted(TenonLayout domain, TenonLayout range, TenonDataType, TenonDataType,
                             void* parameters, void** context) {
  TenonBool equal = TENON_FALSE;
  TenonCall(TenonLayoutIsEqual(domain, range, &equal));
  if (!equal)
    return TENON_ERR_LAYOUT;
  *context = parameters;
  return TENON_SUCCESS;
}

TEST_F(LinearOpC, RegisteredTypesAreMadeByName) {
  const TenonLinearOpFunctions functions = {createCounted, multiply, multiply, noteDestroyed};
  const TenonLinearOpFunctions empty = {};
  expectSuccess(TenonLinearOpRegister("counted", &functions));
  expectCode(TENON_ERR_ARG, TenonLinearOpRegister("counted", &functions), {"already registered"});
  expectCode(TENON_ERR_ARG, TenonLinearOpRegister("", &functions), {"empty"});
  expectCode(TENON_ERR_ARG, TenonLinearOpRegister("conversion", &functions),
             {"already registered"});
  expectCode(TENON_ERR_NULL, TenonLinearOpRegister("none", &empty),
             {"'none'", "no function apply"});
  expectCode(TENON_ERR_NULL, TenonLinearOpRegister("none", nullptr), {"functions is NULL"});

  Diagonal user{.factor = 2};
  TenonLinearOp op = nullptr;
  const TenonDataType f = TENON_FLOAT64;
  expectOperator("counted", TenonLinearOpCreateType(split_, split_, f, f, "counted", &user, &op),
                 &op);
  EXPECT_EQ(user.uses, 2); // Apply and adjoint, in the test of the adjoint
  EXPECT_EQ(user.destroyed, 1);
  if (worldSize() > 1) // else the layouts are equal
    expectCommonCode(TENON_ERR_LAYOUT,
                     TenonLinearOpCreateType(split_, copies_, f, f, "counted", &user, &op),
                     {"create"});
  expectCommonCode(TENON_ERR_TYPE,
                   TenonLinearOpCreateType(split_, split_, f, f, "countde", &user, &op),
                   {"did you mean 'counted'"});
  EXPECT_EQ(user.destroyed, 1);
  if (worldSize() > 1) { // made on all ranks but one: freed there
    expectCommonCode(
        TENON_ERR_TYPE,
        TenonLinearOpCreateType(split_, split_, f, f, isLast() ? "countde" : "counted", &user, &op),
        {"countde"});
    EXPECT_EQ(user.destroyed, isLast() ? 1 : 2);
  }
  expectOperator("conversion",
                 TenonLinearOpCreateType(split_, copies_, f, f, "conversion", nullptr, &op), &op);
}

} // namespace
} // namespace tenon::test
