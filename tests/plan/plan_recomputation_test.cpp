// SPDX-License-Identifier: BSD-2-Clause
// Plans under a limit that no plan fits which keeps all that its adjoint reads: layers compute
// again, with the same bits, and what the library holds was predicted.
#include "planned_network.hpp"

#include "sys/expect_error.hpp"
#include "sys/options/options.hpp"

#include <cstdio>

namespace tenon::test {
namespace {

constexpr int kBlocks = 8;
constexpr Index kChannels = 4;

// Convolutions with halos, each followed by a normalisation and a function that keeps its output.
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

// What a step of training leaves.
struct Left {
  std::vector<double> gradients, output;
  LayerPlan::Memory memory;
};

Left stepOf(LayerPlan& plan) {
  const PlannedTensors run(plan);
  Layer& network = run.network;
  Left left;
  // Twice, since the batch that is computed again must not be counted twice by running statistics.
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
    add(parameter->gradient(), left.gradients);
  network.setTraining(false); // by the running statistics
  network.apply(*run.x, *run.y);
  add(*run.y, left.output);
  left.memory = plan.memory();
  return left;
}

// With the parallelizations of the first, so that all sums have the same order.
Ref<LayerPlan> planWithin(double bytes, const LayerPlan& parallelizations) {
  const Ref<LayerPlan> plan = planOf(kCase, world());
  for (const PlannedLayer& layer : parallelizations.found().layers)
    plan->fix(layer.name, layer.labels);
  plan->set("memory_limit", static_cast<Index>(bytes));
  return plan;
}

class Recomputation : public testing::Test {
protected:
  void SetUp() override { options().set("-tenon_conversion_transport", "messages"); }
  void TearDown() override { options().set("-tenon_conversion_transport", "auto"); }
};

TEST_F(Recomputation, FitsWithTheSameBits) {
  const Ref<LayerPlan> free = planOf(kCase, world());
  const Left kept = stepOf(*free);
  for (double share : {0.2, 0.35}) {
    const double limit = free->found().bytes - share * double(kept.memory.saved);
    const Ref<LayerPlan> plan = planWithin(limit, *free);
    if (world()->size() == 1) { // a search of several plans, which every rank would make
      plan->set("recompute", false);
      expectError(TENON_ERR_MEMORY_LIMIT, {"What fits", "recompute true of the plan"},
                  [&] { plan->search(); });
      plan->set("recompute", true);
    }
    const Left again = stepOf(*plan);
    const FoundPlan& found = plan->found();
    EXPECT_FALSE(found.recomputed.empty());
    EXPECT_GT(found.recomputationSeconds, 0);
    EXPECT_GT(found.gap, 0);
    EXPECT_LE(found.bytes, limit);
    EXPECT_EQ(again.gradients, kept.gradients) << plan->describe();
    EXPECT_EQ(again.output, kept.output);
    EXPECT_LT(again.memory.saved + again.memory.shared, kept.memory.saved + kept.memory.shared);
    // What changes between the two is predicted to the byte but for what aligns values.
    const double fewer =
        double(kept.memory.saved + kept.memory.shared - again.memory.saved - again.memory.shared);
    EXPECT_NEAR(fewer, free->found().bytes - found.bytes, 0.02 * fewer) << plan->describe();
    EXPECT_NE(plan->describe().find("computed again for the adjoint"), std::string::npos);
  }
}

TEST_F(Recomputation, IsInAPlanFile) {
  const std::string path = fmt::format("recomputing_plan.{}.json", world()->size());
  const Ref<LayerPlan> free = planOf(kCase, world());
  const double others = bytesBesideArrays(unfolded(*kCase.make(world())).size()),
               limit = 0.8 * (free->search().bytes - others) + others;
  const Ref<LayerPlan> saved = planWithin(limit, *free), loaded = planWithin(limit, *free);
  const Left want = stepOf(*saved);
  saved->save(path);
  loaded->load(path);
  EXPECT_EQ(loaded->found().recomputed, saved->found().recomputed);
  const Left got = stepOf(*loaded);
  EXPECT_EQ(got.gradients, want.gradients);
  EXPECT_EQ(got.memory.saved, want.memory.saved);
  EXPECT_EQ(got.memory.shared, want.memory.shared);
  if (world()->rank() == 0) // which alone has read it
    std::remove(path.c_str());
}

TEST_F(Recomputation, SaysWhatItWouldNeed) {
  if (world()->size() > 1)
    GTEST_SKIP() << "a search, for one rank";
  const Ref<LayerPlan> plan = planOf(kCase, world());
  plan->set("memory_limit", static_cast<Index>(kOnceBytes));
  expectError(TENON_ERR_MEMORY_LIMIT, {"compute again for the adjoint what they wrote", "need"},
              [&] { plan->search(); });
}

} // namespace
} // namespace tenon::test
