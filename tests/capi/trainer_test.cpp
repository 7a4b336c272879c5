// SPDX-License-Identifier: BSD-2-Clause
// The training loop through the C calls, beside the recursion that it stands for: y = w x, the loss
// (w x - t)^2, and steps against 2 x (w x - t).
#include "capi/expect_code.hpp"
#include "support/traps.hpp"

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace tenon::test {
namespace {

constexpr double kRate = 0.05, kFirst = 0.25;
constexpr TenonInt kBatches = 5;

double inputOf(TenonInt epoch, TenonInt batch) {
  return 1 + 0.25 * double(batch) + 0.125 * double(epoch);
}
double targetOf(TenonInt batch) {
  return 2 - 0.5 * double(batch);
}

// The weight and the losses of all steps, by hand.
struct Plain {
  double w = kFirst;
  std::vector<double> losses;

  void epoch(TenonInt epoch, TenonInt accumulation, double mostNorm = HUGE_VAL) {
    for (TenonInt first = 0; first < kBatches; first += accumulation) {
      const TenonInt end = std::min(first + accumulation, kBatches);
      double loss = 0, slope = 0;
      for (TenonInt batch = first; batch < end; ++batch) {
        const double x = inputOf(epoch, batch), d = w * x - targetOf(batch);
        loss += d * d / double(end - first);
        slope += 2 * x * d / double(end - first);
      }
      losses.push_back(loss);
      w -= kRate * (std::abs(slope) > mostNorm ? slope * mostNorm / std::abs(slope) : slope);
    }
  }
};

class TrainerCApi : public CApi {
protected:
  void SetUp() override {
    CApi::SetUp();
    samples_ = layout({4, 1}, "S0");
    x_ = tensor(samples_, TENON_FLOAT64);
    target_ = tensor(samples_, TENON_FLOAT64);
    make();
  }
  void TearDown() override {
    destroy();
    for (TenonDTensor* one : {&x_, &target_})
      expectSuccess(TenonDTensorDestroy(one));
    expectSuccess(TenonLayoutDestroy(&samples_));
    CApi::TearDown();
  }

  void make(const char* optimizer = "sgd") {
    expectSuccess(TenonLayerCreateAffine(MPI_COMM_WORLD, 1, 1, &network_));
    expectSuccess(TenonObjectSetBool(objectOf(network_), "bias", TENON_FALSE));
    expectSuccess(TenonLayerSetDataType(network_, TENON_FLOAT64));
    expectSuccess(TenonLayerSetUp(network_, samples_));
    expectSuccess(TenonLayerGetParameter(network_, 0, &weight_));
    expectSuccess(TenonDTensorFillConstant(weight_, kFirst));
    expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "meansquarederror", &loss_));
    expectSuccess(TenonOptimizerCreate(network_, optimizer, &optimizer_));
    expectSuccess(TenonOptimizerSetLearningRate(optimizer_, kRate));
    expectSuccess(TenonTrainerCreate(network_, loss_, optimizer_, &trainer_));
    expectSuccess(TenonTrainerSetBatches(trainer_, kBatches, x_, target_, fill, this, nullptr));
    expectSuccess(TenonTrainerSetCallback(trainer_, note, this, nullptr));
  }
  void destroy() {
    expectSuccess(TenonTrainerDestroy(&trainer_));
    expectSuccess(TenonOptimizerDestroy(&optimizer_));
    expectSuccess(TenonDTensorDestroy(&weight_));
    for (TenonLayer* one : {&network_, &loss_})
      expectSuccess(TenonLayerDestroy(one));
  }

  static TenonErrorCode fill(TenonTrainer, TenonInt epoch, TenonInt batch, void* context) {
    auto* self = static_cast<TrainerCApi*>(context);
    TenonCall(TenonDTensorFillConstant(self->x_, inputOf(epoch, batch)));
    TenonCall(TenonDTensorFillConstant(self->target_, targetOf(batch)));
    return TENON_SUCCESS;
  }
  static TenonErrorCode note(TenonTrainer trainer, TenonTrainerEvent event, void* context) {
    auto* self = static_cast<TrainerCApi*>(context);
    double loss = 0;
    TenonCall(TenonTrainerGetLosses(trainer, &loss, nullptr, nullptr));
    self->events_ += "sve"[event];
    if (event == TENON_TRAINER_STEP)
      self->losses_.push_back(loss);
    if (event == TENON_TRAINER_STEP && self->losses_.size() == self->stopAfter_ && isLast())
      TenonCall(TenonTrainerStop(trainer));
    return TENON_SUCCESS;
  }
  // With something that is not a number in batch 2, on the ranks that have some of it.
  static TenonErrorCode oneBad(TenonTrainer trainer, TenonInt epoch, TenonInt batch,
                               void* context) {
    TenonCall(fill(trainer, epoch, batch, context));
    if (batch != 2)
      return TENON_SUCCESS;
    void* values = nullptr;
    TenonDTensor x = static_cast<TrainerCApi*>(context)->x_;
    TenonCall(TenonDTensorGetArray(x, TENON_FLOAT64, &values));
    if (values)
      *static_cast<double*>(values) = NAN;
    return TenonDTensorRestoreArray(x, &values);
  }
  // With something that is not a number in each batch of epoch 1.
  static TenonErrorCode badEpoch(TenonTrainer trainer, TenonInt epoch, TenonInt batch,
                                 void* context) {
    return oneBad(trainer, epoch, epoch == 1 ? 2 : batch == 2 ? 1 : batch, context);
  }
  static TenonErrorCode failingBatch(TenonTrainer, TenonInt, TenonInt, void*) {
    return TENON_ERR_ARG;
  }

  void expectAt(const Plain& plain) {
    double value = 0;
    expectSuccess(TenonDTensorMaxAbs(weight_, &value));
    EXPECT_NEAR(value, std::abs(plain.w), 1e-14);
    ASSERT_EQ(losses_.size(), plain.losses.size());
    for (std::size_t i = 0; i < losses_.size(); ++i)
      EXPECT_NEAR(losses_[i], plain.losses[i], 1e-14) << "step " << i;
  }

  TenonLayout samples_ = nullptr;
  TenonDTensor x_ = nullptr, target_ = nullptr, weight_ = nullptr;
  TenonLayer network_ = nullptr, loss_ = nullptr;
  TenonOptimizer optimizer_ = nullptr;
  TenonTrainer trainer_ = nullptr;
  std::string events_;
  std::vector<double> losses_;
  std::size_t stopAfter_ = 0;
};

// No rank aborts, and the weight stays as it was; with a warning the other batches train.
TEST_F(TrainerCApi, SaysWhereTrainingIsNotFinite) {
  expectSuccess(TenonTrainerSetBatches(trainer_, kBatches, x_, target_, oneBad, this, nullptr));
  expectCommonCode(TENON_ERR_NOT_FINITE, TenonTrainerRun(trainer_, 1),
                   {"in step 3 of", "the loss is nan", "the gradient of parameter 'weight'"});
  double w = 0;
  expectSuccess(TenonDTensorMaxAbs(weight_, &w));
  TenonInt steps = 0;
  expectSuccess(TenonOptimizerGetSteps(optimizer_, &steps));
  EXPECT_EQ(steps, 2);
  EXPECT_TRUE(std::isfinite(w));
  expectSuccess(TenonObjectSetText(objectOf(optimizer_), "not_finite", "warning"));
  expectSuccess(TenonTrainerRun(trainer_, 1));
  double mean = 0, loss = 0;
  expectSuccess(TenonTrainerGetLosses(trainer_, &loss, &mean, nullptr));
  EXPECT_TRUE(std::isfinite(loss) && std::isfinite(mean));
}

// A host that traps floating-point exceptions, as many do, learns it in the same way, and keeps its
// traps.
TEST_F(TrainerCApi, SaysToAHostWithTrapsWhereTrainingIsNotFinite) {
  const HostTraps host;
  const bool hasTraps = trapsExceptions();
  expectSuccess(TenonTrainerSetBatches(trainer_, kBatches, x_, target_, oneBad, this, nullptr));
  expectCommonCode(TENON_ERR_NOT_FINITE, TenonTrainerRun(trainer_, 1),
                   {"in step 3 of", "the loss is nan"});
  EXPECT_EQ(trapsExceptions(), hasTraps);
  EXPECT_EQ(std::fetestexcept(kTrapped), 0);
}

// With the reason that no step of it counts: the next epoch has a mean again.
TEST_F(TrainerCApi, AnEpochWithoutAFiniteLossHasNoMean) {
  expectSuccess(TenonObjectSetText(objectOf(optimizer_), "not_finite", "warning"));
  expectSuccess(TenonTrainerSetBatches(trainer_, kBatches, x_, target_, badEpoch, this, nullptr));
  const auto meanAfter = [&](TenonInt epochs) {
    double mean = 0;
    expectSuccess(TenonTrainerRun(trainer_, epochs));
    expectSuccess(TenonTrainerGetLosses(trainer_, nullptr, &mean, nullptr));
    return mean;
  };
  EXPECT_TRUE(std::isfinite(meanAfter(1)));
  EXPECT_TRUE(std::isnan(meanAfter(2)));
  EXPECT_TRUE(std::isfinite(meanAfter(3)));
}

TEST_F(TrainerCApi, TakesTheStepsOfALoopByHand) {
  expectSuccess(TenonTrainerRun(trainer_, 2));
  Plain plain;
  plain.epoch(0, 1);
  plain.epoch(1, 1);
  expectAt(plain);
  EXPECT_EQ(events_, "ssssse"
                     "ssssse");
  TenonInt epochs = 0, steps = 0;
  expectSuccess(TenonTrainerGetProgress(trainer_, &epochs, &steps));
  EXPECT_EQ(epochs, 2);
  EXPECT_EQ(steps, 10);
  double mean = 0, validation = 0;
  expectSuccess(TenonTrainerGetLosses(trainer_, nullptr, &mean, &validation));
  double want = 0;
  for (std::size_t i = 5; i < 10; ++i)
    want += plain.losses[i] / 5;
  EXPECT_NEAR(mean, want, 1e-14);
  EXPECT_TRUE(std::isnan(validation));
}

TEST_F(TrainerCApi, AccumulatesAndLimitsGradients) {
  expectSuccess(TenonOptionsSet("-tenon_accumulation", "2"));
  expectSuccess(TenonObjectSetFromOptions(objectOf(trainer_)));
  expectSuccess(TenonOptionsSet("-tenon_accumulation", "1"));
  expectSuccess(TenonObjectSetReal(objectOf(trainer_), "gradient_norm", 1.5));
  expectSuccess(TenonTrainerRun(trainer_, 2));
  Plain plain;
  plain.epoch(0, 2, 1.5);
  plain.epoch(1, 2, 1.5);
  expectAt(plain);
  EXPECT_EQ(events_, "sssessse"); // 2, 2 and 1 batches
}

TEST_F(TrainerCApi, StopsAfterAStepAndGoesOn) {
  stopAfter_ = 7;
  expectSuccess(TenonTrainerRun(trainer_, 3));
  EXPECT_EQ(losses_.size(), 7u);
  expectSuccess(TenonTrainerRun(trainer_, 2));
  Plain plain;
  plain.epoch(0, 1);
  plain.epoch(1, 1);
  expectAt(plain);
  expectSuccess(TenonTrainerRun(trainer_, 2)); // nothing is left
  EXPECT_EQ(losses_.size(), 10u);
}

// As many epochs as a program has that trains until it is stopped: their steps are no integer.
TEST_F(TrainerCApi, RunsMoreStepsThanIntegersCount) {
  for (const TenonInt epochs : {TenonInt(1) << 61, TenonInt(1) << 62, INT64_MAX / 4, INT64_MAX}) {
    stopAfter_ = losses_.size() + 3;
    expectSuccess(TenonTrainerRun(trainer_, epochs));
    EXPECT_EQ(losses_.size(), stopAfter_) << epochs;
  }
}

// More batches for a step than an epoch has are all that it has.
TEST_F(TrainerCApi, AccumulatesAWholeEpoch) {
  const TenonInt most = INT64_MAX;
  expectSuccess(TenonObjectSetIntegers(objectOf(trainer_), "accumulation", 1, &most));
  expectSuccess(TenonTrainerRun(trainer_, 2));
  Plain plain;
  plain.epoch(0, kBatches);
  plain.epoch(1, kBatches);
  expectAt(plain);
  EXPECT_EQ(events_, "sese");
}

// Without improvement by half the training loss of an epoch is reported in vain.
TEST_F(TrainerCApi, StopsEarly) {
  expectSuccess(TenonOptimizerSetLearningRate(optimizer_, 1e-9));
  const TenonInt reports = 2;
  expectSuccess(TenonObjectSetIntegers(objectOf(optimizer_), "stop_patience", 1, &reports));
  expectSuccess(TenonObjectSetReal(objectOf(optimizer_), "improvement", 0.5));
  expectSuccess(TenonTrainerRun(trainer_, 100));
  EXPECT_EQ(losses_.size(), 3u * kBatches);
}

TEST_F(TrainerCApi, GoesOnFromACheckpoint) {
  TenonCheckpoint checkpoint = nullptr;
  const TenonErrorCode made = TenonCheckpointCreate(MPI_COMM_WORLD, &checkpoint);
  if (made == TENON_ERR_SUPPORT)
    GTEST_SKIP() << "this build has no HDF5";
  expectSuccess(made);
  const std::string folder = testing::TempDir() + "tenon_trainer_" + std::to_string(worldSize());
  const auto add = [&] {
    expectSuccess(TenonCheckpointAddLayer(checkpoint, network_, "network"));
    expectSuccess(TenonCheckpointAddOptimizer(checkpoint, optimizer_, "optimizer"));
    expectSuccess(TenonTrainerSetCheckpoint(trainer_, checkpoint, folder.c_str()));
    const TenonInt every = 3;
    expectSuccess(TenonObjectSetIntegers(objectOf(trainer_), "checkpoint_every", 1, &every));
  };
  add();
  stopAfter_ = 4;
  expectSuccess(TenonTrainerRun(trainer_, 2));
  expectSuccess(TenonCheckpointDestroy(&checkpoint));
  destroy();
  make();
  expectSuccess(TenonCheckpointCreate(MPI_COMM_WORLD, &checkpoint));
  add();
  TenonInt step = 0;
  expectSuccess(TenonCheckpointReadLatest(checkpoint, folder.c_str(), &step));
  EXPECT_EQ(step, 4);
  expectSuccess(TenonTrainerRun(trainer_, 2));
  Plain plain;
  plain.epoch(0, 1);
  plain.epoch(1, 1);
  expectAt(plain);
  expectSuccess(TenonCheckpointDestroy(&checkpoint));
  MPI_Barrier(MPI_COMM_WORLD);
  if (worldRank() == 0) {
    for (const char* file : {"/step-9.h5", "/step-10.h5"})
      std::remove((folder + file).c_str());
    std::remove(folder.c_str());
  }
}

void countDestroyed(void* context) {
  ++*static_cast<int*>(context);
}

TEST_F(TrainerCApi, FreesAContextOnceItIsReplaced) {
  int callbacks = 0, batches = 0;
  const auto set = [&] {
    expectSuccess(TenonTrainerSetCallback(trainer_, note, &callbacks, countDestroyed));
    expectSuccess(TenonTrainerSetBatches(trainer_, 1, x_, target_, fill, &batches, countDestroyed));
  };
  set();
  expectCode(TENON_ERR_ARG,
             TenonTrainerSetBatches(trainer_, 0, x_, target_, fill, &batches, countDestroyed),
             {"0 batches"});
  EXPECT_EQ(callbacks, 0);
  EXPECT_EQ(batches, 0);
  set();
  EXPECT_EQ(callbacks, 1);
  EXPECT_EQ(batches, 1);
  expectSuccess(TenonTrainerSetCallback(trainer_, nullptr, nullptr, nullptr));
  EXPECT_EQ(callbacks, 2);
  expectSuccess(TenonTrainerDestroy(&trainer_));
  EXPECT_EQ(callbacks, 2);
  EXPECT_EQ(batches, 2);
}

// A callback with a context of its own that counts when it is freed.
struct Leaving {
  int calls = 0, freed = 0, freedWhileRunning = 0;
};

TenonErrorCode leaves(TenonTrainer trainer, TenonTrainerEvent, void* context) {
  auto* own = static_cast<Leaving*>(context);
  ++own->calls;
  TenonCall(TenonTrainerSetCallback(trainer, nullptr, nullptr, nullptr));
  own->freedWhileRunning = own->freed;
  return TENON_SUCCESS;
}

TEST_F(TrainerCApi, ACallbackThatIsReplacedKeepsItsContextUntilItReturns) {
  Leaving own;
  const auto destroy = [](void* context) { ++static_cast<Leaving*>(context)->freed; };
  expectSuccess(TenonTrainerSetCallback(trainer_, leaves, &own, destroy));
  expectSuccess(TenonTrainerRun(trainer_, 1));
  EXPECT_EQ(own.calls, 1);
  EXPECT_EQ(own.freedWhileRunning, 0);
  EXPECT_EQ(own.freed, 1);
  // Nobody would call it with this context.
  expectSuccess(TenonTrainerSetCallback(trainer_, nullptr, &own, destroy));
  EXPECT_EQ(own.freed, 2);
}

// Its error is that of the run's callback, which goes on.
TenonErrorCode replacesBatches(TenonTrainer trainer, TenonTrainerEvent, void* context) {
  const auto noBatch = [](TenonTrainer, TenonInt, TenonInt, void*) { return TENON_SUCCESS; };
  auto* codes = static_cast<std::vector<TenonErrorCode>*>(context);
  int freed = 0;
  codes->push_back(TenonTrainerSetBatches(trainer, 1, nullptr, nullptr, noBatch, &freed,
                                          [](void* count) { ++*static_cast<int*>(count); }));
  EXPECT_EQ(freed, 0);
  return TENON_SUCCESS;
}

TEST_F(TrainerCApi, RefusesOtherBatchesWhileItRuns) {
  std::vector<TenonErrorCode> codes;
  expectSuccess(TenonTrainerSetCallback(trainer_, replacesBatches, &codes, nullptr));
  expectSuccess(TenonTrainerRun(trainer_, 1));
  EXPECT_EQ(codes, std::vector<TenonErrorCode>(kBatches + 1, TENON_ERR_STATE));
}

TEST_F(TrainerCApi, RefusesWhatCannotBe) {
  const TenonInt none = 0, one = 1;
  expectCode(TENON_ERR_ARG, TenonObjectSetIntegers(objectOf(trainer_), "accumulation", 1, &none),
             {"accumulation is 0", "at least 1"});
  expectCode(TENON_ERR_ARG, TenonObjectSetReal(objectOf(trainer_), "gradient_norm", -1),
             {"gradient_norm is -1"});
  expectSuccess(TenonObjectSetIntegers(objectOf(trainer_), "accumulation", 1, &one));
  expectCommonCode(TENON_ERR_ARG, TenonTrainerRun(trainer_, 1),
                   {"an earlier TenonObjectSetReal(\"gradient_norm\") failed"});
  expectCode(TENON_ERR_ARG, TenonTrainerSetBatches(trainer_, 0, x_, target_, fill, this, nullptr),
             {"0 batches"});
  expectCode(TENON_ERR_NULL,
             TenonTrainerSetBatches(trainer_, 1, x_, target_, nullptr, this, nullptr),
             {"function is NULL"});
  TenonTrainer other = nullptr;
  TenonLayer unready = nullptr;
  expectSuccess(TenonLayerCreateAffine(MPI_COMM_WORLD, 1, 1, &unready));
  expectCommonCode(TENON_ERR_STATE, TenonTrainerCreate(unready, loss_, optimizer_, &other),
                   {"TenonLayerSetUp()"});
  expectCommonCode(TENON_ERR_NULL,
                   TenonTrainerCreate(network_, isLast() ? nullptr : loss_, optimizer_, &other),
                   {"loss is NULL"});
  expectSuccess(TenonTrainerCreate(network_, loss_, optimizer_, &other));
  expectCommonCode(TENON_ERR_STATE, TenonTrainerRun(other, 1), {"TenonTrainerSetDataset()"});
  expectCommonCode(TENON_ERR_ARG, TenonTrainerRun(trainer_, -1), {"-1 epochs"});
  if (worldSize() == 1) {
    expectSuccess(TenonTrainerSetBatches(trainer_, 1, x_, target_, failingBatch, this, nullptr));
    expectCode(TENON_ERR_ARG, TenonTrainerRun(trainer_, 1),
               {"the function of a trainer's batches"});
  }
  expectSuccess(TenonTrainerDestroy(&other));
  expectSuccess(TenonLayerDestroy(&unready));
}

TEST_F(TrainerCApi, RunsLbfgsWithoutALimit) {
  destroy();
  make("lbfgs");
  expectSuccess(TenonObjectSetReal(objectOf(optimizer_), "gradient_tolerance", 1e-12));
  expectSuccess(TenonObjectSetReal(objectOf(optimizer_), "change_tolerance", 0));
  const TenonInt batches = kBatches;
  expectSuccess(TenonObjectSetIntegers(objectOf(trainer_), "accumulation", 1, &batches));
  expectSuccess(TenonObjectSetReal(objectOf(trainer_), "gradient_norm", 1));
  expectCommonCode(TENON_ERR_SUPPORT, TenonTrainerRun(trainer_, 1), {"lbfgs"});
  expectSuccess(TenonObjectSetReal(objectOf(trainer_), "gradient_norm", 0));
  expectSuccess(TenonTrainerRun(trainer_, 1));
  double xx = 0, xt = 0, value = 0; // least squares
  for (TenonInt b = 0; b < kBatches; ++b) {
    xx += inputOf(0, b) * inputOf(0, b);
    xt += inputOf(0, b) * targetOf(b);
  }
  expectSuccess(TenonDTensorMaxAbs(weight_, &value));
  EXPECT_NEAR(value, std::abs(xt / xx), 1e-12);
}

} // namespace
} // namespace tenon::test
