// SPDX-License-Identifier: BSD-2-Clause
// Datasets and optimizers in the C API: batches from an HDF5 file, steps of SGD and L-BFGS,
// schedules of learning rates, and the errors of wrong calls and files, on all ranks or on the last
// one only (isLast()). The expected batches, weights and rates are computed by hand.
#include "capi/expect_code.hpp"

#include <cstdio>
#include <string>
#include <vector>

namespace tenon::test {
namespace {

// Fixture: a checkpoint file with the tensors "images" (6 images of 3 x 5 pixels), "classes" (6
// labels) and "few" (5 labels). Each element has its position in the row-major tensor as its value:
// label n is n.
class DatasetCApi : public CApi {
protected:
  static constexpr TenonInt kSamples = 6, kHeight = 3, kWidth = 5;

  void SetUp() override {
    CApi::SetUp();
    path_ = testing::TempDir() + "tenon_capi_" + std::to_string(worldSize()) + ".h5";
    TenonCheckpoint file = nullptr;
    const TenonErrorCode code = TenonCheckpointCreate(MPI_COMM_WORLD, &file);
    if (code == TENON_ERR_SUPPORT)
      GTEST_SKIP() << "this build has no HDF5";
    expectSuccess(code);
    TenonLayout pixels = layout({kSamples, 1, kHeight, kWidth}, "B"),
                classes = layout({kSamples}, "B"), few = layout({kSamples - 1}, "B");
    TenonDTensor x = tensor(pixels, TENON_FLOAT64), labels = tensor(classes, TENON_INT64),
                 fewLabels = tensor(few, TENON_INT64);
    for (TenonDTensor one : {x, labels, fewLabels})
      fillWithPositions(one);
    expectSuccess(TenonCheckpointAddTensor(file, x, "images"));
    expectSuccess(TenonCheckpointAddTensor(file, labels, "classes"));
    expectSuccess(TenonCheckpointAddTensor(file, fewLabels, "few"));
    expectSuccess(TenonCheckpointWrite(file, path_.c_str()));
    expectSuccess(TenonCheckpointDestroy(&file));
    for (TenonDTensor* one : {&x, &labels, &fewLabels})
      expectSuccess(TenonDTensorDestroy(one));
    for (TenonLayout* one : {&pixels, &classes, &few})
      expectSuccess(TenonLayoutDestroy(one));
  }
  void TearDown() override {
    expectSuccess(TenonDatasetDestroy(&dataset_));
    MPI_Barrier(MPI_COMM_WORLD);
    if (worldRank() == 0)
      std::remove(path_.c_str());
    CApi::TearDown();
  }

  // Sets each element to its position in this rank's array. The tensors are copied ("B"), so this
  // is also the position in the tensor.
  static void fillWithPositions(TenonDTensor x) {
    TenonDataType type = TENON_FLOAT64;
    TenonInt count = 0;
    void* array = nullptr;
    expectSuccess(TenonDTensorGetDataType(x, &type));
    expectSuccess(TenonDTensorGetLocalSize(x, &count));
    expectSuccess(TenonDTensorGetArray(x, type, &array));
    for (TenonInt i = 0; i < count; ++i)
      if (type == TENON_INT64)
        static_cast<TenonInt*>(array)[i] = i;
      else
        static_cast<double*>(array)[i] = double(i);
    expectSuccess(TenonDTensorRestoreArray(x, &array));
  }

  TenonErrorCode create(const std::string& path, const char* labels) {
    return TenonDatasetCreateHDF5(MPI_COMM_WORLD, path.c_str(), "tensors/images", labels,
                                  &dataset_);
  }
  void expectRefused(TenonErrorCode code, const std::string& path, const char* labels,
                     std::initializer_list<const char*> words) {
    expectCommonCode(code, create(path, labels), words);
    EXPECT_EQ(dataset_, nullptr);
  }
  void open() { expectSuccess(create(path_, "tensors/classes")); }

  std::string path_;
  TenonDataset dataset_ = nullptr;
};

// Batches of 2 images: batch 1 has images 2 and 3. A value v is returned as 1 v + 1 (scale and
// shift).
TEST_F(DatasetCApi, BatchesHaveTheOrderOfTheFile) {
  open();
  TenonInt shape[4] = {}, batches = 0;
  int ndim = 0;
  expectSuccess(TenonDatasetGetShape(dataset_, 4, shape, &ndim));
  EXPECT_EQ(ndim, 4);
  EXPECT_EQ(shape[0], kSamples);
  EXPECT_EQ(shape[1], 1);
  EXPECT_EQ(shape[2], kHeight);
  EXPECT_EQ(shape[3], kWidth);
  expectCode(TENON_ERR_ARG, TenonDatasetGetShape(dataset_, 3, shape, nullptr), {"4 values"});
  TenonLayout pixels = layout({2, 1, kHeight, kWidth}, "S2"), classes = layout({2}, "B");
  expectCode(TENON_ERR_STATE, TenonDatasetGetBatchCount(dataset_, &batches),
             {"TenonDatasetSetUp()"});
  expectSuccess(TenonObjectSetReal(objectOf(dataset_), "sample_scale", 1));
  expectSuccess(TenonObjectSetReal(objectOf(dataset_), "sample_shift", 1));
  expectSuccess(TenonDatasetSetUp(dataset_, pixels, classes));
  expectSuccess(TenonDatasetGetBatchCount(dataset_, &batches));
  EXPECT_EQ(batches, 3);
  TenonDTensor x = tensor(pixels, TENON_FLOAT64), labels = tensor(classes, TENON_INT64);
  expectCode(TENON_ERR_ARG, TenonDatasetGetBatch(dataset_, -1, 0, x, labels), {"epoch", "-1"});
  expectSuccess(TenonDatasetGetBatch(dataset_, 0, 1, x, labels));
  TenonInt low[4], high[4];
  const void* array = nullptr;
  expectSuccess(TenonDTensorGetBox(x, low, high));
  expectSuccess(TenonDTensorGetArrayRead(x, TENON_FLOAT64, &array));
  const double* value = static_cast<const double*>(array);
  for (TenonInt n = 2; n < 4; ++n)
    for (TenonInt r = low[2]; r < high[2]; ++r)
      for (TenonInt c = 0; c < kWidth; ++c)
        EXPECT_DOUBLE_EQ(*value++, double((n * kHeight + r) * kWidth + c + 1));
  expectSuccess(TenonDTensorRestoreArrayRead(x, &array));
  expectSuccess(TenonDTensorGetArrayRead(labels, TENON_INT64, &array));
  EXPECT_EQ(static_cast<const TenonInt*>(array)[0], 2);
  EXPECT_EQ(static_cast<const TenonInt*>(array)[1], 3);
  expectSuccess(TenonDTensorRestoreArrayRead(labels, &array));
  TenonDTensor labelMask = tensor(classes, TENON_FLOAT32); // nothing is missing in this file
  expectSuccess(TenonDatasetGetMasks(dataset_, 0, 1, x, labelMask));
  expectSuccess(TenonDTensorGetArrayRead(x, TENON_FLOAT64, &array));
  for (TenonInt i = 0; i < 2 * (high[2] - low[2]) * kWidth; ++i)
    EXPECT_EQ(static_cast<const double*>(array)[i], 1);
  expectSuccess(TenonDTensorRestoreArrayRead(x, &array));
  expectSuccess(TenonDatasetGetMasks(dataset_, 0, 1, nullptr, nullptr));
  expectCode(TENON_ERR_DATATYPE, TenonDatasetGetMasks(dataset_, 0, 1, nullptr, labels), {"int64"});
  expectCode(TENON_ERR_SHAPE, TenonDatasetGetMasks(dataset_, 0, 1, labelMask, nullptr), {"[2]"});
  expectCode(TENON_ERR_ARG, TenonDatasetGetMasks(dataset_, 0, 3, x, nullptr), {"0 to 2", "3"});
  expectSuccess(TenonDTensorDestroy(&labelMask));
  expectCode(TENON_ERR_ARG, TenonDatasetGetBatch(dataset_, 0, 3, x, labels), {"0 to 2", "3"});
  expectCode(TENON_ERR_DATATYPE, TenonDatasetGetBatch(dataset_, 0, 0, labels, x),
             {"int64", "float64"});
  expectSuccess(TenonDTensorDestroy(&x));
  expectSuccess(TenonDTensorDestroy(&labels));
  expectSuccess(TenonLayoutDestroy(&pixels));
  expectSuccess(TenonLayoutDestroy(&classes));
}

TEST_F(DatasetCApi, FilesThatDoNotFitAreRefusedByName) {
  const std::string absent = path_ + ".absent";
  expectRefused(TENON_ERR_FILE, absent, "tensors/classes", {".absent", "No such file"});
  if (worldSize() > 1)
    expectRefused(TENON_ERR_FILE, isLast() ? absent : path_, "tensors/classes", {".absent"});
  expectRefused(TENON_ERR_FORMAT, path_, "tensors/few", {"6 samples", "5 labels"});
  expectCommonCode(TENON_ERR_NULL,
                   TenonDatasetCreateHDF5(MPI_COMM_WORLD, isLast() ? nullptr : path_.c_str(),
                                          "tensors/images", nullptr, &dataset_),
                   {"path is NULL"});
}

TEST_F(DatasetCApi, LayoutsThatDoNotMatchAreTheSameErrorOnAllRanks) {
  open();
  TenonLayout classes = layout({2}, "B"), more = layout({3}, "B"), many = layout({7}, "B"),
              wide = layout({2, 1, kHeight, kWidth + 1}, "S0"),
              sums = layout({2, 1, kHeight, kWidth}, "P"),
              good = layout({2, 1, kHeight, kWidth}, "S0"),
              all = layout({7, 1, kHeight, kWidth}, "S0");
  expectCommonCode(TENON_ERR_SHAPE, TenonDatasetSetUp(dataset_, wide, classes),
                   {"[batch,1,3,5]", "[2,1,3,6]"});
  if (worldSize() > 1) // on one process all these layouts are the same
    expectCommonCode(TENON_ERR_LAYOUT, TenonDatasetSetUp(dataset_, sums, classes), {"S, B and R"});
  expectCommonCode(TENON_ERR_SHAPE, TenonDatasetSetUp(dataset_, good, more), {"[2]", "[3]"});
  expectCommonCode(TENON_ERR_SHAPE, TenonDatasetSetUp(dataset_, all, many), {"1 to 6", "7"});
  expectCommonCode(TENON_ERR_NULL, TenonDatasetSetUp(dataset_, isLast() ? nullptr : good, classes),
                   {"x is NULL"});
  if (worldSize() > 1)
    expectCommonCode(TENON_ERR_COLLECTIVE,
                     TenonDatasetSetUp(dataset_, isLast() ? wide : good, classes), {"batch"});
  expectSuccess(TenonDatasetSetUp(dataset_, good, classes));
  for (TenonLayout* one : {&classes, &more, &many, &wide, &sums, &good, &all})
    expectSuccess(TenonLayoutDestroy(one));
}

// Fixture: y = w x with one weight w, on 4 samples that are split among the ranks. The gradient of
// w is the sum of x dy over all samples; a step of SGD subtracts the learning rate times the
// gradient.
class OptimizerCApi : public CApi {
protected:
  void SetUp() override {
    CApi::SetUp();
    samples_ = layout({4, 1}, "S0");
    expectSuccess(TenonLayerCreateAffine(MPI_COMM_WORLD, 1, 1, &layer_));
    expectSuccess(TenonObjectSetBool(objectOf(layer_), "bias", TENON_FALSE));
    expectSuccess(TenonLayerSetDataType(layer_, TENON_FLOAT64));
    expectSuccess(TenonLayerSetUp(layer_, samples_));
  }
  void TearDown() override {
    expectSuccess(TenonOptimizerDestroy(&optimizer_));
    expectSuccess(TenonLayerDestroy(&layer_));
    expectSuccess(TenonLayoutDestroy(&samples_));
    CApi::TearDown();
  }

  TenonLayout samples_ = nullptr;
  TenonLayer layer_ = nullptr;
  TenonOptimizer optimizer_ = nullptr;
};

TEST_F(OptimizerCApi, SgdStepsAlongTheSummedGradient) {
  expectSuccess(TenonOptimizerCreate(layer_, "sgd", &optimizer_));
  expectSuccess(TenonOptimizerSetLearningRate(optimizer_, 0.125));
  TenonDTensor weight = nullptr, x = tensor(samples_, TENON_FLOAT64), y = nullptr, dy = nullptr;
  expectSuccess(TenonLayerGetParameter(layer_, 0, &weight));
  expectSuccess(TenonDTensorFillConstant(weight, 1));
  expectSuccess(TenonLayerCreateOutput(layer_, 0, &y));
  expectSuccess(TenonLayerCreateOutputCotangent(layer_, 0, &dy));
  expectSuccess(TenonDTensorFillConstant(x, 3));
  expectSuccess(TenonDTensorFillConstant(dy, 2));
  for (int step = 0; step < 2; ++step) {
    expectSuccess(TenonLayerApply(layer_, x, y));
    expectSuccess(TenonLayerApplyAdjoint(layer_, dy, nullptr));
    expectSuccess(TenonOptimizerStep(optimizer_));
  }
  double value = 0;
  expectSuccess(TenonDTensorMaxAbs(weight, &value));
  EXPECT_EQ(value, 5); // |1 - 2 (0.125 (4 samples x 3 x 2))|
  TenonInt steps = 0;
  expectSuccess(TenonOptimizerGetSteps(optimizer_, &steps));
  EXPECT_EQ(steps, 2);
  for (TenonDTensor* one : {&weight, &x, &y, &dy})
    expectSuccess(TenonDTensorDestroy(one));
}

// The context of the closure: the loss is (w x - 3)^2 of the first sample, where x = 2, since the
// weights of the other samples are 0. The minimum is at w = 1.5.
struct Fit {
  TenonLayer layer, loss = nullptr;
  TenonDTensor x, y = nullptr, dy = nullptr, value = nullptr, one = nullptr;
  int calls = 0;
};

// The closure: evaluates loss and gradient.
TenonErrorCode evaluateFit(TenonOptimizer, double* loss, void* context) {
  Fit* fit = static_cast<Fit*>(context);
  ++fit->calls;
  TenonCall(TenonLayerApply(fit->layer, fit->x, fit->y));
  TenonCall(TenonLayerApply(fit->loss, fit->y, fit->value));
  TenonCall(TenonLayerApplyAdjoint(fit->loss, fit->one, fit->dy));
  TenonCall(TenonLayerApplyAdjoint(fit->layer, fit->dy, nullptr));
  TenonCall(TenonDTensorMaxAbs(fit->value, loss));
  return TENON_SUCCESS;
}

TenonErrorCode failingClosure(TenonOptimizer, double*, void*) {
  return TENON_ERR_ARG;
}

TEST_F(OptimizerCApi, LbfgsFitsByAClosure) {
  expectSuccess(TenonOptimizerCreate(layer_, "lbfgs", &optimizer_));
  const TenonInt history = 4, iterations = 30;
  expectSuccess(TenonObjectSetIntegers(objectOf(optimizer_), "history", 1, &history));
  expectSuccess(TenonObjectSetIntegers(objectOf(optimizer_), "iterations", 1, &iterations));
  expectSuccess(TenonObjectSetReal(objectOf(optimizer_), "gradient_tolerance", 1e-10));
  expectSuccess(TenonObjectSetReal(objectOf(optimizer_), "change_tolerance", 0));
  TenonLayout weights = layout({4}, "B");
  TenonDTensor target = tensor(samples_, TENON_FLOAT64), mask = tensor(weights, TENON_FLOAT64);
  Fit fit{.layer = layer_, .x = tensor(samples_, TENON_FLOAT64)};
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "meansquarederror", &fit.loss));
  expectCode(TENON_ERR_TYPE, TenonLayerSetTargetWeights(fit.loss, mask), {"loss_weights"});
  expectSuccess(TenonObjectSetText(objectOf(fit.loss), "loss_weights", "sample"));
  expectSuccess(TenonLayerSetDataType(fit.loss, TENON_FLOAT64));
  expectSuccess(TenonLayerSetTarget(fit.loss, target));
  expectSuccess(TenonLayerSetTargetWeights(fit.loss, mask));
  expectSuccess(TenonLayerCreateOutput(layer_, 0, &fit.y));
  TenonLayout outputs = nullptr;
  expectSuccess(TenonLayerGetOutputLayout(layer_, 0, &outputs));
  expectSuccess(TenonLayerSetUp(fit.loss, outputs));
  expectSuccess(TenonLayerCreateInputCotangent(fit.loss, 0, &fit.dy));
  expectSuccess(TenonLayerCreateOutput(fit.loss, 0, &fit.value));
  expectSuccess(TenonLayerCreateOutputCotangent(fit.loss, 0, &fit.one));
  expectSuccess(TenonDTensorFillConstant(target, 3));
  expectSuccess(TenonDTensorFillConstant(fit.x, 2));
  expectSuccess(TenonDTensorFillConstant(fit.one, 1));
  void* array = nullptr;
  expectSuccess(TenonDTensorFillConstant(mask, 0));
  expectSuccess(TenonDTensorGetArray(mask, TENON_FLOAT64, &array));
  static_cast<double*>(array)[0] = 0.25;
  expectSuccess(TenonDTensorRestoreArray(mask, &array));
  TenonDTensor weight = nullptr;
  expectSuccess(TenonLayerGetParameter(layer_, 0, &weight));
  expectSuccess(TenonDTensorFillConstant(weight, 0));
  double loss = 0, fitted = 0, rate = 0;
  expectSuccess(TenonOptimizerStepClosure(optimizer_, evaluateFit, &fit, &loss));
  EXPECT_DOUBLE_EQ(loss, 9);
  expectSuccess(TenonDTensorMaxAbs(weight, &fitted));
  EXPECT_NEAR(fitted, 1.5, 1e-9);
  EXPECT_GT(fit.calls, 1);
  expectSuccess(TenonOptimizerGetLearningRate(optimizer_, &rate));
  EXPECT_EQ(rate, 1);
  const TenonInt other = 5;
  expectCode(TENON_ERR_STATE, TenonObjectSetIntegers(objectOf(optimizer_), "history", 1, &other),
             {"history", "first step"});
  expectSuccess(TenonObjectSetIntegers(objectOf(optimizer_), "history", 1, &history));
  if (worldSize() == 1) { // on several ranks these errors are fatal
    expectCode(TENON_ERR_TYPE, TenonOptimizerStep(optimizer_), {"TenonOptimizerStepClosure()"});
    expectCode(TENON_ERR_ARG,
               TenonOptimizerStepClosure(optimizer_, failingClosure, nullptr, nullptr),
               {"closure of an optimizer"});
  }
  expectSuccess(TenonLayerDestroy(&fit.loss));
  for (TenonDTensor* one : {&weight, &fit.x, &fit.y, &fit.dy, &fit.value, &fit.one, &target, &mask})
    expectSuccess(TenonDTensorDestroy(one));
  for (TenonLayout* one : {&weights, &outputs})
    expectSuccess(TenonLayoutDestroy(one));
}

// Warm-up over 4 steps: the first rate is 0.5 / 4. On a plateau the rate is multiplied by 0.5 after
// a loss that is not better, and after two such losses the report says to stop.
TEST_F(OptimizerCApi, RatesFollowTheScheduleAndTheReports) {
  expectSuccess(TenonOptimizerCreate(layer_, "adamw", &optimizer_));
  expectSuccess(TenonOptimizerSetLearningRate(optimizer_, 0.5));
  const TenonObject settings = objectOf(optimizer_);
  const auto setInteger = [&](const char* name, TenonInt value) {
    return TenonObjectSetIntegers(settings, name, 1, &value);
  };
  expectSuccess(setInteger("warmup", 4));
  double rate = 0;
  expectSuccess(TenonOptimizerGetLearningRate(optimizer_, &rate));
  EXPECT_DOUBLE_EQ(rate, 0.125);
  expectSuccess(setInteger("warmup", 0));
  expectSuccess(TenonObjectSetText(settings, "schedule", "plateau"));
  expectSuccess(TenonObjectSetReal(settings, "schedule_factor", 0.5));
  expectSuccess(setInteger("patience", 0));
  expectSuccess(setInteger("stop_patience", 2));
  expectSuccess(TenonObjectSetReal(settings, "improvement", 0));
  TenonBool stop = TENON_TRUE;
  for (double loss : {2.0, 1.0, 1.0}) {
    expectSuccess(TenonOptimizerReport(optimizer_, loss, &stop));
    EXPECT_EQ(stop, TENON_FALSE);
  }
  expectSuccess(TenonOptimizerGetLearningRate(optimizer_, &rate));
  EXPECT_DOUBLE_EQ(rate, 0.25);
  expectSuccess(TenonOptimizerReport(optimizer_, 1.0, &stop));
  EXPECT_EQ(stop, TENON_TRUE);
  expectSuccess(TenonObjectSetText(settings, "schedule", "cosine"));
  expectCode(TENON_ERR_STATE, TenonOptimizerGetLearningRate(optimizer_, &rate),
             {"cosine", "schedule_period"});
  expectCode(TENON_ERR_ARG, setInteger("schedule_period", 0), {"schedule_period", "at least 1"});
  expectCode(TENON_ERR_TYPE, TenonObjectSetText(settings, "schedule", "linear"),
             {"linear", "plateau"});
  expectCode(TENON_ERR_TYPE, setInteger("history", 4), {"type adamw", "'history'"});
  double decay = 0;
  expectSuccess(TenonObjectGetReal(settings, "weight_decay", &decay));
  EXPECT_EQ(decay, 0.01);
  TenonBool isSet = TENON_TRUE;
  expectSuccess(TenonObjectIsSet(settings, "weight_decay", &isSet));
  EXPECT_EQ(isSet, TENON_FALSE);
}

TEST_F(OptimizerCApi, WrongArgumentsSayWhatIsExpected) {
  expectCommonCode(TENON_ERR_TYPE, TenonOptimizerCreate(layer_, "adma", &optimizer_),
                   {"adma", "adam"});
  expectCommonCode(TENON_ERR_TYPE,
                   TenonOptimizerCreate(layer_, isLast() ? "lamb" : "sgd", &optimizer_), {"lamb"});
  expectCommonCode(TENON_ERR_NULL,
                   TenonOptimizerCreate(layer_, isLast() ? nullptr : "sgd", &optimizer_),
                   {"type is NULL"});
  if (worldSize() > 1)
    expectCommonCode(TENON_ERR_COLLECTIVE,
                     TenonOptimizerCreate(layer_, isLast() ? "adam" : "sgd", &optimizer_),
                     {"the type"});
  EXPECT_EQ(optimizer_, nullptr);
  expectSuccess(TenonOptimizerCreate(layer_, "sgd", &optimizer_));
  expectCode(TENON_ERR_ARG, TenonOptimizerSetLearningRate(optimizer_, 0), {"above 0"});
  expectCode(TENON_ERR_ARG, TenonObjectSetReal(objectOf(optimizer_), "weight_decay", -1), {"-1"});
  expectCode(TENON_ERR_ARG, TenonObjectSetReal(objectOf(optimizer_), "momentum", 1), {"1"});
  expectCode(TENON_ERR_TYPE, TenonObjectSetReal(objectOf(optimizer_), "beta1", 0.5),
             {"sgd", "beta1"});
  expectSuccess(
      TenonObjectSetOptionsPrefix(reinterpret_cast<TenonObject>(optimizer_), "capi_test_"));
  expectCode(TENON_ERR_OPTION, TenonOptionsSet("-tenon_capi_test_learning_rate", "fast"),
             {"fast", "real number"});
  expectCode(TENON_ERR_OPTION, TenonOptionsSet("-tenon_capi_test_learning_rate", "-1"),
             {"-1", "above 0"});
}

} // namespace
} // namespace tenon::test
