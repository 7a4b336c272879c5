// SPDX-License-Identifier: BSD-2-Clause
// Layers that are created by the name of their type and configured by the names of settings, and
// networks from JSON files. Settings must come back as they were set; networks from files must give
// bit by bit the output of the same network that is built with calls for single types; saved files
// must be equal when they are read and saved again.
//
// Signatures: "S0,B -> S0" means that the layer computes with its first input split in dimension 0
// and a copy of the second on each rank; a label such as "m" or "n" is the name of a signature.
#include "capi/expect_code.hpp"

#include <tenon/ext/layer.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include <unistd.h>

namespace tenon::test {
namespace {

std::string textOf(TenonLayer layer, const char* name) {
  TenonInt needed = 0;
  expectSuccess(TenonObjectGetText(objectOf(layer), name, nullptr, 0, &needed));
  std::string text(needed, ' ');
  expectSuccess(TenonObjectGetText(objectOf(layer), name, text.data(), needed, nullptr));
  text.resize(std::strlen(text.c_str()));
  return text;
}

class LayerByName : public CApi {
protected:
  void TearDown() override {
    expectSuccess(TenonLayerDestroy(&layer_));
    CApi::TearDown();
  }

  void create(const char* type) {
    expectSuccess(TenonLayerDestroy(&layer_));
    expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, type, &layer_));
  }

  // This rank's part of the output, for fixed random parameters and input. The same layer on the
  // same layout gives the same numbers.
  template <class T = float>
  std::vector<T> outputOf(TenonLayer layer, TenonLayout input) {
    const TenonDataType type = std::is_same_v<T, float> ? TENON_FLOAT32 : TENON_FLOAT64;
    expectSuccess(TenonLayerSetUp(layer, input));
    expectSuccess(TenonLayerInitialize(layer, 3));
    TenonDTensor x = tensor(input, type), y = nullptr;
    expectSuccess(TenonDTensorFillUniform(x, /*seed=*/5, /*stream=*/1, -1, 1));
    expectSuccess(TenonLayerCreateOutput(layer, 0, &y));
    expectSuccess(TenonLayerApply(layer, x, y));
    const void* values = nullptr;
    TenonInt count = 0;
    expectSuccess(TenonDTensorGetLocalSize(y, &count));
    expectSuccess(TenonDTensorGetArrayRead(y, type, &values));
    const T* first = static_cast<const T*>(values);
    const std::vector<T> result(first, first + count);
    expectSuccess(TenonDTensorRestoreArrayRead(y, &values));
    expectSuccess(TenonDTensorDestroy(&x));
    expectSuccess(TenonDTensorDestroy(&y));
    return result;
  }

  TenonLayer layer_ = nullptr;
};

TEST_F(LayerByName, SettingsAreReturnedAsTheyWereSet) {
  const TenonInt kernel[] = {3, 5}, in = 4, out = 6;
  create("conv");
  expectSuccess(TenonObjectSetIntegers(objectOf(layer_), "kernel", 2, kernel));
  expectSuccess(TenonObjectSetIntegers(objectOf(layer_), "in_channels", 1, &in));
  expectSuccess(TenonObjectSetIntegers(objectOf(layer_), "out_channels", 1, &out));
  expectSuccess(TenonObjectSetText(objectOf(layer_), "boundary", "periodic,zero/none"));
  expectSuccess(TenonObjectSetBool(objectOf(layer_), "bias", TENON_FALSE));
  expectSuccess(TenonObjectSetReal(objectOf(layer_), "boundary_constant", 0.5));
  TenonInt values[2] = {}, count = 0;
  expectSuccess(TenonObjectGetIntegers(objectOf(layer_), "kernel", 2, values, &count));
  EXPECT_EQ(count, 2);
  EXPECT_EQ(values[1], 5);
  expectSuccess(TenonObjectGetIntegers(objectOf(layer_), "out_channels", 1, values, nullptr));
  EXPECT_EQ(values[0], 6);
  TenonBool bias = TENON_TRUE, isSet = TENON_FALSE;
  expectSuccess(TenonObjectGetBool(objectOf(layer_), "bias", &bias));
  EXPECT_EQ(bias, TENON_FALSE);
  double constant = 0;
  expectSuccess(TenonObjectGetReal(objectOf(layer_), "boundary_constant", &constant));
  EXPECT_EQ(constant, 0.5);
  EXPECT_EQ(textOf(layer_, "boundary"), "periodic,zero/none");
  EXPECT_EQ(textOf(layer_, "storage"), "use"); // by default
  expectSuccess(TenonObjectIsSet(objectOf(layer_), "storage", &isSet));
  EXPECT_EQ(isSet, TENON_FALSE);
  expectSuccess(TenonObjectIsSet(objectOf(layer_), "bias", &isSet));
  EXPECT_EQ(isSet, TENON_TRUE);
  char type[8];
  expectSuccess(TenonObjectGetType(objectOf(layer_), type, sizeof type, nullptr));
  EXPECT_STREQ(type, "conv");
}

// The text that call(text, length, needed) writes.
template <class Call>
std::string textFrom(Call call) {
  char text[1000] = "";
  expectSuccess(call(text, sizeof text, nullptr));
  return text;
}

// The labels of the signatures that a layer has for an input of this shape. With groups, a
// convolution cannot split its channels ("o", "i") but its groups ("g").
TEST_F(LayerByName, LabelsAreThoseOfTheTable) {
  const TenonInt kernel[] = {3, 3}, shape[] = {4, 6, 8, 8}, two = 2;
  const auto labels = [&](int ndim) {
    return textFrom([&](char* text, TenonInt length, TenonInt* needed) {
      return TenonLayerGetLabels(layer_, ndim, shape, text, length, needed);
    });
  };
  create("conv");
  expectCode(TENON_ERR_STATE, TenonLayerGetLabels(layer_, 4, shape, nullptr, 0, nullptr),
             {"kernel"});
  expectSuccess(TenonObjectSetIntegers(objectOf(layer_), "kernel", 2, kernel));
  EXPECT_EQ(labels(4), "n,o,i,h,w,B,R,P");
  expectSuccess(TenonObjectSetIntegers(objectOf(layer_), "groups", 1, &two));
  EXPECT_EQ(labels(4), "n,g,h,w,B,R,P");
  create("tanh");
  EXPECT_EQ(labels(3), "S0,S1,S2,B,R");
  expectCode(TENON_ERR_NULL, TenonLayerGetLabels(layer_, 4, nullptr, nullptr, 0, nullptr), {});
  create("sequential");
  expectCode(TENON_ERR_TYPE, TenonLayerGetLabels(layer_, 4, shape, nullptr, 0, nullptr),
             {"container"});
}

TEST_F(LayerByName, TypesHaveSignatureTables) {
  const auto table = [&](const char* type, int ndim) {
    return textFrom([&](char* text, TenonInt length, TenonInt* needed) {
      return TenonLayerGetTypeSignatures(type, ndim, text, length, needed);
    });
  };
  EXPECT_EQ(table("matmul", 2), "m: S0,B -> S0\nn: B,S1 -> S1\nk: S1,S0 -> P\nB: B,B -> B\n"
                                "R: R,R -> R\nPa: P,B -> P\nPb: B,P -> P\n");
  EXPECT_EQ(table("relu", 2), "S0: S0 -> S0\nS1: S1 -> S1\nB: B -> B\nR: R -> R\n");
  EXPECT_NE(table("channelaffine", 0).find("P: P [B,R] -> P\n"), std::string::npos);
  const auto fails = [](TenonErrorCode code, const char* type, int ndim, const char* text) {
    expectCode(code, TenonLayerGetTypeSignatures(type, ndim, nullptr, 0, nullptr), {text});
  };
  fails(TENON_ERR_TYPE, "matmull", 0, "'matmul'");
  fails(TENON_ERR_SHAPE, "affine", 4, "4 dimensions");
  fails(TENON_ERR_SUPPORT, "sequential", 0, "sequential");
}

// TenonLayerSetExample() sets the required settings of a layer for a test input of 5 samples.
TEST_F(LayerByName, ExamplesFitTheirType) {
  const std::string types = "," + textFrom(TenonLayerGetTypes) + ",";
  for (const char* type : {"affine", "conv", "graph", "tanh"})
    EXPECT_NE(types.find(std::string(",") + type + ","), std::string::npos) << types;
  int inputs = 0, ndim = -1;
  TenonInt classes = -1, features = 0, x[8] = {}, target[8] = {};
  double low = 0, high = 0;
  create("affine");
  expectSuccess(TenonLayerSetExample(layer_, 5, &inputs, &classes));
  EXPECT_EQ(inputs, 1);
  EXPECT_EQ(classes, 0);
  expectSuccess(TenonLayerGetExampleTensor(layer_, 5, 0, 2, x, &ndim, &low, &high));
  EXPECT_EQ(ndim, 2);
  EXPECT_EQ(low, -1);
  EXPECT_EQ(high, 1);
  expectSuccess(TenonObjectGetIntegers(objectOf(layer_), "inputs", 1, &features, nullptr));
  EXPECT_EQ(features, x[1]);
  expectSuccess(TenonLayerGetExampleTensor(layer_, 5, 1, 0, nullptr, &ndim, nullptr, nullptr));
  EXPECT_EQ(ndim, 0); // takes no target
  for (const int wrong : {-1, 2})
    expectCode(TENON_ERR_ARG,
               TenonLayerGetExampleTensor(layer_, 5, wrong, 2, x, &ndim, &low, &high),
               {"tensor is", "pass 0 to 1"});
  expectCode(TENON_ERR_ARG, TenonLayerGetExampleTensor(layer_, 5, 0, 1, x, &ndim, &low, &high),
             {"2 values"});
  create("log");
  expectSuccess(TenonLayerGetExampleTensor(layer_, 5, 0, 0, nullptr, nullptr, &low, &high));
  EXPECT_GT(low, 0);
  EXPECT_GT(high, low);
  create("crossentropy");
  expectSuccess(TenonLayerSetExample(layer_, 5, &inputs, &classes));
  expectSuccess(TenonLayerGetExampleTensor(layer_, 5, 0, 8, x, nullptr, nullptr, nullptr));
  expectSuccess(TenonLayerGetExampleTensor(layer_, 5, inputs, 8, target, nullptr, &low, &high));
  EXPECT_EQ(classes, x[1]);
  EXPECT_EQ(low, 0);
  EXPECT_EQ(high, static_cast<double>(classes - 1));
  EXPECT_EQ(target[0], x[0]);
  create("meansquarederror");
  expectSuccess(TenonLayerSetExample(layer_, 5, &inputs, &classes));
  expectSuccess(TenonLayerGetExampleTensor(layer_, 5, inputs, 0, nullptr, &ndim, &low, &high));
  EXPECT_GT(ndim, 0);
  EXPECT_EQ(low, -1);
  EXPECT_EQ(high, 1);
  create("sequential");
  expectCode(TENON_ERR_SUPPORT, TenonLayerSetExample(layer_, 5, &inputs, &classes),
             {"sequential", "no examples"});
  expectCode(TENON_ERR_SUPPORT,
             TenonLayerGetExampleTensor(layer_, 5, 0, 0, nullptr, &ndim, &low, &high),
             {"sequential", "no examples"});
}

TEST_F(LayerByName, RefusesUnknownTypesSettingsAndLayers) {
  const TenonInt three[] = {3, 3, 3}, zero = 0;
  create("conv");
  expectCode(TENON_ERR_TYPE, TenonObjectSetIntegers(objectOf(layer_), "kernal", 3, three),
             {"'kernel'"});
  expectCode(TENON_ERR_TYPE, TenonObjectSetText(objectOf(layer_), "kernel", "3"),
             {"kernel", "integers"});
  expectCode(TENON_ERR_TYPE, TenonObjectSetIntegers(objectOf(layer_), "in_channels", 2, three),
             {"in_channels", "an integer"});
  expectCode(TENON_ERR_ARG, TenonObjectSetIntegers(objectOf(layer_), "groups", 1, &zero),
             {"at least 1"});
  expectCode(TENON_ERR_TYPE, TenonObjectSetText(objectOf(layer_), "overlap", "onn"), {"'on'"});
  TenonInt value = 0;
  expectCode(TENON_ERR_STATE,
             TenonObjectGetIntegers(objectOf(layer_), "in_channels", 1, &value, nullptr),
             {"in_channels", "no default"});
  expectSuccess(TenonObjectSetIntegers(objectOf(layer_), "kernel", 3, three));
  expectCode(TENON_ERR_ARG, TenonObjectGetIntegers(objectOf(layer_), "kernel", 2, &value, nullptr),
             {"3 values"});
  TenonLayer none = nullptr;
  expectCommonCode(TENON_ERR_TYPE, TenonLayerCreateType(MPI_COMM_WORLD, "cnov", &none), {"'conv'"});
}

// The error of a setter is returned again by the set-up, until the same setting is set correctly.
TEST_F(LayerByName, AFailedSetterFailsTheSetUp) {
  const TenonInt zero = 0, four = 4, two = 2;
  create("affine");
  expectSuccess(TenonObjectSetIntegers(objectOf(layer_), "inputs", 1, &two));
  expectCode(TENON_ERR_ARG, TenonObjectSetIntegers(objectOf(layer_), "outputs", 1, &zero),
             {"outputs"});
  expectSuccess(TenonObjectSetBool(objectOf(layer_), "bias", TENON_TRUE));
  TenonLayout input = layout({4, 2}, "B");
  expectCode(TENON_ERR_ARG, TenonLayerSetUp(layer_, input),
             {"TenonObjectSetIntegers(\"outputs\")"});
  expectSuccess(TenonObjectSetIntegers(objectOf(layer_), "outputs", 1, &four));
  expectSuccess(TenonLayerSetUp(layer_, input));
  expectSuccess(TenonLayoutDestroy(&input));
}

TEST_F(LayerByName, OptionsReachEverySetting) {
  create("conv");
  expectSuccess(TenonOptionsSet("-tenon_byname_kernel", "3,5"));
  expectSuccess(TenonOptionsSet("-tenon_byname_in_channels", "2"));
  expectSuccess(TenonOptionsSet("-tenon_byname_bias", "no"));
  expectSuccess(TenonObjectSetOptionsPrefix(objectOf(layer_), "byname_"));
  expectSuccess(TenonObjectSetFromOptions(objectOf(layer_)));
  TenonInt kernel[2] = {};
  expectSuccess(TenonObjectGetIntegers(objectOf(layer_), "kernel", 2, kernel, nullptr));
  EXPECT_EQ(kernel[0] * 10 + kernel[1], 35);
  TenonBool bias = TENON_TRUE;
  expectSuccess(TenonObjectGetBool(objectOf(layer_), "bias", &bias));
  EXPECT_EQ(bias, TENON_FALSE);
}

class NetworkFile : public LayerByName {
protected:
  // The name contains the parent's process number, which the ranks of one test share.
  std::string path(const char* name) {
    return ::testing::TempDir() + "tenon_" + std::to_string(getppid()) + "_" + name;
  }

  // Collective: rank 0 writes the file.
  void write(const std::string& file, const std::string& text) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
      std::ofstream(file) << text;
    MPI_Barrier(MPI_COMM_WORLD);
  }

  std::string read(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
};

// LeNet-5, built with calls: 2 convolutions, each with relu and pooling, and 3 affine layers.
TenonLayer lenet5() {
  TenonLayer net = nullptr;
  expectSuccess(TenonLayerCreateSequential(MPI_COMM_WORLD, &net));
  const auto add = [&](TenonLayer layer) {
    expectSuccess(TenonLayerSequentialAdd(net, layer));
    expectSuccess(TenonLayerDestroy(&layer));
  };
  const TenonInt five[] = {5, 5}, two[] = {2, 2};
  const auto conv = [&](TenonInt in, TenonInt out, TenonInt padding) {
    const TenonInt pad[] = {padding, padding};
    TenonLayer layer = nullptr;
    expectSuccess(TenonLayerCreateConv(MPI_COMM_WORLD, 2, in, out, five, &layer));
    expectSuccess(TenonLayerSetPadding(layer, pad, nullptr));
    return layer;
  };
  const auto plain = [&](const char* type) {
    TenonLayer layer = nullptr;
    expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, type, &layer));
    return layer;
  };
  const auto pool = [&] {
    TenonLayer layer = nullptr;
    expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "maxpooling", &layer));
    expectSuccess(TenonObjectSetIntegers(objectOf(layer), "kernel", 2, two));
    return layer;
  };
  const auto affine = [&](TenonInt in, TenonInt out) {
    TenonLayer layer = nullptr;
    expectSuccess(TenonLayerCreateAffine(MPI_COMM_WORLD, in, out, &layer));
    return layer;
  };
  add(conv(1, 6, 2));
  add(plain("relu"));
  add(pool());
  add(conv(6, 16, 0));
  add(plain("relu"));
  add(pool());
  add(plain("flatten"));
  add(affine(400, 120));
  add(plain("relu"));
  add(affine(120, 84));
  add(plain("relu"));
  add(affine(84, 10));
  return net;
}

TEST_F(NetworkFile, LeNet5EqualsTheNetworkMadeByCalls) {
  TenonLayout input = layout({4, 1, 28, 28}, "S2");
  TenonLayer fromCalls = lenet5();
  expectSuccess(
      TenonLayerCreateFromFile(MPI_COMM_WORLD, TENON_TEST_NETWORKS "/lenet5.json", &layer_));
  EXPECT_EQ(outputOf(layer_, input), outputOf(fromCalls, input));
  expectSuccess(TenonLayerDestroy(&fromCalls));
  TenonLayer child = nullptr;
  expectSuccess(TenonLayerGetChild(layer_, "C3", &child));
  TenonInt channels = 0;
  expectSuccess(TenonObjectGetIntegers(objectOf(child), "out_channels", 1, &channels, nullptr));
  EXPECT_EQ(channels, 16);
  expectSuccess(TenonLayerDestroy(&child));
  TenonDTensor bias = nullptr;
  expectSuccess(TenonLayerGetParameterAt(layer_, "F6/bias", &bias));
  expectSuccess(TenonDTensorDestroy(&bias));
  expectCode(TENON_ERR_ARG, TenonLayerGetParameterAt(layer_, "F6/bais", &bias), {"weight, bias"});
  expectCode(TENON_ERR_ARG, TenonLayerGetChild(layer_, "F7", &child), {"F6"});
  expectSuccess(TenonLayoutDestroy(&input));
}

std::string nameOf(TenonErrorCode (*get)(TenonLayer, int, char[], TenonInt, TenonInt*) noexcept,
                   TenonLayer layer, int index) {
  TenonInt needed = 0;
  expectSuccess(get(layer, index, nullptr, 0, &needed));
  std::string name(static_cast<std::size_t>(needed), ' ');
  expectSuccess(get(layer, index, name.data(), needed, nullptr));
  name.pop_back();
  return name;
}

// h = 2 x mask and s = h + x: node 0 multiplies x by the parameter c/scale (frozen), node 1 by the
// mask (reads: -1 is input 0, -2 input 1), node 2 adds. Output h is node 1, which node 2 reads too.
constexpr const char* kTwoOutputs =
    R"({"format":"tenon-network-1","type":"graph","data_type":"float64","inputs":["x","mask"],"outputs":["h=1","s"],
 "layers":[{"reads":[-1],"type":"channelaffine","name":"c","channels":2,"frozen":true},
 {"reads":[0,-2],"type":"multiply"},
 {"reads":[1,-1],"type":"add","name":"s"}]})";

TEST_F(NetworkFile, GraphsNameInputsAndOutputs) {
  const std::string file = path("outputs.json"), copy = path("outputs_copy.json");
  write(file, kTwoOutputs);
  expectSuccess(TenonLayerCreateFromFile(MPI_COMM_WORLD, file.c_str(), &layer_));
  int inputs = 0, outputs = 0;
  expectSuccess(TenonLayerGetInputCount(layer_, &inputs));
  expectSuccess(TenonLayerGetOutputCount(layer_, &outputs));
  EXPECT_EQ(inputs, 2);
  EXPECT_EQ(outputs, 2);
  EXPECT_EQ(nameOf(TenonLayerGetInputName, layer_, 1), "mask");
  EXPECT_EQ(nameOf(TenonLayerGetOutputName, layer_, 0), "h");
  EXPECT_EQ(nameOf(TenonLayerGetOutputName, layer_, 1), "s");
  expectCode(TENON_ERR_ARG, TenonLayerGetOutputName(layer_, 2, nullptr, 0, nullptr),
             {"output index 2", "2 outputs"});

  TenonLayout x = layout({4, 2, 6}, "S2"), mask = layout({4, 1, 6}, "S2");
  const TenonLayout in[] = {x, mask};
  expectSuccess(TenonLayerSetUpMany(layer_, 2, in));
  TenonLayout output = nullptr;
  TenonDTensor missing = nullptr;
  expectCode(TENON_ERR_ARG, TenonLayerGetOutputLayout(layer_, 2, &output),
             {"output index 2", "2 outputs"});
  for (const int index : {-1, 2}) {
    expectCommonCode(TENON_ERR_ARG, TenonLayerCreateOutput(layer_, index, &missing),
                     {"2 outputs", "numbered from 0"});
    expectCommonCode(TENON_ERR_ARG, TenonLayerCreateOutputCotangent(layer_, index, &missing),
                     {"2 outputs"});
    expectCommonCode(TENON_ERR_ARG, TenonLayerCreateInputCotangent(layer_, index, &missing),
                     {"2 inputs"});
  }
  expectSuccess(TenonLayerGetOutputLayout(layer_, 1, &output));
  expectSuccess(TenonLayoutDestroy(&output));
  TenonDTensor scale = nullptr;
  expectSuccess(TenonLayerGetParameterAt(layer_, "c/scale", &scale));
  expectSuccess(TenonDTensorFillConstant(scale, 2));
  TenonDTensor given[2] = {}, y[2] = {}, dy[2] = {}, dx[2] = {};
  for (int i = 0; i < 2; ++i) {
    expectSuccess(TenonDTensorCreate(in[i], TENON_FLOAT64, &given[i]));
    expectSuccess(TenonDTensorFillConstant(given[i], 3 + i)); // x = 3, mask = 4
    expectSuccess(TenonLayerCreateOutput(layer_, i, &y[i]));
    expectSuccess(TenonLayerCreateOutputCotangent(layer_, i, &dy[i]));
    expectSuccess(TenonDTensorFillConstant(dy[i], 1));
    expectSuccess(TenonLayerCreateInputCotangent(layer_, i, &dx[i]));
  }
  // The absolute value of each element, if all are equal: the norm divided by sqrt(elements).
  const auto each = [](TenonDTensor tensor, double elements) {
    double norm = 0;
    expectSuccess(TenonDTensorNorm(tensor, &norm));
    return norm / std::sqrt(elements);
  };
  expectSuccess(TenonLayerApplyMany(layer_, 2, given, 2, y));
  EXPECT_NEAR(each(y[0], 48), 24, 1e-13);
  EXPECT_NEAR(each(y[1], 48), 27, 1e-13);
  const TenonDTensor direction[] = {given[0], nullptr};
  expectSuccess(TenonLayerApplyTangentMany(layer_, 2, direction, 2, y));
  EXPECT_NEAR(each(y[0], 48), 24, 1e-13);
  const TenonDTensor some[] = {nullptr, dy[1]};
  expectSuccess(TenonLayerApplyAdjointMany(layer_, 2, some, 2, dx));
  EXPECT_NEAR(each(dx[0], 48), 9, 1e-13);  // 2 mask + 1
  EXPECT_NEAR(each(dx[1], 24), 12, 1e-13); // 2 x of both channels
  expectSuccess(TenonLayerApplyMany(layer_, 2, given, 2, y));
  expectSuccess(TenonLayerApplyAdjointMany(layer_, 2, dy, 2, dx));
  EXPECT_NEAR(each(dx[0], 48), 17, 1e-13); // 2 mask of both outputs + 1
  TenonDTensor gradient = nullptr;
  expectSuccess(TenonLayerGetReducedGradient(layer_, 0, &gradient));
  EXPECT_EQ(each(gradient, 1), 0); // frozen

  expectSuccess(TenonLayerSaveNetwork(layer_, copy.c_str()));
  const std::string saved = read(copy);
  for (const char* part :
       {R"("inputs":["x","mask"])", R"("outputs":["h=1","s"])", R"("frozen":true)"})
    EXPECT_NE(saved.find(part), std::string::npos) << saved;
  write(file, R"({"format":"tenon-network-1","type":"relu","frozen":1})");
  TenonLayer none = nullptr;
  expectCommonCode(TENON_ERR_FORMAT, TenonLayerCreateFromFile(MPI_COMM_WORLD, file.c_str(), &none),
                   {"frozen"});
  for (TenonDTensor* tensor : {given, y, dy, dx})
    for (int i = 0; i < 2; ++i)
      expectSuccess(TenonDTensorDestroy(&tensor[i]));
  expectSuccess(TenonDTensorDestroy(&scale));
  expectSuccess(TenonDTensorDestroy(&gradient));
  expectSuccess(TenonLayoutDestroy(&x));
  expectSuccess(TenonLayoutDestroy(&mask));
}

// The network of tutorial 05, built with the same calls as there, and from its file.
TEST_F(NetworkFile, TheHeatClosureEqualsTheNetworkMadeByCalls) {
  const TenonInt three[] = {3, 3}, one[] = {1, 1};
  TenonLayer fromCalls = nullptr, layers[3] = {};
  expectSuccess(TenonLayerCreateSequential(MPI_COMM_WORLD, &fromCalls));
  expectSuccess(TenonLayerSetDataType(fromCalls, TENON_FLOAT64));
  expectSuccess(TenonLayerCreateConv(MPI_COMM_WORLD, 2, 1, 16, three, &layers[0]));
  expectSuccess(TenonLayerSetPadding(layers[0], one, nullptr));
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "tanh", &layers[1]));
  expectSuccess(TenonLayerCreateConv(MPI_COMM_WORLD, 2, 16, 1, one, &layers[2]));
  for (TenonLayer& layer : layers) {
    expectSuccess(TenonLayerSequentialAdd(fromCalls, layer));
    expectSuccess(TenonLayerDestroy(&layer));
  }
  expectSuccess(
      TenonLayerCreateFromFile(MPI_COMM_WORLD, TENON_TEST_NETWORKS "/heat_closure.json", &layer_));
  TenonLayout input = layout({1, 1, 16, 9}, "S2");
  const auto values = outputOf<double>(layer_, input);
  EXPECT_EQ(values, outputOf<double>(fromCalls, input));
  expectSuccess(TenonLayoutDestroy(&input));
  expectSuccess(TenonLayerDestroy(&fromCalls));
}

// y = x + conv(conv(x)), where one convolution is used in two nodes: the network is saved, read and
// saved again. Both files, the outputs and the number of parameters must be the same.
TEST_F(NetworkFile, ASavedGraphIsReadAsItWas) {
  const int input[] = {-1}, first[] = {0}, both[] = {-1, 1};
  const TenonInt three[] = {3}, one[] = {1};
  TenonLayer conv = nullptr, sum = nullptr;
  expectSuccess(TenonLayerCreateGraph(MPI_COMM_WORLD, &layer_));
  expectSuccess(TenonLayerCreateConv(MPI_COMM_WORLD, 1, 2, 2, three, &conv));
  expectSuccess(TenonLayerSetPadding(conv, one, nullptr));
  expectSuccess(TenonObjectSetName(objectOf(conv), "twice"));
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "add", &sum));
  expectSuccess(TenonLayerGraphAddNode(layer_, conv, 1, input, nullptr));
  expectSuccess(TenonLayerGraphAddNode(layer_, conv, 1, first, nullptr));
  expectSuccess(TenonLayerGraphAddNode(layer_, sum, 2, both, nullptr));
  expectSuccess(TenonLayerDestroy(&conv));
  expectSuccess(TenonLayerDestroy(&sum));
  const std::string file = path("graph.json");
  expectSuccess(TenonLayerSaveNetwork(layer_, file.c_str()));
  MPI_Barrier(MPI_COMM_WORLD);
  TenonLayer again = nullptr;
  expectSuccess(TenonLayerCreateFromFile(MPI_COMM_WORLD, file.c_str(), &again));
  const std::string second = path("graph2.json");
  expectSuccess(TenonLayerSaveNetwork(again, second.c_str()));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(read(file), read(second));
  TenonLayout x = layout({2, 2, 9}, "S2");
  EXPECT_EQ(outputOf(again, x), outputOf(layer_, x));
  // After the evaluation: the layers have got settings from the graph, which must not be saved.
  const std::string third = path("graph3.json");
  expectSuccess(TenonLayerSaveNetwork(layer_, third.c_str()));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(read(file), read(third));
  int count = 0;
  expectSuccess(TenonLayerGetParameterCount(again, &count));
  EXPECT_EQ(count, 2); // weight and bias of the shared convolution
  expectSuccess(TenonLayoutDestroy(&x));
  expectSuccess(TenonLayerDestroy(&again));
}

TEST_F(NetworkFile, NamesFileKeyAndReason) {
  const std::string file = path("bad.json");
  const auto refused = [&](const std::string& text, std::initializer_list<const char*> parts) {
    write(file, text);
    expectCode(TENON_ERR_FORMAT, TenonLayerCreateFromFile(MPI_COMM_WORLD, file.c_str(), &layer_),
               parts);
    MPI_Barrier(MPI_COMM_WORLD);
  };
  refused(R"({"format":"tenon-network-2","type":"relu"})", {"bad.json", "tenon-network-2"});
  refused(R"({"format":"tenon-network-1","type":"rellu"})", {"bad.json", "type", "'relu'"});
  refused(R"({"format":"tenon-network-1","type":"conv","kernal":[3]})", {"kernal", "'kernel'"});
  refused(R"({"format":"tenon-network-1","type":"conv","kernel":[0]})", {"kernel", "at least 1"});
  refused(R"({"format":"tenon-network-1","type":"conv","kernel":"x"})", {"kernel", "integer"});
  refused(R"({"format":"tenon-network-1","type":"relu",)", {"bad.json", "byte"});
  refused(R"({"format":"tenon-network-1","type":"graph","layers":[{"same_as":0,"reads":[-1]}]})",
          {"layers[0].same_as"});
  refused(R"({"format":"tenon-network-1","type":"graph","layers":[{"type":"relu","reads":[]}]})",
          {"layers[0].reads", "is empty"});
  refused(R"({"format":"tenon-network-1","type":"graph","layers":[{"type":"relu","reads":[0]}]})",
          {"layers[0].reads", "node 0, which is not before node 0"});
  expectCode(TENON_ERR_FILE, TenonLayerCreateFromFile(MPI_COMM_WORLD, "no_such", &layer_),
             {"no_such", "known are"});
}

} // namespace
} // namespace tenon::test
