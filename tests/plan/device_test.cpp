// SPDX-License-Identifier: BSD-2-Clause
// Tests planned networks on the device: losses of training are those of one process on the host
// without a plan, no memory is allocated from the second step on, and a machine measured for the
// device is refused for a network on the host.
#include "planned_network.hpp"

#include "sys/expect_error.hpp"
#include "sys/memory/memory.hpp"

namespace tenon::test {
namespace {

constexpr int kSteps = 3;

NetworkCase onDevice(const NetworkCase& host) {
  NetworkCase there = host;
  there.make = [make = host.make](const CommPtr& comm) {
    const Ref<Layer> network = make(comm);
    network->setSpace(Space::Device);
    return network;
  };
  return there;
}

class PlannedOnDevice : public testing::TestWithParam<NetworkCase> {};

TEST_P(PlannedOnDevice, TrainsLikeOneProcessOfTheHost) {
  const NetworkCase& host = GetParam();
  const Ref<LayerPlan> plan = planOf(onDevice(host), world());
  plan->setUp();
  const std::vector<double> want = trainedAlone(host, kSteps),
                            got = trained(plan->layer(), world(), plan->inputLayout(), kSteps);
  if (got.empty())
    return; // a rank without a copy of the loss
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t step = 0; step < want.size(); ++step)
    EXPECT_NEAR(got[step], want[step], 1e-10) << step << "\n" << plan->layer().describe();
}

TEST_P(PlannedOnDevice, TakesNoMemoryFromTheSecondStepOn) {
  PlannedSteps steps(onDevice(GetParam()));
  steps.step();
  const Index before = buffersTaken(Space::Device);
  steps.step();
  steps.step();
  EXPECT_EQ(buffersTaken(Space::Device), before) << steps.network.describe();
}

// A machine with rates of device arrays is only for networks on the device. The rates are given
// here, since the device of these tests is too slow to measure them.
TEST(DevicePlan, TakesAMachineOfTheDevice) {
  const NetworkCase lenet = networkCases().front();
  const Machine machine = Machine::make("gpus", {{"device", world()->size()}})
                              .ratedBy({.overhead = 1e-5,
                                        .copyBandwidth = 1e12,
                                        .kernels = KernelRates::ofDevice(),
                                        .space = Space::Device});
  const Ref<LayerPlan> host = planOf(lenet, world());
  host->setMachine(machine);
  expectError(TENON_ERR_ARG, {"arrays on the device", "network is on the host"},
              [&] { host->setUp(); });
  const Ref<LayerPlan> plan = planOf(onDevice(lenet), world());
  plan->setMachine(machine);
  plan->setUp();
  EXPECT_GT(plan->found().seconds, 0);
}

INSTANTIATE_TEST_SUITE_P(Networks, PlannedOnDevice, testing::ValuesIn(networkCases()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace tenon::test
