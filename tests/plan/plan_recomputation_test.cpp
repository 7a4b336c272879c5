// SPDX-License-Identifier: BSD-2-Clause
// Tests plans within a memory limit that no plan meets if all activations are saved: some layers
// compute their output again for the adjoint. Gradients and running statistics must be bitwise
// those of the plan that saves everything, and the memory that the library holds must be as
// predicted.
#include "planned_network.hpp"

#include "sys/expect_error.hpp"
#include "sys/options/options.hpp"

#include <cstdio>

namespace tenon::test {
namespace {

constexpr int kBlocks = 8;
constexpr Index kChannels = 4;

// Convolutions with halos, each followed by a normalisation and a function that saves its output.
Ref<Layer> blocks(const CommPtr& comm) {
  const Ref<Layer> network = newNetwork(comm, "sequential");
  const Window around{.kernel = 3, .padLow = 1, .padHigh = 1};
  for (int block = 0; block < kBlocks; ++block) {
    add(*network,
        newConv(comm, block == 0 ? 2 : kChannels, kChannels, std::vector<Window>{around, around}),
        fmt::format("conv{}", block));
    const Ref<Layer> normalisation = newLayer(comm, "batchnorm");
    normalisation->set("channels", kChannels);
    add(*network, normalisation, fmt::format("norm{}", block));
    add(*network, newPointwise(comm, "tanh"), fmt::format("tanh{}", block));
  }
  return network;
}

const NetworkCase kCase = {"blocks", {2, 2, 64, 48}, blocks};

// The results of training steps on this rank, and the memory of the plan.
struct StepResults {
  std::vector<double> gradients, output;
  LayerPlan::Memory memory;
};

StepResults stepOf(LayerPlan& plan) {
  const PlannedTensors run(plan);
  Layer& network = run.network;
  StepResults results;
  // Two steps: a batch that is computed again must enter the running statistics only once.
  for (int step = 0; step < 2; ++step) {
    network.apply(*run.x, *run.y);
    network.applyAdjoint(*run.dy, nullptr);
  }
  const auto add = [](const DTensor& tensor, std::vector<double>& all) {
    const HostView<const double> cells(tensor);
    for (Index i = 0; i < tensor.localElements(); ++i)
      all.push_back(cells[i]);
  };
  for (const Ref<Parameter>& parameter : network.parameters())
    add(parameter->gradient(), results.gradients);
  network.setTraining(false); // now normalises by the running statistics
  network.apply(*run.x, *run.y);
  add(*run.y, results.output);
  results.memory = plan.memory();
  return results;
}

// A plan within a limit that has the parallelizations of another one: all sums then have the same
// order.
Ref<LayerPlan> planWithin(double bytes, const LayerPlan& parallelizations) {
  const Ref<LayerPlan> plan = planOf(kCase, world());
  for (const PlannedLayer& layer : parallelizations.found().layers)
    plan->fix(layer.name, layer.labels);
  plan->set("memory_limit", static_cast<Index>(bytes));
  return plan;
}

class RecomputationByMessages : public testing::Test {
protected:
  void SetUp() override { options().set("-tenon_conversion_transport", "messages"); }
  void TearDown() override { options().set("-tenon_conversion_transport", "auto"); }
};

TEST_F(RecomputationByMessages, FitsWithTheSameBits) {
  const Ref<LayerPlan> free = planOf(kCase, world());
  const StepResults saving = stepOf(*free);
  // Limits below the memory of the free plan by these shares of its saved activations.
  for (double share : {0.2, 0.35}) {
    const double limit = free->found().bytes - share * double(saving.memory.saved);
    const Ref<LayerPlan> plan = planWithin(limit, *free);
    if (world()->size() == 1) { // a search of several plans, which every rank would make
      plan->set("recompute", false);
      expectError(TENON_ERR_MEMORY_LIMIT, {"What fits", "recompute true of the plan"},
                  [&] { plan->search(); });
      plan->set("recompute", true);
    }
    const StepResults again = stepOf(*plan);
    const FoundPlan& found = plan->found();
    EXPECT_FALSE(found.recomputed.empty());
    EXPECT_GT(found.recomputationSeconds, 0);
    EXPECT_GT(found.gap, 0);
    EXPECT_LE(found.bytes, limit);
    EXPECT_EQ(again.gradients, saving.gradients) << plan->describe();
    EXPECT_EQ(again.output, saving.output);
    EXPECT_LT(again.memory.saved + again.memory.shared, saving.memory.saved + saving.memory.shared);
    // The difference between the two plans is predicted exactly, except for alignment.
    const double fewer = double(saving.memory.saved + saving.memory.shared - again.memory.saved -
                                again.memory.shared);
    EXPECT_NEAR(fewer, free->found().bytes - found.bytes, 0.02 * fewer) << plan->describe();
    EXPECT_NE(plan->describe().find("computed again for the adjoint"), std::string::npos);
  }
}

TEST_F(RecomputationByMessages, IsInAPlanFile) {
  const std::string path = fmt::format("recomputing_plan.{}.json", world()->size());
  const Ref<LayerPlan> free = planOf(kCase, world());
  const double others = bytesBesideArrays(unfolded(*kCase.make(world())).size()),
               limit = 0.8 * (free->search().bytes - others) + others;
  const Ref<LayerPlan> saved = planWithin(limit, *free), loaded = planWithin(limit, *free);
  const StepResults want = stepOf(*saved);
  saved->save(path);
  loaded->load(path);
  EXPECT_EQ(loaded->found().recomputed, saved->found().recomputed);
  const StepResults got = stepOf(*loaded);
  EXPECT_EQ(got.gradients, want.gradients);
  EXPECT_EQ(got.memory.saved, want.memory.saved);
  EXPECT_EQ(got.memory.shared, want.memory.shared);
  if (world()->rank() == 0) // only rank 0 has read the file
    std::remove(path.c_str());
}

TEST_F(RecomputationByMessages, SaysWhatItWouldNeed) {
  if (world()->size() > 1)
    GTEST_SKIP() << "a search, for one rank";
  const Ref<LayerPlan> plan = planOf(kCase, world());
  plan->set("memory_limit", static_cast<Index>(kOnceBytes));
  expectError(TENON_ERR_MEMORY_LIMIT, {"compute again for the adjoint what they wrote", "need"},
              [&] { plan->search(); });
}

} // namespace
} // namespace tenon::test
