// SPDX-License-Identifier: BSD-2-Clause
// The work of kernels, counted by hand.
#include "planner/prices/kernel_cost.hpp"

#include "declaration/core/types.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

constexpr Index kBytes = 8;

std::unique_ptr<Declaration> windowed(const char* type, Index kernel, Index stride) {
  auto layer = makeDeclaration(type);
  layer->set("kernel", std::vector<Index>{kernel, kernel});
  layer->set("stride", std::vector<Index>{stride, stride});
  return layer;
}

std::unique_ptr<Declaration> convolution(Index kernel, Index stride, Index groups) {
  auto layer = windowed("conv", kernel, stride);
  layer->set("in_channels", Index(4));
  layer->set("out_channels", Index(6));
  layer->set("groups", groups);
  return layer;
}

KernelCost costOf(const Declaration& layer, bool hasCotangent) {
  const Layout input(
      {.shape = {5, 4, 9, 11}, .grid = Grid::make({1}), .properties = {Property::broadcast()}});
  return kernelCost(layer, layer.form({input}, {}), hasCotangent, kBytes, {}, Looks::First);
}

// 5 samples of 4 channels with 9 x 11 pixels, and 3 x 3 taps: 6 channels with 7 x 9.
TEST(KernelCost, OfAConvolution) {
  const double inputs = 5 * 4 * 9 * 11, outputs = 5 * 6 * 7 * 9;
  for (const Index groups : {1, 2}) {
    const auto layer = convolution(3, 1, groups);
    const double weights = 6 * 4 * 9 / double(groups) + 6;
    const double flops = 2 * outputs * 4 / double(groups) * 9, columns = 5 * 7 * 9 * 4 * 9;
    const KernelCost both = costOf(*layer, true), one = costOf(*layer, false);
    EXPECT_EQ(both.apply.pass, KernelPass::Apply);
    EXPECT_EQ(both.apply.flops, flops);
    EXPECT_EQ(both.apply.bytes, kBytes * (inputs + outputs + weights));
    EXPECT_DOUBLE_EQ(both.apply.rows, flops / 9);
    EXPECT_EQ(both.apply.columns, columns);
    EXPECT_EQ(both.adjoint.pass, KernelPass::Adjoint);
    EXPECT_EQ(both.adjoint.flops, 2 * flops);
    EXPECT_EQ(both.adjoint.columns, 2 * columns);
    EXPECT_EQ(one.adjoint.pass, KernelPass::Parameters);
    EXPECT_EQ(one.adjoint.flops, flops);
    EXPECT_DOUBLE_EQ(one.adjoint.rows, flops / 9);
    EXPECT_EQ(one.adjoint.columns, columns);
  }
}

// 3 x 3 windows with stride 2: 4 x 5 outputs.
TEST(KernelCost, OfPooling) {
  const KernelCost cost = costOf(*windowed("maxpooling", 3, 2), true);
  EXPECT_EQ(cost.apply.flops, 0);
  EXPECT_EQ(cost.apply.columns, 5 * 4 * 4 * 5 * 9);
  EXPECT_DOUBLE_EQ(cost.apply.rows, cost.apply.columns / 5);
  EXPECT_EQ(cost.adjoint.columns, cost.apply.columns);
  EXPECT_EQ(costOf(*windowed("maxpooling", 3, 2), false).adjoint.bytes, 0);
}

TEST(KernelCost, KindsAreByWindows) {
  EXPECT_EQ(convolution(3, 1, 1)->kernelKind(), "conv");
  EXPECT_EQ(convolution(3, 2, 1)->kernelKind(), "strided conv");
  EXPECT_EQ(convolution(1, 1, 1)->kernelKind(), "single-tap conv");
  EXPECT_EQ(windowed("maxpooling", 2, 2)->kernelKind(), "maxpooling");
  EXPECT_EQ(windowed("averagepooling", 3, 2)->kernelKind(), "overlapping averagepooling");
  EXPECT_EQ(makeDeclaration("affine")->kernelKind(), "affine");
}

} // namespace
} // namespace tenon
