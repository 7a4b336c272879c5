// SPDX-License-Identifier: BSD-2-Clause
// Tests plans in which several convolutions share a halo exchange. The groups are chosen if latency
// dominates; results are those of the plan in which each convolution exchanges its own halo, with
// fewer messages, and as many as the plan predicts.
#include "planned_network.hpp"

#include "sys/expect_error.hpp"
#include "sys/log/log.hpp"

#include <cstdio>

namespace tenon::test {
namespace {

constexpr int kLayers = 3;
constexpr Index kChannels = 2;

Layout rows() {
  return Layout({.shape = {1, kChannels, 48, 12},
                 .grid = Grid::make({world()->size(), 1}),
                 .properties = parseProperties("S2,S3")});
}

Ref<Layer> closure() {
  const Ref<Layer> network = newNetwork(world(), "sequential");
  for (int layer = 0; layer < kLayers; ++layer) {
    add(*network, conv2d(world(), kChannels, kChannels, 3, 1), fmt::format("conv{}", layer));
    add(*network, newPointwise(world(), "tanh"), fmt::format("tanh{}", layer));
  }
  return network;
}

// A plan in which all convolutions have the layout of rows(), on links of this latency.
Ref<LayerPlan> planOfClosure(Index depth, double latency) {
  const auto plan = makeRef<LayerPlan>(closure(), 1);
  plan->setInput(rows());
  plan->setOutput(rows());
  for (int layer = 0; layer < kLayers; ++layer)
    plan->fix(fmt::format("conv{}", layer), world()->size() > 1 ? "input:h" : "input:all");
  plan->set("link_latency", latency);
  plan->set("flop_rate", 1e9);
  plan->set("halo_depth", depth);
  // Sums of gradients are made when they are requested, and not counted here.
  plan->set("gradient_bucket", Index(0));
  return plan;
}

// The results of a training step on this rank, and the messages that it sent.
struct StepResults {
  std::vector<double> values;
  Index messages = 0;
};

StepResults stepOf(LayerPlan& plan) {
  const PlannedTensors run(plan);
  const Ref<DTensor> dx = run.made(run.x->layout().dual());
  StepResults results;
  logReset();
  logEnable(true);
  run.network.apply(*run.x, *run.y);
  run.network.applyAdjoint(*run.dy, dx.get());
  logEnable(false);
  // Only the layers' own events are counted; other events contain them or are within them.
  for (const EventRecord& record : logSnapshot())
    if (record.event.starts_with("conv"))
      results.messages += record.messages;
  for (const DTensor* tensor : {run.y.get(), dx.get()}) {
    const HostView<const double> cells(*tensor);
    results.values.insert(results.values.end(), &cells[0], &cells[0] + tensor->localElements());
  }
  return results;
}

TEST(PlanHalo, IsSharedWhereLatencyIsWhatTakesTime) {
  const Ref<LayerPlan> each = planOfClosure(1, 1e-3), all = planOfClosure(kLayers, 1e-3),
                       pairs = planOfClosure(2, 1e-3), none = planOfClosure(kLayers, 1e-12);
  const StepResults want = stepOf(*each), got = stepOf(*all);
  if (world()->size() == 1) {
    EXPECT_TRUE(all->found().shared.empty()) << all->describe();
    return;
  }
  EXPECT_EQ(all->found().shared, std::vector<std::string>({"conv1", "conv2"})) << all->describe();
  EXPECT_EQ(pairs->search().shared, std::vector<std::string>({"conv1"}));
  EXPECT_TRUE(none->search().shared.empty()) << none->describe();
  EXPECT_NE(all->describe().find("halos are computed by the layers before"), std::string::npos);
  // Each omitted exchange saves its latency of 1 ms in Apply and in the adjoint, less the time of
  // the elements that are computed twice.
  EXPECT_GT(all->found().sharedSeconds, 2 * (kLayers - 1) * 0.9e-3);
  EXPECT_NEAR(all->found().seconds, each->found().seconds - all->found().sharedSeconds,
              1e-9 * each->found().seconds);
  EXPECT_EQ(want.messages, kLayers * got.messages);
  ASSERT_EQ(got.values.size(), want.values.size());
  for (std::size_t i = 0; i < want.values.size(); ++i)
    ASSERT_NEAR(got.values[i], want.values[i], 1e-12 * (1 + std::abs(want.values[i])));
  Index predicted = 0;
  for (const LayerCost& cost : all->costs(world()->rank(), /*inputCotangent=*/true))
    predicted += cost[static_cast<int>(Phase::ApplyMove)].messages +
                 cost[static_cast<int>(Phase::AdjointMove)].messages;
  EXPECT_EQ(predicted, got.messages);
}

TEST(PlanHalo, IsInAPlanFile) {
  const std::string path = fmt::format("sharing_plan.{}.json", world()->size());
  const Ref<LayerPlan> saved = planOfClosure(kLayers, 1e-3), loaded = planOfClosure(kLayers, 1e-3);
  const StepResults want = stepOf(*saved);
  saved->save(path);
  loaded->load(path);
  EXPECT_EQ(loaded->found().shared, saved->found().shared);
  EXPECT_EQ(stepOf(*loaded).values, want.values);
  if (world()->rank() == 0) // only rank 0 has read the file
    std::remove(path.c_str());
}

TEST(PlanHalo, IsThePlansToChoose) {
  const Ref<Layer> network = closure();
  network->set("halo_depth", Index(2));
  const auto plan = makeRef<LayerPlan>(network, 1);
  plan->setInput(rows());
  expectError(TENON_ERR_SUPPORT, {"halo_depth of the plan"}, [&] { plan->search(); });
  const Ref<LayerPlan> both = planOfClosure(2, 1e-3);
  both->set("overlap_share", 0.5);
  expectError(TENON_ERR_ARG, {"overlap_share"}, [&] { both->search(); });
}

} // namespace
} // namespace tenon::test
