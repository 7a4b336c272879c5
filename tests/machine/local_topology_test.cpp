// SPDX-License-Identifier: BSD-2-Clause
// Tests the topology of this computer, from hwloc, and the places of processes on synthetic
// computers that hwloc describes by a text such as "package:2 numa:2 l3:1 core:4 pu:2".
#include "machine/local_topology.hpp"

#include "sys/errors/error.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tenon;

TEST(LocalTopology, KnowsThisComputer) {
  const LocalTopology topology;
  EXPECT_EQ(LocalTopology::levels().size(), topology.ownPlace().size());
  const JoinedPlaces local = localMachine(topology);
  EXPECT_EQ("core", local.machine.levels().back().name);
  EXPECT_EQ(static_cast<Index>(topology.corePlaces().size()), local.machine.devices());
}

#ifdef TENON_HAS_HWLOC

const char* kTwoSockets = "package:2 numa:2 l3:1 core:4 pu:2";

TEST(LocalTopology, FindsTheUnitsThatAProcessIsBoundTo) {
  using Place = std::vector<Index>;
  EXPECT_EQ((Place{0, 0, 0, 1}), LocalTopology(kTwoSockets, 2, 3).ownPlace());
  EXPECT_EQ((Place{1, 3, 3, 12}), LocalTopology(kTwoSockets, 25, 25).ownPlace());
  EXPECT_EQ((Place{0, 1, 1, kNoUnit}), LocalTopology(kTwoSockets, 9, 10).ownPlace());
  EXPECT_EQ((Place{1, kNoUnit, kNoUnit, kNoUnit}), LocalTopology(kTwoSockets, 16, 31).ownPlace());
  EXPECT_EQ((Place(4, kNoUnit)), LocalTopology(kTwoSockets, 0, 31).ownPlace());
}

TEST(LocalTopology, IsAMachineOfCores) {
  const auto local = localMachine(LocalTopology(kTwoSockets, 0, 31));
  EXPECT_EQ((std::vector<Level>{{"package", 2}, {"numa", 2}, {"core", 4}}), local.machine.levels());
  EXPECT_TRUE(local.notes.empty());
}

// A kind of unit that a computer does not have joins nothing.
TEST(LocalTopology, NeedsNoCaches) {
  const LocalTopology plain("package:1 core:3 pu:1", 1, 1);
  EXPECT_EQ((std::vector<Index>{0, 0, 0, 1}), plain.ownPlace());
  EXPECT_EQ((std::vector<Level>{{"core", 3}}), localMachine(plain).machine.levels());
}

TEST(LocalTopology, RefusesNonsense) {
  EXPECT_THROW(LocalTopology("no computer", 0, 0), Error);
}

#endif

} // namespace
