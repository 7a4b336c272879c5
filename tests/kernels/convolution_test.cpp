// SPDX-License-Identifier: BSD-2-Clause
// Convolution on the host: the reference backend against results computed by hand; its adjoints by
// the identities <y, dy> = <x, dx> = <w, dw>, exact on small integers; and the other backends
// against the reference, bit by bit on small integers.
//
// A shape in braces is {batch, input channels, output channels, window, groups}. Strides and
// dilations of a window that are not given are 1, paddings are 0.
#include "kernels/convolution_cases.hpp"

#include <cmath>
#include <limits>

namespace tenon::test {

template <class T>
class ConvolutionKernel : public ::testing::Test {};
TYPED_TEST_SUITE(ConvolutionKernel, RealTypes);

TYPED_TEST(ConvolutionKernel, ReferenceByHandInOneDimension) {
  using T = TypeParam;
  ConvolutionShape shape{1, 1, 1, {}};
  shape.window = {.rank = 1,
                  .in = {5},
                  .out = {3},
                  .kernel = {2},
                  .stride = {2},
                  .dilation = {3},
                  .padLow = {1}}; // reads (-1, 2), (1, 4), (3, 6)
  const std::vector<T> x{1, 2, 3, 4, 5}, w{10, 1}, b{100};
  std::vector<T> y(3);
  const auto op = makeConvolution<T>(shape, Backend::Reference);
  op->forward(x.data(), w.data(), b.data(), y.data(), false);
  EXPECT_EQ(y, (std::vector<T>{103, 125, 140}));
  const std::vector<T> dy{1, 2, 3};
  std::vector<T> dx(5, T(7)), dw{1, 1}, db{1};
  op->adjointData(w.data(), dy.data(), dx.data());
  EXPECT_EQ(dx, (std::vector<T>{0, 20, 1, 30, 2}));
  op->adjointWeights(x.data(), dy.data(), dw.data(), db.data());
  EXPECT_EQ(dw, (std::vector<T>{1 + 2 * 2 + 3 * 4, 1 + 1 * 3 + 2 * 5}));
  EXPECT_EQ(db, (std::vector<T>{7}));
}

TYPED_TEST(ConvolutionKernel, ReferenceByHandWithNegativePadding) {
  using T = TypeParam;
  // Two channels, the first column and the last row skipped: y = x0 at (o0, o1 + 1) plus twice x1.
  ConvolutionShape shape{1, 2, 1, {}};
  shape.window = {.rank = 2, .in = {3, 3}, .out = {2, 2}, .kernel = {1, 1}, .padLow = {0, -1}};
  const std::vector<T> x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 40, 50, 60, 70, 80, 90}, w{1, 2};
  std::vector<T> y(4);
  makeConvolution<T>(shape, Backend::Reference)
      ->forward(x.data(), w.data(), nullptr, y.data(), false);
  EXPECT_EQ(y, (std::vector<T>{42, 63, 105, 126}));
}

TYPED_TEST(ConvolutionKernel, ReferenceByHandInGroups) {
  using T = TypeParam;
  // Four inputs in two groups, one output each: y0 = x0 + 2 x1, y1 = 3 x2 + 4 x3.
  ConvolutionShape shape{1, 4, 2, {}, 2};
  shape.window = {.rank = 1, .in = {1}, .out = {1}, .kernel = {1}};
  const std::vector<T> x{1, 10, 100, 1000}, w{1, 2, 3, 4}, dy{1, -1};
  std::vector<T> y(2), dx(4), dw(4);
  const auto op = makeConvolution<T>(shape, Backend::Reference);
  op->forward(x.data(), w.data(), nullptr, y.data(), false);
  EXPECT_EQ(y, (std::vector<T>{21, 4300}));
  op->adjointData(w.data(), dy.data(), dx.data());
  EXPECT_EQ(dx, (std::vector<T>{1, 2, -3, -4}));
  op->adjointWeights(x.data(), dy.data(), dw.data(), nullptr);
  EXPECT_EQ(dw, (std::vector<T>{1, 10, -100, -1000}));
}

template <class T>
std::vector<Maker<T>> fastMakers() {
  std::vector<Maker<T>> makers;
  for (Backend backend : fastBackends<T>())
    makers.push_back(makerOf<T>(backend));
  return makers;
}

TYPED_TEST(ConvolutionKernel, BackendsEqualTheReferenceDepthwise) {
  using T = TypeParam;
  Draw draw(16);
  expectAllEqualToReference<T>(draw, depthwiseShapes(draw), fastMakers<T>());
}

TYPED_TEST(ConvolutionKernel, AdjointsAreExact) {
  using T = TypeParam;
  Draw draw(4);
  for (int trial = 0; trial < 200; ++trial) {
    const ConvolutionShape shape = drawShape(draw, 4);
    const auto a = drawArrays<T>(draw, shape);
    const auto op = makeConvolution<T>(shape, Backend::Reference);
    std::vector<T> y(a.y.size()), dx(a.x.size()), dw(a.w.size()), db(a.b.size());
    op->forward(a.x.data(), a.w.data(), nullptr, y.data(), false);
    op->adjointData(a.w.data(), a.y.data(), dx.data());
    op->adjointWeights(a.x.data(), a.y.data(), dw.data(), db.data());
    const double pairing = exactDot(y, a.y);
    EXPECT_EQ(pairing, exactDot(a.x, dx)) << describe(shape);
    EXPECT_EQ(pairing, exactDot(a.w, dw)) << describe(shape);
    op->forward(a.x.data(), a.w.data(), a.b.data(), y.data(), false);
    EXPECT_EQ(exactDot(y, a.y), pairing + exactDot(a.b, db)) << describe(shape);
  }
}

TYPED_TEST(ConvolutionKernel, BackendsEqualTheReference) {
  using T = TypeParam;
  Draw draw(5);
  for (int trial = 0; trial < 300; ++trial) {
    const ConvolutionShape shape = drawShape(draw, 5);
    for (Backend backend : fastBackends<T>())
      ASSERT_NO_FATAL_FAILURE(expectEqualToReference<T>(draw, shape, makerOf<T>(backend)));
  }
}

TYPED_TEST(ConvolutionKernel, OutputsLieWhereTheShapeSays) {
  using T = TypeParam;
  Draw draw(17);
  for (int trial = 0; trial < 300; ++trial) {
    const ConvolutionShape shape = drawShape(draw, trial % 10 == 0 ? 30 : 5);
    ASSERT_NO_FATAL_FAILURE(expectEqualWhenPlaced<T>(draw, shape, makerOf<T>(Backend::Reference)));
    for (Backend backend : fastBackends<T>())
      ASSERT_NO_FATAL_FAILURE(expectEqualWhenPlaced<T>(draw, shape, makerOf<T>(backend)));
  }
}

// As many channels as a vector register has elements, and more, for which libraries have other
// code.
TYPED_TEST(ConvolutionKernel, BackendsEqualTheReferenceWithManyChannels) {
  using T = TypeParam;
  Draw draw(6);
  for (int trial = 0; trial < 40; ++trial) {
    const ConvolutionShape shape = drawShape(draw, 40);
    for (Backend backend : fastBackends<T>())
      ASSERT_NO_FATAL_FAILURE(expectEqualToReference<T>(draw, shape, makerOf<T>(backend)));
  }
}

// Images so large that one is divided into several tiles, along rows and along columns.
TYPED_TEST(ConvolutionKernel, BackendsEqualTheReferenceOnLargeImages) {
  using T = TypeParam;
  Draw draw(7);
  const WindowShape plane{
      .rank = 2, .in = {120, 75}, .out = {119, 73}, .kernel = {3, 3}, .padLow = {1, 0}};
  const WindowShape line{
      .rank = 1, .in = {9000}, .out = {4500}, .kernel = {5}, .stride = {2}, .padLow = {2}};
  const WindowShape copy{.rank = 2, .in = {60, 70}, .out = {60, 70}, .kernel = {1, 1}};
  expectAllEqualToReference<T>(draw, {{2, 5, 3, plane}, {2, 12, 2, line}, {2, 7, 4, copy}},
                               fastMakers<T>());
}

TYPED_TEST(ConvolutionKernel, BackendsEqualTheReferenceOnDeepPadding) {
  using T = TypeParam;
  Draw draw(15);
  expectAllEqualToReference<T>(draw, deeplyPaddedShapes(), fastMakers<T>());
}

TYPED_TEST(ConvolutionKernel, EmptyInputGivesTheBias) {
  using T = TypeParam;
  for (Backend backend : {Backend::Reference, Backend::Blas, Backend::Auto})
    expectEmptyInputGivesTheBias<T>(makerOf<T>(backend));
}

TYPED_TEST(ConvolutionKernel, SaysWhoComputes) {
  using T = TypeParam;
  const ConvolutionShape shape{1, 1, 1, {.rank = 2, .in = {5, 5}, .out = {3, 3}, .kernel = {3, 3}}};
  EXPECT_STREQ(makeConvolution<T>(shape, Backend::Blas)->implementation(), "im2col+gemm");
  EXPECT_STRNE(makeConvolution<T>(shape, Backend::Auto)->implementation(), "");
}

TEST(ConvolutionKernel, RefusesBadShapes) {
  ConvolutionShape shape{-1, 1, 1, {}};
  expectError(errorOf([&] { makeConvolution<double>(shape, Backend::Auto); }), TENON_ERR_ARG,
              {"batch size -1"});
  shape.batch = 1;
  shape.window.kernel[2] = 0;
  expectError(errorOf([&] { makeConvolution<float>(shape, Backend::Auto); }), TENON_ERR_ARG,
              {"kernel extent", "dimension 2"});
  shape.window.kernel[2] = 1;
  for (Index groups : {0, 2}) {
    shape.groups = groups;
    expectError(errorOf([&] { makeConvolution<float>(shape, Backend::Auto); }), TENON_ERR_ARG,
                {"groups", "divide"});
  }
  shape.groups = 1;
  expectError(errorOf([&] { makeConvolution<double>(shape, Backend::OneDnn); }), TENON_ERR_SUPPORT,
              {"float64"});
}

} // namespace tenon::test
