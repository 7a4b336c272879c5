// SPDX-License-Identifier: BSD-2-Clause
// Tests gradients that are reduced together in buckets (plan/gradient_buckets.hpp). Losses and
// gradients must be those of a plan without buckets, which reduces each gradient separately, with
// fewer messages the larger the buckets are.
#include "planned_network.hpp"

#include "dtensor/arithmetic.hpp"
#include "dtensor/measure.hpp"
#include "layer/core/gradient_bucket.hpp"
#include "sys/expect_error.hpp"
#include "sys/log/log.hpp"

namespace tenon::test {
namespace {

// The messages of the second step; the first one also prepares the optimizer's reductions. All
// layers split only the batch, so only reductions of gradients send messages.
Index messagesInOneStep(LayerPlan& plan, Index optimizerBytes = -1) {
  Layer& network = plan.layer();
  const Ref<Optimizer> optimizer = makeOptimizer("sgd", Ref<Layer>::share(&network));
  optimizer->set("gradient_bucket", optimizerBytes);
  DTensor x(world(), plan.inputLayout(), TENON_FLOAT64),
      y(world(), network.outputLayout(), TENON_FLOAT64),
      dy(world(), network.outputLayout().dual(), TENON_FLOAT64);
  Index messages = 0;
  for (int step = 0; step < 2; ++step) {
    logEnable(true);
    logReset();
    network.apply(x, y);
    network.applyAdjoint(dy, nullptr);
    optimizer->step();
    logEnable(false);
    messages = 0;
    for (const EventRecord& record : logSnapshot())
      if (record.event == "LayerApply" || record.event == "LayerAdjoint" ||
          record.event == "OptimizerStep")
        messages += record.messages;
  }
  return messages;
}

// Each layer splits the batch, so the gradients of all parameters are summed.
Ref<LayerPlan> planOverBatch(const NetworkCase& c, Index bucketBytes) {
  const int size = world()->size();
  const Ref<LayerPlan> plan = planOf(c, world());
  // A second plan, which is searched only for the names of the layers.
  const std::vector<PlannedLayer> layers = planOf(c, world())->search().layers;
  for (const PlannedLayer& layer : layers)
    if (size > 1) // on all axes of the plan's grid: one for 2 ranks, two for 4, three for 8
      plan->fix(layer.name, size == 2 ? "n" : fmt::format("n{}", size == 4 ? 2 : 3));
  plan->set("gradient_bucket", bucketBytes);
  return plan;
}

TEST(GradientBuckets, SendFewerMessagesAndChangeNoLoss) {
  const int size = world()->size();
  for (const NetworkCase& c : {caseNamed("lenet5"), caseNamed("residual")}) {
    std::vector<std::vector<double>> losses;
    std::vector<Index> messages;
    std::vector<int> reductions;
    // No buckets, several, and one for all parameters.
    for (Index bytes : {Index(0), Index(4000), Index(1) << 30}) {
      const Ref<LayerPlan> plan = planOverBatch(c, bytes);
      plan->setUp();
      losses.push_back(trained(plan->layer(), world(), plan->inputLayout(), 3));
      messages.push_back(messagesInOneStep(*plan));
      reductions.push_back(plan->reductions());
    }
    ASSERT_EQ(losses[0].size(), 3u);
    for (std::size_t step = 0; step < 3; ++step)
      for (int other : {1, 2})
        EXPECT_NEAR(losses[other][step], losses[0][step], 1e-12) << c.name;
    if (size == 1)
      continue;
    EXPECT_LT(messages[1], messages[0]) << c.name;
    EXPECT_LT(messages[2], messages[1]) << c.name;
    EXPECT_GT(reductions[0], reductions[1]) << c.name;
    EXPECT_EQ(reductions[2], 1) << c.name;
  }
}

// In a plan without buckets each gradient is reduced by itself, but together in a step of an
// optimizer whose own setting is above 0. The default of -1 leaves buckets to the plan if there is
// one, so it is 0 here.
TEST(GradientBuckets, OfAPlanWithoutAreLeftToTheOptimizer) {
  const NetworkCase c = caseNamed("lenet5");
  const int size = world()->size();
  std::vector<Index> messages;
  for (const Index bytes : {Index(-1), Index(0), Index(1) << 30}) {
    const Ref<LayerPlan> plan = planOverBatch(c, 0);
    plan->setUp();
    messages.push_back(messagesInOneStep(*plan, bytes));
    // One process sums nothing. Otherwise each gradient has its reduction, or one bucket has all.
    EXPECT_EQ(plan->reductions() <= 1, size == 1 || bytes > 0);
  }
  EXPECT_EQ(messages[1], messages[0]);
  if (size > 1) {
    EXPECT_LT(messages[2], messages[0]);
  }
}

// Gradients that accumulate over several adjoints, that the caller changes, or of which one
// parameter is frozen.
TEST(GradientBuckets, GiveTheDirectionOfTheGradientAsItIs) {
  const NetworkCase c = caseNamed("lenet5");
  const auto directions = [&](Index bytes) {
    const Ref<LayerPlan> plan = planOf(c, world());
    plan->set("gradient_bucket", bytes);
    plan->setUp();
    Layer& network = plan->layer();
    network.initialize(kTrainingSeed, 0);
    DTensor x(world(), plan->inputLayout(), TENON_FLOAT64),
        y(world(), network.outputLayout(), TENON_FLOAT64),
        dy(world(), network.outputLayout().dual(), TENON_FLOAT64);
    fillUniform(x, kTrainingSeed, /*stream=*/1, 0, 1);
    fillConstant(dy, 1e-2);
    std::vector<double> norms;
    const auto note = [&] {
      for (const Ref<Parameter>& parameter : network.parameters())
        norms.push_back(norm(parameter->direction()));
    };
    const auto adjoint = [&] {
      network.apply(x, y);
      network.applyAdjoint(dy, nullptr);
    };
    // One adjoint; the second call of direction() finds it up to date.
    adjoint();
    note();
    note();
    // A second adjoint adds to the gradients, which are then halved, and cleared.
    adjoint();
    note();
    for (const Ref<Parameter>& parameter : network.parameters())
      scaleArray(0.5, parameter->gradient());
    note();
    network.zeroGradients();
    note();
    // The first parameter is frozen: its gradient remains zero.
    network.parameters()[0]->setFrozen(true);
    adjoint();
    note();
    // The caller holds the second gradient, and changes it after an adjoint.
    network.parameters()[0]->setFrozen(false);
    const Ref<DTensor> held = network.parameters()[1]->exposeGradient();
    adjoint();
    network.parameters()[1]->gradient(); // adds the contributions of all uses to it
    scaleArray(3, *held);
    note();
    return norms;
  };
  const std::vector<double> apart = directions(0), together = directions(1 << 30);
  ASSERT_EQ(apart.size(), together.size());
  for (std::size_t i = 0; i < apart.size(); ++i)
    EXPECT_NEAR(together[i], apart[i], 1e-12 * (1 + apart[i])) << i;
}

// A parameter in a bucket has no reduction of its own until the caller requests its direction after
// a possible change of the gradient.
TEST(GradientBuckets, TakeTheReductionsOfTheirMembers) {
  const NetworkCase c = caseNamed("lenet5");
  const auto own = [](const Layer& network) {
    Index reductions = 0;
    for (const Ref<Parameter>& parameter : network.parameters())
      reductions += parameter->toDirection() != nullptr;
    return reductions;
  };
  Index alone = 0;
  for (const Index bytes : {Index(0), Index(1) << 30}) {
    const Ref<LayerPlan> plan = planOf(c, world());
    plan->set("gradient_bucket", bytes);
    plan->setUp();
    Layer& network = plan->layer();
    if (bytes == 0) {
      alone = own(network);
      EXPECT_EQ(alone, plan->reductions());
      continue;
    }
    trained(network, world(), plan->inputLayout(), 2);
    EXPECT_EQ(own(network), 0);
    for (const Ref<Parameter>& parameter : network.parameters()) {
      parameter->gradient(); // which the caller may write
      parameter->direction();
    }
    EXPECT_EQ(own(network), alone);
  }
}

// After clipGradientNorm(), which computes the norm, step() does not look for values that are not
// finite, provided that the gradients are still those that were clipped. Here a second adjoint
// makes them NaN. It also reduces them, like every adjoint of a plan, so step() cannot tell by
// that.
TEST(GradientBuckets, AreReducedAfterClippingToo) {
  const Ref<LayerPlan> plan = planOverBatch(caseNamed("lenet5"), Index(1) << 30);
  PlannedTensors run(*plan);
  const Ref<Optimizer> optimizer = makeOptimizer("sgd", Ref<Layer>::share(&run.network));
  const auto adjoint = [&] {
    run.network.apply(*run.x, *run.y);
    run.network.applyAdjoint(*run.dy, nullptr);
  };
  adjoint();
  EXPECT_TRUE(std::isfinite(optimizer->clipGradientNorm(1)));
  fillConstant(*run.dy, NAN);
  adjoint();
  expectError(TENON_ERR_NOT_FINITE, {"the norm of the gradients is nan"},
              [&] { optimizer->step(); });
}

// A layer in two networks keeps the bucket of its first optimizer, and the caller the gradient that
// he holds.
TEST(GradientBuckets, LeaveGradientsOfOthersAlone) {
  constexpr Index kRows = 12, kWidth = 3;
  const Layout input({.shape = {kRows, kWidth},
                      .grid = Grid::make({world()->size()}),
                      .properties = {Property::shard(0)}});
  const Ref<Layer> network = newNetwork(world(), "sequential"),
                   half = newNetwork(world(), "sequential");
  std::vector<Ref<Layer>> layers;
  for (int i = 0; i < 4; ++i) {
    layers.push_back(newAffine(world(), kWidth, kWidth));
    add(*network, layers.back(), fmt::format("l{}", i));
    if (i < 2)
      add(*half, layers.back(), fmt::format("l{}", i));
  }
  const auto weight = [&](std::size_t i) { return layers[i]->parameters()[0]; };
  half->setUp(input);
  layers[2]->setUp(input);
  const Ref<DTensor> held = weight(2)->exposeGradient();
  const Ref<Optimizer> optimizer = makeOptimizer("sgd", half);
  optimizer->step();
  const GradientBucketPtr bucket = weight(0)->bucket();
  const auto plan = makeRef<LayerPlan>(network, kRows);
  plan->set("input_shape", Shape{kWidth});
  plan->set("gradient_bucket", Index(1) << 30);
  plan->setUp();
  EXPECT_EQ(weight(0)->bucket(), bucket);
  EXPECT_EQ(weight(1)->bucket(), bucket);
  EXPECT_EQ(&weight(2)->gradient(), held.get());
  EXPECT_FALSE(weight(2)->isInBucket());
  EXPECT_EQ(weight(3)->isInBucket(), weight(3)->isSummed());
  EXPECT_EQ(bucket != nullptr, weight(0)->isSummed());
}

} // namespace
} // namespace tenon::test
