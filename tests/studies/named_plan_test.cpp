// SPDX-License-Identifier: BSD-2-Clause
// Tests plans of networks by name (studies/named_plan.hpp), as the command `tenon plan
// network` makes them: settings and their errors, both cost models, alternatives within a memory
// limit, and the published costs. Times of T1 for AlexNet are those of an independent program.
#include "studies/named_plan.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

constexpr const char* kAlexNet = TENON_TEST_TABLES "/alexnet.json";

class NamedPlans : public testing::Test {
protected:
  Ref<NamedPlan> plan = makeRef<NamedPlan>(readNetworkSource(kAlexNet), 2048);

  void SetUp() override { plan->set("processes", Index(512)); }
  void refused(TenonErrorCode code, const char* why) {
    expectError(code, {why}, [&] { plan->search(); });
  }
  void refusedToSet(TenonErrorCode code, const char* name, SettingValue value) {
    expectError(code, {name}, [&] { plan->set(name, value); });
  }
};

TEST_F(NamedPlans, TakePinnedGridsAndObjectives) {
  plan->set("input_grid", "4x2:S2");
  plan->set("cost_model", "own");
  refused(TENON_ERR_LAYOUT, "S2"); // two axes, one property
  expectError(TENON_ERR_LAYOUT, {"X"}, [&] { plan->set("input_grid", "4x2:S2,X"); });
  refusedToSet(TENON_ERR_ARG, "input_grid", "4x2");
  refusedToSet(TENON_ERR_ARG, "input_grid", "4xtwo:S2,S3");
  plan->set("input_grid", "4x2:S2,S3");
  plan->set("output_grid", "4:S0");
  plan->set("processes", Index(8));
  refusedToSet(TENON_ERR_TYPE, "objective", "speed");
  plan->set("evaluate_every", Index(10));
  plan->set("objective", "inference");
  refused(TENON_ERR_ARG, "every 10 steps"); // inference has no steps
  plan->set("objective", "step");
  plan->set("placement", "auto");
  plan->set("fewer_processes", true);
  refusedToSet(TENON_ERR_ARG, "overlap_share", 1.5);
  plan->set("overlap_share", 0.5);
  expectError(TENON_ERR_STATE, {"TenonPlanSearch()"}, [&] { plan->found(); });
  const FoundPlan found = plan->search();
  EXPECT_EQ(found.grid->size(), 8);
  EXPECT_FALSE(found.spaceOutermost); // one level
  EXPECT_LE(found.overlapped.value(), found.seconds * (1 + 1e-12));
  plan->set("overlap_share", 0.0);
  const FoundPlan summed = plan->search();
  EXPECT_FALSE(summed.overlapped);
  // Every layer can have its parallelization of the plan as a fixed one.
  plan->fix("conv1", plan->layerNamed("conv1").labels);
  EXPECT_EQ(plan->search().seconds, summed.seconds);
  plan->fix("conv1", "input:k,k");
  refused(TENON_ERR_OPTION, "input:k,k");
}

TEST_F(NamedPlans, AreSearched) {
  const FoundPlan& found = plan->search();
  EXPECT_NEAR(found.seconds, 8.04016525e-3, 1e-11);
  EXPECT_NEAR(found.baselines.uniform.value().seconds, 12.786e-3, 1e-6);
  EXPECT_NEAR(found.baselines.batch.value().seconds, 81.402e-3, 1e-6);
  EXPECT_EQ(found.layers.size(), 8u);
  double bytes = 0;
  for (const PlannedLayer& layer : found.layers) {
    EXPECT_EQ(layer.parts.channels * layer.parts.space * layer.parts.batch, 512)
        << layer.name << " " << layer.labels;
    bytes += layer.bytes;
  }
  EXPECT_NEAR(bytes, found.bytes, 1e-6 * bytes);
  EXPECT_EQ(found.gap, 0);
}

TEST_F(NamedPlans, FixAParallelization) {
  plan->fix("conv1", "n6,o3");
  EXPECT_GT(plan->search().seconds, 8.05e-3);
  EXPECT_EQ(plan->layerNamed("conv1").labels, "n6,o3");
  EXPECT_EQ(plan->layerNamed("conv1").runnerUp, "");
  EXPECT_EQ(plan->layerNamed("conv1").runnerUpSeconds, 0);
}

TEST_F(NamedPlans, ASettingDiscardsThePlan) {
  plan->search();
  plan->set("input_channels", true);
  expectError(TENON_ERR_STATE, {"not searched"}, [&] { plan->found(); });
  EXPECT_LT(plan->search().seconds, 6.78e-3);
  plan->set("link_latency", 0.0);
  plan->set("link_bandwidth", 12e9);
  EXPECT_LT(plan->search().seconds, 6.78e-3 / 2);
}

TEST_F(NamedPlans, TenonsOwnPrices) {
  plan->set("cost_model", "own");
  plan->set("processes", Index(32));
  refusedToSet(TENON_ERR_ARG, "flop_rate", 0.0);
  plan->set("flop_rate", 1e12);
  EXPECT_GE(plan->search().rounds, 1);
  const double flat = plan->search().seconds;
  refusedToSet(TENON_ERR_TYPE, "data_type", "int64");
  plan->set("data_type", "float64");
  EXPECT_GT(plan->search().seconds, flat);
  plan->set("data_type", "float32");
  refusedToSet(TENON_ERR_ARG, "memory_rate", -1.0);
  plan->set("memory_rate", 1e6);
  EXPECT_GT(plan->search().seconds, 100 * flat);
  plan->set("memory_rate", 1e10);
  plan->setMachine(Machine::make("cluster", {{"node", 4}, {"core", 8}},
                                 {{.name = "nic",
                                   .level = 0,
                                   .units = 1,
                                   .bandwidth = 1e9,
                                   .latency = 1e-5,
                                   .rules = {{LinkRule::Leaving}}}}));
  EXPECT_GT(plan->search().seconds, flat);
  plan->set("processes", Index(64));
  refused(TENON_ERR_SHAPE, "32 devices");
}

TEST_F(NamedPlans, SayWhatWouldFit) {
  plan = makeRef<NamedPlan>(readNetworkSource(TENON_TEST_NETWORKS "/lenet5.json"), 256);
  plan->set("input_shape", Shape{1, 28, 28});
  plan->set("cost_model", "own");
  plan->set("processes", Index(1));
  // Half of the samples need little more than half.
  const double others = bytesBesideArrays(12), own = plan->search().bytes - others;
  plan->set("memory_limit", static_cast<Index>(others + 0.7 * own));
  refused(TENON_ERR_MEMORY_LIMIT, "What fits: ");
  refused(TENON_ERR_MEMORY_LIMIT, "2 processes (");
  plan->set("processes", Index(2));
  EXPECT_LT(plan->search().bytes, others + 0.7 * own);
  plan->set("memory_limit", Index(1000));
  refused(TENON_ERR_MEMORY_LIMIT, "Nothing was found to fit with up to 32 processes, nor with");
}

TEST_F(NamedPlans, NetworksOfLayers) {
  plan = makeRef<NamedPlan>(readNetworkSource(TENON_TEST_NETWORKS "/lenet5.json"), 64);
  plan->set("processes", Index(4));
  refused(TENON_ERR_SUPPORT, "model t1 needs a network table");
  expectError(TENON_ERR_SUPPORT, {"a published equation needs a network table"}, [&] {
    plan->publishedSeconds("eq8", {2, 2}, {2, 2});
  });
  plan->set("cost_model", "own");
  refused(TENON_ERR_STATE, "input_shape");
  refusedToSet(TENON_ERR_ARG, "input_shape", Shape{1, 0, 28});
  plan->set("input_shape", Shape{1, 28, 28});
  EXPECT_EQ(plan->search().layers.size(), 5u);
}

TEST_F(NamedPlans, TablesHaveAnInputOfTheirOwn) {
  plan->set("input_shape", Shape{3, 227, 227});
  for (const Shape& other : {Shape{3, 64, 64}, Shape{3, 227}})
    expectError(TENON_ERR_SHAPE, {"has shape [3,227,227]"},
                [&] { plan->set("input_shape", other); });
}

// 2^31 - 1 ranks would take 8 GiB to list.
TEST_F(NamedPlans, PinnedGridsAreNoLargerThanThePlan) {
  refusedToSet(TENON_ERR_ARG, "input_grid", "4x0:S2,S3");
  refusedToSet(TENON_ERR_ARG, "output_grid", "2147483648:S0");
  plan->set("cost_model", "own");
  for (const char* grid : {"2147483647:S0", "2147483647x2147483647:S0,S1",
                           "2147483647x2147483647x2147483647:S0,S1,B"}) {
    plan->set("output_grid", grid);
    refused(TENON_ERR_SHAPE, "512 processes");
  }
}

TEST_F(NamedPlans, ThePublishedCosts) {
  EXPECT_NEAR(plan->publishedSeconds("eq8", {4, 128}, {4, 128}) * 1.2e6 / 2048, 17.527, 5e-4);
  EXPECT_NEAR(plan->publishedSeconds("eq8", {32, 16}, {1, 512}) * 1.2e6 / 2048, 5.479, 5e-4);
  expectError(TENON_ERR_ARG, {"eq99"}, [&] { plan->publishedSeconds("eq99", {4, 128}, {4, 128}); });
}

TEST_F(NamedPlans, ErrorsLeaveThePlanUsable) {
  refusedToSet(TENON_ERR_ARG, "processes", Index(0));
  refusedToSet(TENON_ERR_TYPE, "cost_model", "t2");
  refusedToSet(TENON_ERR_ARG, "link_latency", -1.0);
  refusedToSet(TENON_ERR_ARG, "link_bandwidth", 0.0);
  refusedToSet(TENON_ERR_ARG, "memory_limit", Index(-1));
  plan->set("memory_limit", Index(1000));
  refused(TENON_ERR_MEMORY_LIMIT, "memory limit");
  plan->set("memory_limit", Index(0));
  EXPECT_NEAR(plan->search().seconds, 8.04016525e-3, 1e-11);
  expectError(TENON_ERR_ARG, {"the plan has 8"}, [&] { plan->layerAt(8); });
  expectError(TENON_ERR_ARG, {"did you mean 'conv"}, [&] { plan->layerNamed("conv9"); });
  expectError(TENON_ERR_FILE, {"lenet6"}, [] { readNetworkSource("lenet6"); });
  expectError(TENON_ERR_ARG, {"batch is 0"},
              [] { makeRef<NamedPlan>(readNetworkSource(kAlexNet), 0); });
  plan->set("processes", Index(1) << 24);
  refused(TENON_ERR_SHAPE, "16777216 processes");
}

} // namespace
} // namespace tenon
