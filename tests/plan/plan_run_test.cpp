// SPDX-License-Identifier: BSD-2-Clause
// Networks that are set up by their plans: losses of training are those of one process.
#include "planned_network.hpp"

#include "sys/expect_error.hpp"
#include "sys/options.hpp"

namespace tenon::test {
namespace {

class PlannedNetwork : public testing::TestWithParam<NetworkCase> {};

void expectSameLosses(LayerPlan& plan, const NetworkCase& c) {
  plan.setUp();
  const std::vector<double> want = trainedAlone(c),
                            got = trained(plan.layer(), world(), plan.inputLayout());
  if (plan.inputLayout().boxOfRank(world()->rank()).empty() && got.empty())
    return;
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t step = 0; step < want.size(); ++step)
    ASSERT_NEAR(got[step], want[step], 1e-10) << "step " << step << "\n" << plan.layer().describe();
  EXPECT_LT(want.back(), want.front());
}

TEST_P(PlannedNetwork, TrainsLikeOneProcess) {
  expectSameLosses(*planOf(GetParam(), world()), GetParam());
}

// Words of space and of channels, whatever they cost.
TEST_P(PlannedNetwork, TrainsWithForcedWords) {
  const NetworkCase& c = GetParam();
  const Ref<LayerPlan> probe = planOf(c, world());
  if (world()->size() == 1)
    GTEST_SKIP() << "needs two ranks";
  for (const char* channels : {"o", "i"}) {
    const Ref<LayerPlan> plan = planOf(c, world());
    int number = 0;
    for (const PlannedLayer& layer : probe->search().layers)
      if (layer.name.find("sum") == std::string::npos && layer.name != "first" &&
          layer.name != "C1" && layer.name != "conv1")
        plan->fix(layer.name, forcedWord(channels));
      else if (number++ == 0)
        plan->fix(layer.name, forcedWord("hw"));
    ASSERT_NO_FATAL_FAILURE(expectSameLosses(*plan, c));
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, PlannedNetwork, testing::ValuesIn(networkCases()),
                         [](const auto& info) { return info.param.name; });

TEST(LayerPlan, KeepsTheCallersLayouts) {
  const NetworkCase c = networkCases()[2];
  const int size = world()->size();
  const Layout rows({.shape = c.input,
                     .mesh = Mesh::make({size, 1}),
                     .properties = {Property::shard(2), Property::shard(3)}});
  const Layout root(
      {.shape = {8, 10}, .mesh = Mesh::make({size}), .properties = {Property::root()}});
  const Ref<LayerPlan> plan = planOf(c, world());
  plan->setInput(rows);
  plan->setOutput(root);
  plan->setUp();
  EXPECT_EQ(plan->inputLayout(), rows);
  EXPECT_EQ(plan->layer().outputLayout(), root);
  const Ref<LayerPlan> free = planOf(c, world());
  free->setUp();
  EXPECT_EQ(plan->layer().parameters().size(), free->layer().parameters().size());
}

// Communication that moves across layers changes no bit.
TEST(LayerPlan, ComputesTheSameWithStepsInOrder) {
  for (const NetworkCase& c : networkCases()) {
    const auto losses = [&] {
      const Ref<LayerPlan> plan = planOf(c, world());
      plan->setUp();
      return trained(plan->layer(), world(), plan->inputLayout(), 3);
    };
    const std::vector<double> moved = losses();
    options().set("-tenon_overlap_steps", "false");
    const std::vector<double> inOrder = losses();
    options().set("-tenon_overlap_steps", "true");
    EXPECT_EQ(moved, inOrder) << c.name;
  }
}

// One convolution of one field: nothing is gained elsewhere, so its rows stay, and only halos travel.
TEST(LayerPlan, StaysWhereTheFieldLies) {
  const int size = world()->size();
  const Ref<Layer> conv = conv2d(world(), 1, 1, 3, 1);
  conv->setName("conv");
  conv->setDataType(TENON_FLOAT64);
  const Layout rows({.shape = {1, 1, 64, 64},
                     .mesh = Mesh::make({size, 1}),
                     .properties = parseProperties("S2,S3")});
  const auto plan = makeRef<LayerPlan>(conv, 1);
  plan->setInput(rows);
  plan->setOutput(rows);
  plan->setUp();
  EXPECT_TRUE(plan->stays()) << plan->describe();
  EXPECT_EQ(plan->layerNamed("conv").letters, "h,w");
  const std::vector<LayerCost> costs = plan->costs(world()->rank(), false);
  const int neighbours = (world()->rank() > 0) + (world()->rank() + 1 < size);
  const PhaseCost& apply = costs.front()[static_cast<int>(Phase::ApplyMove)];
  EXPECT_EQ(apply.messages, neighbours);
  EXPECT_EQ(apply.bytes, neighbours * 64 * 8);
}

TEST(LayerPlan, LeavesTheNetworkAsItWasWhereItFails) {
  const NetworkCase c = networkCases()[0];
  const Ref<Layer> network = c.make(world());
  const std::string before = network->settings();
  const auto plan = makeRef<LayerPlan>(network, c.input[0]);
  plan->setInputShape({1, 28, 28});
  plan->setProcesses(world()->size());
  plan->fix("C5", "h");
  expectError(TENON_ERR_OPTION, {"C5", "'h'"}, [&] { plan->setUp(); });
  EXPECT_EQ(network->settings(), before);
  expectError(TENON_ERR_STATE, {"not set up"}, [&] { plan->layer(); });
  const auto again = makeRef<LayerPlan>(network, c.input[0]);
  again->setInputShape({1, 28, 28});
  again->setUp();
  expectError(TENON_ERR_STATE, {"after"}, [&] { makeRef<LayerPlan>(network, 8); });
}

TEST(LayerPlan, RefusesWhatCannotRun) {
  const NetworkCase c = networkCases()[0];
  const Ref<LayerPlan> many = planOf(c, world());
  many->setProcesses(world()->size() + 1);
  expectError(TENON_ERR_STATE, {"processes", "communicator"}, [&] { many->setUp(); });
  const Ref<LayerPlan> small = planOf(c, world());
  small->setMemoryLimit(1000);
  expectError(TENON_ERR_SHAPE, {"1000 B", "C5"}, [&] { small->setUp(); });
  const Ref<LayerPlan> shapeless = makeRef<LayerPlan>(c.make(world()), 8);
  expectError(TENON_ERR_STATE, {"shape"}, [&] { shapeless->setUp(); });
}

} // namespace
} // namespace tenon::test
