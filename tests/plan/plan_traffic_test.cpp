// SPDX-License-Identifier: BSD-2-Clause
// The messages and bytes that a plan predicts for each layer are those that the log counts.
#include "planned_network.hpp"

#include "sys/log/log.hpp"
#include "sys/options/options.hpp"

#include <map>
#include <string>

namespace tenon::test {
namespace {

class PlannedTraffic : public testing::TestWithParam<NetworkCase> {};

using Counts = std::map<std::string, PhaseCost>;

// Of one step of training, by the name of the layer.
Counts countedInOneStep(LayerPlan& plan) {
  Layer& network = plan.layer();
  trained(network, world(), plan.inputLayout(), 1); // parameters have been used once
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
    parameter->direction();
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
  const std::vector<LayerCost> costs = plan.costs(world()->rank(), false);
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
  for (const LayerCost& cost : plan.costs(world()->rank(), false))
    messages += sumOf(cost).messages;
  return messages;
}

// Where sums run as programs, here of two levels or one, they do not send what their routes would.
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
