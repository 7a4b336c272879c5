// SPDX-License-Identifier: BSD-2-Clause
// Tests the machine of a job. Each rank passes the node and place that the test chooses to
// joinJob(), so the expected levels and the order of devices are known for any number of ranks.
#include "comm/machine_object.hpp"

#include "machine/machine_file.hpp"
#include "support/world.hpp"
#include "sys/expect_error.hpp"
#include "sys/options/options.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace tenon {
namespace {

using test::world;
using Order = std::vector<Index>;

// A place: the package, NUMA node, L3 cache and core to which a rank is bound.
const std::vector<Index> kUnbound = {kNoUnit, kNoUnit, kNoUnit, kNoUnit};
std::vector<Index> onCore(Index core) {
  return {0, 0, 0, core};
}

int ranks() {
  return world()->size();
}

// Even ranks are on one node and odd ranks on the other, so the devices are the even ranks, then
// the odd ones. There is no level "node" if the nodes are unequal (an odd number of ranks), or if
// they have one rank each (2 ranks).
TEST(JobMachine, OrdersRanksByNode) {
  const int rank = world()->rank();
  const auto found = joinJob(*world(), "node" + std::to_string(rank % 2), kUnbound);
  Order order;
  for (int first : {0, 1})
    for (int r = first; r < ranks(); r += 2)
      order.push_back(r);
  std::vector<Level> levels{{"node", 2}, {"rank", ranks() / 2}};
  if (ranks() % 2 != 0 || ranks() == 2) {
    levels = {{"rank", ranks()}};
    std::iota(order.begin(), order.end(), 0);
  }
  EXPECT_EQ(levels, found.machine.levels());
  EXPECT_EQ(order, found.order);
}

TEST(JobMachine, SaysThatNodesAreUnequal) {
  if (ranks() < 3)
    return;
  const bool isAlone = world()->rank() == 0;
  const auto found = joinJob(*world(), isAlone ? "a" : "b", onCore(world()->rank()));
  EXPECT_EQ((std::vector<Level>{{"rank", ranks()}}), found.machine.levels());
  ASSERT_FALSE(found.notes.empty());
  EXPECT_EQ("level 'node' is left out: its units hold from 1 to " + std::to_string(ranks() - 1) +
                " ranks; start as many on each node to keep it (srun --ntasks-per-node=N, mpiexec "
                "--map-by ppr:N:node)",
            found.notes[0]);
}

// Only the last 64 bytes of a node's name are sent, where long names such as rack3-node0017 differ.
TEST(JobMachine, TellsLongNamesApart) {
  const std::string name = std::string(300, 'x') + std::to_string(world()->rank() / 2);
  const auto found = joinJob(*world(), name, onCore(0));
  if (ranks() % 2 == 0 && ranks() > 2) {
    EXPECT_EQ((std::vector<Level>{{"node", ranks() / 2}, {"rank", 2}}), found.machine.levels());
  }
}

// Without a machine file each rank has a link "port" of an assumed rate.
TEST(JobMachine, HasADeviceForEachRankOfThisJob) {
  const auto found = findJobMachine(*world());
  EXPECT_EQ(ranks(), found.machine.devices());
  EXPECT_EQ("port (assumed rate)", found.machine.links()[0].name);
  EXPECT_EQ("rank", found.machine.levels().back().name);
}

TEST(JobMachine, FromAFileIsResizedToTheRanks) {
  EXPECT_EQ(6, machineForRanks(TENON_TEST_MACHINES "/a100x16.json", 96).levels()[0].size);
  EXPECT_EQ(32, machineForRanks(TENON_TEST_MACHINES "/cpu2s.json", 32).devices());
  expectError(TENON_ERR_ARG, {"'a100x16'", "16 devices per node", "24 ranks"},
              [] { machineForRanks(TENON_TEST_MACHINES "/a100x16.json", 24); });
  expectError(TENON_ERR_ARG, {"'cpu2s' has 32 devices", "no level 'node'", "16 ranks"},
              [] { machineForRanks(TENON_TEST_MACHINES "/cpu2s.json", 16); });
}

// The file is missing on one rank only.
TEST(JobMachine, FailsWithTheSameErrorOnAllRanks) {
  const bool isLast = world()->rank() == ranks() - 1;
  options().set("-tenon_machine_file", isLast ? "./nowhere.json" : "");
  expectError(TENON_ERR_FILE, {"cannot read machine description './nowhere.json'"},
              [] { findJobMachine(*world()); });
  options().set("-tenon_machine_file", "");
}

} // namespace
} // namespace tenon
