// SPDX-License-Identifier: BSD-2-Clause
// Direct convolution with each vector instruction set of the processor, compared with the reference
// backend bit by bit on small integers; which convolutions `auto` computes by it; and errors where
// it is not possible.
//
// A shape in braces is {batch, input channels, output channels, window, groups}. Strides and
// dilations of a window that are not given are 1, paddings are 0.
#include "kernels/convolution/backends.hpp"
#include "kernels/convolution_cases.hpp"

namespace tenon::test {

namespace {

template <class T>
Maker<T> directMaker(InstructionSet set) {
  return [set](const ConvolutionShape& shape) {
    return makeDirectConvolution<T>(shape, std::make_shared<KernelContext>(), set);
  };
}

// A random shape with stride 1 in the last dimension, as direct convolution requires.
ConvolutionShape drawDirectShape(Draw& draw, Index maxChannels) {
  ConvolutionShape shape = drawShape(draw, maxChannels);
  shape.window.stride[shape.window.rank - 1] = 1;
  return shape;
}

// A plane with a square kernel, this stride along the rows and this length of a row of outputs.
WindowShape planeWindow(Index kernel, Index stride, Index row) {
  return {.rank = 2,
          .in = {64, row * stride},
          .out = {64, row},
          .kernel = {kernel, kernel},
          .stride = {1, stride},
          .padLow = {1, 1}};
}

} // namespace

template <class T>
class DirectConvolution : public ::testing::Test {};
TYPED_TEST_SUITE(DirectConvolution, RealTypes);

TYPED_TEST(DirectConvolution, EqualsTheReference) {
  using T = TypeParam;
  for (InstructionSet set : directInstructionSets()) {
    Draw draw(31);
    for (int trial = 0; trial < 200; ++trial) {
      const ConvolutionShape shape = drawDirectShape(draw, trial % 10 == 0 ? 40 : 5);
      SCOPED_TRACE(instructionSetName(set));
      ASSERT_NO_FATAL_FAILURE(expectEqualToReference<T>(draw, shape, directMaker<T>(set)));
    }
  }
}

TYPED_TEST(DirectConvolution, OutputsLieWhereTheShapeSays) {
  using T = TypeParam;
  for (InstructionSet set : directInstructionSets()) {
    Draw draw(32);
    for (int trial = 0; trial < 100; ++trial) {
      const ConvolutionShape shape = drawDirectShape(draw, trial % 10 == 0 ? 30 : 5);
      SCOPED_TRACE(instructionSetName(set));
      ASSERT_NO_FATAL_FAILURE(expectEqualWhenPlaced<T>(draw, shape, directMaker<T>(set)));
    }
  }
}

// Every number of channels of a block, and rows of every length around whole vectors.
TYPED_TEST(DirectConvolution, EqualsTheReferenceForEachTile) {
  using T = TypeParam;
  for (InstructionSet set : directInstructionSets()) {
    Draw draw(33);
    for (Index channels = 1; channels <= 17; ++channels)
      for (Index width : {1, 7, 8, 17, 31, 64}) {
        const WindowShape w{
            .rank = 2, .in = {3, width}, .out = {3, width}, .kernel = {3, 3}, .padLow = {1, 1}};
        const Index others = channels % 5 + 1;
        SCOPED_TRACE(instructionSetName(set));
        ASSERT_NO_FATAL_FAILURE(
            expectEqualToReference<T>(draw, {1, channels, others, w}, directMaker<T>(set)));
        ASSERT_NO_FATAL_FAILURE(
            expectEqualToReference<T>(draw, {1, others, channels, w}, directMaker<T>(set)));
      }
  }
}

// Shapes without outputs, as on a rank that owns no output but inputs that other ranks read.
TYPED_TEST(DirectConvolution, MayHaveNoOutputs) {
  using T = TypeParam;
  const WindowShape noRows{
      .rank = 2, .in = {2, 6}, .out = {0, 6}, .kernel = {3, 3}, .padLow = {0, 1}};
  const WindowShape noColumns{
      .rank = 2, .in = {5, 2}, .out = {3, 0}, .kernel = {3, 3}, .stride = {2, 1}, .padLow = {1, 0}};
  const WindowShape nothing{.rank = 1, .in = {0}, .out = {0}, .kernel = {3}};
  for (InstructionSet set : directInstructionSets()) {
    Draw draw(35);
    for (const WindowShape& window : {noRows, noColumns, nothing})
      for (const ConvolutionShape& shape :
           {ConvolutionShape{2, 3, 4, window}, ConvolutionShape{1, 40, 64, window},
            ConvolutionShape{2, 4, 6, window, 2}, ConvolutionShape{0, 3, 4, window}}) {
        SCOPED_TRACE(instructionSetName(set));
        ASSERT_NO_FATAL_FAILURE(expectEqualToReference<T>(draw, shape, directMaker<T>(set)));
      }
  }
}

// The images are divided into several bands in each dimension.
TYPED_TEST(DirectConvolution, EqualsTheReferenceOnLargeImages) {
  using T = TypeParam;
  const WindowShape plane{
      .rank = 2, .in = {120, 175}, .out = {119, 173}, .kernel = {3, 3}, .padLow = {1, 0}};
  const WindowShape line{
      .rank = 1, .in = {30000}, .out = {30000}, .kernel = {5}, .dilation = {2}, .padLow = {4}};
  const WindowShape space{.rank = 3,
                          .in = {21, 42, 43},
                          .out = {11, 42, 43},
                          .kernel = {3, 3, 3},
                          .stride = {2, 1, 1},
                          .padLow = {1, 1, 1}};
  for (InstructionSet set : directInstructionSets()) {
    Draw draw(34);
    for (const ConvolutionShape& shape :
         {ConvolutionShape{2, 5, 3, plane}, ConvolutionShape{1, 3, 2, line},
          ConvolutionShape{1, 12, 3, space, 3}}) {
      SCOPED_TRACE(instructionSetName(set));
      ASSERT_NO_FATAL_FAILURE(expectEqualToReference<T>(draw, shape, directMaker<T>(set)));
    }
  }
}

TYPED_TEST(DirectConvolution, AutoTakesItWhereItIsFaster) {
  using T = TypeParam;
  const auto chosen = [](const ConvolutionShape& shape) {
    return makeConvolution<T>(shape, Backend::Auto)->backend();
  };
  const Backend other = resolveBackend<T>(Backend::Auto);
  const Backend direct = directInstructionSets().empty() ? other : Backend::Direct;
  EXPECT_EQ(chosen({1, 4, 8, planeWindow(3, 1, 64)}), direct);
  EXPECT_EQ(chosen({1, 16, 16, planeWindow(3, 1, 64)}), direct);
  EXPECT_EQ(chosen({1, 8, 8, planeWindow(3, 1, 64), 8}), direct); // depthwise
  // For many channels oneDNN is faster (float32 only), but BLAS only if the image is small too.
  EXPECT_EQ(chosen({1, 64, 64, planeWindow(3, 1, 64)}), other == Backend::OneDnn ? other : direct);
  EXPECT_EQ(chosen({1, 16, 16, planeWindow(3, 1, 9)}), other == Backend::OneDnn ? other : direct);
  EXPECT_EQ(chosen({1, 4, 8, planeWindow(3, 2, 64)}), other);
  EXPECT_EQ(chosen({1, 4, 8, planeWindow(1, 1, 64)}), other);
  EXPECT_EQ(chosen({1, 4, 8, planeWindow(3, 1, 1)}), other); // vectors of one output
  EXPECT_EQ(chosen({1, 256, 256, planeWindow(3, 1, 8)}), other);
  EXPECT_EQ(chosen({0, 4, 8, planeWindow(3, 1, 64)}), Backend::Blas);
}

TYPED_TEST(DirectConvolution, SaysItsInstructions) {
  using T = TypeParam;
  for (InstructionSet set : directInstructionSets()) {
    const auto op = directMaker<T>(set)({1, 4, 8, planeWindow(3, 1, 64)});
    EXPECT_EQ(op->backend(), Backend::Direct);
    EXPECT_STREQ(op->implementation(), instructionSetName(set));
  }
}

TYPED_TEST(DirectConvolution, NeedsVectorInstructions) {
  using T = TypeParam;
  const ConvolutionShape shape{1, 4, 8, planeWindow(3, 1, 64)};
  limitInstructionSet(InstructionSet::Baseline);
  EXPECT_EQ(makeConvolution<T>(shape, Backend::Auto)->backend(), resolveBackend<T>(Backend::Auto));
  expectError(errorOf([&] { makeConvolution<T>(shape, Backend::Direct); }), TENON_ERR_SUPPORT,
              {"'direct'", "AVX2", "'auto'"});
  limitInstructionSet(instructionSets().back());
}

// A request by name is an error where direct convolution is not possible, instead of another
// backend.
TYPED_TEST(DirectConvolution, RefusesWhatItDoesNotSupport) {
  using T = TypeParam;
  expectError(errorOf([] {
                makeConvolution<T>({1, 4, 8, planeWindow(3, 2, 64)}, Backend::Direct);
              }),
              TENON_ERR_SUPPORT,
              {"'direct'", directInstructionSets().empty() ? "AVX2" : "stride", "'auto'"});
}

} // namespace tenon::test
