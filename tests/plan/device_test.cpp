// SPDX-License-Identifier: BSD-2-Clause
// Networks on the device that are set up by their plans: losses of training are those of one process of the host.
#include "planned_network.hpp"

namespace tenon::test {
namespace {

constexpr int kSteps = 3;

class PlannedOnDevice : public testing::TestWithParam<NetworkCase> {};

TEST_P(PlannedOnDevice, TrainsLikeOneProcessOfTheHost) {
  const NetworkCase& host = GetParam();
  NetworkCase there = host;
  there.make = [&](const CommPtr& comm) {
    const Ref<Layer> network = host.make(comm);
    network->setSpace(Space::Device);
    return network;
  };
  const Ref<LayerPlan> plan = planOf(there, world());
  plan->setUp();
  const std::vector<double> want = trainedAlone(host, kSteps),
                            got = trained(plan->layer(), world(), plan->inputLayout(), kSteps);
  if (got.empty())
    return; // a rank without a copy of the loss
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t step = 0; step < want.size(); ++step)
    EXPECT_NEAR(got[step], want[step], 1e-10) << step << "\n" << plan->layer().describe();
}

INSTANTIATE_TEST_SUITE_P(Networks, PlannedOnDevice, testing::ValuesIn(networkCases()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace tenon::test
