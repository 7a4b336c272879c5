// SPDX-License-Identifier: BSD-2-Clause
// Tests that all ranks use the plan that one rank has searched, which they receive as text, without
// computing prices. Each rank here also searches itself and sets up a second network by hand from
// the result: layouts and losses must be bitwise equal.
#include "planned_network.hpp"

#include "sys/log/log.hpp"
#include "sys/options/options.hpp"

#include <filesystem>

namespace tenon::test {
namespace {

class SharedPlan : public testing::TestWithParam<NetworkCase> {};

// A plan whose input and output have the layout of a solver's field, or one without fixed layouts.
Ref<LayerPlan> sharedPlan(const NetworkCase& c, bool fromField) {
  const Ref<LayerPlan> plan = planOf(c, world());
  if (fromField) {
    plan->setInput(unevenField(c.input));
    plan->setOutput(unevenField(outputShapeOf(c)));
  }
  return plan;
}

void expectSame(const FoundPlan& got, const FoundPlan& want) {
  EXPECT_TRUE(*got.grid == *want.grid);
  EXPECT_EQ(got.spaceOutermost, want.spaceOutermost);
  EXPECT_EQ(got.seconds, want.seconds);
  EXPECT_EQ(got.bytes, want.bytes);
  ASSERT_EQ(got.layers.size(), want.layers.size());
  for (std::size_t l = 0; l < got.layers.size(); ++l) {
    const PlannedLayer &one = got.layers[l], &other = want.layers[l];
    EXPECT_EQ(one.name, other.name);
    EXPECT_EQ(one.labels, other.labels) << one.name;
    EXPECT_EQ(one.signature, other.signature) << one.name;
    EXPECT_EQ(one.uses, other.uses) << one.name;
    EXPECT_EQ(one.parts.spatial, other.parts.spatial) << one.name;
    EXPECT_EQ(one.bytes, other.bytes) << one.name;
    EXPECT_EQ(one.runnerUp, other.runnerUp) << one.name;
    EXPECT_EQ(one.runnerUpSeconds, other.runnerUpSeconds) << one.name;
  }
}

// Every rank searches and sets a network up by hand with the signatures and layouts of the result,
// without the plan's text.
TEST_P(SharedPlan, IsTheOneThatWasSearched) {
  const NetworkCase& c = GetParam();
  for (bool fromField : {false, true}) {
    const Ref<LayerPlan> plan = sharedPlan(c, fromField), alone = sharedPlan(c, fromField);
    // Without a plan there are no buckets of gradients, whose sums are rounded differently.
    for (const Ref<LayerPlan>& one : {plan, alone})
      one->set("gradient_bucket", Index(0));
    const FoundPlan searched = alone->search();
    plan->setUp();
    expectSame(plan->found(), searched);

    const Ref<Layer> byHand = c.make(world());
    Assignment assignment{.layers = {}, .output = plan->layer().outputLayout()};
    for (const UnfoldedNode& node : unfolded(*byHand))
      for (const PlannedLayer& layer : searched.layers)
        if (layer.name == node.path)
          assignment.layers[node.layer] = {
              .labels = layer.signature, .uses = layer.uses, .cuts = {}};
    byHand->setAssignment(std::make_shared<const Assignment>(std::move(assignment)));
    byHand->setUp(plan->inputLayout());
    const std::vector<UnfoldedNode> planned = unfolded(plan->layer()), given = unfolded(*byHand);
    for (std::size_t n = 0; n < given.size(); ++n)
      EXPECT_EQ(planned[n].layer->outputLayout(), given[n].layer->outputLayout()) << given[n].path;
    EXPECT_EQ(trained(plan->layer(), world(), plan->inputLayout(), 2),
              trained(*byHand, world(), plan->inputLayout(), 2));
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, SharedPlan, testing::ValuesIn(networkCases()),
                         [](const auto& info) { return info.param.name; });

// The number of cost models that this rank has made.
Index pricesMade() {
  Index count = 0;
  for (const EventRecord& record : logSnapshot())
    if (record.event == "PlanPrices")
      count += record.count;
  return count;
}

TEST(LayerPlan, IsPricedOnOneRankAlone) {
  const NetworkCase c = caseNamed("residual");
  const std::string path = fmt::format("plan_sharing_test.{}.json", world()->size());
  const Ref<LayerPlan> plan = planOf(c, world()), loaded = planOf(c, world());
  logEnable(true);
  logReset();
  plan->setUp();
  EXPECT_EQ(pricesMade(), world()->rank() == 0 ? 1 : 0);
  plan->save(path);
  loaded->load(path);
  loaded->setUp();
  EXPECT_EQ(pricesMade(), world()->rank() == 0 ? 1 : 0);
  // Each rank that calls search() searches, and computes prices.
  planOf(c, world())->search();
  EXPECT_EQ(pricesMade(), world()->rank() == 0 ? 2 : 1);
  logEnable(false);
  MPI_Barrier(world()->mpi());
  if (world()->rank() == 0)
    std::filesystem::remove(path);
}

} // namespace
} // namespace tenon::test
