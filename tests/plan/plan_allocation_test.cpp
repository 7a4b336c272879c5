// SPDX-License-Identifier: BSD-2-Clause
// From the second step of training on, a planned network allocates nothing: neither counted buffers nor
// anything by the global operator new, which this program counts.
#include "planned_network.hpp"

#include "support/count_allocations.hpp"
#include "sys/memory/memory.hpp"
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
    others += 2 * parameter->value().arrayBytes(); // of Adam
  EXPECT_EQ(steps.plan->memory().total(), alive - aliveBefore - others + scratchBefore)
      << steps.plan->describe();
  EXPECT_EQ(memoryHighWater(), std::max(high, alive)) << "something was there in between";
  // The plan has predicted at least as much.
  EXPECT_GE(steps.plan->found().bytes, double(steps.plan->memory().total() + others))
      << steps.plan->describe();
  EXPECT_NE(steps.plan->describe().find(sizeText(steps.plan->memory().total())), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Networks, PlanAllocation, testing::ValuesIn(networkCases()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace tenon::test
