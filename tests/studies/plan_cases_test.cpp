// SPDX-License-Identifier: BSD-2-Clause
// Compares plans under the cost model T1 with tests/data/plan_cases.json, which an independent
// program has written (dynamic programming over the same states, tests/data/README.md): least
// times, baselines, the plans themselves, and the fastest plans within memory limits. A found plan
// takes at most (1 + gap) times the least time: a gap of 0 says that the search has proved its plan
// to be the fastest.
#include "planner/search/plan_search.hpp"
#include "studies/t1_model.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace tenon {
namespace {

using nlohmann::json;

json cases(const char* part) {
  std::ifstream file(TENON_TEST_DATA "/plan_cases.json");
  return json::parse(file).at(part);
}

T1Model modelOf(const json& one, bool inputChannels = false) {
  // The latency of the file's plans in seconds, and the seconds for each byte.
  const T1Link link{.alpha = 2e-6, .beta = 1.0 / 6e9};
  return T1Model(
      readNetworkTable(TENON_TEST_TABLES "/" + one["network"].get<std::string>() + ".json"),
      one["batch"], FineGrid({one["processes"].get<Index>()}), link, inputChannels);
}

void expectClose(double value, double expected, const json& label) {
  EXPECT_NEAR(value, expected, 1e-9 * expected) << label;
}

void expectBaseline(const std::optional<Baseline>& baseline, const json& expected,
                    const json& label) {
  EXPECT_EQ(baseline.has_value(), !expected.is_null()) << label;
  if (baseline && !expected.is_null())
    expectClose(baseline->seconds, expected, label);
}

// The number of the parallelization with these parts of channels, space and batch.
int parallelizationOf(const CostModel& model, int layer, const std::vector<Index>& grid) {
  for (std::size_t parallelization = 0; parallelization < model.parallelizations().size();
       ++parallelization) {
    const Parts parts = model.parts(layer, static_cast<int>(parallelization));
    if (std::vector<Index>{parts.channels, parts.space, parts.batch} == grid)
      return static_cast<int>(parallelization);
  }
  ADD_FAILURE() << "no parallelization";
  return 0;
}

TEST(PlanCases, LeastTimesAndBaselines) {
  const json all = cases("plans");
  // Four networks on 8, 64 and 512 processes, with three batches for alexnet and two for others.
  ASSERT_EQ(all.size(), 27u);
  for (const json& one : all) {
    const T1Model model = modelOf(one);
    const FoundPlan found = findPlan(model);
    expectClose(found.seconds, one["time"], one);
    EXPECT_EQ(found.gap, 0);
    expectBaseline(found.baselines.uniform, one["uniform_time"], one);
    expectBaseline(found.baselines.batch, one["pure_batch_time"], one);
  }
}

TEST(PlanCases, CostsOfTheGivenPlans) {
  for (const json& one : cases("plans")) {
    const T1Model model = modelOf(one);
    std::vector<int> plan;
    for (int layer = 0; layer < model.layers(); ++layer) {
      plan.push_back(parallelizationOf(
          model, layer, one["plan"][model.names()[layer]].get<std::vector<Index>>()));
      EXPECT_EQ(model.fault(layer, plan.back()), "");
    }
    expectClose(secondsOf(model, plan), one["time"], one);
  }
}

// Every second layer is fixed to its parallelization in the given plan. The search must choose the
// others such that the time is again the least.
TEST(PlanCases, FixedToTheGivenPlanTheSearchFindsIt) {
  for (const json& one : cases("plans")) {
    const T1Model model = modelOf(one);
    FixedParallelizations fixed;
    for (int layer = 0; layer < model.layers(); layer += 2) {
      const auto grid = one["plan"][model.names()[layer]].get<std::vector<Index>>();
      fixed[model.names()[layer]] = textOf(
          model.parallelizations()[parallelizationOf(model, layer, grid)], model.spatial(layer));
    }
    expectClose(findPlan(model, {.fixed = fixed}).seconds, one["time"], one);
  }
}

TEST(PlanCases, FastestWithinALimitOfMemory) {
  for (const json& one : cases("within")) {
    const T1Model model = modelOf(one);
    for (const json& point : one["points"]) {
      const double limit = point[0], seconds = point[1];
      const FoundPlan found = findPlan(model, {.memoryLimit = limit});
      expectClose(found.seconds, seconds, one);
      EXPECT_LT(found.gap, 1e-9); // proved to the tolerance of expectClose()
      EXPECT_LE(found.bytes, limit * (1 + 1e-12));
    }
  }
}

// Here each layer can split its output channels, its input channels, or both. 12.96 ms is the best
// time without "both", which a separate program has found, so the search must find a shorter one.
// (grids_test.cpp compares chains with all grids.)
TEST(PlanCases, InputChannelsSaveTime) {
  const json one = {{"network", "resnet50"}, {"batch", 256}, {"processes", 512}};
  EXPECT_LT(findPlan(modelOf(one, true)).seconds, 12.96e-3);
}

} // namespace
} // namespace tenon
