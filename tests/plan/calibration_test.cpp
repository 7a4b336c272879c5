// SPDX-License-Identifier: BSD-2-Clause
// Rates that were planted are found again.
#include "comm/agreement.hpp"
#include "plan/calibration.hpp"

#include "planned_network.hpp"
#include "sys/log.hpp"

namespace tenon::test {
namespace {

OwnRates someRates() {
  OwnRates rates;
  rates.links = {.latency = 1e-6, .bandwidth = 1e9};
  rates.flops = 1e10;
  return rates;
}

TEST(Calibration, FindsPlantedRates) {
  std::vector<MeasuredPhase> phases;
  for (double size : {1e3, 5e4, 2e6}) {
    phases.push_back({.flops = size, .seconds = size / 3e9});
    phases.push_back(
        {.rounds = 2, .bytes = size, .rest = 1e-7, .seconds = 2 * 4e-6 + size / 7e8 + 1e-7});
  }
  const OwnRates found = fittedRates(phases, someRates());
  EXPECT_NEAR(found.flops, 3e9, 1);
  EXPECT_NEAR(found.links.latency, 4e-6, 1e-15);
  EXPECT_NEAR(found.links.bandwidth, 7e8, 1);
}

TEST(Calibration, KeepsRatesOfWhichNothingWasMeasured) {
  const OwnRates none = fittedRates({{.flops = 1, .seconds = 0}}, someRates());
  EXPECT_EQ(none.flops, 1e10);
  EXPECT_EQ(none.links.latency, 1e-6);
  EXPECT_EQ(none.links.bandwidth, 1e9);
  const OwnRates kernels = fittedRates({{.flops = 4, .seconds = 2}}, someRates());
  EXPECT_EQ(kernels.flops, 2);
  EXPECT_EQ(kernels.links.bandwidth, 1e9);
}

// Where the best fit would be negative, one of the two explains all: here a longer message that is faster.
TEST(Calibration, IsNeverNegative) {
  const OwnRates found = fittedRates(
      {{.rounds = 1, .bytes = 10, .seconds = 2}, {.rounds = 1, .bytes = 1000, .seconds = 1}},
      someRates());
  EXPECT_GT(found.links.latency, 0);
  EXPECT_EQ(found.links.bandwidth, 1e9);
  const OwnRates steep = fittedRates(
      {{.rounds = 1, .bytes = 10, .seconds = 1}, {.rounds = 1, .bytes = 1000, .seconds = 1000}},
      someRates());
  EXPECT_EQ(steep.links.latency, 0);
  EXPECT_GT(steep.links.bandwidth, 0);
}

// Every rank gets the same rates, and a second search takes them.
TEST(Calibration, OfARunIsTheSameOnAllRanks) {
  const NetworkCase c = networkCases()[2];
  const Ref<LayerPlan> plan = planOf(c, world());
  plan->setUp();
  logEnable(true);
  trained(plan->layer(), world(), plan->inputLayout(), 4);
  logEnable(false);
  const OwnRates rates = plan->calibrated();
  agreeOnText(*world(), "rates",
              fmt::format("{} {} {}", rates.links.latency, rates.links.bandwidth, rates.flops));
  EXPECT_GT(rates.flops, 0);
  const Ref<LayerPlan> again = planOf(c, world());
  again->setLink(rates.links.latency, rates.links.bandwidth);
  again->setFlops(rates.flops);
  EXPECT_GT(again->search().seconds, 0);
}

} // namespace
} // namespace tenon::test
