// SPDX-License-Identifier: BSD-2-Clause
// Tests the texts of a plan: the view names every layer, and the report has as many measured
// messages as predicted ones. The log uses a simulated clock.
#include "planned_network.hpp"

#include "sys/expect_error.hpp"
#include "sys/log/log.hpp"

#include <regex>

namespace tenon::test {
namespace {

TEST(PlanView, NamesEveryLayer) {
  const NetworkCase c = caseNamed("residual");
  const Ref<LayerPlan> plan = planOf(c, world());
  EXPECT_NE(plan->describe().find("not searched"), std::string::npos);
  plan->setUp();
  const std::string text = plan->describe();
  for (const char* path : {"first", "block1/inner/conv1", "block2/sum", "flatten", "last"})
    EXPECT_NE(text.find(std::string("  ") + path + ": "), std::string::npos) << text;
  EXPECT_EQ(text.find("next best") == std::string::npos, world()->size() == 1) << text;
}

// In simulated time: each call of the clock returns one microsecond more.
TEST(PlanReport, HasPredictedAndMeasuredMessages) {
  const NetworkCase c = caseNamed("lenet5");
  const Ref<LayerPlan> plan = planOf(c, world());
  if (world()->size() > 1)
    plan->fix("C1", forcedParallelization("hw"));
  plan->setUp();
  expectError(TENON_ERR_STATE, {"TenonLogEnable"}, [&] { plan->report(); });
  logEnable(true);
  setLogClock([] {
    static double now = 0;
    return now += 1e-6;
  });
  trained(plan->layer(), world(), plan->inputLayout(), 3);
  setLogClock(nullptr);
  logEnable(false);
  EXPECT_EQ(plan->measured().passes(), 3);
  const std::string text = plan->report();
  EXPECT_NE(text.find("3 steps"), std::string::npos) << text;
  const std::regex counts("([0-9]+) of ([0-9]+)");
  int compared = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), counts), end; match != end; ++match) {
    EXPECT_EQ((*match)[1], (*match)[2]) << text;
    ++compared;
  }
  EXPECT_EQ(compared > 0, world()->size() > 1) << text;
  EXPECT_NE(text.find("1. "), std::string::npos) << text;
}

// A function that runs in the same step as the convolution before it is measured as its own layer,
// as it is predicted.
TEST(PlanReport, CountsFunctionsForTheirOwnLayer) {
  const auto make = [](const CommPtr& comm) {
    Ref<Layer> network = newLayer(comm, "sequential");
    appendLayer(*network, newConv(comm, 1, 2, std::vector<Window>(2, {.kernel = 3})));
    appendLayer(*network, newPointwise(comm, "tanh"));
    network->setDataType(TENON_FLOAT64);
    return network;
  };
  const Ref<LayerPlan> plan = planOf({"functions", {8, 1, 12, 12}, make}, world());
  PlannedTensors at(*plan);
  logEnable(true);
  setLogClock([] {
    static double now = 0;
    return now += 1e-6;
  });
  at.network.apply(*at.x, *at.y);
  at.network.applyAdjoint(*at.dy, nullptr);
  setLogClock(nullptr);
  logEnable(false);
  for (const int node : {0, 1})
    EXPECT_GT(plan->measured().of(node, Phase::ApplyKernel).seconds, 0) << node;
}

} // namespace
} // namespace tenon::test
