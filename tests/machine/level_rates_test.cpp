// SPDX-License-Identifier: BSD-2-Clause
// Tests the rates of each level of a machine (ratesOf()) against values computed by hand from the
// links of the machine.
#include "machine/link.hpp"

#include "machine/machine_file.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

const LinkRates kBase{.latency = 10, .overhead = 1, .bandwidth = 4, .copyBandwidth = 8};

TEST(LevelRates, AreThoseOfTheLinksOnTheWay) {
  const Machine machine = Machine::make("m", {{"node", 2}, {"socket", 2}, {"core", 4}},
                                        {{.name = "port",
                                          .level = 2,
                                          .units = 1,
                                          .bandwidth = 10,
                                          .latency = 1,
                                          .rules = {{LinkRule::Touching}}},
                                         {.name = "bus",
                                          .level = 1,
                                          .units = 1,
                                          .bandwidth = 8,
                                          .latency = 2,
                                          .rules = {{LinkRule::Leaving}}},
                                         {.name = "NIC",
                                          .level = 0,
                                          .units = 1,
                                          .bandwidth = 4,
                                          .latency = 3,
                                          .rules = {{LinkRule::Leaving}}}});
  const LinkRates rates = ratesOf(machine, kBase);
  // {ranks in a unit, latency, bandwidth}. A core has a quarter of its socket's bus and an eighth
  // of its node's NIC.
  const std::vector<LevelRates> expected = {{8, 3, 0.5}, {4, 2, 2}};
  EXPECT_EQ(rates.levels, expected);
  EXPECT_EQ(rates.latency, 1);
  EXPECT_EQ(rates.bandwidth, 10);
  EXPECT_EQ(rates.overhead, kBase.overhead);
  EXPECT_EQ(rates.copyBandwidth, kBase.copyBandwidth);
  EXPECT_EQ(rates.levelBetween(3, 2), 2u);
  EXPECT_EQ(rates.levelBetween(3, 4), 1u);
  EXPECT_EQ(rates.levelBetween(7, 8), 0u);
  EXPECT_EQ(rates.onLevel(0).bandwidth, 0.5);
  EXPECT_EQ(rates.onLevel(2).bandwidth, 10);
  EXPECT_TRUE(rates.onLevel(1).levels.empty());
}

TEST(LevelRates, AreTheBasesWhereNoLinkIsDescribed) {
  const LinkRates flat = ratesOf(Machine::make("m", {{"rank", 4}}), kBase);
  EXPECT_EQ(flat, kBase);
  const LinkRates two = ratesOf(Machine::make("m", {{"node", 3}, {"rank", 4}}), kBase);
  EXPECT_EQ(two.levels, (std::vector<LevelRates>{{4, kBase.latency, kBase.bandwidth}}));
}

TEST(LevelRates, ALevelOfOneUnitIsNotCrossed) {
  const Machine machine = Machine::make("m", {{"node", 4}, {"core", 1}},
                                        {{.name = "NIC",
                                          .level = 0,
                                          .units = 1,
                                          .bandwidth = 4,
                                          .latency = 3,
                                          .rules = {{LinkRule::Leaving}}}});
  const LinkRates rates = ratesOf(machine, kBase);
  EXPECT_TRUE(rates.levels.empty());
  EXPECT_EQ(rates.latency, 3);
  EXPECT_EQ(rates.bandwidth, 4);
}

TEST(LevelRates, TheInstalledDescriptionsAreSlowerOutside) {
  for (const char* name : {"a100x16", "cluster4"}) {
    const LinkRates rates =
        ratesOf(readMachine(std::string(TENON_TEST_MACHINES "/") + name + ".json"), kBase);
    double inside = rates.bandwidth;
    for (std::size_t level = rates.levels.size(); level-- > 0;) {
      EXPECT_LT(rates.levels[level].bandwidth, inside) << name;
      inside = rates.levels[level].bandwidth;
    }
    EXPECT_FALSE(rates.levels.empty());
  }
}

} // namespace
} // namespace tenon
