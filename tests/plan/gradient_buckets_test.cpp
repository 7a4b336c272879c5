// SPDX-License-Identifier: BSD-2-Clause
// Tests gradients that are reduced together in buckets (plan/gradient_buckets.hpp). Losses and
// gradients must be those of a plan without buckets, which reduces each gradient separately, with
// fewer messages the larger the buckets are.
#include "planned_network.hpp"

#include "dtensor/arithmetic.hpp"
#include "dtensor/measure.hpp"
#include "sys/log/log.hpp"

namespace tenon::test {
namespace {

// The messages of the second step. All layers split only the batch, so only reductions of gradients
// send messages.
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

TEST(GradientBuckets, SendFewerMessagesAndChangeNoLoss) {
  const int size = world()->size();
  for (const NetworkCase& c : {networkCases()[0], networkCases()[2]}) {
    std::vector<std::vector<double>> losses;
    std::vector<Index> messages;
    std::vector<int> reductions;
    for (Index bytes : {Index(0), Index(4000), Index(1) << 30}) {
      const Ref<LayerPlan> plan = planOf(c, world());
      const std::vector<PlannedLayer> layers = planOf(c, world())->search().layers;
      for (const PlannedLayer& layer : layers)
        if (size > 1)
          plan->fix(layer.name, size == 2 ? "n" : fmt::format("n{}", size == 4 ? 2 : 3));
      plan->set("gradient_bucket", bytes);
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
// optimizer whose own setting is above 0.
TEST(GradientBuckets, OfAPlanWithoutAreLeftToTheOptimizer) {
  const NetworkCase c = networkCases()[0];
  const int size = world()->size();
  std::vector<Index> messages;
  for (const Index bytes : {Index(-1), Index(0), Index(1) << 30}) {
    const Ref<LayerPlan> plan = planOf(c, world());
    const std::vector<PlannedLayer> layers = planOf(c, world())->search().layers;
    for (const PlannedLayer& layer : layers)
      if (size > 1)
        plan->fix(layer.name, size == 2 ? "n" : fmt::format("n{}", size == 4 ? 2 : 3));
    plan->set("gradient_bucket", Index(0));
    plan->setUp();
    messages.push_back(messagesInOneStep(*plan, bytes));
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
  const NetworkCase c = networkCases()[0];
  const auto directions = [&](Index bytes) {
    const Ref<LayerPlan> plan = planOf(c, world());
    plan->set("gradient_bucket", bytes);
    plan->setUp();
    Layer& network = plan->layer();
    network.initialize(kTrainingSeed, 0);
    DTensor x(world(), plan->inputLayout(), TENON_FLOAT64),
        y(world(), network.outputLayout(), TENON_FLOAT64),
        dy(world(), network.outputLayout().dual(), TENON_FLOAT64);
    fillUniform(x, kTrainingSeed, 1, 0, 1);
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
    adjoint();
    note();
    note();
    adjoint();
    note();
    for (const Ref<Parameter>& parameter : network.parameters())
      scaleArray(0.5, parameter->gradient());
    note();
    network.zeroGradients();
    note();
    network.parameters()[0]->setFrozen(true);
    adjoint();
    note();
    network.parameters()[0]->setFrozen(false);
    const Ref<DTensor> held = network.parameters()[1]->exposeGradient();
    adjoint();
    network.parameters()[1]->gradient(); // with the contributions of all uses
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
  const NetworkCase c = networkCases()[0];
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

} // namespace
} // namespace tenon::test
