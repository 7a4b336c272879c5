// SPDX-License-Identifier: BSD-2-Clause
// Tests the C functions of tenon/ext/reduction.h: lists of placements (how the axes of a job's
// process grid are distributed over the levels of a system) and the reduction programs of a
// placement (sequences of collectives that sum over axes). Numbers of placements and programs are
// those of the paper by which the planner works (Xie et al., cited in
// reduction/collective_rule.hpp); predicted times are computed here by hand. The functions need
// neither TenonInitialize() nor MPI.
#include "capi/expect_code.hpp"

#include <tenon/ext/machine.h>
#include <tenon/ext/reduction.h>

#include <vector>

namespace tenon::test {
namespace {

// list_ has the placements of axes of 8 x 2 x 4 processes on 4 nodes of 16 devices.
class ReductionC : public testing::Test {
protected:
  void SetUp() override {
    TenonPushErrorHandler(TenonReturnErrorHandler, nullptr);
    const TenonInt system[] = {4, 16}, axes[] = {8, 2, 4};
    expectSuccess(TenonPlacementListCreate(2, system, 3, axes, &list_));
  }
  void TearDown() override {
    expectSuccess(TenonReductionProgramsDestroy(&programs_));
    expectSuccess(TenonPlacementListDestroy(&list_));
    TenonPopErrorHandler();
  }

  void makePrograms(TenonInt index, std::vector<int> reduce, int sizeLimit) {
    expectSuccess(TenonReductionProgramsCreate(list_, index, static_cast<int>(reduce.size()),
                                               reduce.data(), sizeLimit, &programs_));
  }

  TenonPlacementList list_ = nullptr;
  TenonReductionPrograms programs_ = nullptr;
};

TEST_F(ReductionC, ListsPlacements) {
  TenonInt count = 0, matrix[6] = {};
  expectSuccess(TenonPlacementListGetCount(list_, &count));
  EXPECT_EQ(count, 5);
  // Row by row: axis 0 of 8 processes is split into 2 over nodes and 4 over devices, axis 1 into 1
  // and 2, axis 2 into 2 and 2. The columns multiply to 4 nodes and 16 devices.
  expectSuccess(TenonPlacementListGetMatrix(list_, 2, matrix));
  EXPECT_EQ(std::vector<TenonInt>(matrix, matrix + 6), (std::vector<TenonInt>{2, 4, 1, 2, 2, 2}));
}

TEST_F(ReductionC, KnowsTheLevelsOfAReduction) {
  int levels = -1;
  TenonInt hierarchy[2] = {};
  const int both[] = {2, 0}, middle[] = {1};
  // Placement 2 is [[2 4] [1 2] [2 2]]: axes 2 and 0 have 2 x 2 parts on nodes and 2 x 4 in them.
  expectSuccess(TenonPlacementListGetHierarchy(list_, 2, 2, both, &levels, hierarchy));
  EXPECT_EQ(levels, 2);
  EXPECT_EQ(hierarchy[0], 4);
  EXPECT_EQ(hierarchy[1], 8);
  expectSuccess(TenonPlacementListGetHierarchy(list_, 2, 1, middle, &levels, hierarchy));
  EXPECT_EQ(levels, 1);
  EXPECT_EQ(hierarchy[0], 2);
  expectSuccess(TenonPlacementListGetHierarchy(list_, 2, 0, nullptr, &levels, hierarchy));
  EXPECT_EQ(levels, 0);
}

TEST_F(ReductionC, ListsPrograms) {
  makePrograms(4, {0, 2}, 5); // on two levels, with at most 5 steps
  TenonInt count = 0;
  expectSuccess(TenonReductionProgramsGetCount(programs_, &count));
  EXPECT_EQ(count, 47);
  char text[64] = "";
  int steps = 0;
  std::vector<TenonInt> bySize(5, 0); // [n]: number of programs of n steps
  for (TenonInt i = 0; i < count; ++i) {
    expectSuccess(TenonReductionProgramsGetSize(programs_, i, &steps));
    ++bySize.at(steps);
  }
  EXPECT_EQ(bySize, (std::vector<TenonInt>{0, 1, 4, 20, 22}));
  expectSuccess(TenonReductionProgramsGetText(programs_, 0, text, sizeof text, nullptr));
  EXPECT_STREQ(text, "(0, InsideGroup, AllReduce)");
  expectSuccess(TenonReductionProgramsGetSize(programs_, 46, &steps));
  EXPECT_EQ(steps, 4);
}

TEST_F(ReductionC, AnAxisThatIsNotSplitHasNothingToSum) {
  TenonPlacementList flat = nullptr;
  const TenonInt four = 4, axes[] = {4, 1};
  expectSuccess(TenonPlacementListCreate(1, &four, 2, axes, &flat));
  const int reduce = 1;
  expectSuccess(TenonReductionProgramsCreate(flat, 0, 1, &reduce, 5, &programs_));
  expectSuccess(TenonPlacementListDestroy(&flat));
  TenonInt count = -1;
  expectSuccess(TenonReductionProgramsGetCount(programs_, &count));
  EXPECT_EQ(count, 0);
}

TEST_F(ReductionC, RefusesABadSystem) {
  TenonPlacementList made = nullptr;
  const TenonInt system[] = {4, 16}, zero[] = {0}, wrong[] = {8, 2, 3}, right[] = {64};
  expectCode(TENON_ERR_SHAPE, TenonPlacementListCreate(2, system, 3, wrong, &made),
             {"no placement exists", "48", "64"});
  expectCode(TENON_ERR_ARG, TenonPlacementListCreate(2, system, 1, zero, &made), {"size of 0"});
  expectCode(TENON_ERR_ARG, TenonPlacementListCreate(0, system, 1, right, &made), {"at least 1"});
  expectCode(TENON_ERR_ARG, TenonPlacementListCreate(-1, system, 1, right, &made), {"system"});
  expectCode(TENON_ERR_NULL, TenonPlacementListCreate(2, nullptr, 1, right, &made),
             {"system is NULL"});
  expectCode(TENON_ERR_NULL, TenonPlacementListCreate(2, system, 1, nullptr, &made),
             {"sizes is NULL"});
  expectCode(TENON_ERR_NULL, TenonPlacementListCreate(2, system, 1, right, nullptr),
             {"list is NULL"});
  EXPECT_EQ(made, nullptr);
}

TEST_F(ReductionC, RefusesWhatIsNotInTheList) {
  TenonInt some[6] = {};
  int levels = 0;
  const int none[] = {3}, twice[] = {0, 0};
  expectCode(TENON_ERR_ARG, TenonPlacementListGetMatrix(list_, 5, some), {"placement 5"});
  expectCode(TENON_ERR_ARG, TenonPlacementListGetMatrix(list_, -1, some), {"placement -1"});
  expectCode(TENON_ERR_ARG, TenonPlacementListGetHierarchy(list_, 0, 1, none, &levels, some),
             {"axis 3", "0 to 2"});
  expectCode(TENON_ERR_ARG, TenonReductionProgramsCreate(list_, 0, 2, twice, 5, &programs_),
             {"twice"});
  expectCode(TENON_ERR_ARG, TenonReductionProgramsCreate(list_, 0, 1, twice, 0, &programs_),
             {"limit", "0"});
  EXPECT_EQ(programs_, nullptr);
}

TEST_F(ReductionC, RefusesProgramsAndStepsThatAreNotThere) {
  makePrograms(0, {0, 2}, 5);
  char text[8] = "";
  int number = 0;
  expectCode(TENON_ERR_ARG, TenonReductionProgramsGetText(programs_, 47, text, 8, nullptr),
             {"program 47"});
  expectCode(TENON_ERR_ARG, TenonReductionProgramsGetText(programs_, 0, text, 8, nullptr),
             {"length of 8"});
  expectCode(TENON_ERR_ARG, TenonReductionProgramsGetSize(programs_, -1, &number), {"program -1"});
  TenonInt count = 0;
  expectCode(
      TENON_ERR_HANDLE,
      TenonReductionProgramsGetCount(reinterpret_cast<TenonReductionPrograms>(list_), &count),
      {"placement list", "ReductionPrograms"});
  expectCode(TENON_ERR_NULL, TenonReductionProgramsGetCount(nullptr, &count), {"programs is NULL"});
  expectCode(TENON_ERR_NULL, TenonPlacementListGetCount(list_, nullptr), {"count is NULL"});
}

// Two axes of 4 processes on 4 nodes of 4 devices. Only the nodes' network links have a bandwidth,
// so the best placement has the axis of the larger sum inside the nodes.
TEST_F(ReductionC, ChoosesThePlacementForAllReductions) {
  TenonMachine machine = nullptr;
  const char* names[] = {"node", "gpu"};
  const TenonInt sizes[] = {4, 4};
  expectSuccess(TenonMachineCreate("m", 2, names, sizes, &machine));
  expectSuccess(TenonMachineAddLink(machine, "nic", 0, 1, 1.0, 0, TENON_LINK_LEAVING));
  TenonPlacementList list = nullptr;
  expectSuccess(TenonPlacementListCreate(2, sizes, 2, sizes, &list));
  TenonInt count = 0, best = -1;
  expectSuccess(TenonPlacementListGetCount(list, &count));
  ASSERT_EQ(count, 3); // [[1 4] [4 1]], [[2 2] [2 2]], [[4 1] [1 4]]
  std::vector<double> seconds(count, -1);
  expectCode(
      TENON_ERR_STATE,
      TenonPlacementListPredict(list, machine, TENON_REDUCTION_RING, 3, seconds.data(), &best),
      {"TenonPlacementListAddReduction"});
  const int first = 0, second = 1;
  expectSuccess(TenonPlacementListAddReduction(list, 1, &first, 100));
  expectSuccess(TenonPlacementListAddReduction(list, 1, &second, 8));
  expectSuccess(
      TenonPlacementListPredict(list, machine, TENON_REDUCTION_RING, 3, seconds.data(), &best));
  // All groups of a node share its NIC: 4 rings of 4 nodes send 2 3/4 S each.
  EXPECT_DOUBLE_EQ(seconds[0], 4 * 1.5 * 8);
  EXPECT_DOUBLE_EQ(seconds[2], 4 * 1.5 * 100);
  EXPECT_GT(seconds[1], seconds[0]);
  EXPECT_LT(seconds[1], seconds[2]);
  EXPECT_EQ(best, 0);
  expectSuccess(
      TenonPlacementListPredict(list, machine, TENON_REDUCTION_DIRECT, 3, nullptr, &best));
  EXPECT_EQ(best, 0);
  const int none = 2;
  expectCode(TENON_ERR_ARG, TenonPlacementListAddReduction(list, 1, &none, 1), {"axis 2"});
  expectCode(TENON_ERR_ARG, TenonPlacementListAddReduction(list, 1, &first, -1), {"bytes is -1"});
  expectSuccess(TenonPlacementListDestroy(&list));
  expectSuccess(TenonMachineDestroy(&machine));
}

TEST_F(ReductionC, PredictsTimesOnAMachine) {
  makePrograms(4, {0}, 5); // [[4 2] [1 2] [1 4]]: axis 0 on both levels
  TenonMachine machine = nullptr;
  const char* names[] = {"node", "gpu"};
  const TenonInt sizes[] = {4, 16};
  expectSuccess(TenonMachineCreate("m", 2, names, sizes, &machine));
  expectSuccess(TenonMachineAddLink(machine, "nic", 0, 1, 2.0, 0, TENON_LINK_LEAVING));
  TenonInt count = 0;
  expectSuccess(TenonReductionProgramsGetCount(programs_, &count));
  ASSERT_EQ(count, 47);
  std::vector<double> seconds(count, -1);
  expectSuccess(
      TenonReductionProgramsPredict(programs_, machine, TENON_REDUCTION_RING, 16, seconds.data()));
  // Eight groups, of eight devices on four nodes, leave each node: 8 x 2 x 7/8 x 16 B / (2 B/s).
  EXPECT_DOUBLE_EQ(seconds[0], 112);
  // In a tree each group's load is twice the bytes: 8 x 2 x 16 B / (2 B/s).
  expectSuccess(
      TenonReductionProgramsPredict(programs_, machine, TENON_REDUCTION_TREE, 16, seconds.data()));
  EXPECT_DOUBLE_EQ(seconds[0], 128);
  expectCode(TENON_ERR_ARG,
             TenonReductionProgramsPredict(
                 programs_, machine, static_cast<TenonReductionAlgorithm>(5), 16, seconds.data()),
             {"algorithm is 5"});
  expectCode(
      TENON_ERR_ARG,
      TenonReductionProgramsPredict(programs_, machine, TENON_REDUCTION_RING, -1, seconds.data()),
      {"bytes is -1"});
  expectCode(TENON_ERR_NULL,
             TenonReductionProgramsPredict(programs_, machine, TENON_REDUCTION_RING, 1, nullptr),
             {"seconds is NULL"});
  expectSuccess(TenonMachineDestroy(&machine));
  expectSuccess(TenonMachineCreate("n", 1, names, sizes, &machine));
  expectCode(
      TENON_ERR_SHAPE,
      TenonReductionProgramsPredict(programs_, machine, TENON_REDUCTION_RING, 1, seconds.data()),
      {"machine 'n' has levels [4], but the placement is on [4,16]"});
  expectSuccess(TenonMachineDestroy(&machine));
}

} // namespace
} // namespace tenon::test
