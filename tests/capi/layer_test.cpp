// SPDX-License-Identifier: BSD-2-Clause
// Layers in the C API: set-up, evaluation, derivatives, parameters and Jacobians of an affine
// layer, and the errors of wrong calls, on all ranks or on the last one only (isLast()). With
// weights of 1 and constant inputs the expected outputs and gradients are sums that are counted by
// hand.
#include "capi/expect_code.hpp"

#include <cmath>
#include <vector>

namespace tenon::test {
namespace {

// Fixture: an affine layer y = x W^T + b of 6 inputs and 4 outputs, on a batch of 8 rows that is
// split among all ranks.
class LayerCApi : public CApi {
protected:
  static constexpr TenonInt kBatch = 8, kInputs = 6, kOutputs = 4;

  void SetUp() override {
    CApi::SetUp();
    batch_ = layout({kBatch, kInputs}, "S0");
    expectSuccess(TenonLayerCreateAffine(MPI_COMM_WORLD, kInputs, kOutputs, &affine_));
    TenonSetFatalErrorHandler(TenonReturnErrorHandler, nullptr);
  }
  void TearDown() override {
    TenonSetFatalErrorHandler(nullptr, nullptr);
    for (TenonDTensor* one : {&x_, &y_, &dx_, &dy_})
      expectSuccess(TenonDTensorDestroy(one));
    expectSuccess(TenonLayerDestroy(&affine_));
    expectSuccess(TenonLayoutDestroy(&batch_));
    CApi::TearDown();
  }

  // Sets the layer up and creates input, output and their cotangents.
  void setUp(TenonDataType type) {
    expectSuccess(TenonLayerSetDataType(affine_, type));
    expectSuccess(TenonLayerSetUp(affine_, batch_));
    x_ = tensor(batch_, type);
    expectSuccess(TenonLayerCreateOutput(affine_, 0, &y_));
    expectSuccess(TenonLayerCreateOutputCotangent(affine_, 0, &dy_));
    expectSuccess(TenonLayerCreateInputCotangent(affine_, 0, &dx_));
  }

  TenonLayout batch_ = nullptr;
  TenonLayer affine_ = nullptr;
  TenonDTensor x_ = nullptr, y_ = nullptr, dx_ = nullptr, dy_ = nullptr;
};

// W = 1, b = 0, x = 1/2, dy = 2: each y is the sum of a row of x, 6/2; each dx the sum of a row of
// dy, 4 * 2; each gradient of W the sum of dy x over the 8 rows, 8 * 2 / 2 = 8, for 4 * 6 weights.
TEST_F(LayerCApi, AnAffineLayerOfOnesAddsUp) {
  setUp(TENON_FLOAT64);
  int count = 0;
  expectSuccess(TenonLayerGetParameterCount(affine_, &count));
  ASSERT_EQ(count, 2);
  TenonDTensor weight = nullptr, gradient = nullptr;
  expectSuccess(TenonLayerGetParameter(affine_, 0, &weight));
  expectSuccess(TenonDTensorFillConstant(weight, 1));
  expectSuccess(TenonDTensorFillConstant(x_, 0.5));
  expectSuccess(TenonDTensorFillConstant(dy_, 2));
  double largest = 0;
  expectSuccess(TenonLayerApply(affine_, x_, y_));
  expectSuccess(TenonDTensorMaxAbs(y_, &largest));
  EXPECT_EQ(largest, kInputs * 0.5);
  expectSuccess(TenonLayerApplyAdjoint(affine_, dy_, dx_));
  expectSuccess(TenonDTensorMaxAbs(dx_, &largest));
  EXPECT_EQ(largest, kOutputs * 2);
  expectSuccess(TenonLayerGetParameterGradient(affine_, 0, &gradient));
  double pairing = 0;
  expectSuccess(TenonDTensorPairing(gradient, weight, &pairing));
  EXPECT_DOUBLE_EQ(pairing, double(kBatch * kOutputs * kInputs));
  expectSuccess(TenonDTensorDestroy(&weight));
  expectSuccess(TenonDTensorDestroy(&gradient));
}

TEST_F(LayerCApi, DerivativesAreTestedWithoutChangingTheLayer) {
  setUp(TENON_FLOAT64);
  double tangent = 0, adjoint = 1, relative = 1, order = 0, remainder = -1;
  expectSuccess(TenonLayerTestAdjoint(affine_, nullptr, 3, &tangent, &adjoint, &relative));
  EXPECT_LE(relative, 1e-12);
  EXPECT_NE(tangent, 0);
  expectSuccess(TenonLayerTestAdjoint(affine_, x_, 3, nullptr, nullptr, nullptr));
  expectSuccess(TenonLayerTestTaylor(affine_, x_, 3, &order, &remainder));
  EXPECT_NEAR(order, 2, 0.1); // the remainder is quadratic, since W x is bilinear
  EXPECT_GE(remainder, 0);
  if (worldSize() > 1)
    expectCommonCode(TENON_ERR_COLLECTIVE,
                     TenonLayerTestTaylor(affine_, x_, isLast() ? 1 : 2, &order, nullptr),
                     {"seed"});
  expectSuccess(TenonLayerApply(affine_, x_, y_));
  expectCommonCode(TENON_ERR_STATE, TenonLayerTestTaylor(affine_, x_, 1, &order, nullptr),
                   {"empty stack"});
}

// The Jacobian dy = dx W^T at x is a linear operator. After a change of the weights it is refused
// until its point is set again.
TEST_F(LayerCApi, TheJacobianIsAnOperator) {
  setUp(TENON_FLOAT64);
  TenonDTensor weight = nullptr;
  TenonLinearOp jacobian = nullptr, identity = nullptr;
  expectSuccess(TenonLayerGetParameter(affine_, 0, &weight));
  expectSuccess(TenonDTensorFillConstant(weight, 1));
  expectSuccess(TenonLinearOpCreateJacobian(affine_, x_, &jacobian));
  double relative = 1, largest = 0;
  expectSuccess(TenonLinearOpTestAdjoint(jacobian, 1, TENON_TRUE, nullptr, nullptr, &relative));
  EXPECT_EQ(relative, 0);
  expectSuccess(TenonDTensorFillConstant(x_, 0.5));
  expectSuccess(TenonLinearOpApply(jacobian, x_, y_));
  expectSuccess(TenonDTensorMaxAbs(y_, &largest));
  EXPECT_EQ(largest, kInputs * 0.5);
  expectSuccess(TenonDTensorFillConstant(weight, 2));
  expectCode(TENON_ERR_STATE, TenonLinearOpApply(jacobian, x_, y_), {"changed after the point"});
  expectSuccess(TenonLinearOpJacobianSetPoint(jacobian, x_));
  expectSuccess(TenonLinearOpApply(jacobian, x_, y_));
  expectSuccess(TenonDTensorMaxAbs(y_, &largest));
  EXPECT_EQ(largest, kInputs);

  expectSuccess(TenonLinearOpCreateType(batch_, batch_, TENON_FLOAT64, TENON_FLOAT64, "identity",
                                        nullptr, &identity));
  expectCode(TENON_ERR_TYPE, TenonLinearOpJacobianSetPoint(identity, x_), {"has type identity"});
  TenonLinearOp none = nullptr;
  expectCommonCode(TENON_ERR_SHAPE, TenonLinearOpCreateJacobian(affine_, weight, &none),
                   {"is set up for"});
  expectCommonCode(TENON_ERR_NULL, TenonLinearOpCreateJacobian(affine_, nullptr, &none),
                   {"x is NULL"});
  expectCommonCode(TENON_ERR_NULL, TenonLinearOpCreateJacobian(affine_, x_, nullptr),
                   {"op is NULL"});
  EXPECT_EQ(none, nullptr);
  expectSuccess(TenonDTensorDestroy(&weight));
  for (TenonLinearOp* one : {&jacobian, &identity})
    expectSuccess(TenonLinearOpDestroy(one));
}

TEST_F(LayerCApi, ParametersHaveValuesAfterSetUpAndCanBeFrozen) {
  setUp(TENON_FLOAT64);
  double largest = 0, norm = -1;
  TenonDTensor weight = nullptr, gradient = nullptr;
  TenonOptimizer sgd = nullptr;
  expectSuccess(TenonLayerGetParameter(affine_, 0, &weight));
  expectSuccess(TenonDTensorMaxAbs(weight, &largest));
  EXPECT_GT(largest, 0);
  expectSuccess(TenonDTensorFillConstant(x_, 1));
  expectSuccess(TenonDTensorFillConstant(dy_, 1));
  expectSuccess(TenonLayerApply(affine_, x_, y_));
  expectSuccess(TenonLayerApplyAdjoint(affine_, dy_, dx_));
  expectSuccess(TenonLayerGetReducedGradient(affine_, 0, &gradient));
  expectSuccess(TenonDTensorNorm(gradient, &norm)); // kBatch in each element
  EXPECT_DOUBLE_EQ(norm, double(kBatch) * std::sqrt(double(kInputs * kOutputs)));
  expectSuccess(TenonOptimizerCreate(affine_, "sgd", &sgd));
  expectSuccess(TenonOptimizerClipGradientNorm(sgd, 1, &norm));
  EXPECT_DOUBLE_EQ(norm, double(kBatch) * std::sqrt(double((kInputs + 1) * kOutputs)));
  expectSuccess(TenonLayerSetFrozen(affine_, TENON_TRUE));
  expectSuccess(TenonOptimizerClipGradientNorm(sgd, 1, &norm));
  EXPECT_EQ(norm, 0);
  for (TenonDTensor* one : {&weight, &gradient})
    expectSuccess(TenonDTensorDestroy(one));
  expectSuccess(TenonOptimizerDestroy(&sgd));
}

TEST_F(LayerCApi, CallsBeforeSetUpAreRefused) {
  TenonDTensor none = nullptr;
  TenonLayout output = nullptr;
  TenonOptimizer optimizer = nullptr;
  x_ = tensor(batch_, TENON_FLOAT32);
  dy_ = tensor(batch_, TENON_FLOAT32);
  expectCode(TENON_ERR_STATE, TenonLayerApply(affine_, x_, dy_), {"not set up", "SetUp"});
  expectCode(TENON_ERR_STATE, TenonLayerApplyAdjoint(affine_, x_, nullptr),
             {"no pending evaluation"});
  expectCode(TENON_ERR_STATE, TenonLayerGetOutputLayout(affine_, 0, &output),
             {"TenonLayerSetUp()"});
  expectCode(TENON_ERR_STATE, TenonLayerInitialize(affine_, 1), {"TenonLayerSetUp()"});
  expectCode(TENON_ERR_ARG, TenonLayerGetParameter(affine_, 0, &none), {"TenonLayerSetUp()"});
  expectCommonCode(TENON_ERR_STATE, TenonLayerCreateOutput(affine_, 0, &none),
                   {"TenonLayerSetUp()"});
  expectCommonCode(TENON_ERR_STATE, TenonOptimizerCreate(affine_, "sgd", &optimizer),
                   {"TenonLayerSetUp()"});
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(optimizer, nullptr);
}

TEST_F(LayerCApi, SettersAfterSetUpAreRefused) {
  setUp(TENON_FLOAT32);
  expectCode(TENON_ERR_STATE, TenonLayerSetDataType(affine_, TENON_FLOAT64), {"after", "set up"});
  expectCode(TENON_ERR_STATE, TenonLayerSetSignature(affine_, "o"), {"signature"});
  expectCode(TENON_ERR_STATE, TenonLayerSetStackDepth(affine_, 2), {"stack_depth"});
}

TEST_F(LayerCApi, AnInputThatDoesNotMatchIsTheSameErrorOnAllRanksAtSetUp) {
  TenonLayout wide = layout({kBatch, kInputs + 1}, "S0");
  expectCommonCode(TENON_ERR_SHAPE, TenonLayerSetUp(affine_, wide), {"6", "7"});
  if (worldSize() > 1)
    expectCommonCode(TENON_ERR_COLLECTIVE, TenonLayerSetUp(affine_, isLast() ? wide : batch_),
                     {"set up with"});
  expectCommonCode(TENON_ERR_NULL, TenonLayerSetUp(affine_, isLast() ? nullptr : batch_),
                   {"input is NULL"});
  setUp(TENON_FLOAT32); // after failed set-ups a correct one succeeds
  expectSuccess(TenonLayoutDestroy(&wide));
}

TEST_F(LayerCApi, TheErrorAboutAnUnknownSignatureListsTheExistingOnes) {
  expectSuccess(TenonLayerSetSignature(affine_, "q"));
  expectCommonCode(TENON_ERR_OPTION, TenonLayerSetUp(affine_, batch_), {"'q'", "n", "o", "i"});
}

TEST_F(LayerCApi, ASetterThatFailedOnOneRankFailsSetUpOnAll) {
  const TenonErrorCode code = TenonLayerSetStackDepth(affine_, isLast() ? 0 : 2);
  expectCode(isLast() ? TENON_ERR_ARG : TENON_SUCCESS, code, {});
  expectCommonCode(TENON_ERR_ARG, TenonLayerSetUp(affine_, batch_), {"stack_depth", "0"});
  expectSuccess(TenonLayerSetStackDepth(affine_, 2));
  expectSuccess(TenonLayerSetUp(affine_, batch_));
}

TEST_F(LayerCApi, OptionsWithItsPrefixReachALayer) {
  expectSuccess(TenonObjectSetOptionsPrefix(objectOf(affine_), "capi_test_"));
  expectCode(TENON_ERR_OPTION, TenonOptionsSet("-tenon_capi_test_backend", "cudann"),
             {"cudann", "onednn"});
  expectSuccess(TenonOptionsSet("-tenon_capi_test_signature", "q"));
  expectSuccess(TenonObjectSetFromOptions(objectOf(affine_)));
  expectCommonCode(TENON_ERR_OPTION, TenonLayerSetUp(affine_, batch_), {"'q'"});
}

// All ranks pass the same wrong tensor, so no rank waits for another.
TEST_F(LayerCApi, ATensorThatDoesNotFitIsNamed) {
  setUp(TENON_FLOAT32);
  TenonLayout longer = layout({kBatch + 1, kInputs}, "S0"), copies = layout({kBatch, kInputs}, "B");
  TenonDTensor many = tensor(longer, TENON_FLOAT32), everywhere = tensor(copies, TENON_FLOAT32),
               precise = tensor(batch_, TENON_FLOAT64);
  expectCode(TENON_ERR_SHAPE, TenonLayerApply(affine_, many, y_), {"[8,6]", "[9,6]"});
  if (worldSize() > 1) // on one process all these layouts are the same
    expectCode(TENON_ERR_LAYOUT, TenonLayerApply(affine_, everywhere, y_), {"] S0", "] B"});
  expectCode(TENON_ERR_DATATYPE, TenonLayerApply(affine_, precise, y_), {"float32", "float64"});
  expectCode(TENON_ERR_SHAPE, TenonLayerApply(affine_, x_, x_), {"output", "[8,4]", "[8,6]"});
  expectCode(TENON_ERR_NULL, TenonLayerApply(affine_, x_, nullptr), {"y is NULL"});
  expectCode(TENON_ERR_STATE, TenonLayerApplyAdjoint(affine_, dy_, dx_), {"no pending evaluation"});
  expectSuccess(TenonLayerApply(affine_, x_, y_));
  expectCode(TENON_ERR_STATE, TenonLayerApply(affine_, x_, y_),
             {"stack depth is 1", "SetStackDepth"});
  expectSuccess(TenonDTensorFillConstant(x_, 3));
  expectCode(TENON_ERR_STATE, TenonLayerApplyAdjoint(affine_, dy_, dx_), {"changed"});
  expectSuccess(TenonLayerClearStack(affine_));
  for (TenonDTensor* one : {&many, &everywhere, &precise})
    expectSuccess(TenonDTensorDestroy(one));
  expectSuccess(TenonLayoutDestroy(&longer));
  expectSuccess(TenonLayoutDestroy(&copies));
}

TEST_F(LayerCApi, CallsForOtherTypesSayWhichTheyAreFor) {
  const TenonInt two[2] = {2, 2};
  expectCode(TENON_ERR_TYPE, TenonLayerSetStride(affine_, two),
             {"affine", "has no setting 'stride'"});
  expectCode(TENON_ERR_TYPE, TenonLayerSequentialAdd(affine_, affine_), {"sequential"});
  TenonDTensor labels = tensor(batch_, TENON_INT64);
  expectCode(TENON_ERR_TYPE, TenonLayerSetTarget(affine_, labels), {"crossentropy"});
  expectSuccess(TenonDTensorDestroy(&labels));
}

TEST_F(LayerCApi, WindowsAreCheckedWhereTheyAreSet) {
  const TenonInt kernel[2] = {3, 3}, still[2] = {1, 0};
  TenonLayer conv = nullptr;
  expectSuccess(TenonLayerCreateConv(MPI_COMM_WORLD, 2, 1, 1, kernel, &conv));
  expectCode(TENON_ERR_ARG, TenonLayerSetStride(conv, still), {"stride[1]", "is 0", "at least 1"});
  expectCode(TENON_ERR_ARG, TenonObjectSetIntegers(objectOf(conv), "dilation", 2, still),
             {"dilation[1] is 0"});
  expectSuccess(TenonLayerDestroy(&conv));
}

TEST_F(LayerCApi, CreationWithWrongArgumentsIsTheSameErrorOnAllRanks) {
  const TenonInt kernel[2] = {3, 0};
  TenonLayer layer = nullptr;
  expectCommonCode(TENON_ERR_ARG, TenonLayerCreateConv(MPI_COMM_WORLD, 2, 1, 1, kernel, &layer),
                   {"kernel[1] is 0"});
  expectCommonCode(TENON_ERR_ARG, TenonLayerCreateConv(MPI_COMM_WORLD, 4, 1, 1, kernel, &layer),
                   {"dimensions is 4"});
  expectCommonCode(TENON_ERR_ARG,
                   TenonLayerCreateAffine(MPI_COMM_WORLD, isLast() ? 0 : 3, 2, &layer), {"0"});
  expectCommonCode(TENON_ERR_TYPE, TenonLayerCreateType(MPI_COMM_WORLD, "rleu", &layer),
                   {"rleu", "relu"});
  expectCommonCode(TENON_ERR_NULL,
                   TenonLayerCreateType(MPI_COMM_WORLD, isLast() ? nullptr : "relu", &layer),
                   {"name is NULL"});
  if (worldSize() > 1)
    expectCommonCode(TENON_ERR_COLLECTIVE,
                     TenonLayerCreateAffine(MPI_COMM_WORLD, 3, 2 + isLast(), &layer),
                     {"the layer"});
  EXPECT_EQ(layer, nullptr);
}

TEST_F(LayerCApi, ALabelOutsideTheClassesIsAnError) {
  TenonLayout logits = layout({4, 3}, "B"), samples = layout({4}, "B");
  TenonLayer loss = nullptr;
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "crossentropy", &loss));
  expectSuccess(TenonLayerSetUp(loss, logits));
  TenonDTensor x = tensor(logits, TENON_FLOAT32), labels = tensor(samples, TENON_INT64),
               y = nullptr;
  expectSuccess(TenonLayerCreateOutput(loss, 0, &y));
  expectCode(TENON_ERR_STATE, TenonLayerApply(loss, x, y), {"SetTarget"});
  expectSuccess(TenonLayerSetTarget(loss, labels));
  expectSuccess(TenonLayerApply(loss, x, y));
  double value = 0;
  expectSuccess(TenonDTensorMaxAbs(y, &value));
  EXPECT_NEAR(value, std::log(3.0), 1e-6); // equal logits
  expectSuccess(TenonLayerClearStack(loss));
  expectSuccess(TenonDTensorFillConstant(labels, 3));
  expectCode(TENON_ERR_ARG, TenonLayerApply(loss, x, y), {"3"});
  for (TenonDTensor* one : {&x, &y, &labels})
    expectSuccess(TenonDTensorDestroy(one));
  expectSuccess(TenonLayerDestroy(&loss));
  expectSuccess(TenonLayoutDestroy(&logits));
  expectSuccess(TenonLayoutDestroy(&samples));
}

} // namespace
} // namespace tenon::test
