// SPDX-License-Identifier: BSD-2-Clause
// Tests plans through the C API (TenonPlan): a run from a solver's layout with a check of the
// adjoint against the tangent, settings and options, results of a search, a measured machine, and
// the error code and text of each wrong call on all ranks.
#include "capi/expect_code.hpp"
#include "sys/files/part_file.hpp"

#include <cmath>
#include <fstream>
#include <string>

namespace tenon::test {
namespace {

// network_ has two affine layers, 16 -> 12 -> 8, and plan_ is for batches of 8.
class CPlan : public CApi {
protected:
  void SetUp() override {
    CApi::SetUp();
    expectSuccess(TenonLayerCreateSequential(MPI_COMM_WORLD, &network_));
    TenonLayer layer = nullptr;
    for (TenonInt outputs : {12, 8}) {
      expectSuccess(
          TenonLayerCreateAffine(MPI_COMM_WORLD, outputs == 12 ? 16 : 12, outputs, &layer));
      expectSuccess(TenonObjectSetName(objectOf(layer), outputs == 12 ? "inner" : "outer"));
      expectSuccess(TenonLayerSequentialAdd(network_, layer));
      expectSuccess(TenonLayerDestroy(&layer));
    }
    expectSuccess(TenonLayerSetDataType(network_, TENON_FLOAT64));
    expectSuccess(TenonPlanCreate(network_, 8, &plan_));
    input_ = layout({8, 16}, "S1");
    output_ = layout({8, 8}, "B");
  }
  void TearDown() override {
    expectSuccess(TenonLayoutDestroy(&output_));
    expectSuccess(TenonLayoutDestroy(&input_));
    expectSuccess(TenonPlanDestroy(&plan_));
    expectSuccess(TenonLayerDestroy(&network_));
    CApi::TearDown();
  }

  TenonLayer network_ = nullptr;
  TenonPlan plan_ = nullptr;
  TenonLayout input_ = nullptr, output_ = nullptr;
};

// Whatever parallelizations the plan has, <J t, dy> = <t, J* dy> for tangent t and cotangent dy.
TEST_F(CPlan, RunsApplyTangentAndAdjoint) {
  expectSuccess(TenonPlanSetInput(plan_, 0, input_));
  expectSuccess(TenonPlanSetOutput(plan_, output_));
  expectSuccess(TenonPlanSetUp(plan_));
  expectSuccess(TenonPlanSetUp(plan_)); // has no effect
  TenonLayer layer = nullptr;
  TenonLayout given = nullptr;
  expectSuccess(TenonPlanGetLayer(plan_, &layer));
  expectSuccess(TenonPlanGetInputLayout(plan_, 0, &given));
  TenonBool equal = TENON_FALSE;
  expectSuccess(TenonLayoutIsEqual(given, input_, &equal));
  EXPECT_EQ(equal, TENON_TRUE);
  TenonDTensor x = tensor(input_, TENON_FLOAT64), t = tensor(input_, TENON_FLOAT64), y = nullptr,
               ty = nullptr, dy = nullptr, dx = nullptr;
  expectSuccess(TenonLayerCreateOutput(layer, 0, &y));
  expectSuccess(TenonLayerCreateOutput(layer, 0, &ty));
  expectSuccess(TenonLayerCreateOutputCotangent(layer, 0, &dy));
  expectSuccess(TenonLayerCreateInputCotangent(layer, 0, &dx));
  expectSuccess(TenonDTensorFillUniform(x, /*seed=*/1, /*stream=*/0, -1, 1));
  expectSuccess(TenonDTensorFillUniform(t, /*seed=*/1, /*stream=*/1, -1, 1));
  expectSuccess(TenonDTensorFillUniform(dy, /*seed=*/1, /*stream=*/2, -1, 1));
  expectSuccess(TenonLayerApply(layer, x, y));
  expectSuccess(TenonLayerApplyTangent(layer, t, ty));
  expectSuccess(TenonLayerApplyAdjoint(layer, dy, dx));
  double left = 0, right = 1;
  expectSuccess(TenonDTensorPairing(ty, dy, &left));
  expectSuccess(TenonDTensorPairing(t, dx, &right));
  EXPECT_NEAR(left, right, 1e-12 * std::abs(left));
  for (TenonDTensor* each : {&x, &t, &y, &ty, &dy, &dx})
    expectSuccess(TenonDTensorDestroy(each));
  expectSuccess(TenonLayoutDestroy(&given));
  expectSuccess(TenonLayerDestroy(&layer));
}

TEST_F(CPlan, RefusesCallsInTheWrongOrder) {
  const std::string path = "c_plan_test." + std::to_string(worldSize()) + ".json";
  TenonLayer layer = nullptr;
  TenonLayout given = nullptr;
  expectCode(TENON_ERR_STATE, TenonPlanGetLayer(plan_, &layer), {"TenonPlanSetUp()"});
  expectCode(TENON_ERR_STATE, TenonPlanGetInputLayout(plan_, 0, &given), {"TenonPlanSetUp()"});
  expectSuccess(TenonObjectView(objectOf(plan_))); // prints the request
  expectCode(TENON_ERR_STATE, TenonPlanReport(plan_), {"TenonPlanSetUp()"});
  double rate = 0;
  expectCode(TENON_ERR_STATE, TenonPlanCalibrate(plan_, &rate, nullptr, nullptr),
             {"TenonPlanSetUp()"});
  expectCommonCode(TENON_ERR_STATE, TenonPlanSetUp(plan_), {"shape"});
  expectSuccess(TenonPlanSetInput(plan_, 0, input_));
  expectCommonCode(TENON_ERR_STATE, TenonPlanSave(plan_, path.c_str()), {"TenonPlanSearch()"});
  expectCommonCode(TENON_ERR_FILE, TenonPlanLoad(plan_, path.c_str()), {path.c_str()});
  expectSuccess(TenonPlanSetUp(plan_));
  expectCode(TENON_ERR_STATE, TenonPlanSetInput(plan_, 0, input_), {"TenonPlanSetUp()"});
  expectCode(TENON_ERR_STATE, TenonPlanSetOutput(plan_, output_), {"TenonPlanSetUp()"});
  expectCode(TENON_ERR_STATE, TenonPlanFix(plan_, "inner", "n"), {"TenonPlanSetUp()"});
  expectCommonCode(TENON_ERR_STATE, TenonPlanReport(plan_), {"TenonLogEnable()"});
  expectCommonCode(TENON_ERR_STATE, TenonPlanSetRatesFrom(plan_, plan_), {"TenonLogEnable()"});
  expectCode(TENON_ERR_STATE, TenonObjectSetReal(objectOf(plan_), "memory_rate", 1e9),
             {"memory_rate", "TenonPlanSetUp()"});
  expectCode(TENON_ERR_STATE, TenonObjectSetFromOptions(objectOf(plan_)), {"TenonPlanSetUp()"});
  TenonPlan second = nullptr;
  expectCode(TENON_ERR_STATE, TenonPlanCreate(network_, 8, &second), {"set up"});
}

// The description of the measured machine is saved and read again, and plans by both predict the
// same time.
TEST_F(CPlan, TakesAMeasuredMachine) {
  TenonMachine machine = nullptr, read = nullptr;
  expectCommonCode(TENON_ERR_ARG,
                   TenonMachineMeasure(MPI_COMM_WORLD, TENON_MEMORY_HOST, 0, &machine), {"rounds"});
  const int size = worldSize();
  if (size != 2)
    return; // one has no link to measure, and more than two share cores
  expectSuccess(TenonMachineMeasure(MPI_COMM_WORLD, TENON_MEMORY_HOST, 1, &machine));
  const std::string path = "./measured_machine." + std::to_string(size) + ".json";
  expectCommonCode(TENON_ERR_FILE, TenonMachineSave(machine, "none/such.json"), {"none/such.json"});
  expectSuccess(TenonMachineSave(machine, path.c_str()));
  MPI_Barrier(MPI_COMM_WORLD);
  expectSuccess(TenonMachineCreateFromFile(path.c_str(), 0, &read));
  int links = 0, linksRead = 0;
  TenonInt devices = 0;
  expectSuccess(TenonMachineGetCounts(machine, nullptr, &links, nullptr));
  expectSuccess(TenonMachineGetCounts(read, nullptr, &linksRead, &devices));
  EXPECT_EQ(links, size - 1);
  EXPECT_EQ(linksRead, links);
  EXPECT_EQ(devices, size);
  const auto predicted = [&](TenonMachine by) {
    double seconds = 0;
    expectSuccess(TenonPlanSetMachine(plan_, by));
    expectSuccess(TenonPlanSearch(plan_));
    expectSuccess(TenonPlanGetNumber(plan_, nullptr, "seconds", &seconds));
    return seconds;
  };
  const TenonInt shape = 16;
  expectSuccess(TenonObjectSetIntegers(objectOf(plan_), "input_shape", 1, &shape));
  const double seconds = predicted(machine);
  EXPECT_GT(seconds, 0);
  EXPECT_DOUBLE_EQ(predicted(read), seconds);
  // Changes the file to a machine measured with arrays on a device. All ranks have read it before.
  MPI_Barrier(MPI_COMM_WORLD);
  if (worldRank() == 0) {
    std::string text = readWholeFile(path, "machine");
    text.replace(text.find("\"kernels\""), 0, "\"arrays\": \"device\", ");
    std::ofstream(path) << text;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  expectSuccess(TenonMachineDestroy(&read));
  expectSuccess(TenonMachineCreateFromFile(path.c_str(), 0, &read));
  expectSuccess(TenonPlanSetMachine(plan_, read));
  expectCode(TENON_ERR_ARG, TenonPlanSearch(plan_),
             {"arrays on the device", "network is on the host", "-space host"});
  expectSuccess(TenonMachineDestroy(&read));
  expectSuccess(TenonMachineDestroy(&machine));
}

// Plans that run have the settings of plans by name, except for the cost model and the data type.
TEST_F(CPlan, RunsOnGivenGrids) {
  const TenonInt shape = 16, bytes = 64, tooFew = -2, none = 0;
  const TenonObject settings = objectOf(plan_);
  const std::string axis = std::to_string(worldSize());
  expectSuccess(TenonObjectSetIntegers(settings, "input_shape", 1, &shape));
  expectSuccess(TenonObjectSetText(settings, "input_grid", (axis + ":S1").c_str()));
  expectSuccess(TenonObjectSetText(settings, "output_grid", (axis + ":B").c_str()));
  expectSuccess(TenonObjectSetText(settings, "placement", "space"));
  expectSuccess(TenonObjectSetBool(settings, "fewer_processes", TENON_TRUE));
  expectCode(TENON_ERR_TYPE, TenonObjectSetText(settings, "cost_model", "t1"),
             {"the plan has no setting 'cost_model'"});
  expectCode(TENON_ERR_TYPE, TenonObjectSetText(settings, "data_type", "float32"),
             {"the plan has no setting 'data_type'"});
  expectCommonCode(TENON_ERR_TYPE, TenonPlanSetUp(plan_), {"an earlier", "cost_model"});
  expectCode(TENON_ERR_ARG, TenonObjectSetIntegers(settings, "gradient_bucket", 1, &tooFew),
             {"-2"});
  expectSuccess(TenonObjectSetIntegers(settings, "gradient_bucket", 1, &bytes));
  expectSuccess(TenonPlanSetUp(plan_));
  expectCode(TENON_ERR_STATE, TenonObjectSetIntegers(settings, "gradient_bucket", 1, &none),
             {"TenonPlanSetUp()"});
  TenonLayout given = nullptr;
  expectSuccess(TenonPlanGetInputLayout(plan_, 0, &given));
  TenonBool equal = TENON_FALSE;
  expectSuccess(TenonLayoutIsEqual(given, input_, &equal));
  EXPECT_EQ(equal, TENON_TRUE);
  expectSuccess(TenonLayoutDestroy(&given));
}

// Numbers and texts of a plan and its layers; the numbers of parts multiply to that of processes.
TEST_F(CPlan, AnswersWhatASearchHasFound) {
  const TenonInt shape = 16, processes = 8;
  char text[32] = "", few[4];
  double value = 0;
  const auto number = [&](const char* layer, const char* name) {
    expectSuccess(TenonPlanGetNumber(plan_, layer, name, &value));
    return value;
  };
  expectSuccess(TenonObjectSetIntegers(objectOf(plan_), "input_shape", 1, &shape));
  // A search needs no processes: this one is for more than there are.
  expectSuccess(TenonObjectSetIntegers(objectOf(plan_), "processes", 1, &processes));
  expectSuccess(TenonPlanFix(plan_, "outer", "n3"));
  expectCode(TENON_ERR_STATE, TenonPlanGetNumber(plan_, nullptr, "seconds", &value),
             {"TenonPlanSearch()"});
  expectSuccess(TenonPlanSearch(plan_));
  EXPECT_EQ(number(nullptr, "layers"), 2);
  EXPECT_EQ(number(nullptr, "processes"), 8);
  EXPECT_EQ(number(nullptr, "gap"), 0);
  EXPECT_GE(number(nullptr, "searches"), 1);
  EXPECT_GT(number(nullptr, "seconds"), 0);
  // The plan also has memory that the layers share.
  EXPECT_GT(number(nullptr, "bytes"), number("inner", "bytes") + number("outer", "bytes"));
  EXPECT_EQ(number("inner", "channel_parts") * number("inner", "batch_parts"), 8);
  EXPECT_EQ(number("inner", "space_parts"), 1);
  EXPECT_EQ(number("outer", "batch_parts"), 8);
  expectSuccess(TenonPlanGetLayerName(plan_, 1, text, sizeof text, nullptr));
  EXPECT_STREQ(text, "outer");
  expectSuccess(TenonPlanGetText(plan_, "outer", "labels", text, sizeof text, nullptr));
  EXPECT_STREQ(text, "n3");
  expectSuccess(TenonPlanGetText(plan_, "outer", "runner_up", text, sizeof text, nullptr));
  EXPECT_STREQ(text, ""); // the parallelization is fixed
  EXPECT_EQ(number("outer", "runner_up"), 0);
  EXPECT_GE(number("inner", "runner_up"), number(nullptr, "seconds"));
  expectCode(TENON_ERR_STATE, TenonPlanGetNumber(plan_, nullptr, "overlapped", &value),
             {"overlap_share"});
  expectCode(TENON_ERR_ARG, TenonPlanGetNumber(plan_, nullptr, "fastest", &value), {"seconds"});
  expectCode(TENON_ERR_ARG, TenonPlanGetNumber(plan_, "inner", "seconds", &value), {"runner_up"});
  expectCode(TENON_ERR_ARG, TenonPlanGetNumber(plan_, "iner", "bytes", &value), {"'inner'"});
  expectCode(TENON_ERR_NULL, TenonPlanGetNumber(nullptr, nullptr, "bytes", &value), {"plan"});
  expectCode(TENON_ERR_ARG, TenonPlanGetText(plan_, "inner", "name", text, 32, nullptr),
             {"runner_up"});
  expectCode(TENON_ERR_ARG, TenonPlanGetLayerName(plan_, 2, text, 32, nullptr), {"numbered"});
  expectCode(TENON_ERR_ARG, TenonPlanGetLayerName(plan_, 0, few, sizeof few, nullptr), {"name"});
  if (worldSize() < 8)
    expectCommonCode(TENON_ERR_STATE, TenonPlanSetUp(plan_), {"8 processes"});
}

// A batch of 8 cannot be split over 16 processes, so the baseline of batch parallelism has no plan.
TEST_F(CPlan, ABaselineCanBeImpossible) {
  const TenonInt shape = 16, processes = 16;
  double value = 0;
  expectSuccess(TenonObjectSetIntegers(objectOf(plan_), "input_shape", 1, &shape));
  expectSuccess(TenonObjectSetIntegers(objectOf(plan_), "processes", 1, &processes));
  expectSuccess(TenonPlanSearch(plan_));
  expectCode(TENON_ERR_STATE, TenonPlanGetNumber(plan_, nullptr, "batch", &value), {"'batch'"});
}

// Options with a prefix apply only to the plan that has this prefix.
TEST_F(CPlan, ReadsOptions) {
  const auto processes = [&] {
    TenonInt found = 0;
    expectSuccess(TenonObjectGetIntegers(objectOf(plan_), "processes", 1, &found, nullptr));
    return found;
  };
  expectSuccess(TenonOptionsSet("-tenon_mine_processes", "64"));
  expectSuccess(TenonObjectSetFromOptions(objectOf(plan_)));
  EXPECT_EQ(processes(), worldSize());
  expectSuccess(TenonObjectSetOptionsPrefix(objectOf(plan_), "mine_"));
  expectSuccess(TenonObjectSetFromOptions(objectOf(plan_)));
  EXPECT_EQ(processes(), 64);
  expectCode(TENON_ERR_OPTION, TenonOptionsSet("-tenon_mine_placement", "left"), {"left"});
}

TEST_F(CPlan, RefusesWrongArguments) {
  TenonPlan other = nullptr;
  expectCode(TENON_ERR_ARG, TenonPlanCreate(network_, 0, &other), {"batch", "0"});
  expectCode(TENON_ERR_NULL, TenonPlanCreate(network_, 8, nullptr), {"plan"});
  expectCode(TENON_ERR_NULL, TenonPlanSetInput(plan_, 0, nullptr), {"layout"});
  expectCode(TENON_ERR_NULL, TenonPlanSave(plan_, nullptr), {"path"});
}

TEST_F(CPlan, RefusesAnotherBatch) {
  TenonLayout small = layout({4, 16}, "S0");
  expectCode(TENON_ERR_SHAPE, TenonPlanSetInput(plan_, 0, small), {"[4,16]", "8"});
  expectCode(TENON_ERR_SHAPE, TenonPlanSetOutput(plan_, small), {"[4,16]", "8"});
  expectSuccess(TenonLayoutDestroy(&small));
}

// If one rank has other settings, set-up is an error on all ranks.
TEST_F(CPlan, AgreesOnTheNetwork) {
  if (worldSize() == 1)
    GTEST_SKIP() << "needs two ranks";
  expectSuccess(TenonPlanSetInput(plan_, 0, input_));
  if (isLast())
    expectSuccess(TenonPlanSetOutput(plan_, output_));
  expectCommonCode(TENON_ERR_COLLECTIVE, TenonPlanSetUp(plan_), {"plan"});
}

TEST_F(CPlan, AgreesOnSettings) {
  if (worldSize() == 1)
    GTEST_SKIP() << "needs two ranks";
  expectSuccess(TenonPlanSetInput(plan_, 0, input_));
  const TenonInt bytes = isLast() ? 0 : 64;
  expectSuccess(TenonObjectSetIntegers(objectOf(plan_), "gradient_bucket", 1, &bytes));
  expectCommonCode(TENON_ERR_COLLECTIVE, TenonPlanSetUp(plan_), {"plan"});
}

// A setter that failed on one rank makes set-up an error on all ranks.
TEST_F(CPlan, RemembersAFailedSetter) {
  expectSuccess(TenonPlanSetInput(plan_, 0, input_));
  if (isLast())
    expectCode(TENON_ERR_ARG, TenonObjectSetReal(objectOf(plan_), "overlap_share", 2), {"2"});
  expectCommonCode(TENON_ERR_ARG, TenonPlanSetUp(plan_),
                   {"an earlier TenonObjectSetReal(\"overlap_share\") failed"});
}

} // namespace
} // namespace tenon::test
