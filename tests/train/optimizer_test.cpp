// SPDX-License-Identifier: BSD-2-Clause
// Optimizers (SGD, Adam, L-BFGS) on a layer with one weight: steps against the formulas, clipping,
// frozen parameters, gradients and losses that are not finite, and errors.
#include "dtensor/fill.hpp"
#include "dtensor/host_view.hpp"
#include "dtensor/measure.hpp"
#include "support/layers.hpp"
#include "support/world.hpp"
#include "sys/expect_error.hpp"
#include "sys/text/output.hpp"
#include "train/adam.hpp"
#include "train/lbfgs.hpp"
#include "train/sgd.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon {
namespace {

using test::world;

// One affine layer of one weight, stored everywhere, whose gradient for input 1 and cotangent g is
// g.
struct OneWeight {
  OneWeight() {
    const Layout input({.shape = {1, 1},
                        .grid = Grid::make({world()->size()}),
                        .properties = {Property::broadcast()}});
    affine = test::newAffine(world(), 1, 1);
    affine->set("bias", false);
    affine->setDataType(TENON_FLOAT64);
    affine->setText("signature", "B");
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
  Ref<Layer> affine;
  Ref<DTensor> x, y, dy;
};

TEST(Sgd, StepsAlongTheSummedGradientOnce) {
  OneWeight net;
  Sgd sgd(net.affine);
  sgd.set("learning_rate", 0.5);
  EXPECT_DOUBLE_EQ(net.stepWithGradient(sgd, 0.25), 1 - 0.125);
  EXPECT_DOUBLE_EQ(net.stepWithGradient(sgd, 0.25),
                   1 - 0.25); // the gradient was cleared in between
}

TEST(Sgd, KeepsMomentum) {
  OneWeight net;
  Sgd sgd(net.affine);
  sgd.set("learning_rate", 1.0);
  sgd.set("momentum", 0.5);
  EXPECT_DOUBLE_EQ(net.stepWithGradient(sgd, 0.25), 0.75);
  EXPECT_DOUBLE_EQ(net.stepWithGradient(sgd, 0.25), 0.75 - 0.375);
}

// A gradient of 3 in the weight and 4 in the bias has norm 5, on one rank as on many. For 8 rows
// with input 0.75 and cotangent 0.5 they are 8 x 0.75 x 0.5 and 8 x 0.5.
TEST(Optimizer, ClipsTheNormOfAllGradientsTogether) {
  for (const char* storage : {"use", "root"}) {
    const auto affine = test::newAffine(world(), 1, 1);
    const Layout input({.shape = {8, 1},
                        .grid = Grid::make({world()->size()}),
                        .properties = {Property::shard(0)}});
    affine->setDataType(TENON_FLOAT64);
    affine->setText("storage", storage);
    affine->setUp(input);
    DTensor x(world(), input, TENON_FLOAT64), y(world(), affine->outputLayout(), TENON_FLOAT64),
        dy(world(), affine->outputLayout().dual(), TENON_FLOAT64);
    Sgd sgd(affine);
    fillConstant(x, 0.75);
    const auto adjoint = [&] {
      fillConstant(dy, 0.5);
      affine->apply(x, y);
      affine->applyAdjoint(dy, nullptr);
    };
    const auto norms = [&] {
      return std::pair(norm(*affine->parameters()[0]->reducedGradient()),
                       norm(*affine->parameters()[1]->reducedGradient()));
    };
    adjoint();
    EXPECT_DOUBLE_EQ(sgd.clipGradientNorm(6), 5);
    EXPECT_EQ(norms(), std::pair(3.0, 4.0));
    EXPECT_DOUBLE_EQ(sgd.clipGradientNorm(2.5), 5);
    EXPECT_EQ(norms(), std::pair(1.5, 2.0));
    EXPECT_DOUBLE_EQ(sgd.clipGradientNorm(HUGE_VAL), 2.5);
    affine->setFrozen(true);
    EXPECT_EQ(sgd.clipGradientNorm(1), 0);
  }
  OneWeight net;
  Sgd sgd(net.affine);
  expectError(TENON_ERR_ARG, {"maximum", "is 0"}, [&] { sgd.clipGradientNorm(0); });
}

TEST(Optimizer, LeavesFrozenParametersAlone) {
  OneWeight net;
  Sgd sgd(net.affine);
  sgd.set("weight_decay", 0.5);
  net.affine->setFrozen(true);
  EXPECT_EQ(net.stepWithGradient(sgd, 0.25), 1);
  net.affine->setFrozen(false);
  EXPECT_NE(net.stepWithGradient(sgd, 0.25), 1);
}

TEST(Adam, FirstStepsAsByHand) {
  OneWeight net;
  Adam adam(net.affine);
  adam.set("learning_rate", 0.1);
  // After bias correction the first step is lr g / (|g| + eps).
  const double first = net.stepWithGradient(adam, 2.0);
  EXPECT_NEAR(first, 1 - 0.1 * 2 / (2 + 1e-8), 1e-15);
  // The first step has left the moments 0.1 g = 0.2 and 0.001 g^2 = 0.004; the corrections of the
  // second are 1 - 0.9^2 and 1 - 0.999^2.
  const double m = (0.9 * 0.2 + 0.1 * -1) / (1 - 0.81),
               v = (0.999 * 0.004 + 0.001 * 1) / (1 - 0.998001);
  EXPECT_NEAR(net.stepWithGradient(adam, -1.0), first - 0.1 * m / (std::sqrt(v) + 1e-8), 1e-12);
}

// The bias correction of a parameter that was frozen at first counts its own updates, as in
// PyTorch: the first is lr g / (|g| + eps) whatever the others have done.
TEST(Adam, CorrectsAReleasedParameterByItsOwnUpdates) {
  for (const auto decay : {Adam::Decay::InGradient, Adam::Decay::Decoupled}) {
    OneWeight net;
    Adam adam(net.affine, decay);
    adam.set("learning_rate", 0.01);
    adam.set("weight_decay", 0.0);
    net.affine->setFrozen(true);
    for (int i = 0; i < 9; ++i)
      net.stepWithGradient(adam, 2);
    net.affine->setFrozen(false);
    EXPECT_NEAR(net.stepWithGradient(adam, 2), 1 - 0.01 * 2 / (2 + 1e-8), 1e-12);
    EXPECT_EQ(adam.steps(), 10);
  }
}

TEST(Optimizer, RefusesBadSettings) {
  OneWeight net;
  Sgd sgd(net.affine);
  EXPECT_THROW(sgd.set("learning_rate", 0.0), Error);
  EXPECT_THROW(sgd.set("learning_rate", NAN), Error);
  EXPECT_THROW(sgd.set("momentum", 1.0), Error);
  EXPECT_THROW(sgd.set("weight_decay", -1.0), Error);
  Adam adam(net.affine);
  EXPECT_THROW(adam.set("beta2", 1.0), Error);
  EXPECT_THROW(adam.set("epsilon", 0.0), Error);
  Lbfgs lbfgs(net.affine);
  const double infinity = std::numeric_limits<double>::infinity();
  expectError(TENON_ERR_ARG, {"learning_rate is inf", "finite"},
              [&] { sgd.set("learning_rate", infinity); });
  expectError(TENON_ERR_ARG, {"weight_decay is inf", "finite"},
              [&] { sgd.set("weight_decay", infinity); });
  expectError(TENON_ERR_ARG, {"epsilon is inf", "finite"}, [&] { adam.set("epsilon", infinity); });
  expectError(TENON_ERR_ARG, {"change_tolerance is inf", "finite"},
              [&] { lbfgs.set("change_tolerance", infinity); });
  expectError(TENON_ERR_TYPE, {"of type lbfgs has no setting 'momentum'"},
              [&] { lbfgs.set("momentum", 0.5); });
  EXPECT_THROW(Sgd(test::newAffine(world(), 1, 1)), Error);
}

// The last rank's contributions alone are not a number.
TEST(NotFinite, GradientsAreRefusedBeforeAnythingChanges) {
  const int last = world()->size() - 1;
  const std::string place = "'weight' is not finite on rank " + std::to_string(last);
  for (const char* type : {"sgd", "adam"}) {
    OneWeight net, same;
    const auto optimizer = makeOptimizer(type, net.affine),
               other = makeOptimizer(type, same.affine);
    net.stepWithGradient(*optimizer, 0.25);
    const double before = same.stepWithGradient(*other, 0.25);
    expectError(TENON_ERR_NOT_FINITE,
                {"in step 2 of the optimizer", "norm of the gradients is nan", place.c_str()}, [&] {
                  net.affine->apply(*net.x, *net.y);
                  fillConstant(*net.dy, 0.25);
                  if (world()->rank() == last)
                    HostView<double>(*net.dy)[0] = NAN;
                  net.affine->applyAdjoint(*net.dy, nullptr);
                  optimizer->step();
                });
    EXPECT_EQ(net.weight(), before);
    EXPECT_EQ(optimizer->steps(), 1);
    net.affine->zeroGradients();
    EXPECT_EQ(net.stepWithGradient(*optimizer, 0.5), same.stepWithGradient(*other, 0.5));
  }
}

TEST(NotFinite, StepsAreLeftOutWithOneWarning) {
  OneWeight net;
  Sgd sgd(net.affine);
  sgd.set("learning_rate", 1.0);
  sgd.set("not_finite", "warning");
  std::string said;
  setErrorSink([&](std::string_view text) { said += text; });
  net.stepWithGradient(sgd, HUGE_VAL);
  EXPECT_EQ(net.stepWithGradient(sgd, NAN), 1);
  EXPECT_EQ(net.stepWithGradient(sgd, 0.25), 0.75);
  EXPECT_EQ(net.stepWithGradient(sgd, NAN), 0.75);
  setErrorSink({});
  EXPECT_EQ(sgd.steps(), 4);
  const bool speaks = world()->rank() == 0;
  EXPECT_EQ(said.find("in step 1 of") != said.npos, speaks) << said;
  EXPECT_EQ(said.find("in step 2 of"), said.npos) << said;
  EXPECT_EQ(said.find("in step 4 of") != said.npos, speaks) << said;
  expectError(TENON_ERR_TYPE, {"'ignore'", "warning"}, [&] { sgd.set("not_finite", "ignore"); });
}

TEST(NotFinite, LossesAndValuesAreNamed) {
  for (const char* type : {"sgd", "lbfgs"}) {
    OneWeight net;
    const auto optimizer = makeOptimizer(type, net.affine);
    const auto step = [&](double loss, double g) {
      optimizer->stepWith([&] {
        net.affine->apply(*net.x, *net.y);
        fillConstant(*net.dy, g);
        net.affine->applyAdjoint(*net.dy, nullptr);
        return loss;
      });
    };
    expectError(TENON_ERR_NOT_FINITE, {"in step 1 of", "the loss is inf;"},
                [&] { step(HUGE_VAL, 0.25); });
    expectError(TENON_ERR_NOT_FINITE, {"the loss is nan, the norm of the gradients is nan"},
                [&] { step(NAN, NAN); });
    net.set(NAN);
    expectError(TENON_ERR_NOT_FINITE, {"the value of parameter 'weight' is not finite on rank 0"},
                [&] { step(1, NAN); });
    EXPECT_EQ(optimizer->steps(), 0);
  }
}

// The largest element of the bias in all pairs (steps and changes of the gradient) that L-BFGS
// keeps.
struct BiasInPairs final : StateVisitor {
  void tensor(const std::string& path, DTensor& value) override {
    if (path.ends_with("/bias"))
      largest = std::max(largest, maxAbsolute(value));
  }
  void number(const std::string&, std::uint64_t&) override {}
  double largest = 0;
};

// With a history of one pair, each step writes its pair over that of the step before, in which the
// bias has moved; nothing of it may be left once the bias is frozen.
TEST(Lbfgs, PairsOfFrozenParametersDoNotMove) {
  const auto affine = test::newAffine(world(), 1, 1);
  const Layout input({.shape = {1, 1},
                      .grid = Grid::make({world()->size()}),
                      .properties = {Property::broadcast()}});
  affine->setDataType(TENON_FLOAT64);
  affine->setText("signature", "B");
  affine->setUp(input);
  DTensor x(world(), input, TENON_FLOAT64), y(world(), input, TENON_FLOAT64),
      dy(world(), input.dual(), TENON_FLOAT64);
  fillConstant(x, 2);
  Lbfgs lbfgs(affine);
  lbfgs.set("history", Index(1));
  lbfgs.set("iterations", Index(2));
  double wanted = 0;
  // (y - wanted)^2 / 2
  const auto step = [&] {
    lbfgs.stepWith([&] {
      affine->apply(x, y);
      const double off = HostView<const double>(y)[0] - wanted;
      fillConstant(dy, off / world()->size());
      affine->applyAdjoint(dy, nullptr);
      return off * off / 2;
    });
  };
  const auto moved = [&] {
    BiasInPairs found;
    lbfgs.visitState("o", found);
    return found.largest;
  };
  wanted = 3;
  step();
  EXPECT_GT(moved(), 0);
  affine->parameters()[1]->setFrozen(true);
  wanted = -5;
  step();
  EXPECT_EQ(moved(), 0);
}

TEST(Optimizer, TypesAreNamed) {
  OneWeight net;
  EXPECT_EQ(makeOptimizer("adam", net.affine)->type(), "adam");
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
