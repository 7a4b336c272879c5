// SPDX-License-Identifier: BSD-2-Clause
// Initial values of parameters, freezing, and the reduced gradient, against values that follow from
// inputs of ones.
#include "dtensor/measure.hpp"
#include "layer_run.hpp"
#include "sys/random.hpp"

namespace tenon {
namespace {

using test::onWorld;
using test::world;

std::vector<std::vector<double>> valuesOf(const Layer& layer) {
  std::vector<std::vector<double>> all;
  for (const auto& p : layer.parameters())
    all.push_back(test::gathered(p->value()));
  return all;
}

TEST(Parameter, GetsFirstValuesAtSetUpOnce) {
  const auto net = test::residualNet(world());
  net->setUp(onWorld({2, 3, 6, 8}, "S3"));
  const auto first = valuesOf(*net);
  EXPECT_GT(maxAbsolute(net->parameters()[0]->value()), 0);
  net->initialize(0, streamOf("parameters"));
  EXPECT_EQ(valuesOf(*net), first); // the values that TenonLayerInitialize() draws from seed 0
  net->initialize(1, streamOf("parameters"));
  const auto second = valuesOf(*net);
  EXPECT_NE(second, first);
  net->setUp(onWorld({4, 3, 6, 8}, "S3"));
  EXPECT_EQ(valuesOf(*net), second); // a set-up for another batch size does not change them
}

TEST(Parameter, OfEachLayerOfANetworkDrawsItsOwnValues) {
  const auto net = test::newLayer(world(), "sequential");
  appendLayer(*net, test::newAffine(world(), 3, 3));
  appendLayer(*net, test::newAffine(world(), 3, 3));
  net->set("seed", Index(4));
  net->setUp(onWorld({4, 3}, "S0"));
  const auto values = valuesOf(*net);
  ASSERT_EQ(values.size(), 4U);
  EXPECT_NE(values[0], values[2]);
}

// affine(affine(x)), whose layers tests freeze.
struct FrozenNet {
  Ref<Layer> first = test::newAffine(world(), 3, 4), second = test::newAffine(world(), 4, 2);
  Ref<Layer> net = test::newLayer(world(), "sequential");
  Ref<DTensor> x, y, dy, dx;

  FrozenNet() {
    appendLayer(*net, first);
    appendLayer(*net, second);
    net->setDataType(TENON_FLOAT64);
    const Layout input = onWorld({4, 3}, "S0");
    net->setUp(input);
    x = test::tensor(input);
    y = test::tensor(net->outputLayout());
    dy = test::tensor(net->outputLayout().dual());
    dx = test::tensor(input.dual());
    test::fillValid(*x, 1);
    test::fillValid(*dy, 2);
  }
  std::vector<double> adjoint() {
    net->apply(*x, *y);
    net->applyAdjoint(*dy, dx.get());
    return test::gathered(*dx);
  }
  static double gradientOf(Layer& layer) {
    return maxAbsolute(*layer.parameters()[0]->reducedGradient());
  }
};

TEST(Parameter, IsFrozenByItsLayer) {
  FrozenNet f;
  const auto free = f.adjoint();
  EXPECT_GT(f.gradientOf(*f.first), 0);
  f.first->setFrozen(true);
  EXPECT_EQ(f.gradientOf(*f.first), 0); // freezing clears the gradient
  f.net->zeroGradients();
  EXPECT_EQ(f.adjoint(), free); // the input's cotangent does not change
  EXPECT_EQ(f.gradientOf(*f.first), 0);
  EXPECT_GT(f.gradientOf(*f.second), 0);
  f.net->setFrozen(true);
  f.adjoint();
  EXPECT_EQ(f.gradientOf(*f.second), 0);
  f.net->setFrozen(false);
  f.adjoint();
  EXPECT_GT(f.gradientOf(*f.first), 0);
}

// The input has four samples of ones, and cotangents are ones: each element of the gradient is 4 on
// any partition.
TEST(Parameter, HasAReducedGradientInItsStorage) {
  const auto layer = test::newAffine(world(), 3, 2);
  test::Step step(layer, onWorld({4, 3}, "S0"));
  fillConstant(*step.x, 1);
  fillConstant(*step.dy, 1);
  step.apply();
  step.adjoint();
  Parameter& weight = *layer->parameters()[0];
  const Ref<DTensor> reduced = weight.reducedGradient();
  EXPECT_EQ(reduced->layout(), weight.storage());
  EXPECT_EQ(test::gathered(*reduced), std::vector<double>(6, 4));
  EXPECT_EQ(test::gathered(weight.gradient()),
            std::vector<double>(6, 4)); // reading does not change it
}

} // namespace
} // namespace tenon
