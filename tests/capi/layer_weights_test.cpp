// SPDX-License-Identifier: BSD-2-Clause
// Weights files in the C API. Networks with weights that PyTorch wrote must give PyTorch's outputs,
// on several layouts of the input and storages of the parameters; weights that are saved must give
// the same output bit by bit when they are read again; and an error must leave all parameters as
// they were.
//
// tests/data/weights has the networks (.json), and the weights (.safetensors) and PyTorch's outputs
// (.txt) that make.py there wrote; output() repeats the input field of make.py.
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

  // A path for a file that rank 0 writes.
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

  // Creates the network of this test and sets it up for inputs with these layout properties.
  // `storage` says where the parameters are stored: "use" as they are used, "root" on rank 0, "S0"
  // split.
  void createNetwork(TenonDataType type, const char* properties, const char* storage = "use") {
    expectSuccess(TenonLayerDestroy(&net_));
    const std::string file = kWeightsFolder + network_ + ".json";
    expectSuccess(TenonLayerCreateFromFile(MPI_COMM_WORLD, file.c_str(), &net_));
    expectSuccess(TenonLayerSetDataType(net_, type));
    expectSuccess(TenonLayerSetStorage(net_, storage));
    TenonLayout input = layout({3, 2, 10, 8}, properties);
    layouts_.push_back(input);
    expectSuccess(TenonLayerSetUp(net_, input));
    expectSuccess(TenonLayerInitialize(net_, 11));
    expectSuccess(TenonLayerSetTraining(net_, TENON_FALSE));
  }

  // The whole output, on every rank, for the input sin(0.37 k) + 0.002 k, where k is the position
  // of an element in the row-major field.
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
            const double position =
                double(((n * kWeightsShape[1] + c) * kWeightsShape[2] + i) * kWeightsShape[3] + j);
            *next++ = static_cast<T>(std::sin(0.37 * position) + 0.002 * position);
          }
    expectSuccess(TenonDTensorRestoreArray(x, &cells));
    expectSuccess(TenonLayerCreateOutput(net_, 0, &y));
    expectSuccess(TenonLayerApply(net_, x, y));
    tensors_.insert(tensors_.end(), {x, y});
    return everywhere<T>(y, type);
  }

  // Gathers the output of shape [3, 3] on all ranks: ranks contribute their elements, else
  // -infinity.
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

  // The file with PyTorch's weights or outputs in the precision of T.
  template <class T>
  std::string torchFile(const char* ending) const {
    return kWeightsFolder + network_ + (std::is_same_v<T, float> ? "_f32" : "_f64") + ending;
  }

  template <class T>
  void expectTorchOutput(double tolerance) {
    std::ifstream file(torchFile<T>(".txt"));
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
      createNetwork(TENON_FLOAT32, properties, storage);
      load(torchFile<float>(".safetensors"));
      expectTorchOutput<float>(1e-6);
      createNetwork(TENON_FLOAT64, properties, storage);
      load(torchFile<double>(".safetensors"));
      expectTorchOutput<double>(1e-12);
    }
}

// A float32 file gives the same weights to a float64 and a float32 network.
TEST_F(LayerWeights, FilesOfTheOtherPrecisionAreConverted) {
  createNetwork(TENON_FLOAT64, "S2");
  load(kWeightsFolder + "network_f32.safetensors");
  const std::vector<double> wide = output<double>();
  createNetwork(TENON_FLOAT32, "S2");
  load(kWeightsFolder + "network_f32.safetensors");
  const std::vector<float> narrow = output<float>();
  for (std::size_t i = 0; i < wide.size(); ++i)
    EXPECT_NEAR(wide[i], double(narrow[i]), 1e-6);
}

// The network has running statistics, which an evaluation in training mode changes before the
// weights are saved.
TEST_F(LayerWeights, SavedWeightsAreReadIntoAnyStorage) {
  network_ = "normalised";
  for (const char* ending : {"x.safetensors", "x.npz"}) {
    const std::string file = path(ending);
    createNetwork(TENON_FLOAT64, "S2", "S0");
    load(torchFile<double>(".safetensors"));
    const std::vector<double> first = output<double>();
    expectSuccess(TenonLayerSetTraining(net_, TENON_TRUE));
    output<double>();
    expectSuccess(TenonLayerSetTraining(net_, TENON_FALSE));
    const std::vector<double> before = output<double>();
    EXPECT_NE(first, before);
    expectSuccess(TenonLayerSaveWeights(net_, file.c_str()));
    for (const char* storage : {"use", "root", "S0"}) {
      createNetwork(TENON_FLOAT64, "S2", storage);
      EXPECT_NE(before, output<double>());
      load(file);
      EXPECT_EQ(before, output<double>());
    }
    removeFile(file);
  }
}

TEST_F(LayerWeights, RunningStatisticsAreRead) {
  network_ = "normalised";
  createNetwork(TENON_FLOAT64, "S2");
  load(torchFile<double>(".safetensors"));
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
  expectSuccess(TenonLayerGetChild(net_, std::to_string(count - 1).c_str(), &child));
  expectSuccess(TenonLayerDestroy(&child));
  expectCode(TENON_ERR_ARG, TenonLayerGetChild(net_, std::to_string(count).c_str(), &child),
             {"has no layer '"});
  expectCode(TENON_ERR_ARG, TenonLayerGetChild(net_, "-1", &child), {"has no layer '-1'"});
}

// A map assigns the normalisation's parameters by name and the other layers by modules ("1": "0" is
// layer 1 and module 0 of the file). It is passed as an argument, then as an option.
TEST_F(LayerWeights, AMapNamesTheModules) {
  const std::string map = path("map.json");
  writeText(map, R"({"format": "tenon-weights-map-1", "parameters": {
    "normalise/scale": "normalise.scale", "normalise/shift": "normalise.shift", "1": "0", "3": "2", "6": "5",
    "9": "8", "11": "10"}})");
  createNetwork(TENON_FLOAT64, "S0");
  load(kWeightsFolder + "network_f64.safetensors", map.c_str());
  expectTorchOutput<double>(1e-12);
  createNetwork(TENON_FLOAT64, "S0");
  expectSuccess(TenonOptionsSet("-tenon_weights_map", map.c_str()));
  load(kWeightsFolder + "network_f64.safetensors");
  expectSuccess(TenonOptionsSet("-tenon_weights_map", ""));
  expectTorchOutput<double>(1e-12);
  removeFile(map);
}

TEST_F(LayerWeights, AnErrorLeavesAllParametersUnchanged) {
  createNetwork(TENON_FLOAT64, "S0", "S0");
  const std::vector<double> before = output<double>();
  std::ifstream in(kWeightsFolder + "network_f64.safetensors", std::ios::binary);
  std::ostringstream whole;
  whole << in.rdbuf();
  const std::string undamaged = whole.str(), file = path("damaged.safetensors");
  const auto refused = [&](TenonErrorCode code, std::initializer_list<const char*> parts) {
    expectCommonCode(code, TenonLayerLoadWeights(net_, file.c_str(), nullptr), parts);
    EXPECT_EQ(before, output<double>());
  };
  refused(TENON_ERR_FILE, {"damaged.safetensors", "No such file"});
  for (std::size_t cut : {std::size_t(0), std::size_t(7), std::size_t(500), undamaged.size() - 1}) {
    writeText(file, undamaged.substr(0, cut));
    refused(TENON_ERR_FORMAT, {"damaged.safetensors"});
  }
  std::string renamed = undamaged; // module 5 becomes 6
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
  createNetwork(TENON_FLOAT32, "S0");
  expectCommonCode(TENON_ERR_ARG, TenonLayerSaveWeights(net_, "x.pt"), {".safetensors or .npz"});
  expectCommonCode(TENON_ERR_FILE, TenonLayerSaveWeights(net_, "/nowhere/x.npz"),
                   {"/nowhere/x.npz"});
}

} // namespace
} // namespace tenon::test
