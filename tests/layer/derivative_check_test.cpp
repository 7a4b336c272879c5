// SPDX-License-Identifier: BSD-2-Clause
// The dot test and the Taylor test of the library itself (derivative_check.hpp), on a shell layer y
// = x^2 whose tangent and adjoint are multiplied by given factors. Factors of 1 must pass, others
// must be detected, and the tests must leave the layer unchanged.
#include "layer/derivatives/derivative_check.hpp"

#include "dtensor/measure.hpp"
#include "layer_run.hpp"
#include "sys/expect_error.hpp"

namespace tenon {
namespace {

using test::onWorld;
using test::world;

// Limits for the types of kTypes.
constexpr double kAdjointError[] = {1e-4, 1e-12}, kOrderError[] = {0.3, 0.1};
constexpr TenonDataType kTypes[] = {TENON_FLOAT32, TENON_FLOAT64};

Ref<Layer> smoothNet(TenonDataType type) {
  const auto net = test::residualNet(world());
  net->setDataType(type);
  net->setUp(onWorld({2, 3, 6, 8}, "S3"));
  return net;
}

// y = x^2, with tangent and adjoint multiplied by these factors.
Ref<Layer> square(double tangent, double adjoint) {
  auto layer = test::newLayer(world(), "shell");
  const auto times = [](const DTensor& x, double factor, const DTensor& v, DTensor& out) {
    for (Index i = 0; i < x.localElements(); ++i)
      out.mutableData<double>()[i] = factor * x.data<double>()[i] * v.data<double>()[i];
  };
  ShellFunctions& f = shellOf(*layer).functions();
  f.apply = [=](const DTensor& x, DTensor& y) { times(x, 1, x, y); };
  f.tangent = [=](const KernelPoint& at, const DTensor* dx, DTensor& dy) {
    times(*at.x, 2 * tangent, *dx, dy);
  };
  f.adjoint = [=](const KernelPoint& at, const DTensor& dy, DTensor* dx) {
    if (dx)
      times(*at.x, 2 * adjoint, dy, *dx);
  };
  layer->setDataType(TENON_FLOAT64);
  layer->setUp(onWorld({9, 2}, "S0"));
  return layer;
}

TEST(DerivativeCheck, PassesARightLayerInBothTypes) {
  for (int t = 0; t < 2; ++t) {
    const Ref<Layer> net = smoothNet(kTypes[t]);
    const LayerAdjointResult adjoint = checkLayerAdjoint(*net, nullptr, 3);
    EXPECT_LE(adjoint.relativeError, kAdjointError[t]);
    EXPECT_NE(adjoint.tangentPairing, 0);
    EXPECT_NEAR(checkLayerTaylor(*net, nullptr, 3).order, 2, kOrderError[t]);
  }
}

TEST(DerivativeCheck, FindsAWrongAdjointAndAWrongTangent) {
  EXPECT_LE(checkLayerAdjoint(*square(1, 1), nullptr, 1).relativeError, 1e-12);
  EXPECT_NEAR(checkLayerTaylor(*square(1, 1), nullptr, 1).order, 2, 0.1);
  // Of square(tangent, adjoint): a wrong adjoint is seen by the dot test. A tangent and an adjoint
  // with the same error are still a pair; the Taylor test sees them, whose remainder is then of
  // first order.
  EXPECT_GT(checkLayerAdjoint(*square(1, 1.01), nullptr, 1).relativeError, 1e-4);
  EXPECT_LE(checkLayerAdjoint(*square(1.01, 1.01), nullptr, 1).relativeError, 1e-12);
  EXPECT_NEAR(checkLayerTaylor(*square(1.01, 1.01), nullptr, 1).order, 1, 0.1);
}

TEST(DerivativeCheck, SeesNoRemainderOfALinearLayer) {
  const auto scale = test::newPointwise(world(), "scale", "factor", -1.5);
  scale->setDataType(TENON_FLOAT64);
  scale->setUp(onWorld({5, 3}, "S0"));
  EXPECT_TRUE(std::isinf(checkLayerTaylor(*scale, nullptr, 1).order));
}

TEST(DerivativeCheck, LeavesTheLayerAsItWas) {
  const auto layer = test::newAffine(world(), 3, 2);
  test::Step step(layer, onWorld({4, 3}, "S0"));
  fillConstant(*step.x, 1);
  fillConstant(*step.dy, 1);
  step.apply();
  EXPECT_NE(step.layer->stackSize(), 0);
  expectError(TENON_ERR_STATE, {"1 Apply calls", "empty stack"},
              [&] { checkLayerAdjoint(*layer, nullptr, 1); });
  step.adjoint();
  Parameter& weight = *layer->parameters()[0];
  fillConstant(weight.tangent(), 7);
  const auto value = test::gathered(weight.value()), gradient = test::gathered(weight.gradient());
  checkLayerAdjoint(*layer, step.x.get(), 5);
  checkLayerTaylor(*layer, step.x.get(), 5);
  EXPECT_EQ(test::gathered(weight.value()), value);
  EXPECT_EQ(test::gathered(weight.gradient()), gradient);
  EXPECT_EQ(maxAbsolute(weight.tangent()), 7);
  EXPECT_FALSE(layer->parameters()[1]->hasTangent());
  EXPECT_TRUE(layer->isTraining());
  EXPECT_EQ(layer->stackSize(), 0);
}

} // namespace
} // namespace tenon
