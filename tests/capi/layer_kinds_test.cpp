// SPDX-License-Identifier: BSD-2-Clause
// The kinds of layers and their own settings through the C calls, each by one number that can be
// counted by hand: the largest element of its output.
#include "capi/expect_code.hpp"

namespace tenon::test {
namespace {

class LayerKinds : public CApi {
protected:
  void TearDown() override {
    expectSuccess(TenonLayerDestroy(&layer_));
    CApi::TearDown();
  }

  // Sets the layer up for the shape, its input full of `value`, and gives the largest output.
  double largestOutput(std::initializer_list<TenonInt> shape, double value, double parameters) {
    TenonLayout input = layout(shape, "B");
    expectSuccess(TenonLayerSetSignature(layer_, "B"));
    expectSuccess(TenonLayerSetUp(layer_, input));
    int count = 0;
    expectSuccess(TenonLayerGetParameterCount(layer_, &count));
    for (int i = 0; i < count; ++i) {
      TenonDTensor parameter = nullptr;
      expectSuccess(TenonLayerGetParameter(layer_, i, &parameter));
      expectSuccess(TenonDTensorFillConstant(parameter, parameters));
      expectSuccess(TenonDTensorDestroy(&parameter));
    }
    TenonDTensor x = tensor(input, TENON_FLOAT32), y = nullptr;
    expectSuccess(TenonLayerCreateOutput(layer_, &y));
    expectSuccess(TenonDTensorFillConstant(x, value));
    expectSuccess(TenonLayerApply(layer_, x, y));
    double largest = 0;
    expectSuccess(TenonDTensorMaxAbs(y, &largest));
    expectSuccess(TenonDTensorDestroy(&x));
    expectSuccess(TenonDTensorDestroy(&y));
    expectSuccess(TenonLayoutDestroy(&input));
    return largest;
  }

  TenonLayer layer_ = nullptr;
};

constexpr TenonInt kTwo[] = {2};

TEST_F(LayerKinds, GroupsSumOverTheirOwnChannels) {
  expectSuccess(TenonLayerCreateConv(MPI_COMM_WORLD, 1, 6, 4, kTwo, &layer_));
  expectCode(TENON_ERR_ARG, TenonLayerSetGroups(layer_, 3), {"groups, 3", "6 input", "4 output"});
  expectSuccess(TenonLayerSetGroups(layer_, 2));
  EXPECT_EQ(largestOutput({1, 6, 5}, 1, 0.5), (3 * 2) * 0.5 + 0.5);
}

TEST_F(LayerKinds, OverlapIsForcedBySettingAndOption) {
  const TenonInt one[] = {1};
  const TenonBoundary periodic = TENON_BOUNDARY_PERIODIC;
  for (const bool byOption : {false, true}) {
    expectSuccess(TenonLayerCreateConv(MPI_COMM_WORLD, 1, 1, 1, kTwo, &layer_));
    expectSuccess(TenonLayerSetPadding(layer_, one, one));
    expectSuccess(TenonLayerSetBoundary(layer_, &periodic, &periodic));
    if (byOption) {
      expectSuccess(TenonOptionsSet("-tenon_forced_overlap", "on"));
      expectSuccess(TenonObjectSetOptionsPrefix(objectOf(layer_), "forced_"));
      expectSuccess(TenonObjectSetFromOptions(objectOf(layer_)));
    } else {
      expectSuccess(TenonLayerSetOverlap(layer_, TENON_OVERLAP_ON));
    }
    EXPECT_EQ(largestOutput({1, 1, 16}, 3, 0.5), 2 * 3 * 0.5 + 0.5);
    ::testing::internal::CaptureStdout();
    expectSuccess(TenonObjectView(objectOf(layer_)));
    const std::string text = ::testing::internal::GetCapturedStdout();
    const bool prints = !text.empty(); // the first rank
    EXPECT_EQ(prints, text.find("strip 0 of the output") != std::string::npos) << text;
    expectSuccess(TenonLayerDestroy(&layer_));
  }
  expectSuccess(TenonLayerCreateConv(MPI_COMM_WORLD, 1, 1, 1, kTwo, &layer_));
  expectCode(TENON_ERR_ARG, TenonLayerSetOverlap(layer_, static_cast<TenonOverlap>(7)),
             {"overlap is 7"});
}

TEST_F(LayerKinds, CeilModeAddsAWindow) {
  expectSuccess(
      TenonLayerCreatePooling(MPI_COMM_WORLD, TENON_POOLING_AVERAGE_INCLUDE_PAD, 1, kTwo, &layer_));
  expectSuccess(TenonLayerSetCeilMode(layer_, TENON_TRUE));
  EXPECT_EQ(largestOutput({1, 1, 5}, 3, 0), 3);
  TenonLayout output = nullptr;
  TenonInt extents[3] = {0, 0, 0};
  expectSuccess(TenonLayerGetOutputLayout(layer_, &output));
  expectSuccess(TenonLayoutGetShape(output, extents));
  EXPECT_EQ(extents[2], 3);
  expectSuccess(TenonLayoutDestroy(&output));
}

TEST_F(LayerKinds, FunctionsHaveTheirParameters) {
  expectSuccess(TenonLayerCreatePointwise(MPI_COMM_WORLD, "leakyrelu", &layer_));
  expectSuccess(TenonLayerSetSlope(layer_, 0.25));
  EXPECT_EQ(largestOutput({4}, -2, 0), 0.5);
  expectCode(TENON_ERR_STATE, TenonLayerSetSlope(layer_, 1), {"set up"});
  expectSuccess(TenonLayerDestroy(&layer_));
  expectSuccess(TenonLayerCreatePointwise(MPI_COMM_WORLD, "scale", &layer_));
  expectSuccess(TenonLayerSetFactor(layer_, 3));
  EXPECT_EQ(largestOutput({4}, -2, 0), 6);
}

TEST_F(LayerKinds, MeanSquaredErrorComparesWithItsTarget) {
  expectSuccess(TenonLayerCreateMeanSquaredError(MPI_COMM_WORLD, &layer_));
  TenonLayout split = layout({8, 3}, "S0");
  TenonDTensor target = tensor(split, TENON_FLOAT32);
  expectSuccess(TenonDTensorFillConstant(target, 1));
  expectSuccess(TenonLayerSetTarget(layer_, target));
  EXPECT_EQ(largestOutput({8, 3}, 4, 0), 9);
  expectSuccess(TenonDTensorDestroy(&target));
  expectSuccess(TenonLayoutDestroy(&split));
}

TEST_F(LayerKinds, CallsForOtherTypesSayWhichTheyAreFor) {
  expectSuccess(TenonLayerCreateAffine(MPI_COMM_WORLD, 2, 2, &layer_));
  expectCode(TENON_ERR_TYPE, TenonLayerSetGroups(layer_, 1), {"affine", "groups"});
  expectCode(TENON_ERR_TYPE, TenonLayerSetCeilMode(layer_, TENON_TRUE), {"affine", "ceil"});
  expectCode(TENON_ERR_TYPE, TenonLayerSetOverlap(layer_, TENON_OVERLAP_ON), {"affine", "overlap"});
  expectCode(TENON_ERR_TYPE, TenonLayerSetSlope(layer_, 1), {"affine", "slope"});
  expectCode(TENON_ERR_TYPE, TenonLayerSetFactor(layer_, 1), {"affine", "factor"});
  expectCode(TENON_ERR_NULL, TenonLayerSetGroups(nullptr, 1), {"layer"});
}

} // namespace
} // namespace tenon::test
