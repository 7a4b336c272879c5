// SPDX-License-Identifier: BSD-2-Clause
// Dropout: masks do not depend on the partition, differ between Apply calls, have the set rate, and
// are the same in derivatives as in their Apply. Masks are read off from the output for an input of
// ones.
#include "dtensor/measure.hpp"
#include "layer_run.hpp"

namespace tenon {
namespace {

using test::gathered;
using test::LayoutDraw;
using test::onWorld;
using test::Step;
using test::tensor;
using test::world;

const Shape kShape = {20, 6, 15};

// A dropout layer with this rate, whose masks are drawn from this random stream.
Ref<Layer> dropout(double rate, std::uint64_t stream = 3) {
  const auto layer = test::newDropout(world(), rate);
  layer->setDataType(TENON_FLOAT64);
  layer->setStackDepth(2);
  layer->setUp(onWorld(kShape, "B"));
  layer->initialize(test::kSeed, stream);
  return layer;
}

// The mask times 1 / (1 - rate), on every rank.
std::vector<double> scaledMask(Layer& layer, const Layout& layout) {
  layer.setUp(layout);
  const auto x = tensor(layout), y = tensor(layer.outputLayout());
  fillConstant(*x, 1);
  layer.apply(*x, *y);
  return gathered(*y);
}

TEST(Dropout, DropsAtTheRateAndScalesTheRest) {
  for (double rate : {0.0, 0.25, 0.7}) {
    const auto layer = dropout(rate);
    const auto mask = scaledMask(*layer, onWorld(kShape, "S1"));
    double dropped = 0;
    for (double m : mask) {
      EXPECT_TRUE(m == 0 || m == 1 / (1 - rate)) << m;
      dropped += m == 0;
    }
    const double deviation = std::sqrt(rate * (1 - rate) / static_cast<double>(mask.size()));
    // Masks follow from the seed, so this holds in each run or in none.
    EXPECT_NEAR(dropped / static_cast<double>(mask.size()), rate, 4 * deviation);
  }
}

TEST(Dropout, HasOneMaskOnEveryPartition) {
  const auto want = scaledMask(*dropout(0.5), onWorld(kShape, "B"));
  LayoutDraw draw(71);
  for (int i = 0; i < 30; ++i) {
    const Layout layout = test::drawInput(draw, kShape);
    EXPECT_EQ(scaledMask(*dropout(0.5), layout), want) << layout.describe();
  }
}

TEST(Dropout, DrawsAnewForEachApplyAndStream) {
  const auto layer = dropout(0.5);
  const Layout split = onWorld(kShape, "S0");
  const auto first = scaledMask(*layer, split), second = scaledMask(*layer, split);
  EXPECT_NE(first, second);
  layer->clearStack();
  layer->initialize(test::kSeed, 3);
  EXPECT_EQ(scaledMask(*layer, split), first);
  EXPECT_NE(scaledMask(*dropout(0.5, 4), split), first);
}

// Another Apply is pending below this one on the stack: each derivative must use the mask of its
// own level.
TEST(Dropout, TangentAndAdjointUseTheMaskOfTheirApply) {
  LayoutDraw draw(72);
  for (int i = 0; i < 10; ++i) {
    Step step(dropout(0.4), test::drawInput(draw, kShape));
    test::fillValid(*step.x, 1);
    test::fillValid(*step.dy, 2);
    for (int call = 0; call < 2; ++call)
      step.apply(); // the map is linear: J x = f(x)
    const auto jx = tensor(step.y->layout());
    step.layer->applyTangent(step.x.get(), *jx);
    EXPECT_EQ(test::localCells(*jx), test::localCells(*step.y));
    step.adjoint();
    const double scale = rawNorm(*jx) * rawNorm(*step.dy) + 1;
    EXPECT_NEAR(pairing(*jx, *step.dy), pairing(*step.x, *step.dx), 1e-13 * scale);
    step.layer->applyTangent(step.x.get(), *jx);
    EXPECT_NE(gathered(*jx), gathered(*step.y));
    step.layer->applyTangent(nullptr, *jx);
    EXPECT_EQ(rawNorm(*jx), 0);
    step.layer->clearStack();
  }
}

TEST(Dropout, IsTheIdentityInInference) {
  Step step(dropout(0.5), onWorld(kShape, "P"));
  test::fillValid(*step.x, 1);
  step.layer->setTraining(false);
  step.apply();
  EXPECT_EQ(test::localCells(*step.y), test::localCells(*step.x));
}

TEST(Dropout, RefusesARateOutOfRange) {
  for (double rate : {-0.1, 1.0, std::nan("")})
    EXPECT_THROW(test::newDropout(world(), rate), Error) << rate;
}

} // namespace
} // namespace tenon
