// SPDX-License-Identifier: BSD-2-Clause
// Convolution and pooling of inputs whose halos the caller has filled, as wide as the windows read,
// or wider. Compared with the layer that exchanges halos itself: the values are the same, no
// message is sent, and the input's cotangent has the contributions of each rank in its halo.
#include "declaration/core/window_layout.hpp"
#include "layer_run.hpp"
#include "sys/log/log.hpp"

namespace tenon {
namespace {

using test::gathered;
using test::onWorld;
using test::tensor;
using test::world;
using Windows = std::vector<Window>;

const Shape kFilledShape = {2, 2, 24, 7};

Windows windowsOf(Index kernel, Boundary mode) {
  const Window rows{.kernel = kernel,
                    .padLow = kernel / 2,
                    .padHigh = kernel / 2,
                    .lowMode = mode,
                    .highMode = mode};
  return {rows, {.kernel = 3, .padLow = 1, .padHigh = 1}};
}

// The layout with the halo that windows with this kernel read: kernel / 2 rows on each side.
Layout withHalo(const Layout& plain, Index kernel, Boundary mode) {
  const Windows windows = windowsOf(kernel, mode);
  const Shape shape = windowOutputShape(windows, kFilledShape, kFilledShape[1], "a window");
  return windowUseLayout(windows, plain,
                         windowOutputLayout(windows, plain, shape, plain.properties(), {}));
}

Ref<Layer> layerOf(bool pools, Index kernel, Boundary mode) {
  if (pools)
    return test::newPooling(world(), PoolingMode::Max, windowsOf(kernel, mode));
  const auto layer = test::newConv(world(), kFilledShape[1], 3, windowsOf(kernel, mode));
  layer->setText("overlap", "off");
  return layer;
}

// The messages that this rank has sent since the log was reset.
Index messages() {
  Index sum = 0;
  for (const EventRecord& record : logSnapshot())
    sum += record.messages;
  return sum;
}

// Parameters: whether to use a pooling, the boundary mode, and the kernel size whose halo the
// caller has filled; the layer has kernel size 3.
class FilledHalo : public testing::TestWithParam<std::tuple<bool, Boundary, int>> {};

TEST_P(FilledHalo, GivesTheSameWithoutAnExchange) {
  const auto [pools, mode, haloOf] = GetParam();
  const Layout plain = onWorld(kFilledShape, "S2"), halo = withHalo(plain, haloOf, mode);
  test::Step want(layerOf(pools, 3, mode), plain), got(layerOf(pools, 3, mode), halo);
  for (test::Step* step : {&want, &got}) {
    if (!pools)
      test::fillParameters(*step->layer);
    test::fillValid(*step->dy, 2);
  }
  test::fillValid(*want.x, 1);
  const auto exchange = makeConversion(world(), plain, halo, TENON_FLOAT64);
  exchange->apply(*want.x, *got.x);
  want.apply();
  want.adjoint();
  logReset();
  logEnable(true);
  got.apply();
  got.adjoint();
  const Index sent = messages();
  logEnable(false);
  EXPECT_EQ(sent, 0) << got.layer->describe();
  EXPECT_EQ(gathered(*got.y), gathered(*want.y)) << got.layer->describe();
  const auto dx = tensor(plain.dual());
  exchange->applyAdjoint(*got.dx, *dx);
  test::expectNear(gathered(*dx), gathered(*want.dx), 1e-13, got.layer->describe());
}

INSTANTIATE_TEST_SUITE_P(Layers, FilledHalo,
                         testing::Combine(testing::Bool(),
                                          testing::Values(Boundary::None, Boundary::Zero,
                                                          Boundary::Periodic),
                                          testing::Values(3, 5)));

TEST(FilledHalo, IsRefusedWhereItIsTooNarrow) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank has no halo";
  const Layout halo = withHalo(onWorld(kFilledShape, "S2"), 3, Boundary::None);
  test::expectErrorOnAll(TENON_ERR_LAYOUT, {"widen the halos"},
                         [&] { layerOf(false, 5, Boundary::None)->setUp(halo); });
}

TEST(FilledHalo, IsRefusedWhereItIsFilledOtherwise) {
  const Layout halo = withHalo(onWorld(kFilledShape, "S2"), 5, Boundary::Periodic);
  test::expectErrorOnAll(TENON_ERR_LAYOUT, {"boundary modes"},
                         [&] { layerOf(false, 3, Boundary::Reflect)->setUp(halo); });
}

} // namespace
} // namespace tenon
