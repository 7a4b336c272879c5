// SPDX-License-Identifier: BSD-2-Clause
// Layouts that are made from a solver's boxes: "S0,S1,S2,S3" on a grid in which some axes have one
// process. Along these axes all properties mean the same. Layers must therefore accept filled
// halos, add outputs to inputs, and leave the solver's split points unchanged under any label.
#include "declaration/core/window_layout.hpp"
#include "geometry/layout/from_boxes.hpp"
#include "geometry/layout/layout_draft.hpp"
#include "layer_run.hpp"

#include "layer/core/layer_types.hpp"

namespace tenon {
namespace {

using test::gathered;
using test::tensor;
using test::world;

// The boxes of a field that is split along dimension `dim`; rank r has r + 2 rows.
Layout rowsOf(const Shape& shape, int dim) {
  std::vector<Box> boxes;
  Index begin = 0;
  for (int rank = 0; rank < world()->size(); ++rank) {
    Box box;
    for (Index extent : shape)
      box.push_back({0, extent});
    box[dim] = {begin, begin + rank + 2};
    begin = box[dim].end;
    boxes.push_back(box);
  }
  return layoutFromBoxes(boxes, std::nullopt);
}

Layout withGhosts(const Layout& plain, Boundary mode) {
  LayoutDraft draft(plain);
  for (int d : {2, 3})
    draft.setHaloWidths(d, 1, 1, mode, mode);
  return draft.build();
}

class SolverBoxes : public testing::TestWithParam<Boundary> {};

TEST_P(SolverBoxes, WithFilledHalosAreInputsOfAConvolution) {
  const Layout plain = rowsOf({2, 3, 1, 5}, 2), ghosted = withGhosts(plain, GetParam());
  const auto layer = [] {
    const Window window{
        .kernel = 3, .padLow = 1, .padHigh = 1, .lowMode = GetParam(), .highMode = GetParam()};
    const auto made = test::newConv(world(), 3, 4, std::vector<Window>{window, window});
    made->setText("overlap", "off");
    return made;
  };
  test::Step want(layer(), plain), got(layer(), ghosted);
  for (test::Step* step : {&want, &got})
    test::fillParameters(*step->layer);
  fillUniform(*want.x, test::kSeed, /*stream=*/1, -1, 1);
  const auto exchange = makeConversion(world(), plain, ghosted, TENON_FLOAT64);
  exchange->apply(*want.x, *got.x);
  want.apply();
  got.apply();
  EXPECT_EQ(gathered(*got.y), gathered(*want.y)) << got.layer->describe();
  for (test::Step* step : {&want, &got}) {
    fillUniform(*step->dy, test::kSeed, /*stream=*/2, -1, 1);
    step->adjoint();
  }
  const auto dx = tensor(plain.dual());
  exchange->applyAdjoint(*got.dx, *dx);
  test::expectNear(gathered(*dx), gathered(*want.dx), 1e-13, got.layer->describe());

  // Both layers get the same weights, whatever their layouts.
  const Parameter &from = *want.layer->parameters()[0], &to = *got.layer->parameters()[0];
  EXPECT_EQ(from.storage(), to.storage());
}

INSTANTIATE_TEST_SUITE_P(Modes, SolverBoxes,
                         testing::Values(Boundary::None, Boundary::Zero, Boundary::Periodic));

TEST(SolverBoxes, GiveAColumnNetworkWhoseOutputIsAddedToItsInput) {
  const Layout input = rowsOf({1, 3, 1, 4}, 2);
  const auto layer = test::newLayer(world(), "columnmlp");
  layer->set("widths", std::vector<Index>{3, 5, 3});
  test::Step step(layer, input);
  layer->initialize(test::kSeed, 0);
  fillUniform(*step.x, test::kSeed, /*stream=*/1, -1, 1);
  step.apply();
  const std::vector<double> x = test::localCells(*step.x), y = test::localCells(*step.y);
  axpby(0.5, *step.y, 1, *step.x);
  const std::vector<double> sum = test::localCells(*step.x);
  for (std::size_t i = 0; i < sum.size(); ++i)
    EXPECT_EQ(sum[i], x[i] + 0.5 * y[i]);
}

// A shell layer that supports only S0 must leave the blocks of rows as they are, on any axis of the
// grid.
TEST(SolverBoxes, KeepTheirSplitPointsUnderALabel) {
  const Layout input = rowsOf({1, 3}, 0);
  const auto layer = test::newLayer(world(), "shell");
  shellOf(*layer).setLabels("S0");
  const Box mine = input.boxOfRank(world()->rank());
  Box seen;
  shellOf(*layer).functions().apply = [&](const DTensor& x, DTensor& y) {
    seen = x.layout().boxOfRank(world()->rank());
    copyLocal(x, y);
  };
  test::Step step(layer, input);
  step.apply();
  EXPECT_EQ(seen, mine);
  EXPECT_EQ(step.y->layout(), input);
}

// A label that splits rows along a second axis too divides the user's blocks in halves; a label
// that splits along the first axis only merges blocks. If the second axis alone remains, it has no
// split points of its own, since those in the two blocks of the first differ: rows are split
// evenly.
TEST(SolverBoxes, AreDividedAndJoinedByLabelsAtTheirSplitPoints) {
  if (world()->size() != 4)
    GTEST_SKIP() << "a grid of 2x2";
  const auto output = [](const char* properties, std::vector<std::vector<Index>> cuts,
                         const char* labels) {
    const Layout input({.shape = {20, 3},
                        .grid = Grid::make({2, 2}),
                        .properties = parseProperties(properties),
                        .cuts = std::move(cuts)});
    const auto layer = test::newLayer(world(), "tanh");
    layer->setText("signature", labels);
    layer->setUp(input);
    return layer->outputLayout().cuts(0);
  };
  using Cuts = std::vector<Index>;
  EXPECT_EQ(output("S0,B", {{0, 14, 20}, {}}, "S0,S0"), (Cuts{0, 7, 14, 17, 20}));
  EXPECT_EQ(output("S0,S0", {{0, 1, 14, 15, 20}, {}}, "S0,B"), (Cuts{0, 14, 20}));
  EXPECT_EQ(output("S0,S1", {{0, 14, 20}, {}}, "S0,S0"), (Cuts{0, 7, 14, 17, 20}));
  EXPECT_EQ(output("B,S0", {{0, 14, 20}, {}}, "B,S0"), (Cuts{0, 14, 20}));
  EXPECT_EQ(output("S0,S0", {{0, 1, 14, 15, 20}, {}}, "B,S0"), (Cuts{0, 10, 20}));
}

} // namespace
} // namespace tenon
