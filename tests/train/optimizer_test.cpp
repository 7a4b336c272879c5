// SPDX-License-Identifier: BSD-2-Clause
#include "dtensor/fill.hpp"
#include "layer/affine_layer.hpp"
#include "support/world.hpp"
#include "train/adam.hpp"
#include "train/sgd.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon {
namespace {

using test::world;

// One affine layer of one weight, stored everywhere, whose gradient for input 1 and cotangent g is
// g.
struct OneWeight {
  OneWeight() {
    const Layout input({.shape = {1, 1},
                        .mesh = Mesh::make({world()->size()}),
                        .properties = {Property::broadcast()}});
    affine = makeRef<AffineLayer>(world(), 1, 1);
    affine->setBias(false);
    affine->setDataType(TENON_FLOAT64);
    affine->setSignature("B");
    affine->setUp(input);
    x = makeRef<DTensor>(world(), input, TENON_FLOAT64);
    y = makeRef<DTensor>(world(), input, TENON_FLOAT64);
    dy = makeRef<DTensor>(world(), input.dual(), TENON_FLOAT64);
    fillConstant(*x, 1);
    set(1.0);
  }
  void set(double weight) {
    fillConstant(affine->parameters()[0]->value(), weight);
    affine->parameters()[0]->valueChanged();
  }
  double weight() { return affine->parameters()[0]->value().data<double>()[0]; }
  double stepWithGradient(Optimizer& optimizer, double g) {
    affine->apply(*x, *y);
    fillConstant(*dy, g);
    affine->applyAdjoint(*dy, nullptr);
    optimizer.step();
    return weight();
  }
  Ref<AffineLayer> affine;
  Ref<DTensor> x, y, dy;
};

TEST(Sgd, StepsAlongTheSummedGradientOnce) {
  OneWeight net;
  Sgd sgd(net.affine);
  sgd.setLearningRate(0.5);
  EXPECT_DOUBLE_EQ(net.stepWithGradient(sgd, 0.25), 1 - 0.125);
  EXPECT_DOUBLE_EQ(net.stepWithGradient(sgd, 0.25),
                   1 - 0.25); // the gradient was cleared in between
}

TEST(Sgd, KeepsMomentum) {
  OneWeight net;
  Sgd sgd(net.affine);
  sgd.setLearningRate(1);
  sgd.setMomentum(0.5, false);
  EXPECT_DOUBLE_EQ(net.stepWithGradient(sgd, 0.25), 0.75);
  EXPECT_DOUBLE_EQ(net.stepWithGradient(sgd, 0.25), 0.75 - 0.375);
}

TEST(Adam, FirstStepsAsByHand) {
  OneWeight net;
  Adam adam(net.affine);
  adam.setLearningRate(0.1);
  // After bias correction the first step is lr g / (|g| + eps).
  const double first = net.stepWithGradient(adam, 2.0);
  EXPECT_NEAR(first, 1 - 0.1 * 2 / (2 + 1e-8), 1e-15);
  const double m = (0.9 * 0.2 + 0.1 * -1) / (1 - 0.81),
               v = (0.999 * 0.004 + 0.001 * 1) / (1 - 0.998001);
  EXPECT_NEAR(net.stepWithGradient(adam, -1.0), first - 0.1 * m / (std::sqrt(v) + 1e-8), 1e-12);
}

TEST(Optimizer, RefusesBadSettings) {
  OneWeight net;
  Sgd sgd(net.affine);
  EXPECT_THROW(sgd.setLearningRate(0), Error);
  EXPECT_THROW(sgd.setLearningRate(NAN), Error);
  EXPECT_THROW(sgd.setMomentum(1, false), Error);
  EXPECT_THROW(sgd.setWeightDecay(-1), Error);
  Adam adam(net.affine);
  EXPECT_THROW(adam.setBetas(0.9, 1), Error);
  EXPECT_THROW(adam.setEpsilon(0), Error);
  EXPECT_THROW(Sgd(makeRef<AffineLayer>(world(), 1, 1)), Error);
}

TEST(Optimizer, TypesAreNamed) {
  OneWeight net;
  EXPECT_STREQ(makeOptimizer("adam", net.affine)->type(), "adam");
  try {
    makeOptimizer("adma", net.affine);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TENON_ERR_TYPE);
    EXPECT_NE(error.text().find("'adam'"), std::string::npos);
  }
}

} // namespace
} // namespace tenon
