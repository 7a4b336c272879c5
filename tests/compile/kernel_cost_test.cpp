// SPDX-License-Identifier: BSD-2-Clause
// Tests the predicted work of kernels (compile/prices/kernel_cost.hpp): operations, bytes, rows and
// columns counted by hand for a convolution and a pooling, and the slowest process, which the
// library finds among few positions of the grid, against a loop over all positions.
#include "compile/prices/kernel_cost.hpp"

#include "declaration/core/types.hpp"
#include "support/draws.hpp"

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
  return kernelCost(layer, layer.form({input}, {}), hasCotangent, kBytes, {});
}

// 5 samples of 4 channels with 9 x 11 pixels, and 3 x 3 taps: 6 channels with 7 x 9.
TEST(KernelCost, OfAConvolution) {
  const double inputs = 5 * 4 * 9 * 11, outputs = 5 * 6 * 7 * 9;
  for (const Index groups : {1, 2}) {
    const auto layer = convolution(3, 1, groups);
    const double weights = 6 * 4 * 9 / double(groups) + 6;
    const double flops = 2 * outputs * 4 / double(groups) * 9, columns = 5 * 7 * 9 * 4 * 9;
    const KernelCost both = costOf(*layer, /*hasCotangent=*/true),
                     one = costOf(*layer, /*hasCotangent=*/false);
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
  const KernelCost cost = costOf(*windowed("maxpooling", 3, 2), /*hasCotangent=*/true);
  EXPECT_EQ(cost.apply.flops, 0);
  EXPECT_EQ(cost.apply.columns, 5 * 4 * 4 * 5 * 9);
  EXPECT_DOUBLE_EQ(cost.apply.rows, cost.apply.columns / 5);
  EXPECT_EQ(cost.adjoint.columns, cost.apply.columns);
  EXPECT_EQ(costOf(*windowed("maxpooling", 3, 2), /*hasCotangent=*/false).adjoint.bytes, 0);
}

// The largest numbers of operations and columns of any position, by a loop over all positions.
std::pair<double, double> mostByForce(const Declaration& layer, const Form& form) {
  std::pair<double, double> most = {0, 0};
  for (int position = 0; position < form.output.grid().size(); ++position) {
    const Work work = layer.work(form, position);
    most.first = std::max(most.first, work.forward);
    most.second = std::max(most.second, work.columns);
  }
  return most;
}

// Without padding, 16 rows in 4 equal parts become 3, 4, 4, 3 output rows: the first and last part
// have one fewer, and position 0 is not the slowest.
TEST(KernelCost, IsThatOfThePositionWithTheMostRows) {
  const auto layer = convolution(3, 1, 1);
  const Layout rows(
      {.shape = {1, 4, 16, 16}, .grid = Grid::make({4}), .properties = {Property::shard(2)}});
  const Form form = layer->form({rows}, {});
  ASSERT_EQ(form.output.cuts(2), std::vector<Index>({0, 3, 7, 11, 14}));
  const double each = 2.0 * 6 * 14 * 4 * 9; // operations of a row
  EXPECT_EQ(layer->work(form, 0).forward, 3 * each);
  EXPECT_EQ(kernelCost(*layer, form, /*hasCotangent=*/true, kBytes, {}).apply.flops, 4 * each);
}

// Figure B3 of the linear-algebraic model of distributed deep learning: 11 rows in 3 parts of 4 4 3
// become 2 4 1 outputs of windows of 5, where 3 2 2 is balanced.
TEST(KernelCost, OfBalancedOutputsIsLess) {
  const auto layer = convolution(5, 1, 1);
  const Layout rows(
      {.shape = {1, 4, 11, 16}, .grid = Grid::make({3}), .properties = {Property::shard(2)}});
  const auto flops = [&] {
    return kernelCost(*layer, layer->form({rows}, {}), /*hasCotangent=*/true, kBytes, {})
        .apply.flops;
  };
  const double each = 2.0 * 6 * 12 * 4 * 25; // operations of a row
  EXPECT_EQ(layer->form({rows}, {}).output.cuts(2), std::vector<Index>({0, 2, 6, 7}));
  EXPECT_EQ(flops(), 4 * each);
  layer->setText("output_cuts", "balanced");
  const Form form = layer->form({rows}, {});
  EXPECT_EQ(form.output.cuts(2), std::vector<Index>({0, 3, 5, 7}));
  // Of their inputs, 3 + 4 2 + 4 2 + 4 rows, the parts own 4 4 3.
  EXPECT_EQ(form.uses[0].box(2, 0), Interval({0, 7}));
  EXPECT_EQ(form.uses[0].box(2, 1), Interval({3, 9}));
  EXPECT_EQ(form.uses[0].box(2, 2), Interval({5, 11}));
  EXPECT_EQ(flops(), 3 * each);
  // A choice goes before the setting.
  EXPECT_EQ(layer->form({rows}, {.cuts = OutputCuts::Follow}).output.cuts(2),
            std::vector<Index>({0, 2, 6, 7}));
}

// Layouts on grids of 2 and 3 axes, with extents that the processes do not divide evenly and axes
// that split the same dimension, for several kernels and strides.
TEST(KernelCost, IsTheLargestOfAllPositions) {
  const std::vector<std::vector<int>> grids = {{4, 3}, {2, 5}, {3, 2, 2}};
  const Property kinds[] = {Property::shard(0), Property::shard(1),    Property::shard(2),
                            Property::shard(3), Property::broadcast(), Property::partial()};
  int cases = 0, elsewhere = 0;
  for (const auto& extents : grids)
    for (int choice = 0; choice < (extents.size() == 3 ? 216 : 36); ++choice)
      for (const Index kernel : {1, 2, 3, 5})
        for (const Index stride : {1, 2, 3}) {
          if (!test::drawsAll() && (choice + kernel + stride) % 4 != 0)
            continue;
          Properties properties;
          for (std::size_t axis = 0, rest = choice; axis < extents.size(); ++axis, rest /= 6)
            properties.push_back(kinds[rest % 6]);
          LayoutSpec spec{
              .shape = {13, 12, 31, 23}, .grid = Grid::make(extents), .properties = properties};
          spec.splitAxes.resize(4);
          for (std::size_t axis = 0; axis < extents.size(); ++axis)
            if (properties[axis].isShard()) {
              // The last axis is the major one in space, as in the parallelizations of a plan.
              auto& axes = spec.splitAxes[properties[axis].dim];
              axes.insert(properties[axis].dim > 1 ? axes.begin() : axes.end(), int(axis));
            }
          const auto layer = windowed(kernel == 2 ? "averagepooling" : "conv", kernel, stride);
          if (kernel != 2) {
            layer->set("in_channels", Index(12));
            layer->set("out_channels", Index(8));
          }
          const Form form = layer->form({Layout(spec)}, {});
          const KernelCost cost = kernelCost(*layer, form, /*hasCotangent=*/true, kBytes, {});
          const auto [flops, columns] = mostByForce(*layer, form);
          EXPECT_EQ(kernel == 2 ? cost.apply.columns : cost.apply.flops,
                    kernel == 2 ? columns : flops)
              << form.output.describe();
          elsewhere += layer->work(form, 0).columns < columns;
          ++cases;
        }
  EXPECT_GE(cases, test::drawsAll() ? (36 + 36 + 216) * 12 : 36 * 12);
  // The first position is often not the one with most.
  EXPECT_GT(elsewhere, cases / 20);
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
