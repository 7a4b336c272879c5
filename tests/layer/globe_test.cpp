// SPDX-License-Identifier: BSD-2-Clause
// Layers on a globe, with boundary modes of poles. A convolution equals a loop over the global
// array that follows the definition, a U-Net equals itself on one process, the setting `vectors`
// gives the modes of components, and what does not fit is refused. Random windows with poles are
// also among those of boundary_layer_test.cpp, and U-Nets on globes among the layers of
// layer_cases.hpp.
#include "layer/derivatives/derivative_check.hpp"
#include "layer_run.hpp"

#include <fmt/format.h>

namespace tenon {
namespace {

using test::expectErrorOnAll;
using test::expectNear;
using test::gathered;
using test::onWorld;
using test::world;

// Layouts on all ranks: rows, longitudes or both are split, evenly and not, with empty blocks; and
// on one rank alone, where the others have nothing.
std::vector<Layout> layouts(const Shape& shape) {
  const int ranks = world()->size();
  std::vector<Layout> all = {onWorld(shape, "S2"), onWorld(shape, "S3"), onWorld(shape, "R")};
  if (ranks % 2 == 0) {
    all.push_back(onWorld(shape, {2, ranks / 2}, "S3,S2"));
    LayoutSpec uneven = onWorld(shape, {ranks / 2, 2}, "S2,S3").spec();
    uneven.cuts[3][1] = 1;
    for (int part = 1; part < ranks / 2; ++part)
      uneven.cuts[2][part] = std::min<Index>(shape[2], 2 * (part - 1)); // The first one is empty.
    all.push_back(Layout(std::move(uneven)));
  }
  return all;
}

struct Results {
  std::vector<std::vector<double>> values; // output, tangent, cotangent, gradients
};

Results run(const Ref<Layer>& layer, const Layout& input) {
  test::Step step(layer, input);
  test::fillParameters(*layer);
  for (const auto& p : layer->parameters())
    p->zeroGradient();
  test::fillValid(*step.x, 1);
  const auto direction = test::tensor(input), moved = test::tensor(step.y->layout());
  test::fillValid(*direction, 2);
  test::fillValid(*step.dy, 3);
  step.apply();
  layer->applyTangent(direction.get(), *moved);
  step.adjoint();
  Results results;
  for (const DTensor* tensor : {step.y.get(), moved.get(), step.dx.get()})
    results.values.push_back(gathered(*tensor));
  for (const auto& p : layer->parameters())
    results.values.push_back(gathered(p->gradient()));
  return results;
}

void expectSame(const Results& got, const Results& want, const std::string& what) {
  ASSERT_EQ(got.values.size(), want.values.size()) << what;
  for (std::size_t i = 0; i < want.values.size(); ++i)
    ASSERT_NO_FATAL_FAILURE(
        expectNear(got.values[i], want.values[i], 1e-12, fmt::format("{}, result {}", what, i)));
}

TEST(Globe, AUNetEqualsItselfOnOneProcess) {
  for (const bool onPoles : {false, true}) {
    const Shape shape = {1, 3, onPoles ? 4 : 10, 12};
    const auto net = [&] {
      return onPoles ? test::globeNet<1>(world()) : test::globeNet<0>(world());
    };
    // On the root of all ranks, nothing is sent.
    const Results want = run(net(), onWorld(shape, "R"));
    for (const Layout& layout : layouts(shape)) {
      const auto layer = net();
      ASSERT_NO_FATAL_FAILURE(expectSame(run(layer, layout), want, layout.describe()));
      EXPECT_LE(checkLayerAdjoint(*layer, nullptr, 7).relativeError, 1e-13) << layout.describe();
    }
  }
}

// y[i, j] = sum over a, b of W[a, b] x(i + a - 2, j + b - 2), where x is that of the other meridian
// beyond a pole, with the sign of its channel.
TEST(Globe, AConvolutionFollowsTheDefinition) {
  constexpr Index kRows = 3, kColumns = 8, kKernel = 9; // wider than the globe
  const Shape shape = {1, 3, kRows, kColumns};
  for (const bool onPoles : {false, true})
    for (const Layout& layout : layouts(shape)) {
      const auto conv = test::onGlobe(world(), "conv", 3, 1, kKernel, kKernel / 2,
                                      onPoles ? "pole_point" : "pole", {2, 0});
      conv->set("bias", false);
      test::Step step(conv, layout);
      test::fillParameters(*conv);
      test::fillValid(*step.x, 1);
      step.apply();
      const std::vector<double> x = gathered(*step.x), w = gathered(conv->parameters()[0]->value());
      std::vector<double> want;
      for (Index i = 0; i < kRows; ++i)
        for (Index j = 0; j < kColumns; ++j) {
          double sum = 0;
          for (Index c = 0; c < 3; ++c)
            for (Index a = 0; a < kKernel; ++a)
              for (Index b = 0; b < kKernel; ++b) {
                Index row = i + a - kKernel / 2, column = j + b - kKernel / 2 + 8 * kColumns;
                double sign = 1;
                for (; row < 0 || row >= kRows; column += kColumns / 2) {
                  row = row < 0 ? (onPoles ? 0 : -1) - row : 2 * kRows - (onPoles ? 2 : 1) - row;
                  sign = c == 1 ? 1 : -sign;
                }
                sum += sign * w[(c * kKernel + a) * kKernel + b] *
                       x[(c * kRows + row) * kColumns + column % kColumns];
              }
          want.push_back(sum);
        }
      ASSERT_NO_FATAL_FAILURE(expectNear(gathered(*step.y), want, 1e-13, layout.describe()));
    }
}

// In three dimensions, longitudes are the periodic one, and the vertical component of a vector is
// like a scalar: the setting `vectors` gives the modes that a list by channel gives.
TEST(Globe, OfLevelsLatitudesAndLongitudes) {
  const Shape shape = {1, 4, 3, 4, 6};
  const auto conv = [](const char* boundary, const std::vector<Index>& vectors) {
    const auto layer = test::newLayer(world(), "conv");
    layer->set("in_channels", Index(4));
    layer->set("out_channels", Index(2));
    layer->set("kernel", std::vector<Index>{3, 3, 1});
    layer->set("padding", std::vector<Index>{1, 1, 0});
    layer->setText("boundary", boundary);
    if (!vectors.empty())
      layer->set("vectors", vectors);
    return layer;
  };
  for (const char* split : {"S3", "S4"}) {
    const Layout layout = onWorld(shape, split);
    ASSERT_NO_FATAL_FAILURE(
        expectSame(run(conv("reflect,pole,periodic", {3, 1, 0}), layout),
                   run(conv("reflect,pole,periodic;0:2=reflect,pole_vector,periodic", {}), layout),
                   layout.describe()));
  }
  expectErrorOnAll(TENON_ERR_ARG, {"poles in spatial dimension 1", "dimensions 0 and 2 are"},
                   [&] { conv("periodic,pole,periodic", {})->setUp(onWorld(shape, "S3")); });
}

TEST(Globe, WhatDoesNotFitIsNamed) {
  const auto setUp = [](const char* boundary, const std::vector<Index>& vectors,
                        const Shape& shape) {
    const auto conv = test::onGlobe(world(), "conv", 3, 1, 3, 1, "pole", vectors);
    conv->setText("boundary", boundary);
    conv->setUp(onWorld(shape, "S2"));
  };
  const Shape globe = {1, 3, 8, 10};
  expectErrorOnAll(TENON_ERR_SHAPE, {"pole needs an even number of longitudes, not 45"}, [&] {
    setUp("pole,periodic", {}, {1, 3, 90, 45});
  });
  expectErrorOnAll(TENON_ERR_SHAPE, {"needs a row at each pole"}, [&] {
    setUp("pole_point,periodic", {}, {1, 3, 1, 10});
  });
  expectErrorOnAll(TENON_ERR_ARG, {"names 1 channel", "give 2"},
                   [&] { setUp("pole,periodic", {1}, globe); });
  expectErrorOnAll(TENON_ERR_ARG, {"names channel 3"}, [&] {
    setUp("pole,periodic", {2, 3}, globe);
  });
  expectErrorOnAll(TENON_ERR_ARG, {"poles in spatial dimensions 0 and 1"},
                   [&] { setUp("pole", {}, globe); });
  for (const char* boundary : {"pole,zero", "pole,periodic/zero", "pole,periodic;2=pole,reflect"})
    expectErrorOnAll(TENON_ERR_ARG, {"poles in spatial dimension 0", "set it to periodic"},
                     [&] { setUp(boundary, {}, globe); });
}

// A halo that layers would compute for a later one ends at the poles: there is an exchange instead,
// or an error if the halo is to be computed.
TEST(Globe, ComputesNoHalosBeyondPoles) {
  const auto net = [](Index depth, const char* halo) {
    const auto layers = test::newLayer(world(), "sequential");
    layers->set("halo_depth", depth);
    appendLayer(*layers, test::onGlobe(world(), "conv", 3, 3, 3, 1, "pole", {1, 2}));
    const auto second = test::onGlobe(world(), "conv", 3, 2, 3, 1, "pole", {1, 2});
    second->setText("halo", halo);
    appendLayer(*layers, second);
    return layers;
  };
  for (const Layout& layout : layouts({1, 3, 12, 8}))
    ASSERT_NO_FATAL_FAILURE(
        expectSame(run(net(2, "auto"), layout), run(net(1, "auto"), layout), layout.describe()));
  expectErrorOnAll(TENON_ERR_SUPPORT, {"a side is a pole"}, [&] {
    net(2, "compute")->setUp(onWorld({1, 3, 12, 8}, "S2"));
  });
}

// The caller's ghost rows beyond the poles are read as they are; other layouts are refused.
TEST(Globe, ReadsFilledHalos) {
  const Layout plain = onWorld({1, 3, 12, 8}, "S2");
  const auto conv = test::onGlobe(world(), "conv", 3, 2, 3, 1, "pole", {1, 2});
  const Layout halos = conv->form({plain}).uses.front();
  const auto want = test::onGlobe(world(), "conv", 3, 2, 3, 1, "pole", {1, 2});
  test::Step exchanged(want, plain), filled(conv, halos);
  test::fillParameters(*want);
  test::fillParameters(*conv);
  test::fillValid(*exchanged.x, 1);
  test::fillValid(*filled.x, 1); // Copies beyond the poles too.
  exchanged.apply();
  filled.apply();
  ASSERT_NO_FATAL_FAILURE(
      expectNear(gathered(*filled.y), gathered(*exchanged.y), 1e-13, halos.describe()));
  LayoutSpec spec = halos.spec();
  spec.halos[2]->bands = {{3, Boundary::Pole, Boundary::Pole}};
  expectErrorOnAll(TENON_ERR_LAYOUT, {"do not hold what its windows read"},
                   [&] { conv->setUp(Layout(spec)); });
}

} // namespace
} // namespace tenon
