// SPDX-License-Identifier: BSD-2-Clause
// The passes of a network on the devices of several processes copy nothing between device and host,
// sums of gradients included. The network has halo exchanges, batch statistics and activations on
// other process grids. The stand-in for CUDA makes each such copy fail during the passes; the
// results must be those without this restriction.
#include "layer_run.hpp"
#include "standin/failures.hpp"
#include "support/networks.hpp"

namespace tenon {
namespace {

using test::add;
using test::localCells;
using test::onWorld;
using test::world;

Ref<Layer> network() {
  const Ref<Layer> all = test::newNetwork(world(), "sequential"),
                   norm = test::newLayer(world(), "batchnorm"),
                   softmax = test::newLayer(world(), "softmax");
  norm->set("channels", Index(4));
  softmax->set("dim", Index(1));
  add(*all, test::conv2d(world(), 2, 4, 3, 1), "conv");
  add(*all, norm, "norm");
  add(*all, test::newPointwise(world(), "tanh"), "tanh");
  add(*all, test::maxPooling(world(), 2, 2), "pool");
  add(*all, test::newLayer(world(), "flatten"), "flatten");
  add(*all, test::newAffine(world(), 4 * 4 * 3, 5), "affine");
  add(*all, softmax, "softmax");
  return all;
}

// The results of the second of two passes. In the first pass, connections between devices are still
// opened, which needs copies; in the second one copies can be made to fail.
std::vector<double> afterPasses(const Layout& input, bool withoutCopies) {
  const Ref<Layer> layer = network();
  layer->setSpace(Space::Device);
  layer->setUp(input);
  layer->initialize(test::kSeed, 0);
  const auto made = [](const Layout& layout) {
    return makeRef<DTensor>(world(), layout, TENON_FLOAT64, Space::Device);
  };
  const auto x = made(input), y = made(layer->outputLayout()), dx = made(input.dual()),
             dy = made(layer->outputLayout().dual());
  test::fillValid(*x, 1);
  test::fillValid(*dy, 2);
  for (int pass = 0; pass < 2; ++pass) {
    if (withoutCopies && pass == 1)
      tenonStandinFail("cudaMemcpyAsync:*");
    layer->zeroGradients();
    layer->apply(*x, *y);
    layer->applyAdjoint(*dy, dx.get());
    for (const Ref<Parameter>& parameter : layer->parameters())
      parameter->direction();
  }
  x->context().stream().synchronise();
  tenonStandinFail("");
  std::vector<double> left = localCells(*y);
  const auto append = [&](const DTensor& tensor) {
    const std::vector<double> elements = localCells(tensor);
    left.insert(left.end(), elements.begin(), elements.end());
  };
  append(*dx);
  for (const Ref<Parameter>& parameter : layer->parameters())
    append(parameter->direction());
  return left;
}

TEST(WithoutCopies, PassesGiveTheSame) {
  const int ranks = world()->size();
  for (const auto& [grid, split] : {std::pair(std::vector<int>{ranks}, "S0"),
                                    std::pair(std::vector<int>{ranks / 2, 2}, "S0,S2")}) {
    const Layout input = onWorld({4, 2, 8, 6}, grid, split);
    const std::vector<double> want = afterPasses(input, false);
    EXPECT_EQ(afterPasses(input, true), want);
  }
}

} // namespace
} // namespace tenon
