// SPDX-License-Identifier: BSD-2-Clause
// Training from datasets through the C calls: one pixel x and two classes with the weights w x,
// cross-entropy, beside the same steps by hand. The labels of the validation are the wrong ones, so
// its loss grows, the schedule halves the rate, and training stops early.
#include "capi/idx_files.hpp"

#include <cmath>
#include <cstdio>
#include <vector>

namespace tenon::test {
namespace {

constexpr double kFullRate = 0.5;
constexpr TenonInt kBatch = 2, kValidationBatch = 4;

struct Samples {
  Bytes pixels, labels; // x = 2 p / 255 - 1

  double xAt(std::size_t n) const { return 2 * pixels[n] / 255.0 - 1; }
};
const Samples kTraining{{255, 0, 204, 51, 153, 102}, {1, 0, 1, 0, 1, 0}};
const Samples kValidation{{255, 10, 230, 40, 200, 70, 160, 90}, {0, 1, 0, 1, 0, 1, 0, 1}};

// The weights and their steps, by hand.
struct PlainSoftmax {
  double w[2] = {0.25, -0.5};

  double probability(double x, int label) const {
    return 1 / (1 + std::exp((w[1 - label] - w[label]) * x));
  }
  double loss(const Samples& samples, std::size_t first, std::size_t count) const {
    double sum = 0;
    for (std::size_t n = first; n < first + count; ++n)
      sum -= std::log(probability(samples.xAt(n), samples.labels[n]));
    return sum / double(count);
  }
  void step(std::size_t first, double rate) {
    double slope[2] = {0, 0};
    for (std::size_t n = first; n < first + kBatch; ++n)
      for (int c = 0; c < 2; ++c)
        slope[c] += (probability(kTraining.xAt(n), c) - (c == kTraining.labels[n])) *
                    kTraining.xAt(n) / double(kBatch);
    for (int c = 0; c < 2; ++c)
      w[c] -= rate * slope[c];
  }
};

class TrainerDatasetCApi : public CApi {
protected:
  void SetUp() override {
    CApi::SetUp();
    stem_ = testing::TempDir() + "tenon_trainer_data_" + std::to_string(worldSize());
    write(kTraining, "training");
    write(kValidation, "validation");
    make();
  }
  void TearDown() override {
    destroy();
    MPI_Barrier(MPI_COMM_WORLD);
    if (worldRank() == 0)
      for (const char* name : {"training", "validation"})
        for (const char* kind : {"_images", "_labels"})
          std::remove((stem_ + name + kind).c_str());
    CApi::TearDown();
  }

  void write(const Samples& samples, const char* name) const {
    const auto count = static_cast<unsigned>(samples.pixels.size());
    Bytes images = idxHeader({count, 1, 1}), labels = idxHeader({count});
    images.insert(images.end(), samples.pixels.begin(), samples.pixels.end());
    labels.insert(labels.end(), samples.labels.begin(), samples.labels.end());
    writeBytes(stem_ + name + "_images", images);
    writeBytes(stem_ + name + "_labels", labels);
  }
  TenonDataset open(const std::string& name) const {
    TenonDataset made = nullptr;
    expectSuccess(TenonDatasetCreateIDX(MPI_COMM_WORLD, (stem_ + name + "_images").c_str(),
                                        (stem_ + name + "_labels").c_str(), &made));
    expectSuccess(TenonObjectSetReal(objectOf(made), "sample_scale", 2));
    expectSuccess(TenonObjectSetReal(objectOf(made), "sample_shift", -1));
    return made;
  }
  void setUp(TenonDataset dataset, TenonInt batch) {
    TenonLayout pixels = layout({batch, 1, 1, 1}, "S0"), labels = layout({batch}, "B");
    expectSuccess(TenonDatasetSetUp(dataset, pixels, labels));
    expectSuccess(TenonLayoutDestroy(&pixels));
    expectSuccess(TenonLayoutDestroy(&labels));
  }
  void makeNetwork() {
    TenonLayer flatten = nullptr, affine = nullptr;
    expectSuccess(TenonLayerCreateSequential(MPI_COMM_WORLD, &network_));
    expectSuccess(TenonLayerSetDataType(network_, TENON_FLOAT64));
    expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "flatten", &flatten));
    expectSuccess(TenonLayerCreateAffine(MPI_COMM_WORLD, 1, 2, &affine));
    expectSuccess(TenonObjectSetBool(objectOf(affine), "bias", TENON_FALSE));
    for (TenonLayer* one : {&flatten, &affine}) {
      expectSuccess(TenonLayerSequentialAdd(network_, *one));
      expectSuccess(TenonLayerDestroy(one));
    }
    TenonLayout pixels = layout({kBatch, 1, 1, 1}, "S0");
    expectSuccess(TenonLayerSetUp(network_, pixels));
    expectSuccess(TenonLayoutDestroy(&pixels));
    setWeights();
  }
  void setWeights() {
    TenonDTensor weight = nullptr;
    void* array = nullptr;
    expectSuccess(TenonLayerGetParameter(network_, 0, &weight));
    expectSuccess(TenonDTensorGetArray(weight, TENON_FLOAT64, &array));
    static_cast<double*>(array)[0] = PlainSoftmax().w[0];
    static_cast<double*>(array)[1] = PlainSoftmax().w[1];
    expectSuccess(TenonDTensorRestoreArray(weight, &array));
    expectSuccess(TenonDTensorDestroy(&weight));
  }
  void make() {
    makeNetwork();
    expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "crossentropy", &loss_));
    expectSuccess(TenonOptimizerCreate(network_, "sgd", &optimizer_));
    expectSuccess(TenonOptimizerSetLearningRate(optimizer_, kFullRate));
    const TenonObject settings = objectOf(optimizer_);
    const TenonInt reduce = 1, stop = 4;
    expectSuccess(TenonObjectSetText(settings, "schedule", "plateau"));
    expectSuccess(TenonObjectSetReal(settings, "schedule_factor", 0.5));
    expectSuccess(TenonObjectSetReal(settings, "improvement", 0));
    expectSuccess(TenonObjectSetIntegers(settings, "patience", 1, &reduce));
    expectSuccess(TenonObjectSetIntegers(settings, "stop_patience", 1, &stop));
    training_ = open("training");
    validation_ = open("validation");
    expectSuccess(TenonTrainerCreate(network_, loss_, optimizer_, &trainer_));
    expectCode(TENON_ERR_STATE, TenonTrainerSetDataset(trainer_, training_),
               {"TenonDatasetSetUp()"});
    setUp(training_, kBatch);
    setUp(validation_, kValidationBatch);
    expectSuccess(TenonTrainerSetDataset(trainer_, training_));
    const TenonInt every = 2;
    expectSuccess(TenonTrainerSetValidation(trainer_, validation_));
    expectSuccess(TenonObjectSetIntegers(objectOf(trainer_), "validation_every", 1, &every));
    expectSuccess(TenonTrainerSetCallback(trainer_, note, this, nullptr));
  }
  void destroy() {
    expectSuccess(TenonTrainerDestroy(&trainer_));
    expectSuccess(TenonOptimizerDestroy(&optimizer_));
    for (TenonDataset* one : {&training_, &validation_})
      expectSuccess(TenonDatasetDestroy(one));
    for (TenonLayer* one : {&network_, &loss_})
      expectSuccess(TenonLayerDestroy(one));
  }

  static TenonErrorCode note(TenonTrainer trainer, TenonTrainerEvent event, void* context) {
    auto* self = static_cast<TrainerDatasetCApi*>(context);
    double loss = 0, validation = 0;
    TenonCall(TenonTrainerGetLosses(trainer, &loss, nullptr, &validation));
    self->events_ += "sve"[event];
    if (event == TENON_TRAINER_STEP)
      self->losses_.push_back(loss);
    if (event == TENON_TRAINER_VALIDATION)
      self->validations_.push_back(validation);
    if (event == TENON_TRAINER_STEP && self->losses_.size() == self->stopAfter_)
      TenonCall(TenonTrainerStop(trainer));
    return TENON_SUCCESS;
  }

  std::string stem_, events_;
  TenonDataset training_ = nullptr, validation_ = nullptr;
  TenonLayer network_ = nullptr, loss_ = nullptr;
  TenonOptimizer optimizer_ = nullptr;
  TenonTrainer trainer_ = nullptr;
  std::vector<double> losses_, validations_;
  std::size_t stopAfter_ = 0;
};

// The first validation is the best. The rate falls after the third and the fifth, where training
// stops.
TEST_F(TrainerDatasetCApi, ValidationLowersTheRateAndStops) {
  expectSuccess(TenonTrainerRun(trainer_, 100));
  EXPECT_EQ(events_, "s"
                     "sv"
                     "se"
                     "sv"
                     "s"
                     "sve"
                     "s"
                     "sv"
                     "se"
                     "sv");
  PlainSoftmax plain;
  std::vector<double> losses, validations;
  for (std::size_t step = 0; step < 10; ++step) {
    const std::size_t first = step % 3 * kBatch;
    losses.push_back(plain.loss(kTraining, first, kBatch));
    plain.step(first, step < 6 ? kFullRate : kFullRate / 2);
    if (step % 2 == 1)
      validations.push_back(plain.loss(kValidation, 0, kValidation.labels.size()));
  }
  ASSERT_EQ(losses_.size(), losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i)
    EXPECT_NEAR(losses_[i], losses[i], 1e-14) << "step " << i;
  ASSERT_EQ(validations_.size(), validations.size());
  for (std::size_t i = 0; i < validations.size(); ++i)
    EXPECT_NEAR(validations_[i], validations[i], 1e-14) << "validation " << i;
}

// What was validated before is not forgotten, so that training stops after the same step.
TEST_F(TrainerDatasetCApi, GoesOnFromACheckpointInShuffledOrder) {
  TenonCheckpoint checkpoint = nullptr;
  const TenonErrorCode made = TenonCheckpointCreate(MPI_COMM_WORLD, &checkpoint);
  if (made == TENON_ERR_SUPPORT)
    GTEST_SKIP() << "this build has no HDF5";
  expectSuccess(made);
  const auto shuffle = [&] {
    const TenonInt seed = 7;
    expectSuccess(TenonObjectSetBool(objectOf(training_), "shuffle", TENON_TRUE));
    expectSuccess(TenonObjectSetIntegers(objectOf(training_), "shuffle_seed", 1, &seed));
  };
  shuffle();
  expectSuccess(TenonTrainerRun(trainer_, 100));
  const std::vector<double> losses = std::move(losses_), validations = std::move(validations_);
  const std::string folder = stem_ + "checkpoints";
  const auto begin = [&] {
    destroy();
    make();
    shuffle();
    expectSuccess(TenonCheckpointDestroy(&checkpoint));
    expectSuccess(TenonCheckpointCreate(MPI_COMM_WORLD, &checkpoint));
    expectSuccess(TenonCheckpointAddLayer(checkpoint, network_, "network"));
    expectSuccess(TenonCheckpointAddOptimizer(checkpoint, optimizer_, "optimizer"));
    expectSuccess(TenonTrainerSetCheckpoint(trainer_, checkpoint, folder.c_str()));
    const TenonInt every = 3;
    expectSuccess(TenonObjectSetIntegers(objectOf(trainer_), "checkpoint_every", 1, &every));
  };
  losses_.clear();
  validations_.clear();
  begin();
  stopAfter_ = 5;
  expectSuccess(TenonTrainerRun(trainer_, 100));
  EXPECT_EQ(losses_.size(), 5u);
  begin();
  TenonInt step = 0;
  expectSuccess(TenonCheckpointReadLatest(checkpoint, folder.c_str(), &step));
  EXPECT_EQ(step, 5);
  expectSuccess(TenonTrainerRun(trainer_, 100));
  EXPECT_EQ(losses_, losses);
  EXPECT_EQ(validations_, validations);
  expectSuccess(TenonCheckpointDestroy(&checkpoint));
  MPI_Barrier(MPI_COMM_WORLD);
  if (worldRank() == 0) {
    for (const char* file : {"/step-3.h5", "/step-5.h5", "/step-6.h5", "/step-9.h5", "/step-10.h5"})
      std::remove((folder + file).c_str());
    std::remove(folder.c_str());
  }
}

TEST_F(TrainerDatasetCApi, WrongValidationsAreRefused) {
  const TenonInt negative = -1;
  expectCode(TENON_ERR_ARG,
             TenonObjectSetIntegers(objectOf(trainer_), "validation_every", 1, &negative),
             {"validation_every is -1"});
  expectCode(TENON_ERR_NULL, TenonTrainerSetValidation(trainer_, nullptr), {"dataset"});
  expectCode(TENON_ERR_NULL, TenonTrainerSetDataset(trainer_, nullptr), {"dataset"});
}

} // namespace
} // namespace tenon::test
