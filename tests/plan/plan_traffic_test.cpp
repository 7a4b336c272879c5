// SPDX-License-Identifier: BSD-2-Clause
// Tests that the messages and bytes that a plan predicts for each layer and rank
// (LayerPlan::costs()) are exactly those that the event log counts in a training step: for the plan
// that the search finds, for the runner-up of each layer, with and without overlap, and with
// reduction programs.
#include "planned_network.hpp"

#include "sys/log/log.hpp"
#include "sys/options/options.hpp"

#include <map>
#include <string>

namespace tenon::test {
namespace {

class PlannedTraffic : public testing::TestWithParam<NetworkCase> {};

using Counts = std::map<std::string, PhaseCost>;

// The messages and bytes of one training step, by the name of the layer.
Counts countedInOneStep(LayerPlan& plan) {
  Layer& network = plan.layer();
  // The first step also makes things that later steps reuse, and is not counted.
  trained(network, world(), plan.inputLayout(), 1);
  DTensor x(world(), plan.inputLayout(), TENON_FLOAT64),
      y(world(), network.outputLayout(), TENON_FLOAT64),
      dy(world(), network.outputLayout().dual(), TENON_FLOAT64);
  fillConstant(x, 0.5);
  fillConstant(dy, 0.25);
  logEnable(true);
  logReset();
  network.apply(x, y);
  network.applyAdjoint(dy, nullptr);
  for (const Ref<Parameter>& parameter : network.parameters())
    parameter->direction(); // reduces the gradient
  logEnable(false);
  Counts counts;
  for (const EventRecord& record : logSnapshot())
    counts[record.event] = {.messages = record.messages, .bytes = record.bytes};
  return counts;
}

void expectPredicted(LayerPlan& plan) {
  plan.setUp();
  const Counts counted = countedInOneStep(plan);
  Counts predicted;
  const std::vector<LayerCost> costs = plan.costs(world()->rank(), /*inputCotangent=*/false);
  for (std::size_t node = 0; node < costs.size(); ++node)
    predicted[plan.nodes()[node].layer->name()] += sumOf(costs[node]);
  for (const auto& [name, sent] : predicted) {
    ASSERT_TRUE(counted.count(name)) << name;
    EXPECT_EQ(counted.at(name).messages, sent.messages) << name << "\n" << plan.layer().describe();
    EXPECT_EQ(counted.at(name).bytes, sent.bytes) << name << "\n" << plan.layer().describe();
  }
}

TEST_P(PlannedTraffic, IsWhatTheLogCounts) {
  expectPredicted(*planOf(GetParam(), world()));
  options().set("-tenon_overlap_steps", "false");
  expectPredicted(*planOf(GetParam(), world()));
  options().set("-tenon_overlap_steps", "true");
}

TEST_P(PlannedTraffic, IsWhatTheLogCountsForOtherParallelizations) {
  if (world()->size() == 1)
    GTEST_SKIP() << "needs two ranks";
  const Ref<LayerPlan> probe = planOf(GetParam(), world());
  const std::vector<PlannedLayer> layers = probe->search().layers;
  // The runner-up of each layer in turn.
  for (std::size_t k = 0; k < layers.size(); k += 2) {
    const Ref<LayerPlan> plan = planOf(GetParam(), world());
    plan->fix(layers[k].name, layers[k].runnerUp);
    ASSERT_NO_FATAL_FAILURE(expectPredicted(*plan));
  }
}

Index messagesOf(const LayerPlan& plan) {
  Index messages = 0;
  for (const LayerCost& cost : plan.costs(world()->rank(), /*inputCotangent=*/false))
    messages += sumOf(cost).messages;
  return messages;
}

// Reductions that run as programs of one or two levels send other messages than the routes of
// conversions, and are predicted as well.
TEST_P(PlannedTraffic, IsWhatTheLogCountsOfPrograms) {
  if (world()->size() < 4 || world()->size() % 2 != 0)
    GTEST_SKIP() << "needs two nodes of two ranks";
  options().set("-tenon_machine_levels", "2," + std::to_string(world()->size() / 2));
  options().set("-tenon_reduction",
                "(1, InsideGroup, ReduceScatter), (1, Parallel(0), AllReduce), (1, InsideGroup, "
                "AllGather); (0, InsideGroup, ReduceScatter), (0, InsideGroup, AllGather)");
  const Ref<LayerPlan> plan = planOf(GetParam(), world());
  expectPredicted(*plan);
  const Index byPrograms = messagesOf(*plan);
  options().set("-tenon_reduction", "auto");
  options().set("-tenon_machine_levels", "");
  EXPECT_NE(byPrograms, messagesOf(*plan));
}

INSTANTIATE_TEST_SUITE_P(Networks, PlannedTraffic, testing::ValuesIn(networkCases()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace tenon::test
