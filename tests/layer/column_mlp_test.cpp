// SPDX-License-Identifier: BSD-2-Clause
// The column MLP (a perceptron at each point of a field) against the same network of affine layers
// and pointwise functions. A second test uses strided arrays of the caller, which must not be
// copied.
#include "layer_run.hpp"

#include "sys/expect_error.hpp"

namespace tenon {
namespace {

using test::onWorld;
using test::world;

Ref<Layer> columnMlp(const std::vector<Index>& widths) {
  auto layer = test::newLayer(world(), "columnmlp");
  layer->set("widths", widths);
  return layer;
}

// Layer l of the column MLP has the parameters 2 l (weight) and 2 l + 1 (bias), which are copied to
// an affine layer. Layers are set up in order, since each needs the output layout of the one
// before.
TEST(ColumnMlp, IsAffineLayersAndFunctions) {
  const Layout input = onWorld({3 * world()->size() + 1, 6}, "S0");
  const auto fused = columnMlp({6, 9, 4});
  test::Step one(fused, input);
  fillUniform(*one.x, test::kSeed, /*stream=*/1, -1, 1);
  const auto first = test::newAffine(world(), 6, 9), second = test::newAffine(world(), 9, 4);
  const auto tanh = test::newLayer(world(), "tanh");
  for (const auto& [layer, l] : {std::pair(first, 0), {second, 1}}) {
    layer->setDataType(TENON_FLOAT64);
    layer->setUp(l == 0 ? input : tanh->outputLayout());
    if (l == 0) {
      tanh->setDataType(TENON_FLOAT64);
      tanh->setUp(first->outputLayout());
    }
    for (int p : {0, 1}) {
      Parameter& mine = *fused->parameters()[2 * l + p];
      fillUniform(mine.value(), test::kSeed, 7 + 2 * l + p, -1, 1);
      mine.valueChanged();
      copyLocal(mine.value(), layer->parameters()[p]->value());
      layer->parameters()[p]->valueChanged();
    }
  }
  const auto h = test::tensor(first->outputLayout()), f = test::tensor(tanh->outputLayout()),
             y = test::tensor(second->outputLayout());
  one.apply();
  first->apply(*one.x, *h);
  tanh->apply(*h, *f);
  second->apply(*f, *y);
  test::expectNear(test::gathered(*one.y), test::gathered(*y), 1e-14, "value");

  fillUniform(*one.dy, test::kSeed, /*stream=*/3, -1, 1);
  one.adjoint();
  const auto df = test::tensor(f->layout().dual()), dh = test::tensor(h->layout().dual()),
             dx = test::tensor(input.dual());
  second->applyAdjoint(*one.dy, df.get());
  tanh->applyAdjoint(*df, dh.get());
  first->applyAdjoint(*dh, dx.get());
  test::expectNear(test::localCells(*one.dx), test::localCells(*dx), 1e-13, "cotangent");
  for (int p = 0; p < 4; ++p)
    test::expectNear(
        test::gathered(*fused->parameters()[p]->reducedGradient()),
        test::gathered(*(p < 2 ? first : second)->parameters()[p % 2]->reducedGradient()), 1e-13,
        "gradient");
}

// The input is an array with ghost cells and the channels last, the result one with the channels
// first. The layer reads and writes both in place, without copies.
TEST(ColumnMlp, ReadsAndWritesArraysOfAnyStridesInPlace) {
  const Index points = 5 * world()->size();
  const Layout input = onWorld({1, 3, points}, "S2");
  const auto layer = columnMlp({3, 8, 2});
  test::Step step(layer, input);
  layer->initialize(test::kSeed, 0);
  layer->setTraining(false);
  fillUniform(*step.x, test::kSeed, /*stream=*/1, -1, 1);
  step.apply();
  const std::vector<double> want = test::localCells(*step.y);

  // 5 points and a ghost cell on each side, with 3 channels each; the result has 2 channels of 5
  // points. Strides are those of sample, channel and point.
  std::vector<double> field((5 + 2) * 3), result(2 * 5);
  const auto strided = test::tensor(input), written = test::tensor(layer->outputLayout());
  strided->placeArray(&field[3], {1, 1, 3}, {0, 0, 1}, {0, 0, 1}, /*readOnly=*/false);
  written->placeArray(result.data(), {10, 5, 1}, {0, 0, 0}, {0, 0, 0}, /*readOnly=*/false);
  copyLocal(*step.x, *strided);
  layer->apply(*strided, *written);
  EXPECT_EQ(test::localCells(*written), want);
  EXPECT_EQ(layer->describe().find("copied at each"), std::string::npos) << layer->describe();
}

TEST(ColumnMlp, RefusesOtherChannels) {
  const auto layer = columnMlp({3, 8, 2});
  test::expectErrorOnAll(TENON_ERR_SHAPE, {"[4,5]", "needs [batch,3,...]"}, [&] {
    layer->setUp(onWorld({4, 5}, "B"));
  });
  expectError(TENON_ERR_ARG, {"'widths'", "one number"}, [&] { columnMlp({3}); });
}

} // namespace
} // namespace tenon
