// SPDX-License-Identifier: BSD-2-Clause
// Machines in the C API. A machine describes the computer for the planner: levels such as nodes and
// cores with the number of units in each, and links with bandwidth and latency. The test creates
// one of 3 nodes with 4 cores, and reads it back; reads a machine file; finds the machine of this
// job.
#include "capi/expect_code.hpp"

#include <tenon/ext/machine.h>

#include <algorithm>
#include <vector>

namespace tenon::test {
namespace {

class MachineCApi : public CApi {
protected:
  void SetUp() override {
    CApi::SetUp();
    const char* names[] = {"node", "core"};
    const TenonInt sizes[] = {3, 4};
    expectSuccess(TenonMachineCreate("mine", 2, names, sizes, &machine_));
  }
  void TearDown() override {
    expectSuccess(TenonMachineDestroy(&machine_));
    CApi::TearDown();
  }
  TenonMachine machine_ = nullptr;
};

std::string viewed; // the output of TenonObjectView()
void appendToViewed(const char* text, int length, void*) {
  viewed.append(text, length);
}

TEST_F(MachineCApi, HasLevelsAndLinks) {
  expectSuccess(TenonMachineAddLink(machine_, "nic", 0, 1, 1e9, 2e-6, TENON_LINK_LEAVING));
  int levels = 0, links = 0, level = -1;
  TenonInt devices = 0, size = 0, units = 0;
  char name[8] = "";
  double bandwidth = 0, latency = 0;
  expectSuccess(TenonMachineGetCounts(machine_, &levels, &links, &devices));
  EXPECT_EQ(2, levels);
  EXPECT_EQ(1, links);
  EXPECT_EQ(12, devices);
  expectSuccess(TenonMachineGetLevel(machine_, 1, name, sizeof name, nullptr, &size));
  EXPECT_STREQ("core", name);
  EXPECT_EQ(4, size);
  expectSuccess(TenonMachineGetLevel(machine_, 0, nullptr, 0, nullptr, &size)); // without the name
  EXPECT_EQ(3, size);
  expectSuccess(TenonMachineGetLink(machine_, 0, name, sizeof name, nullptr, &level, &units,
                                    &bandwidth, &latency));
  EXPECT_STREQ("nic", name);
  EXPECT_EQ(0, level);
  EXPECT_EQ(1, units);
  EXPECT_EQ(1e9, bandwidth);
  EXPECT_EQ(2e-6, latency);
  std::vector<TenonInt> ranks(12, -1);
  expectSuccess(TenonMachineGetRanks(machine_, ranks.data()));
  EXPECT_EQ(0, ranks.front());
  EXPECT_EQ(11, ranks.back());
}

TEST_F(MachineCApi, IsDrawn) {
  viewed.clear();
  expectSuccess(TenonSetOutputHandler(appendToViewed, nullptr));
  expectSuccess(TenonObjectView(objectOf(machine_)));
  expectSuccess(TenonSetOutputHandler(nullptr, nullptr));
  EXPECT_EQ("mine: 12 devices\n  3 x node\n    4 x core\n", viewed);
}

TEST_F(MachineCApi, RefusesInvalidLevelsAndLinks) {
  expectCode(TENON_ERR_ARG, TenonMachineAddLink(machine_, "l", 1, 3, 1, 0, TENON_LINK_TOUCHING),
             {"joins 3 units of level 'core'"});
  expectCode(TENON_ERR_ARG,
             TenonMachineAddLink(machine_, "l", 1, 1, 1, 0, static_cast<TenonLinkRule>(7)),
             {"rule is 7"});
  TenonInt number = 0;
  expectCode(TENON_ERR_ARG, TenonMachineGetLevel(machine_, 2, nullptr, 0, nullptr, &number),
             {"level 2 is out of range; the machine has 2"});
  expectCode(TENON_ERR_ARG, TenonMachineGetLevel(machine_, -1, nullptr, 0, &number, nullptr),
             {"level -1 is out of range"});
  expectCode(
      TENON_ERR_ARG,
      TenonMachineGetLink(machine_, 0, nullptr, 0, &number, nullptr, nullptr, nullptr, nullptr),
      {"link 0 is out of range; the machine has 0"});
  expectCode(TENON_ERR_NULL, TenonMachineGetRanks(machine_, nullptr), {"ranks is NULL"});
  TenonMachine none = nullptr;
  const char* name = "node";
  const TenonInt size = 0;
  expectCode(TENON_ERR_ARG, TenonMachineCreate("m", 1, &name, &size, &none), {"'node' has size 0"});
  expectCode(TENON_ERR_ARG, TenonMachineCreate("m", 0, nullptr, nullptr, &none), {"has no level"});
  EXPECT_EQ(nullptr, none);
}

// File a100x16 describes a node of 16 devices; two nodes are requested.
TEST_F(MachineCApi, ComesFromAFile) {
  expectSuccess(TenonOptionsSet("-tenon_machine_path", TENON_TEST_MACHINES));
  TenonMachine file = nullptr;
  TenonInt devices = 0;
  expectSuccess(TenonMachineCreateFromFile("a100x16", 2, &file));
  expectSuccess(TenonMachineGetCounts(file, nullptr, nullptr, &devices));
  EXPECT_EQ(32, devices);
  expectSuccess(TenonMachineDestroy(&file));
  expectCode(TENON_ERR_FILE, TenonMachineCreateFromFile("a100", 2, &file), {"known are: a100x16"});
  expectCode(TENON_ERR_ARG, TenonMachineCreateFromFile("a100x16", -1, &file), {"has size -1"});
}

TEST_F(MachineCApi, IsFoundOnThisComputerAndInThisJob) {
  TenonMachine found = nullptr;
  TenonInt devices = 0;
  expectSuccess(TenonMachineCreateLocal(&found));
  expectSuccess(TenonMachineGetCounts(found, nullptr, nullptr, &devices));
  EXPECT_GE(devices, 1);
  expectSuccess(TenonMachineDestroy(&found));
  expectSuccess(TenonMachineCreateFromComm(MPI_COMM_WORLD, &found));
  expectSuccess(TenonMachineGetCounts(found, nullptr, nullptr, &devices));
  ASSERT_EQ(worldSize(), devices);
  std::vector<TenonInt> ranks(devices);
  expectSuccess(TenonMachineGetRanks(found, ranks.data()));
  std::sort(ranks.begin(), ranks.end());
  for (int rank = 0; rank < worldSize(); ++rank)
    EXPECT_EQ(rank, ranks[rank]);
  expectSuccess(TenonMachineDestroy(&found));
}

// The tests run with fewer than 16 ranks per node.
TEST_F(MachineCApi, FitsTheJobOrAllRanksFail) {
  expectSuccess(TenonOptionsSet("-tenon_machine_path", TENON_TEST_MACHINES));
  expectSuccess(TenonOptionsSet("-tenon_machine_file", "a100x16"));
  TenonMachine found = nullptr;
  expectCommonCode(TENON_ERR_ARG, TenonMachineCreateFromComm(MPI_COMM_WORLD, &found),
                   {"machine 'a100x16' has 16 devices per node"});
  EXPECT_EQ(nullptr, found);
  expectSuccess(TenonOptionsSet("-tenon_machine_file", ""));
}

} // namespace
} // namespace tenon::test
