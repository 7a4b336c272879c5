// SPDX-License-Identifier: BSD-2-Clause
// Tests the memory of planned networks. From the second training step on nothing is allocated,
// neither counted buffers nor memory of the global operator new, which this program replaces and
// counts. The memory that a plan reports is what the library holds, and the memory that a plan
// predicts is at most 10 % above it.
#include "planned_network.hpp"

#include "support/count_allocations.hpp"
#include "sys/memory/memory.hpp"
#include "sys/options/options.hpp"
#include "sys/text/view.hpp"

namespace tenon::test {
namespace {

class PlanAllocation : public testing::TestWithParam<NetworkCase> {};

TEST_P(PlanAllocation, IsZeroFromTheSecondStepOn) {
  const NetworkCase& c = GetParam();
  const Index high = memoryHighWater(), aliveBefore = bytesAlive(),
              scratchBefore = contextOf(world())->scratchBytes();
  PlannedSteps steps(c);
  const Layer& network = steps.network;
  steps.step();
  const long before = allocations;
  const Index alive = bytesAlive();
  steps.step();
  steps.step();
  EXPECT_EQ(allocations - before, 0) << network.describe();
  EXPECT_EQ(bytesAlive(), alive);

  // What the plan says that it holds is what the log's memory says.
  Index others = steps.x->arrayBytes() + steps.y->arrayBytes() + steps.dy->arrayBytes();
  for (const Ref<Parameter>& parameter : network.parameters())
    others += 2 * parameter->value().arrayBytes(); // the two states of Adam
  EXPECT_EQ(steps.plan->memory().total(), alive - aliveBefore - others + scratchBefore)
      << steps.plan->describe();
  EXPECT_EQ(memoryHighWater(), std::max(high, alive)) << "something was there in between";
  EXPECT_NE(steps.plan->describe().find(sizeText(steps.plan->memory().total())), std::string::npos);
}

// Options and settings on which the memory of a run depends.
struct Held {
  const char *transport = "auto", *overlaps = "true", *storage = "use", *reduction = "auto";
  Index depth = 1;
  bool frozen = false; // whether the first half of the network's layers is frozen

  // The network in a container with these settings.
  NetworkCase caseOf(const NetworkCase& c) const {
    return {c.name, c.input, [this, c](const CommPtr& comm) {
              const Ref<Layer> outer = newNetwork(comm, "sequential"), network = c.make(comm);
              outer->setDataType(network->dataType());
              outer->setText("storage", storage);
              outer->setStackDepth(depth);
              add(*outer, network, "network");
              const std::vector<Layer*>& layers = network->children();
              for (std::size_t i = 0; frozen && 2 * i < layers.size(); ++i)
                layers[i]->setFrozen(true);
              return outer;
            }};
  }
};

// The predicted bytes, without those for other libraries, are at least the bytes that a run holds,
// with messages and with shared memory of the node, with sums by a program, and with settings that
// containers pass on.
TEST_P(PlanAllocation, IsPredicted) {
  constexpr const char* kProgram = "(0, InsideGroup, ReduceScatter), (0, InsideGroup, AllGather)";
  for (const Held& held :
       {Held{.transport = "messages"}, Held{}, Held{.reduction = kProgram},
        Held{.overlaps = "false", .storage = "sharded", .depth = 3}, Held{.frozen = true}}) {
    const char* const transport = held.transport;
    options().set("-tenon_conversion_transport", transport);
    options().set("-tenon_overlap_steps", held.overlaps);
    options().set("-tenon_reduction", held.reduction);
    const Index aliveBefore = bytesAlive(), scratchBefore = contextOf(world())->scratchBytes();
    ASSERT_EQ(scratchBefore, 0) << "scratch of another network";
    const PlannedSteps steps(held.caseOf(GetParam()));
    for (int step = 0; step < 2; ++step) {
      steps.network.apply(*steps.x, *steps.y);
      steps.network.applyAdjoint(*steps.dy, nullptr);
      steps.optimizer->step();
    }
    const auto bytes = double(bytesAlive() - aliveBefore);
    const double predicted =
        steps.plan->found().bytes - bytesBesideArrays(steps.plan->nodes().size());
    const std::string with = fmt::format("{} {} {}\n", transport, held.depth, held.reduction);
    EXPECT_GE(predicted, bytes) << with << steps.plan->describe();
    EXPECT_LE(predicted, 1.1 * bytes) << with << steps.plan->describe();
  }
  options().set("-tenon_reduction", "auto");
  options().set("-tenon_overlap_steps", "true");
  options().set("-tenon_conversion_transport", "auto");
}

// A plan for inference predicts, and its set-up allocates, no memory for an adjoint.
TEST_P(PlanAllocation, IsPredictedForInference) {
  const Index aliveBefore = bytesAlive();
  const Ref<LayerPlan> plan = planOf(GetParam(), world());
  plan->set("objective", std::string("inference"));
  const PlannedTensors tensors(*plan);
  tensors.network.setTraining(false);
  for (int step = 0; step < 2; ++step)
    tensors.network.apply(*tensors.x, *tensors.y);
  const auto bytes = double(bytesAlive() - aliveBefore - tensors.dy->arrayBytes());
  const double predicted = plan->found().bytes - bytesBesideArrays(plan->nodes().size());
  EXPECT_GE(predicted, bytes) << plan->describe();
  EXPECT_LE(predicted, 1.1 * bytes) << plan->describe();
  // It can still be trained: the first Apply that records allocates what the adjoint reads.
  tensors.network.setTraining(true);
  tensors.network.apply(*tensors.x, *tensors.y);
  tensors.network.applyAdjoint(*tensors.dy, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Networks, PlanAllocation, testing::ValuesIn(networkCases()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace tenon::test
