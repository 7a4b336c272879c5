// SPDX-License-Identifier: BSD-2-Clause
// Types of layers with their own settings in the C API: convolution, pooling, activations, losses,
// column MLPs and means between cells and faces. Input and parameters are constant, so the largest
// element of the output is one number that is computed by hand in the expectation.
#include "capi/expect_code.hpp"

#include <algorithm>

namespace tenon::test {
namespace {

class LayerKinds : public CApi {
protected:
  void TearDown() override {
    expectSuccess(TenonLayerDestroy(&layer_));
    CApi::TearDown();
  }

  // Sets the layer up for this shape, applies it to an input with all elements equal to `value`,
  // with all parameters equal to `parameters`, and returns the largest absolute value of the
  // output.
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
    expectSuccess(TenonLayerCreateOutput(layer_, 0, &y));
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

// Two groups of 3 input channels, window 2: a sum of 6 products, and the bias.
TEST_F(LayerKinds, GroupsSumOverTheirOwnChannels) {
  expectSuccess(TenonLayerCreateConv(MPI_COMM_WORLD, 1, 6, 4, kTwo, &layer_));
  expectSuccess(setInteger(
      layer_, "groups", 3)); // overwritten; TenonLayerSetUp() would refuse 3 groups of 4 channels
  expectSuccess(setInteger(layer_, "groups", 2));
  EXPECT_EQ(largestOutput({1, 6, 5}, 1, 0.5), (3 * 2) * 0.5 + 0.5);
}

// With "overlap" on, the layer computes the inner part of its output while the halo is exchanged,
// and its view names the strips of the output.
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
      expectSuccess(TenonObjectSetText(objectOf(layer_), "overlap", "on"));
    }
    // Two elements of the window with inputs of 3 and weights of 0.5, and the bias.
    EXPECT_EQ(largestOutput({1, 1, 16}, 3, 0.5), 2 * 3 * 0.5 + 0.5);
    ::testing::internal::CaptureStdout();
    expectSuccess(TenonObjectView(objectOf(layer_)));
    const std::string text = ::testing::internal::GetCapturedStdout();
    const bool prints = !text.empty(); // true on rank 0
    EXPECT_EQ(prints, text.find("strip 0 of the output") != std::string::npos) << text;
    expectSuccess(TenonLayerDestroy(&layer_));
  }
}

// Windows of 2 on 5 cells: 2 of them fit, and the mode adds one that ends after the input.
TEST_F(LayerKinds, CeilModeAddsAWindow) {
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "averagepooling", &layer_));
  expectSuccess(setInteger(layer_, "kernel", 2));
  expectSuccess(TenonObjectSetBool(objectOf(layer_), "include_padding", TENON_TRUE));
  expectSuccess(TenonObjectSetBool(objectOf(layer_), "ceil", TENON_TRUE));
  EXPECT_EQ(largestOutput({1, 1, 5}, 3, 0), 3);
  TenonLayout output = nullptr;
  TenonInt extents[3] = {0, 0, 0};
  expectSuccess(TenonLayerGetOutputLayout(layer_, 0, &output));
  expectSuccess(TenonLayoutGetShape(output, extents));
  EXPECT_EQ(extents[2], 3);
  expectSuccess(TenonLayoutDestroy(&output));
}

TEST_F(LayerKinds, FunctionsHaveTheirParameters) {
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "leakyrelu", &layer_));
  expectSuccess(TenonObjectSetReal(objectOf(layer_), "slope", 0.25));
  EXPECT_EQ(largestOutput({4}, -2, 0), 0.5); // |0.25 * -2|
  expectCode(TENON_ERR_STATE, TenonObjectSetReal(objectOf(layer_), "slope", 1), {"set up"});
  expectSuccess(TenonLayerDestroy(&layer_));
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "scale", &layer_));
  expectSuccess(TenonObjectSetReal(objectOf(layer_), "factor", 3));
  EXPECT_EQ(largestOutput({4}, -2, 0), 6);
}

TEST_F(LayerKinds, MeanSquaredErrorComparesWithItsTarget) {
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "meansquarederror", &layer_));
  TenonLayout split = layout({8, 3}, "S0");
  TenonDTensor target = tensor(split, TENON_FLOAT32);
  expectSuccess(TenonDTensorFillConstant(target, 1));
  expectSuccess(TenonLayerSetTarget(layer_, target));
  EXPECT_EQ(largestOutput({8, 3}, 4, 0), 9); // (4 - 1)^2
  expectSuccess(TenonDTensorDestroy(&target));
  expectSuccess(TenonLayoutDestroy(&split));
}

TEST_F(LayerKinds, ColumnMlpHasTheLayersOfItsSettings) {
  const TenonInt widths[] = {3, 5, 2};
  expectSuccess(TenonLayerCreateColumnMLP(MPI_COMM_WORLD, 3, widths, "silu", &layer_));
  TenonInt found[3] = {}, count = 0;
  expectSuccess(TenonObjectGetIntegers(objectOf(layer_), "widths", 3, found, &count));
  EXPECT_EQ(count, 3);
  EXPECT_TRUE(std::equal(found, found + 3, widths));
  char text[16] = "";
  expectSuccess(TenonObjectGetText(objectOf(layer_), "activation", text, sizeof text, nullptr));
  EXPECT_STREQ(text, "silu");
  expectSuccess(TenonLayerDestroy(&layer_));
  expectSuccess(TenonLayerCreateColumnMLP(MPI_COMM_WORLD, 3, widths, nullptr, &layer_));
  expectSuccess(TenonObjectGetText(objectOf(layer_), "activation", text, sizeof text, nullptr));
  EXPECT_STREQ(text, "tanh");
  TenonLayer none = nullptr;
  expectCode(TENON_ERR_ARG, TenonLayerCreateColumnMLP(MPI_COMM_WORLD, 1, widths, nullptr, &none),
             {"number of widths is 1"});
  expectCode(TENON_ERR_NULL, TenonLayerCreateColumnMLP(MPI_COMM_WORLD, 3, nullptr, nullptr, &none),
             {"widths"});
  expectCode(TENON_ERR_TYPE, TenonLayerCreateColumnMLP(MPI_COMM_WORLD, 3, widths, "tan", &none),
             {"tan"});
}

// Between walls ("all" faces) 5 cells have 6 faces, in a periodic dimension ("lower") 4 cells have
// 4. Layer "stagger" computes means on faces from cells, "collocate" the reverse.
TEST_F(LayerKinds, MeansBetweenCellsAndFacesHaveTheLayoutsOfTheGrid) {
  const TenonFaces faces[] = {TENON_FACES_ALL, TENON_FACES_LOWER};
  const TenonBoundary modes[] = {TENON_BOUNDARY_ODD, TENON_BOUNDARY_PERIODIC};
  const TenonInt shape[] = {1, 2, 5, 4}, facesAlong[] = {0, 0, 1, 0};
  TenonPartition partition = nullptr;
  TenonLayout cells = nullptr, onFaces = nullptr, there = nullptr, back = nullptr;
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  expectSuccess(TenonPartitionCreate(MPI_COMM_WORLD, 1, &ranks, &partition));
  expectSuccess(TenonLayoutCreateSharded(partition, 4, shape, "S2", &cells));
  expectSuccess(TenonLayoutCreateStaggered(cells, facesAlong, &onFaces));
  int spatial = 0;
  TenonBool same = TENON_FALSE;
  expectSuccess(TenonLayerCreateStagger(MPI_COMM_WORLD, 2, faces, &layer_));
  expectSuccess(TenonLayerGetSpatialDimensions(layer_, &spatial));
  EXPECT_EQ(spatial, 2);
  expectSuccess(TenonLayerSetBoundary(layer_, modes, nullptr));
  expectSuccess(TenonLayerSetUp(layer_, cells));
  expectSuccess(TenonLayerGetOutputLayout(layer_, 0, &there));
  expectSuccess(TenonLayoutIsEqual(there, onFaces, &same));
  EXPECT_TRUE(same);
  expectSuccess(TenonLayerDestroy(&layer_));
  expectSuccess(TenonLayerCreateCollocate(MPI_COMM_WORLD, 2, faces, &layer_));
  char text[16] = "";
  expectSuccess(TenonObjectGetText(objectOf(layer_), "faces", text, sizeof text, nullptr));
  EXPECT_STREQ(text, "all,lower");
  expectSuccess(TenonLayerSetBoundary(layer_, modes, nullptr));
  expectSuccess(TenonLayerSetUp(layer_, onFaces));
  expectSuccess(TenonLayerGetOutputLayout(layer_, 0, &back));
  expectSuccess(TenonLayoutIsEqual(back, cells, &same));
  EXPECT_TRUE(same);
  TenonLayer none = nullptr;
  const TenonFaces unknown[] = {static_cast<TenonFaces>(4)};
  expectCode(TENON_ERR_ARG, TenonLayerCreateStagger(MPI_COMM_WORLD, 1, unknown, &none),
             {"faces[0] is 4", "TenonFaces"});
  expectCode(TENON_ERR_ARG, TenonLayerCreateStagger(MPI_COMM_WORLD, 4, faces, &none),
             {"4", "1 to 3"});
  expectSuccess(TenonLayoutDestroy(&back));
  expectSuccess(TenonLayoutDestroy(&there));
  expectSuccess(TenonLayoutDestroy(&onFaces));
  expectSuccess(TenonLayoutDestroy(&cells));
  expectSuccess(TenonPartitionDestroy(&partition));
}

TEST_F(LayerKinds, CallsForOtherTypesSayWhichTheyAreFor) {
  expectSuccess(TenonLayerCreateAffine(MPI_COMM_WORLD, 2, 2, &layer_));
  const TenonInt one[] = {1};
  expectCode(TENON_ERR_TYPE, TenonLayerSetStride(layer_, one), {"affine", "stride"});
  expectCode(TENON_ERR_TYPE, TenonLayerSetPadding(layer_, one, one), {"affine", "padding"});
  expectCode(TENON_ERR_TYPE, setInteger(layer_, "groups", 1), {"affine", "groups"});
  expectCode(TENON_ERR_TYPE, TenonObjectSetReal(objectOf(layer_), "slope", 1), {"affine", "slope"});
  expectCode(TENON_ERR_NULL, TenonLayerSetStride(nullptr, one), {"layer"});
}

// TenonLayerSetStride(), -Padding() and -Boundary() accept all types of layers with a kernel and
// the setting. Without a kernel they cannot know the number of dimensions.
TEST_F(LayerKinds, WindowsOfAllTypesHaveTheirCalls) {
  const TenonInt two[] = {2, 2}, one[] = {1, 1};
  const TenonBoundary zero[] = {TENON_BOUNDARY_ZERO, TENON_BOUNDARY_ZERO};
  for (const char* type : {"conv", "transposedconv", "maxpooling", "averagepooling"}) {
    expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, type, &layer_));
    expectCode(TENON_ERR_STATE, TenonLayerSetStride(layer_, two), {"no kernel"});
    expectSuccess(TenonObjectSetIntegers(objectOf(layer_), "kernel", 2, two));
    expectSuccess(TenonLayerSetStride(layer_, two));
    expectSuccess(TenonLayerSetPadding(layer_, one, nullptr));
    expectSuccess(TenonLayerSetBoundary(layer_, zero, nullptr));
    TenonInt stride[2] = {};
    expectSuccess(TenonObjectGetIntegers(objectOf(layer_), "stride", 2, stride, nullptr));
    EXPECT_EQ(stride[0], 2) << type;
    EXPECT_EQ(stride[1], 2) << type;
    expectSuccess(TenonLayerDestroy(&layer_));
  }
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "pad", &layer_));
  expectCode(TENON_ERR_STATE, TenonLayerSetPadding(layer_, one, nullptr),
             {"no kernel", "TenonObjectSetIntegers()"});
  expectSuccess(TenonObjectSetIntegers(objectOf(layer_), "padding", 2, one));
}

} // namespace
} // namespace tenon::test
