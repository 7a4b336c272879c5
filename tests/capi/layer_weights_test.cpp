// SPDX-License-Identifier: BSD-2-Clause
// Weights files through the C interface: PyTorch's numbers inside an MPI program, on any
// distribution; files written and read again; and what is refused, which leaves everything as it
// was.
#include "capi/expect_code.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <vector>

namespace tenon::test {
namespace {

const std::string kWeightsFolder = TENON_TEST_WEIGHTS "/";
const TenonInt kWeightsShape[4] = {3, 2, 10, 8};

class LayerWeights : public CApi {
protected:
  void SetUp() override {
    CApi::SetUp();
    folder_ = testing::TempDir();
  }
  void TearDown() override {
    expectSuccess(TenonLayerDestroy(&net_));
    for (TenonDTensor& x : tensors_)
      expectSuccess(TenonDTensorDestroy(&x));
    for (TenonLayout& layout : layouts_)
      expectSuccess(TenonLayoutDestroy(&layout));
    CApi::TearDown();
  }

  // A file that rank 0 makes; the others wait for it.
  std::string path(const std::string& name) {
    return folder_ + "/layer_weights_" + std::to_string(worldSize()) + "_" + name;
  }
  void writeText(const std::string& file, const std::string& text) {
    if (worldRank() == 0)
      std::ofstream(file, std::ios::binary) << text;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void removeFile(const std::string& file) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (worldRank() == 0)
      std::remove(file.c_str());
  }

  void makeNetwork(TenonDataType type, const char* properties, const char* storage = "use") {
    expectSuccess(TenonLayerDestroy(&net_));
    const std::string file = kWeightsFolder + network_ + ".json";
    expectSuccess(TenonLayerCreateFromFile(MPI_COMM_WORLD, file.c_str(), &net_));
    expectSuccess(TenonLayerSetDataType(net_, type));
    expectSuccess(TenonLayerSetStorage(net_, storage));
    TenonLayout made = layout({3, 2, 10, 8}, properties);
    layouts_.push_back(made);
    expectSuccess(TenonLayerSetUp(net_, made));
    expectSuccess(TenonLayerInitialize(net_, 11));
    expectSuccess(TenonLayerSetTraining(net_, TENON_FALSE));
  }

  // Of the field of tests/data/weights/make.py: the output on every rank.
  template <class T>
  std::vector<T> output() {
    const TenonDataType type = std::is_same_v<T, float> ? TENON_FLOAT32 : TENON_FLOAT64;
    TenonDTensor x = tensor(layouts_.back(), type), y = nullptr;
    TenonInt low[4], high[4];
    expectSuccess(TenonDTensorGetBox(x, low, high));
    void* cells = nullptr;
    expectSuccess(TenonDTensorGetArray(x, type, &cells));
    T* next = static_cast<T*>(cells);
    for (TenonInt n = low[0]; n < high[0]; ++n)
      for (TenonInt c = low[1]; c < high[1]; ++c)
        for (TenonInt i = low[2]; i < high[2]; ++i)
          for (TenonInt j = low[3]; j < high[3]; ++j) {
            const double at =
                double(((n * kWeightsShape[1] + c) * kWeightsShape[2] + i) * kWeightsShape[3] + j);
            *next++ = static_cast<T>(std::sin(0.37 * at) + 0.002 * at);
          }
    expectSuccess(TenonDTensorRestoreArray(x, &cells));
    expectSuccess(TenonLayerCreateOutput(net_, 0, &y));
    expectSuccess(TenonLayerApply(net_, x, y));
    tensors_.insert(tensors_.end(), {x, y});
    return everywhere<T>(y, type);
  }

  template <class T>
  std::vector<T> everywhere(TenonDTensor y, TenonDataType type) {
    TenonInt low[2], high[2];
    expectSuccess(TenonDTensorGetBox(y, low, high));
    std::vector<double> mine(9, -HUGE_VAL), all(9);
    const void* cells = nullptr;
    expectSuccess(TenonDTensorGetArrayRead(y, type, &cells));
    const T* next = static_cast<const T*>(cells);
    for (TenonInt n = low[0]; n < high[0]; ++n)
      for (TenonInt k = low[1]; k < high[1]; ++k)
        mine[static_cast<std::size_t>(3 * n + k)] = double(*next++);
    expectSuccess(TenonDTensorRestoreArrayRead(y, &cells));
    MPI_Allreduce(mine.data(), all.data(), 9, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return std::vector<T>(all.begin(), all.end());
  }

  // A file of tests/data/weights.
  template <class T>
  std::string torchs(const char* ending) const {
    return kWeightsFolder + network_ + (std::is_same_v<T, float> ? "_f32" : "_f64") + ending;
  }

  template <class T>
  void expectTorchsNumbers(double tolerance) {
    std::ifstream file(torchs<T>(".txt"));
    const std::vector<T> found = output<T>();
    for (const T value : found) {
      double expected = NAN;
      file >> expected;
      EXPECT_NEAR(expected, double(value), tolerance);
    }
  }

  void load(const std::string& file, const char* map = nullptr) {
    expectSuccess(TenonLayerLoadWeights(net_, file.c_str(), map));
  }

  std::string folder_, network_ = "network";
  TenonLayer net_ = nullptr;
  std::vector<TenonLayout> layouts_;
  std::vector<TenonDTensor> tensors_;
};

TEST_F(LayerWeights, ATrainedNetworkGivesPyTorchsNumbers) {
  const std::pair<const char*, const char*> cases[] = {
      {"S0", "use"}, {"S2", "root"}, {"S3", "S0"}, {"R", "use"}};
  for (const char* network : {"network", "normalised"})
    for (const auto& [properties, storage] : cases) {
      network_ = network;
      makeNetwork(TENON_FLOAT32, properties, storage);
      load(torchs<float>(".safetensors"));
      expectTorchsNumbers<float>(1e-6);
      makeNetwork(TENON_FLOAT64, properties, storage);
      load(torchs<double>(".safetensors"));
      expectTorchsNumbers<double>(1e-12);
    }
}

// Between the types of elements values are converted: single precision is what is left.
TEST_F(LayerWeights, FilesOfTheOtherPrecisionAreConverted) {
  makeNetwork(TENON_FLOAT64, "S2");
  load(kWeightsFolder + "network_f32.safetensors");
  const std::vector<double> wide = output<double>();
  makeNetwork(TENON_FLOAT32, "S2");
  load(kWeightsFolder + "network_f32.safetensors");
  const std::vector<float> narrow = output<float>();
  for (std::size_t i = 0; i < wide.size(); ++i)
    EXPECT_NEAR(wide[i], double(narrow[i]), 1e-6);
}

// With running statistics that the set-up has changed after reading.
TEST_F(LayerWeights, WhatIsSavedIsReadAgainOnAnyStorage) {
  network_ = "normalised";
  for (const char* ending : {"x.safetensors", "x.npz"}) {
    const std::string file = path(ending);
    makeNetwork(TENON_FLOAT64, "S2", "S0");
    load(torchs<double>(".safetensors"));
    const std::vector<double> first = output<double>();
    expectSuccess(TenonLayerSetTraining(net_, TENON_TRUE));
    output<double>();
    expectSuccess(TenonLayerSetTraining(net_, TENON_FALSE));
    const std::vector<double> before = output<double>();
    EXPECT_NE(first, before);
    expectSuccess(TenonLayerSaveWeights(net_, file.c_str()));
    for (const char* storage : {"use", "root", "S0"}) {
      makeNetwork(TENON_FLOAT64, "S2", storage);
      EXPECT_NE(before, output<double>());
      load(file);
      EXPECT_EQ(before, output<double>());
    }
    removeFile(file);
  }
}

TEST_F(LayerWeights, RunningStatisticsAreRead) {
  network_ = "normalised";
  makeNetwork(TENON_FLOAT64, "S2");
  load(torchs<double>(".safetensors"));
  const std::vector<double> before = output<double>();
  int count = 0;
  expectSuccess(TenonLayerGetStateCount(net_, &count));
  ASSERT_GE(count, 2);
  TenonDTensor variance = nullptr;
  expectSuccess(TenonLayerGetState(net_, 1, &variance));
  char name[64];
  expectSuccess(TenonObjectGetName((TenonObject)variance, name, sizeof name, nullptr));
  EXPECT_NE(std::string(name).find("running_var"), std::string::npos) << name;
  double norm = 0;
  expectSuccess(TenonDTensorNorm(variance, &norm));
  EXPECT_GT(norm, 0);
  expectSuccess(TenonDTensorFillConstant(variance, 7));
  EXPECT_NE(output<double>(), before);
  expectSuccess(TenonDTensorDestroy(&variance));
  expectCode(TENON_ERR_ARG, TenonLayerGetState(net_, count, &variance), {"there is no state"});
  TenonLayer child = nullptr;
  expectSuccess(TenonLayerGetChildCount(net_, &count));
  ASSERT_GE(count, 2);
  expectSuccess(TenonLayerGetChildAt(net_, count - 1, &child));
  expectSuccess(TenonLayerDestroy(&child));
  expectCode(TENON_ERR_ARG, TenonLayerGetChildAt(net_, count, &child), {"there is no layer"});
}

// The affine layers by their own names, the rest by modules; also as an option.
TEST_F(LayerWeights, AMapNamesTheModules) {
  const std::string map = path("map.json");
  writeText(map, R"({"format": "tenon-weights-map-1", "parameters": {
    "normalise/scale": "normalise.scale", "normalise/shift": "normalise.shift", "1": "0", "3": "2", "6": "5",
    "9": "8", "11": "10"}})");
  makeNetwork(TENON_FLOAT64, "S0");
  load(kWeightsFolder + "network_f64.safetensors", map.c_str());
  expectTorchsNumbers<double>(1e-12);
  makeNetwork(TENON_FLOAT64, "S0");
  expectSuccess(TenonOptionsSet("-tenon_weights_map", map.c_str()));
  load(kWeightsFolder + "network_f64.safetensors");
  expectSuccess(TenonOptionsSet("-tenon_weights_map", ""));
  expectTorchsNumbers<double>(1e-12);
  removeFile(map);
}

TEST_F(LayerWeights, AnErrorLeavesAllAsItWas) {
  makeNetwork(TENON_FLOAT64, "S0", "S0");
  const std::vector<double> before = output<double>();
  std::ifstream in(kWeightsFolder + "network_f64.safetensors", std::ios::binary);
  std::ostringstream whole;
  whole << in.rdbuf();
  const std::string good = whole.str(), file = path("damaged.safetensors");
  const auto refused = [&](TenonErrorCode code, std::initializer_list<const char*> parts) {
    expectCommonCode(code, TenonLayerLoadWeights(net_, file.c_str(), nullptr), parts);
    EXPECT_EQ(before, output<double>());
  };
  refused(TENON_ERR_FILE, {"damaged.safetensors", "No such file"});
  for (std::size_t cut : {std::size_t(0), std::size_t(7), std::size_t(500), good.size() - 1}) {
    writeText(file, good.substr(0, cut));
    refused(TENON_ERR_FORMAT, {"damaged.safetensors"});
  }
  std::string renamed = good;
  for (std::size_t at = 0; (at = renamed.find("5.weight", at)) != std::string::npos;)
    renamed[at] = '6';
  writeText(file, renamed);
  refused(TENON_ERR_FORMAT, {"modules", "pass a map"});
  removeFile(file);
}

TEST_F(LayerWeights, WrongCallsAreNamed) {
  expectSuccess(TenonLayerCreateAffine(MPI_COMM_WORLD, 2, 3, &net_));
  expectCommonCode(TENON_ERR_STATE, TenonLayerLoadWeights(net_, "x.npz", nullptr),
                   {"TenonLayerSetUp()"});
  expectCommonCode(TENON_ERR_STATE, TenonLayerSaveWeights(net_, "x.npz"), {"TenonLayerSetUp()"});
  expectCommonCode(TENON_ERR_NULL, TenonLayerLoadWeights(net_, nullptr, nullptr), {"path"});
  makeNetwork(TENON_FLOAT32, "S0");
  expectCommonCode(TENON_ERR_ARG, TenonLayerSaveWeights(net_, "x.pt"), {".safetensors or .npz"});
  expectCommonCode(TENON_ERR_FILE, TenonLayerSaveWeights(net_, "/nowhere/x.npz"),
                   {"/nowhere/x.npz"});
}

} // namespace
} // namespace tenon::test
