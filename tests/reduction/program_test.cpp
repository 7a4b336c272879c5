// SPDX-License-Identifier: BSD-2-Clause
// Tests the language of reduction programs: text to program and back, the byte offsets in error
// messages, and the groups of devices that an instruction forms in a hierarchy. Groups are compared
// with Table 2 of the paper (Xie et al., cited in reduction/collective_rule.hpp).
#include "reduction/grouping.hpp"
#include "reduction/program.hpp"
#include "sys/errors/error.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

// Returns the message of the error.
std::string refusalOf(const std::string& text) {
  try {
    parseProgram(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TENON_ERR_ARG);
    return error.text();
  }
  return "accepted";
}

// Expects an error at this byte of the text, which names what was expected there.
void expectAt(const std::string& text, int byte, const std::string& expected) {
  const std::string said = refusalOf(text);
  EXPECT_NE(said.find("byte " + std::to_string(byte) + ","), std::string::npos) << said;
  EXPECT_NE(said.find(expected), std::string::npos) << said;
}

TEST(ReductionProgram, IsWrittenAsInThePaperAndReadBack) {
  const std::string text =
      "(1, InsideGroup, ReduceScatter), (1, Parallel(0), AllReduce), (1, InsideGroup, AllGather), "
      "(2, Master(1), Reduce), (3, Master(0), Broadcast)";
  const Program program = parseProgram(text);
  ASSERT_EQ(program.size(), 5u);
  EXPECT_EQ(program[1], (Instruction{.slice = 1,
                                     .form = GroupForm::Parallel,
                                     .ancestor = 0,
                                     .collective = CollectiveKind::AllReduce}));
  EXPECT_EQ(program[3], (Instruction{.slice = 2,
                                     .form = GroupForm::Master,
                                     .ancestor = 1,
                                     .collective = CollectiveKind::Reduce}));
  EXPECT_EQ(describe(program), text);
  EXPECT_EQ(parseProgram("  (1,InsideGroup,ReduceScatter),(1, Parallel ( 0 ),AllReduce)"),
            Program(program.begin(), program.begin() + 2));
  EXPECT_TRUE(parseProgram(" ").empty());
  EXPECT_EQ(describe(Program{}), "");
}

TEST(ReductionProgram, AnErrorNamesTheByte) {
  expectAt("1, InsideGroup, AllReduce", 0, "'('");
  expectAt("(x, InsideGroup, AllReduce)", 1, "a level's number");
  expectAt("(-1, InsideGroup, AllReduce)", 1, "a level's number");
  expectAt("(99999999999, InsideGroup, AllReduce)", 1, "a level's number");
  expectAt("(1; InsideGroup, AllReduce)", 2, "','");
  expectAt("(1, Inside, AllReduce)", 4, "InsideGroup, Parallel(level) or Master(level)");
  expectAt("(1, Parallel, AllReduce)", 12, "'('");
  expectAt("(1, Parallel(), AllReduce)", 13, "a level's number");
  expectAt("(1, Parallel(0, AllReduce)", 14, "')'");
  expectAt("(1, InsideGroup, Allreduce)", 17, "AllReduce, ReduceScatter");
  expectAt("(1, InsideGroup, AllReduce", 26, "its end");
  expectAt("(1, InsideGroup, AllReduce) (1, InsideGroup, AllReduce)", 28, "','");
  expectAt("(1, InsideGroup, AllReduce), ", 29, "its end");
}

DeviceGroups groups(const Hierarchy& hierarchy, int slice, GroupForm form, int ancestor = 0) {
  return groupsOf(hierarchy, {.slice = slice, .form = form, .ancestor = ancestor});
}

// Devices A0 ... D3 are 0 ... 15 of (rack, 1), (server, 2), (CPU, 2), (GPU, 4); the rack is the
// root.
TEST(Grouping, ThoseOfTheRunningExample) {
  const Hierarchy system{2, 2, 4};
  constexpr int kServer = 1, kCpu = 2, kGpu = 3;
  EXPECT_EQ(groups(system, kCpu, GroupForm::InsideGroup),
            (DeviceGroups{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}));
  EXPECT_EQ(groups(system, kCpu, GroupForm::Parallel, kServer),
            (DeviceGroups{{0, 4}, {1, 5}, {2, 6}, {3, 7}, {8, 12}, {9, 13}, {10, 14}, {11, 15}}));
  EXPECT_EQ(groups(system, kCpu, GroupForm::Parallel, 0),
            (DeviceGroups{{0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15}}));
  EXPECT_EQ(groups(system, kCpu, GroupForm::Master, kServer), (DeviceGroups{{0, 4}, {8, 12}}));
  EXPECT_EQ(groups(system, kCpu, GroupForm::Master, 0), (DeviceGroups{{0, 4, 8, 12}}));
  EXPECT_EQ(groups(system, kGpu, GroupForm::Parallel, kServer),
            groups(system, kServer, GroupForm::InsideGroup));
  EXPECT_TRUE(groups(system, kGpu, GroupForm::InsideGroup).empty());
}

TEST(Grouping, EachSetOfGroupsOnce) {
  EXPECT_EQ(distinctGroupings({}).size(), 0u);
  EXPECT_EQ(distinctGroupings({7}).size(), 1u);
  EXPECT_EQ(distinctGroupings({1}).size(), 0u);
  // On two levels: all devices, each unit of the outer level, the devices of equal number in these
  // units, and the first of these groups alone (Master). Levels of one unit add none.
  for (const Hierarchy& two : {Hierarchy{2, 2}, {2, 1, 2}, {1, 2, 2}, {2, 2, 1}, {5, 3}})
    EXPECT_EQ(distinctGroupings(two).size(), 4u);
  EXPECT_EQ(distinctGroupings({2, 3, 2}).size(), 9u); // 6 runs of digits, 3 of them with a Master
  EXPECT_EQ(distinctGroupings({2, 2, 2, 2}).size(), 16u);
}

TEST(Grouping, RefusesLevelsThatAreNotThere) {
  EXPECT_THROW(groups({2, 2}, 3, GroupForm::InsideGroup), Error);
  EXPECT_THROW(groups({2, 2}, -1, GroupForm::InsideGroup), Error);
  EXPECT_THROW(groups({2, 2}, 1, GroupForm::Parallel, 1), Error);
  EXPECT_THROW(groups({2, 2}, 0, GroupForm::Master, 0), Error);
  EXPECT_THROW(groups({2, 2}, 2, GroupForm::Master, -1), Error);
  EXPECT_THROW(groups({2, 0}, 1, GroupForm::InsideGroup), Error);
  EXPECT_THROW(deviceCount({65536, 65536}), Error);
  EXPECT_EQ(deviceCount({}), 1);
}

} // namespace
} // namespace tenon
