// SPDX-License-Identifier: BSD-2-Clause
// From the second step of training on, a planned network allocates nothing: neither counted buffers nor
// anything by the global operator new, which this program counts.
#include "planned_network.hpp"

#include "support/count_allocations.hpp"
#include "sys/memory.hpp"
#include "sys/view.hpp"

namespace tenon::test {
namespace {

class PlanAllocation : public testing::TestWithParam<NetworkCase> {};

TEST_P(PlanAllocation, IsZeroFromTheSecondStepOn) {
  const NetworkCase& c = GetParam();
  const Index high = memoryHighWater(), aliveBefore = bytesAlive(),
              scratchBefore = contextOf(world())->scratchBytes();
  const Ref<LayerPlan> plan = planOf(c, world());
  plan->setUp();
  Layer& network = plan->layer();
  network.initialize(kTrainingSeed, 0);
  const Layout output = network.outputLayout();
  DTensor x(world(), plan->inputLayout(), TENON_FLOAT64), y(world(), output, TENON_FLOAT64),
      dy(world(), output.dual(), TENON_FLOAT64);
  fillUniform(x, kTrainingSeed, 1, 0, 1);
  fillConstant(dy, 1e-3);
  const Ref<Optimizer> optimizer = makeOptimizer("adam", Ref<Layer>::share(&network));
  const auto step = [&] {
    network.apply(x, y);
    network.applyTangent(&x, y);
    network.applyAdjoint(dy, nullptr);
    optimizer->step();
  };
  step();
  const long before = allocations;
  const Index alive = bytesAlive();
  step();
  step();
  EXPECT_EQ(allocations - before, 0) << network.describe();
  EXPECT_EQ(bytesAlive(), alive);

  // What the plan says that it holds is what the log's memory says.
  Index others = x.arrayBytes() + y.arrayBytes() + dy.arrayBytes();
  for (const Ref<Parameter>& parameter : network.parameters())
    others += 2 * parameter->value().arrayBytes(); // of Adam
  EXPECT_EQ(plan->memory().total(), alive - aliveBefore - others + scratchBefore)
      << plan->describe();
  EXPECT_EQ(memoryHighWater(), std::max(high, alive)) << "something was there in between";
  EXPECT_NE(plan->describe().find(sizeText(plan->memory().total())), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Networks, PlanAllocation, testing::ValuesIn(networkCases()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace tenon::test
