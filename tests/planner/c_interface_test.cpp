// SPDX-License-Identifier: BSD-2-Clause
// TenonPlanner through the C interface, without MPI.
#include <tenon.h>
#include <tenon/ext/planner.h>

#include <gtest/gtest.h>

#include <string>

namespace {

constexpr const char* kAlexNet = TENON_TEST_TABLES "/alexnet.json";

// Errors are returned, not printed.
class PlannerInC : public testing::Test {
protected:
  void SetUp() override {
    TenonPushErrorHandler(TenonReturnErrorHandler, nullptr);
    ASSERT_EQ(TenonPlannerCreate(kAlexNet, 2048, &plan), TENON_SUCCESS);
    ASSERT_EQ(set("processes", 512), TENON_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(TenonPlannerDestroy(&plan), TENON_SUCCESS);
    EXPECT_EQ(plan, nullptr);
    TenonPopErrorHandler();
  }

  // Settings of a plan, by default of this one.
  static TenonObject objectOf(TenonPlanner plan) { return reinterpret_cast<TenonObject>(plan); }
  TenonErrorCode set(const char* name, TenonInt value) {
    return TenonObjectSetIntegers(objectOf(plan), name, 1, &value);
  }
  TenonErrorCode set(const char* name, int value) { return set(name, TenonInt(value)); }
  TenonErrorCode set(const char* name, double value) {
    return TenonObjectSetReal(objectOf(plan), name, value);
  }
  TenonErrorCode set(const char* name, const char* value) {
    return TenonObjectSetText(objectOf(plan), name, value);
  }
  TenonErrorCode set(const char* name, bool value) {
    return TenonObjectSetBool(objectOf(plan), name, value ? TENON_TRUE : TENON_FALSE);
  }

  double number(const char* name, const char* layer = nullptr) {
    double value = -1;
    EXPECT_EQ(TenonPlannerGetNumber(plan, layer, name, &value), TENON_SUCCESS) << name;
    return value;
  }
  TenonErrorCode codeOf(const char* name, const char* layer = nullptr) {
    double value = -1;
    return TenonPlannerGetNumber(plan, layer, name, &value);
  }

  // A text of a layer by its number: conv1 is the first.
  std::string text(TenonInt index, const char* name) {
    char found[32] = "?";
    EXPECT_EQ(TenonPlannerGetText(plan, index, name, found, sizeof found, nullptr), TENON_SUCCESS)
        << index << " " << name;
    return found;
  }

  TenonPlanner plan = nullptr;
};

TEST_F(PlannerInC, TakesPinnedGridsAndObjectives) {
  EXPECT_EQ(set("input_grid", "4x2:S2"), TENON_SUCCESS);
  ASSERT_EQ(set("cost_model", "own"), TENON_SUCCESS);
  EXPECT_EQ(TenonPlannerSearch(plan), TENON_ERR_LAYOUT); // two axes, one property
  EXPECT_EQ(set("input_grid", "4x2:S2,X"), TENON_ERR_LAYOUT);
  EXPECT_EQ(set("input_grid", "4x2"), TENON_ERR_ARG);
  EXPECT_EQ(set("input_grid", "4xtwo:S2,S3"), TENON_ERR_ARG);
  ASSERT_EQ(set("input_grid", "4x2:S2,S3"), TENON_SUCCESS);
  ASSERT_EQ(set("output_grid", "4:S0"), TENON_SUCCESS);
  ASSERT_EQ(set("processes", 8), TENON_SUCCESS);
  EXPECT_EQ(set("objective", "speed"), TENON_ERR_TYPE);
  ASSERT_EQ(set("evaluate_every", 10), TENON_SUCCESS);
  ASSERT_EQ(set("objective", "inference"), TENON_SUCCESS);
  EXPECT_EQ(TenonPlannerSearch(plan), TENON_ERR_ARG); // every 10 steps of nothing
  ASSERT_EQ(set("objective", "step"), TENON_SUCCESS);
  ASSERT_EQ(set("placement", "auto"), TENON_SUCCESS);
  ASSERT_EQ(set("fewer_processes", true), TENON_SUCCESS);
  EXPECT_EQ(set("overlap_share", 1.5), TENON_ERR_ARG);
  ASSERT_EQ(set("overlap_share", 0.5), TENON_SUCCESS);
  EXPECT_EQ(codeOf("processes"), TENON_ERR_STATE);
  ASSERT_EQ(TenonPlannerSearch(plan), TENON_SUCCESS);
  EXPECT_EQ(number("processes"), 8);
  EXPECT_EQ(number("reversed"), 0); // one level
  EXPECT_LE(number("overlapped"), number("seconds") * (1 + 1e-12));
  ASSERT_EQ(set("overlap_share", 0.0), TENON_SUCCESS);
  ASSERT_EQ(TenonPlannerSearch(plan), TENON_SUCCESS);
  EXPECT_EQ(codeOf("overlapped"), TENON_ERR_STATE);
  // Every layer can have its word of the plan as a fixed one.
  const std::string word = text(0, "word");
  const double best = number("seconds");
  ASSERT_EQ(TenonPlannerFix(plan, "conv1", word.c_str()), TENON_SUCCESS);
  ASSERT_EQ(TenonPlannerSearch(plan), TENON_SUCCESS);
  EXPECT_EQ(number("seconds"), best);
  ASSERT_EQ(TenonPlannerFix(plan, "conv1", "input:k,k"), TENON_SUCCESS);
  EXPECT_EQ(TenonPlannerSearch(plan), TENON_ERR_OPTION);
}

TEST_F(PlannerInC, SearchesAndAnswers) {
  ASSERT_EQ(TenonPlannerSearch(plan), TENON_SUCCESS);
  EXPECT_NEAR(number("seconds"), 8.04016525e-3, 1e-11);
  EXPECT_NEAR(number("uniform"), 12.786e-3, 1e-6);
  EXPECT_NEAR(number("batch"), 81.402e-3, 1e-6);
  EXPECT_EQ(number("layers"), 8);
  double bytes = 0;
  for (TenonInt i = 0; i < 8; ++i) {
    const std::string name = text(i, "name");
    const char* layer = name.c_str();
    EXPECT_EQ(number("channel_parts", layer) * number("space_parts", layer) *
                  number("batch_parts", layer),
              512)
        << name << " " << text(i, "word");
    bytes += number("bytes", layer);
  }
  EXPECT_NEAR(bytes, number("bytes"), 1e-6 * bytes);
  EXPECT_EQ(number("gap"), 0);
}

TEST_F(PlannerInC, FixesAWord) {
  ASSERT_EQ(TenonPlannerFix(plan, "conv1", "n6,o3"), TENON_SUCCESS);
  ASSERT_EQ(TenonPlannerSearch(plan), TENON_SUCCESS);
  EXPECT_EQ(text(0, "name"), "conv1");
  EXPECT_EQ(text(0, "word"), "n6,o3");
  EXPECT_EQ(text(0, "runner_up"), "");
  EXPECT_EQ(number("runner_up", "conv1"), 0);
  EXPECT_GT(number("seconds"), 8.05e-3);
}

TEST_F(PlannerInC, ASettingDiscardsThePlan) {
  ASSERT_EQ(TenonPlannerSearch(plan), TENON_SUCCESS);
  ASSERT_EQ(set("input_channels", true), TENON_SUCCESS);
  EXPECT_EQ(codeOf("seconds"), TENON_ERR_STATE);
  ASSERT_EQ(TenonPlannerSearch(plan), TENON_SUCCESS);
  EXPECT_LT(number("seconds"), 6.78e-3);
  ASSERT_EQ(set("link_latency", 0.0), TENON_SUCCESS);
  ASSERT_EQ(set("link_bandwidth", 12e9), TENON_SUCCESS);
  ASSERT_EQ(TenonPlannerSearch(plan), TENON_SUCCESS);
  EXPECT_LT(number("seconds"), 6.78e-3 / 2);
}

// The prefix is that of one plan; another one stays as it is.
TEST_F(PlannerInC, ReadsOptions) {
  ASSERT_EQ(TenonOptionsSet("-tenon_mine_processes", "64"), TENON_SUCCESS);
  ASSERT_EQ(TenonOptionsSet("-tenon_mine_cost_model", "own"), TENON_SUCCESS);
  ASSERT_EQ(TenonObjectSetFromOptions(objectOf(plan)), TENON_SUCCESS);
  TenonInt processes = 0;
  ASSERT_EQ(TenonObjectGetIntegers(objectOf(plan), "processes", 1, &processes, nullptr),
            TENON_SUCCESS);
  EXPECT_EQ(processes, 512);
  ASSERT_EQ(TenonObjectSetOptionsPrefix(objectOf(plan), "mine_"), TENON_SUCCESS);
  ASSERT_EQ(TenonObjectSetFromOptions(objectOf(plan)), TENON_SUCCESS);
  ASSERT_EQ(TenonObjectGetIntegers(objectOf(plan), "processes", 1, &processes, nullptr),
            TENON_SUCCESS);
  EXPECT_EQ(processes, 64);
  char model[8];
  ASSERT_EQ(TenonObjectGetText(objectOf(plan), "cost_model", model, sizeof model, nullptr),
            TENON_SUCCESS);
  EXPECT_STREQ(model, "own");
  EXPECT_EQ(TenonOptionsSet("-tenon_mine_placement", "left"), TENON_ERR_OPTION);
}

TEST_F(PlannerInC, TenonsOwnPrices) {
  ASSERT_EQ(set("cost_model", "own"), TENON_SUCCESS);
  ASSERT_EQ(set("processes", 32), TENON_SUCCESS);
  EXPECT_EQ(set("flop_rate", 0.0), TENON_ERR_ARG);
  ASSERT_EQ(set("flop_rate", 1e12), TENON_SUCCESS);
  ASSERT_EQ(TenonPlannerSearch(plan), TENON_SUCCESS);
  EXPECT_GE(number("searches"), 1);
  const double flat = number("seconds");
  EXPECT_EQ(set("data_type", "int64"), TENON_ERR_TYPE);
  ASSERT_EQ(set("data_type", "float64"), TENON_SUCCESS);
  ASSERT_EQ(TenonPlannerSearch(plan), TENON_SUCCESS);
  EXPECT_GT(number("seconds"), flat);
  ASSERT_EQ(set("data_type", "float32"), TENON_SUCCESS);
  EXPECT_EQ(set("memory_rate", -1.0), TENON_ERR_ARG);
  ASSERT_EQ(set("memory_rate", 1e6), TENON_SUCCESS);
  ASSERT_EQ(TenonPlannerSearch(plan), TENON_SUCCESS);
  EXPECT_GT(number("seconds"), 100 * flat);
  ASSERT_EQ(set("memory_rate", 1e10), TENON_SUCCESS);
  TenonMachine machine = nullptr;
  const char* const names[] = {"node", "core"};
  const TenonInt sizes[] = {4, 8};
  ASSERT_EQ(TenonMachineCreate("cluster", 2, names, sizes, &machine), TENON_SUCCESS);
  ASSERT_EQ(TenonMachineAddLink(machine, "nic", 0, 1, 1e9, 1e-5, TENON_LINK_LEAVING),
            TENON_SUCCESS);
  ASSERT_EQ(TenonPlannerSetMachine(plan, machine), TENON_SUCCESS);
  ASSERT_EQ(TenonMachineDestroy(&machine), TENON_SUCCESS);
  ASSERT_EQ(TenonPlannerSearch(plan), TENON_SUCCESS);
  EXPECT_GT(number("seconds"), flat);
  ASSERT_EQ(set("processes", 64), TENON_SUCCESS);
  EXPECT_EQ(TenonPlannerSearch(plan), TENON_ERR_SHAPE);
}

TEST_F(PlannerInC, NetworksOfLayers) {
  TenonPlanner layers = nullptr;
  double value = 0;
  ASSERT_EQ(TenonPlannerCreate(TENON_TEST_NETWORKS "/lenet5.json", 64, &layers), TENON_SUCCESS);
  const TenonObject settings = objectOf(layers);
  const TenonInt processes = 4, sample[] = {1, 28, 28}, none[] = {1, 0, 28};
  ASSERT_EQ(TenonObjectSetIntegers(settings, "processes", 1, &processes), TENON_SUCCESS);
  EXPECT_EQ(TenonPlannerSearch(layers), TENON_ERR_SUPPORT); // by t1
  EXPECT_EQ(TenonPlannerGetPublishedSeconds(layers, "eq8", 2, 2, 2, 2, &value), TENON_ERR_SUPPORT);
  ASSERT_EQ(TenonObjectSetText(settings, "cost_model", "own"), TENON_SUCCESS);
  EXPECT_EQ(TenonPlannerSearch(layers), TENON_ERR_STATE);
  EXPECT_EQ(TenonObjectSetIntegers(settings, "input_shape", 3, none), TENON_ERR_ARG);
  ASSERT_EQ(TenonObjectSetIntegers(settings, "input_shape", 3, sample), TENON_SUCCESS);
  ASSERT_EQ(TenonPlannerSearch(layers), TENON_SUCCESS);
  ASSERT_EQ(TenonPlannerGetNumber(layers, nullptr, "layers", &value), TENON_SUCCESS);
  EXPECT_EQ(value, 5);
  EXPECT_EQ(TenonPlannerDestroy(&layers), TENON_SUCCESS);
}

TEST_F(PlannerInC, TablesHaveAnInputOfTheirOwn) {
  const TenonInt own[] = {3, 227, 227}, other[] = {3, 64, 64};
  const auto setShape = [&](TenonInt length, const TenonInt shape[]) {
    return TenonObjectSetIntegers(objectOf(plan), "input_shape", length, shape);
  };
  EXPECT_EQ(setShape(3, own), TENON_SUCCESS);
  EXPECT_EQ(setShape(3, other), TENON_ERR_SHAPE);
  EXPECT_EQ(setShape(2, own), TENON_ERR_SHAPE);
}

// 2^31 - 1 ranks would take 8 GiB to list.
TEST_F(PlannerInC, PinnedGridsAreNoLargerThanThePlan) {
  EXPECT_EQ(set("input_grid", "4x0:S2,S3"), TENON_ERR_ARG);
  ASSERT_EQ(set("input_grid", ""), TENON_SUCCESS);
  EXPECT_EQ(set("output_grid", "2147483648:S0"), TENON_ERR_ARG);
  ASSERT_EQ(set("cost_model", "own"), TENON_SUCCESS);
  for (const char* grid : {"2147483647:S0", "2147483647x2147483647:S0,S1",
                           "2147483647x2147483647x2147483647:S0,S1,B"}) {
    ASSERT_EQ(set("output_grid", grid), TENON_SUCCESS);
    EXPECT_EQ(TenonPlannerSearch(plan), TENON_ERR_SHAPE);
  }
}

TEST_F(PlannerInC, CountsWhatConversionsSend) {
  TenonInt messages = 0, elements = 0;
  const TenonInt large = TenonInt(1) << 59;
  // As an exchange every process sends the whole to all others.
  ASSERT_EQ(TenonPlannerCountConversion("P", "B", 4, 1, &large, &messages, &elements),
            TENON_SUCCESS);
  EXPECT_EQ(messages, 12);
  EXPECT_EQ(elements, 12 * large);
  EXPECT_EQ(TenonPlannerCountConversion("P", "B", 5, 1, &large, &messages, &elements),
            TENON_ERR_SHAPE); // 20 x 2^59 > 2^63
}

TEST_F(PlannerInC, ThePublishedCosts) {
  double value = 0;
  ASSERT_EQ(TenonPlannerGetPublishedSeconds(plan, "eq8", 4, 128, 4, 128, &value), TENON_SUCCESS);
  EXPECT_NEAR(value * 1.2e6 / 2048, 17.527, 5e-4);
  ASSERT_EQ(TenonPlannerGetPublishedSeconds(plan, "eq8", 32, 16, 1, 512, &value), TENON_SUCCESS);
  EXPECT_NEAR(value * 1.2e6 / 2048, 5.479, 5e-4);
  EXPECT_EQ(TenonPlannerGetPublishedSeconds(plan, "eq99", 4, 128, 4, 128, &value), TENON_ERR_ARG);
}

TEST_F(PlannerInC, ErrorsLeaveThePlanUsable) {
  char small[4];
  EXPECT_EQ(codeOf("seconds"), TENON_ERR_STATE);
  EXPECT_EQ(set("processes", 0), TENON_ERR_ARG);
  EXPECT_EQ(TenonPlannerSearch(plan), TENON_ERR_ARG); // that failure, once
  EXPECT_EQ(set("cost_model", "t2"), TENON_ERR_TYPE);
  EXPECT_EQ(set("cost_model", static_cast<const char*>(nullptr)), TENON_ERR_NULL);
  ASSERT_EQ(set("cost_model", "t1"), TENON_SUCCESS); // which makes good
  EXPECT_EQ(set("link_latency", -1.0), TENON_ERR_ARG);
  ASSERT_EQ(set("link_latency", 2e-6), TENON_SUCCESS);
  EXPECT_EQ(set("link_bandwidth", 0.0), TENON_ERR_ARG);
  ASSERT_EQ(set("link_bandwidth", 6e9), TENON_SUCCESS);
  EXPECT_EQ(set("memory_limit", -1), TENON_ERR_ARG);
  ASSERT_EQ(set("memory_limit", 1000), TENON_SUCCESS);
  EXPECT_EQ(TenonPlannerSearch(plan), TENON_ERR_SHAPE);
  ASSERT_EQ(set("memory_limit", 0), TENON_SUCCESS);
  ASSERT_EQ(TenonPlannerSearch(plan), TENON_SUCCESS);
  EXPECT_EQ(codeOf("fastest"), TENON_ERR_ARG);
  EXPECT_EQ(TenonPlannerGetText(plan, 8, "name", small, sizeof small, nullptr), TENON_ERR_ARG);
  EXPECT_EQ(TenonPlannerGetText(plan, 0, "name", small, sizeof small, nullptr), TENON_ERR_ARG);
  EXPECT_EQ(TenonPlannerGetText(plan, 0, "colour", small, sizeof small, nullptr), TENON_ERR_ARG);
  EXPECT_EQ(codeOf("bytes", "conv9"), TENON_ERR_ARG);
  EXPECT_EQ(codeOf("seconds", "conv1"), TENON_ERR_ARG); // of the plan alone
  double value = 0;
  EXPECT_EQ(TenonPlannerGetNumber(nullptr, nullptr, "bytes", &value), TENON_ERR_NULL);
  TenonPlanner none = nullptr;
  EXPECT_EQ(TenonPlannerCreate("lenet6", 8, &none), TENON_ERR_FILE);
  EXPECT_EQ(TenonPlannerCreate(kAlexNet, 0, &none), TENON_ERR_ARG);
  ASSERT_EQ(set("processes", 1 << 24), TENON_SUCCESS);
  EXPECT_EQ(TenonPlannerSearch(plan), TENON_ERR_SHAPE);
  EXPECT_EQ(codeOf("domain"), TENON_ERR_STATE);
}

} // namespace
