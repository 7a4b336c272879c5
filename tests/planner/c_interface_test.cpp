// SPDX-License-Identifier: BSD-2-Clause
// TenonPlan through the C interface, without MPI.
#include <tenon.h>

#include <gtest/gtest.h>

#include <string>

namespace {

constexpr const char* kAlexNet = TENON_TEST_TABLES "/alexnet.json";

// Errors are returned, not printed.
class PlanInC : public testing::Test {
protected:
  void SetUp() override {
    TenonPushErrorHandler(TenonReturnErrorHandler, nullptr);
    ASSERT_EQ(TenonPlanCreateNamed(kAlexNet, 2048, &plan), TENON_SUCCESS);
    ASSERT_EQ(TenonPlanSetProcesses(plan, 512), TENON_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(TenonPlanDestroy(&plan), TENON_SUCCESS);
    EXPECT_EQ(plan, nullptr);
    TenonPopErrorHandler();
  }

  double seconds(const char* which) {
    double value = -1;
    EXPECT_EQ(TenonPlanGetSeconds(plan, which, &value), TENON_SUCCESS);
    return value;
  }

  TenonPlan plan = nullptr;
};

TEST_F(PlanInC, TakesPinnedGridsAndObjectives) {
  const int grid[2] = {4, 2};
  EXPECT_EQ(TenonPlanSetInputGrid(plan, 2, grid, "S2"), TENON_SUCCESS);
  ASSERT_EQ(TenonPlanSetModel(plan, "own"), TENON_SUCCESS);
  EXPECT_EQ(TenonPlanSearch(plan), TENON_ERR_LAYOUT); // two axes, one property
  EXPECT_EQ(TenonPlanSetInputGrid(plan, 2, grid, "S2,X"), TENON_ERR_LAYOUT);
  EXPECT_EQ(TenonPlanSetInputGrid(plan, 2, nullptr, "S2,S3"), TENON_ERR_NULL);
  ASSERT_EQ(TenonPlanSetInputGrid(plan, 2, grid, "S2,S3"), TENON_SUCCESS);
  ASSERT_EQ(TenonPlanSetOutputGrid(plan, 1, grid, "S0"), TENON_SUCCESS);
  ASSERT_EQ(TenonPlanSetProcesses(plan, 8), TENON_SUCCESS);
  EXPECT_EQ(TenonPlanSetObjective(plan, "speed", 1), TENON_ERR_ARG);
  ASSERT_EQ(TenonPlanSetObjective(plan, "step", 10), TENON_SUCCESS);
  ASSERT_EQ(TenonPlanSetPlacement(plan, "auto"), TENON_SUCCESS);
  ASSERT_EQ(TenonPlanSetFewerProcesses(plan, TENON_TRUE), TENON_SUCCESS);
  EXPECT_EQ(TenonPlanSetOverlap(plan, 1.5), TENON_ERR_ARG);
  ASSERT_EQ(TenonPlanSetOverlap(plan, 0.5), TENON_SUCCESS);
  TenonInt processes = 0;
  TenonBool reversed = TENON_TRUE;
  EXPECT_EQ(TenonPlanGetGrid(plan, &processes, &reversed), TENON_ERR_STATE);
  ASSERT_EQ(TenonPlanSearch(plan), TENON_SUCCESS);
  ASSERT_EQ(TenonPlanGetGrid(plan, &processes, &reversed), TENON_SUCCESS);
  EXPECT_EQ(processes, 8);
  EXPECT_EQ(reversed, TENON_FALSE); // one level
  EXPECT_LE(seconds("overlapped"), seconds("plan") * (1 + 1e-12));
  ASSERT_EQ(TenonPlanSetOverlap(plan, 0), TENON_SUCCESS);
  ASSERT_EQ(TenonPlanSearch(plan), TENON_SUCCESS);
  double none = 0;
  EXPECT_EQ(TenonPlanGetSeconds(plan, "overlapped", &none), TENON_ERR_STATE);
  // Every layer can have its word of the plan as a fixed one.
  char word[32];
  ASSERT_EQ(TenonPlanGetWord(plan, "conv1", word, sizeof word, nullptr), TENON_SUCCESS);
  const double best = seconds("plan");
  ASSERT_EQ(TenonPlanFix(plan, "conv1", word), TENON_SUCCESS);
  ASSERT_EQ(TenonPlanSearch(plan), TENON_SUCCESS);
  EXPECT_EQ(seconds("plan"), best);
  ASSERT_EQ(TenonPlanFix(plan, "conv1", "input:k,k"), TENON_SUCCESS);
  EXPECT_EQ(TenonPlanSearch(plan), TENON_ERR_OPTION);
}

TEST_F(PlanInC, SearchesAndAnswers) {
  ASSERT_EQ(TenonPlanSearch(plan), TENON_SUCCESS);
  EXPECT_NEAR(seconds("plan"), 8.04016525e-3, 1e-11);
  EXPECT_NEAR(seconds("uniform"), 12.786e-3, 1e-6);
  EXPECT_NEAR(seconds("batch"), 81.402e-3, 1e-6);
  TenonInt layers = 0, model = 0, domain = 0, batch = 0;
  ASSERT_EQ(TenonPlanGetLayerCount(plan, &layers), TENON_SUCCESS);
  EXPECT_EQ(layers, 8);
  double bytes = 0, all = 0;
  for (TenonInt i = 0; i < layers; ++i) {
    char name[16], word[16];
    ASSERT_EQ(TenonPlanGetLayerName(plan, i, name, sizeof name, nullptr), TENON_SUCCESS);
    ASSERT_EQ(TenonPlanGetWord(plan, name, word, sizeof word, nullptr), TENON_SUCCESS);
    ASSERT_EQ(TenonPlanGetChoice(plan, name, &model, &domain, &batch), TENON_SUCCESS);
    EXPECT_EQ(model * domain * batch, 512) << name << " " << word;
    double layer = 0;
    ASSERT_EQ(TenonPlanGetLayerBytes(plan, name, &layer), TENON_SUCCESS);
    bytes += layer;
  }
  ASSERT_EQ(TenonPlanGetBytes(plan, &all), TENON_SUCCESS);
  EXPECT_NEAR(bytes, all, 1e-6 * all);
  double gap = 1;
  ASSERT_EQ(TenonPlanGetGap(plan, &gap), TENON_SUCCESS);
  EXPECT_EQ(gap, 0);
}

TEST_F(PlanInC, FixesAWord) {
  ASSERT_EQ(TenonPlanFix(plan, "conv1", "n6,o3"), TENON_SUCCESS);
  ASSERT_EQ(TenonPlanSearch(plan), TENON_SUCCESS);
  char word[16];
  double runnerUp = -1;
  ASSERT_EQ(TenonPlanGetWord(plan, "conv1", word, sizeof word, nullptr), TENON_SUCCESS);
  EXPECT_STREQ(word, "n6,o3");
  ASSERT_EQ(TenonPlanGetRunnerUp(plan, "conv1", word, sizeof word, nullptr, &runnerUp),
            TENON_SUCCESS);
  EXPECT_STREQ(word, "");
  EXPECT_GT(seconds("plan"), 8.05e-3);
}

TEST_F(PlanInC, ASettingDiscardsThePlan) {
  double value = 0;
  ASSERT_EQ(TenonPlanSearch(plan), TENON_SUCCESS);
  ASSERT_EQ(TenonPlanSetInputChannels(plan, TENON_TRUE), TENON_SUCCESS);
  EXPECT_EQ(TenonPlanGetSeconds(plan, "plan", &value), TENON_ERR_STATE);
  ASSERT_EQ(TenonPlanSearch(plan), TENON_SUCCESS);
  EXPECT_LT(seconds("plan"), 6.78e-3);
  ASSERT_EQ(TenonPlanSetLink(plan, 0, 12e9), TENON_SUCCESS);
  ASSERT_EQ(TenonPlanSearch(plan), TENON_SUCCESS);
  EXPECT_LT(seconds("plan"), 6.78e-3 / 2);
}

TEST_F(PlanInC, TenonsOwnPrices) {
  TenonInt searches = 0;
  ASSERT_EQ(TenonPlanSetModel(plan, "own"), TENON_SUCCESS);
  ASSERT_EQ(TenonPlanSetProcesses(plan, 32), TENON_SUCCESS);
  ASSERT_EQ(TenonPlanSetFlopRate(plan, 1e12), TENON_SUCCESS);
  EXPECT_EQ(TenonPlanSetFlopRate(plan, 0), TENON_ERR_ARG);
  ASSERT_EQ(TenonPlanSearch(plan), TENON_SUCCESS);
  ASSERT_EQ(TenonPlanGetSearches(plan, &searches), TENON_SUCCESS);
  EXPECT_GE(searches, 1);
  const double flat = seconds("plan");
  EXPECT_EQ(TenonPlanSetDataType(plan, TENON_INT64), TENON_ERR_DATATYPE);
  ASSERT_EQ(TenonPlanSetDataType(plan, TENON_FLOAT64), TENON_SUCCESS);
  ASSERT_EQ(TenonPlanSearch(plan), TENON_SUCCESS);
  EXPECT_GT(seconds("plan"), flat);
  ASSERT_EQ(TenonPlanSetDataType(plan, TENON_FLOAT32), TENON_SUCCESS);
  EXPECT_EQ(TenonPlanSetMemoryRate(plan, -1), TENON_ERR_ARG);
  ASSERT_EQ(TenonPlanSetMemoryRate(plan, 1e6), TENON_SUCCESS);
  ASSERT_EQ(TenonPlanSearch(plan), TENON_SUCCESS);
  EXPECT_GT(seconds("plan"), 100 * flat);
  ASSERT_EQ(TenonPlanSetMemoryRate(plan, 1e10), TENON_SUCCESS);
  TenonMachine machine = nullptr;
  const char* const names[] = {"node", "core"};
  const TenonInt sizes[] = {4, 8};
  ASSERT_EQ(TenonMachineCreate("cluster", 2, names, sizes, &machine), TENON_SUCCESS);
  ASSERT_EQ(TenonMachineAddLink(machine, "nic", 0, 1, 1e9, 1e-5, TENON_LINK_LEAVING),
            TENON_SUCCESS);
  ASSERT_EQ(TenonPlanSetMachine(plan, machine), TENON_SUCCESS);
  ASSERT_EQ(TenonMachineDestroy(&machine), TENON_SUCCESS);
  ASSERT_EQ(TenonPlanSearch(plan), TENON_SUCCESS);
  EXPECT_GT(seconds("plan"), flat);
  ASSERT_EQ(TenonPlanSetProcesses(plan, 64), TENON_SUCCESS);
  EXPECT_EQ(TenonPlanSearch(plan), TENON_ERR_SHAPE);
}

TEST_F(PlanInC, NetworksOfLayers) {
  TenonPlan layers = nullptr;
  double value = 0;
  ASSERT_EQ(TenonPlanCreateNamed(TENON_TEST_NETWORKS "/lenet5.json", 64, &layers), TENON_SUCCESS);
  ASSERT_EQ(TenonPlanSetProcesses(layers, 4), TENON_SUCCESS);
  EXPECT_EQ(TenonPlanSearch(layers), TENON_ERR_SUPPORT); // by t1
  EXPECT_EQ(TenonPlanGetPublishedSeconds(layers, "eq8", 2, 2, 2, 2, &value), TENON_ERR_SUPPORT);
  ASSERT_EQ(TenonPlanSetModel(layers, "own"), TENON_SUCCESS);
  EXPECT_EQ(TenonPlanSearch(layers), TENON_ERR_STATE);
  const TenonInt sample[] = {1, 28, 28}, none[] = {1, 0, 28};
  EXPECT_EQ(TenonPlanSetInputShape(layers, 3, none), TENON_ERR_ARG);
  ASSERT_EQ(TenonPlanSetInputShape(layers, 3, sample), TENON_SUCCESS);
  ASSERT_EQ(TenonPlanSearch(layers), TENON_SUCCESS);
  TenonInt count = 0;
  ASSERT_EQ(TenonPlanGetLayerCount(layers, &count), TENON_SUCCESS);
  EXPECT_EQ(count, 5);
  EXPECT_EQ(TenonPlanDestroy(&layers), TENON_SUCCESS);
}

TEST_F(PlanInC, TablesHaveAnInputOfTheirOwn) {
  const TenonInt own[] = {3, 227, 227}, other[] = {3, 64, 64};
  EXPECT_EQ(TenonPlanSetInputShape(plan, 3, own), TENON_SUCCESS);
  EXPECT_EQ(TenonPlanSetInputShape(plan, 3, other), TENON_ERR_SHAPE);
  EXPECT_EQ(TenonPlanSetInputShape(plan, 2, own), TENON_ERR_SHAPE);
}

// 2^31 - 1 ranks would take 8 GiB to list.
TEST_F(PlanInC, PinnedGridsAreNoLargerThanThePlan) {
  const int grid[] = {2147483647, 2147483647, 2147483647}, none[] = {4, 0};
  EXPECT_EQ(TenonPlanSetInputGrid(plan, 2, none, "S2,S3"), TENON_ERR_ARG);
  ASSERT_EQ(TenonPlanSetModel(plan, "own"), TENON_SUCCESS);
  for (int axes = 1; axes <= 3; ++axes) {
    ASSERT_EQ(TenonPlanSetOutputGrid(plan, axes, grid,
                                     axes == 1   ? "S0"
                                     : axes == 2 ? "S0,S1"
                                                 : "S0,S1,B"),
              TENON_SUCCESS);
    EXPECT_EQ(TenonPlanSearch(plan), TENON_ERR_SHAPE);
  }
}

TEST_F(PlanInC, CountsWhatConversionsSend) {
  TenonInt messages = 0, elements = 0;
  const TenonInt large = TenonInt(1) << 59;
  // As an exchange every process sends the whole to all others.
  ASSERT_EQ(TenonPlanCountConversion("P", "B", 4, 1, &large, &messages, &elements), TENON_SUCCESS);
  EXPECT_EQ(messages, 12);
  EXPECT_EQ(elements, 12 * large);
  EXPECT_EQ(TenonPlanCountConversion("P", "B", 5, 1, &large, &messages, &elements),
            TENON_ERR_SHAPE); // 20 x 2^59 > 2^63
}

TEST_F(PlanInC, ThePublishedCosts) {
  double value = 0;
  ASSERT_EQ(TenonPlanGetPublishedSeconds(plan, "eq8", 4, 128, 4, 128, &value), TENON_SUCCESS);
  EXPECT_NEAR(value * 1.2e6 / 2048, 17.527, 5e-4);
  ASSERT_EQ(TenonPlanGetPublishedSeconds(plan, "eq8", 32, 16, 1, 512, &value), TENON_SUCCESS);
  EXPECT_NEAR(value * 1.2e6 / 2048, 5.479, 5e-4);
  EXPECT_EQ(TenonPlanGetPublishedSeconds(plan, "eq99", 4, 128, 4, 128, &value), TENON_ERR_ARG);
}

TEST_F(PlanInC, ErrorsLeaveThePlanUsable) {
  double value = 0;
  char text[4];
  EXPECT_EQ(TenonPlanGetSeconds(plan, "plan", &value), TENON_ERR_STATE);
  EXPECT_EQ(TenonPlanSetProcesses(plan, 0), TENON_ERR_ARG);
  EXPECT_EQ(TenonPlanSetModel(plan, "t2"), TENON_ERR_ARG);
  EXPECT_EQ(TenonPlanSetModel(plan, nullptr), TENON_ERR_NULL);
  EXPECT_EQ(TenonPlanSetLink(plan, -1, 1), TENON_ERR_ARG);
  EXPECT_EQ(TenonPlanSetLink(plan, 0, 0), TENON_ERR_ARG);
  EXPECT_EQ(TenonPlanSetMemoryLimit(plan, -1), TENON_ERR_ARG);
  ASSERT_EQ(TenonPlanSetMemoryLimit(plan, 1000), TENON_SUCCESS);
  EXPECT_EQ(TenonPlanSearch(plan), TENON_ERR_SHAPE);
  ASSERT_EQ(TenonPlanSetMemoryLimit(plan, 0), TENON_SUCCESS);
  ASSERT_EQ(TenonPlanSearch(plan), TENON_SUCCESS);
  EXPECT_EQ(TenonPlanGetSeconds(plan, "fastest", &value), TENON_ERR_ARG);
  EXPECT_EQ(TenonPlanGetLayerName(plan, 8, text, sizeof text, nullptr), TENON_ERR_ARG);
  EXPECT_EQ(TenonPlanGetLayerName(plan, 0, text, sizeof text, nullptr), TENON_ERR_ARG);
  EXPECT_EQ(TenonPlanGetLayerBytes(plan, "conv9", &value), TENON_ERR_ARG);
  EXPECT_EQ(TenonPlanGetBytes(nullptr, &value), TENON_ERR_NULL);
  TenonPlan none = nullptr;
  EXPECT_EQ(TenonPlanCreateNamed("lenet6", 8, &none), TENON_ERR_FILE);
  EXPECT_EQ(TenonPlanCreateNamed(kAlexNet, 0, &none), TENON_ERR_ARG);
  ASSERT_EQ(TenonPlanSetProcesses(plan, 1 << 24), TENON_SUCCESS);
  EXPECT_EQ(TenonPlanSearch(plan), TENON_ERR_SHAPE);
  EXPECT_EQ(TenonPlanGetSeconds(plan, "domain", &value), TENON_ERR_STATE);
}

} // namespace
