// SPDX-License-Identifier: BSD-2-Clause
// The mean squared error against its definition, computed from global indices: the loss on every
// rank that has a copy, and the gradient, for targets in other layouts and of another type. Wrong
// targets are refused.
#include "layer_run.hpp"

#include "sys/expect_error.hpp"

namespace tenon {
namespace {

using test::onWorld;
using test::tensor;
using test::world;

const Shape kPredicted = {5, 4, 3};
constexpr Index kCount = 5 * 4 * 3;
constexpr double kCotangent = 0.5; // dy, of the loss

double predictedAt(Index i) {
  return static_cast<double>(i % 7) - 2.5;
}
double wantedAt(Index i) {
  return static_cast<double>(i % 5) - 1.25;
}

Ref<DTensor> targetIn(const Layout& layout, TenonDataType type) {
  const auto target = tensor(layout, type);
  fillByIndex(*target, wantedAt);
  return target;
}

// Compares loss and gradient with the definition, for input and target in these layouts.
void expectRight(const Layout& input, const Ref<DTensor>& target, TenonDataType type) {
  const auto layer = test::newLayer(world(), "meansquarederror");
  layer->setTarget(target);
  test::Step step(layer, input, type);
  const std::string what = input.describe() + ", target " + target->layout().describe();
  fillByIndex(*step.x, predictedAt);
  step.apply();
  double loss = 0;
  std::vector<double> gradient;
  for (Index i = 0; i < kCount; ++i) {
    const double difference = predictedAt(i) - wantedAt(i);
    loss += difference * difference / kCount;
    gradient.push_back(kCotangent * 2 * difference / kCount);
  }
  const double tolerance = type == TENON_FLOAT32 ? 1e-6 : 1e-14;
  for (double held : test::localCells(*step.y))
    EXPECT_NEAR(held, loss, tolerance * loss) << what;
  // The adjoint must not read the target, which the program can change after Apply.
  fillConstant(*target, 99);
  fillConstant(*step.dy, kCotangent);
  step.adjoint();
  test::expectNear(test::gathered(*step.dx), gradient, tolerance, what);
}

TEST(MeanSquaredError, EqualsItsDefinition) {
  test::LayoutDraw draw(33);
  for (int i = 0; i < 30; ++i) {
    const TenonDataType type = i % 2 ? TENON_FLOAT32 : TENON_FLOAT64;
    const TenonDataType targets = i % 3 ? type : TENON_FLOAT64;
    const Layout there = test::drawInput(draw, kPredicted);
    expectRight(test::drawInput(draw, kPredicted), targetIn(there, targets), type);
  }
}

class WrongTargets : public testing::Test {
protected:
  Ref<Layer> layer_ = test::newLayer(world(), "meansquarederror");
  test::Step step_{layer_, onWorld(kPredicted, "S0")};
};

TEST_F(WrongTargets, AreRefused) {
  expectError(TENON_ERR_STATE, {"no target", "SetTarget"}, [&] { step_.apply(); });
  layer_->setTarget(tensor(onWorld({5, 4}, "S0")));
  expectError(TENON_ERR_SHAPE, {"[5,4,3]", "[5,4]"}, [&] { step_.apply(); });
  layer_->setTarget(tensor(onWorld(kPredicted, "S0"), TENON_INT64));
  expectError(TENON_ERR_DATATYPE, {"float64", "int64"}, [&] { step_.apply(); });
  layer_->setTarget(targetIn(onWorld(kPredicted, "B"), TENON_FLOAT64));
  step_.apply();
}

TEST(MeanSquaredError, WantsAnElement) {
  test::expectErrorOnAll(TENON_ERR_SHAPE, {"at least 1 element", "[3,0]"}, [] {
    test::newLayer(world(), "meansquarederror")->setUp(onWorld({3, 0}, "S0"));
  });
}

} // namespace
} // namespace tenon
