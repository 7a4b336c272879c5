// SPDX-License-Identifier: BSD-2-Clause
// Tests of assignTensors(): which tensor of a weights file each parameter of a network gets, by
// name, by position and by a map, and the errors if they do not fit. The files are safetensors
// files that class Tensors builds in memory; the expected assignments are written out in each test.
//
//   Tensors({{"c1.bias"}, {"c1.weight"}}).assign({{"c1", "weight", {2}}, {"c1", "bias", {2}}})
//       == "c1.weight c1.bias "    // the tensor of the first parameter, that of the second
#include "weights/assignment.hpp"

#include "file_bytes.hpp"
#include "sys/expect_error.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace tenon {
namespace {

using namespace test;

struct Tensor {
  std::string name;
  std::vector<Index> shape = {2};
  std::string dtype = "F32";
};

// A safetensors file with the given tensors, whose elements are all 0. With `tellsOrder`, the
// file's metadata "tenon.order" lists the names in the order of `tensors`. Without it, the file
// does not say in which order the tensors are to be assigned.
class Tensors {
public:
  explicit Tensors(const std::vector<Tensor>& tensors, bool tellsOrder = true) {
    std::string json, order, data;
    for (const Tensor& t : tensors) {
      const auto elements =
          std::accumulate(t.shape.begin(), t.shape.end(), Index(1), std::multiplies<>());
      std::string shape;
      for (Index extent : t.shape)
        shape += (shape.empty() ? "" : ",") + std::to_string(extent);
      const std::size_t begin = data.size();
      data.append(static_cast<std::size_t>(elements * elementSize(*elementTypeNamed(t.dtype))),
                  '\0');
      json += fmt::format(R"(,"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", t.name,
                          t.dtype, shape, begin, data.size());
      order += (order.empty() ? "" : "\\n") + t.name;
    }
    bytes_ = safetensors(fmt::format(R"({{"__metadata__":{{{}}}{}}})",
                                     tellsOrder ? "\"tenon.order\":\"" + order + "\"" : "", json),
                         data);
  }
  // The name of the tensor that each parameter gets ("none": no tensor), in the order of `wanted`.
  // If a dimension of the parameter has none in the tensor, the tensor's dimension for each
  // dimension of the parameter follows, with -1 for the absent one. `map` is the text of a weights
  // map.
  std::string assign(const std::vector<WantedTensor>& wanted, const char* map = nullptr) const {
    const WeightsFile file = openFile(bytes_);
    const WeightsMap rules = map ? parseWeightsMap(map, "some.json") : WeightsMap();
    std::string text;
    for (const TensorSource& source : assignTensors(wanted, file, map ? &rules : nullptr, "net")) {
      text += source.isNone() ? "none " : file.tensors()[source.tensor].name + " ";
      if (std::ranges::find(source.axes, -1) != source.axes.end())
        text += fmt::format("[{}] ", fmt::join(source.axes, ","));
    }
    return text;
  }

private:
  std::string bytes_;
};

// The parameters of a network of two layers, c1 and a/c2: layer, name, shape.
const std::vector<WantedTensor> kTwoLayers = {
    {"c1", "weight", {2}}, {"c1", "bias", {2}}, {"a/c2", "weight", {2}}, {"a/c2", "bias", {2}}};

TEST(Assignment, ByNameWhateverTheOrder) {
  EXPECT_EQ(
      "c1.weight c1.bias a.c2.weight a.c2.bias ",
      Tensors({{"a.c2.bias"}, {"a.c2.weight"}, {"c1.bias"}, {"c1.weight"}}).assign(kTwoLayers));
  EXPECT_EQ("weight bias ", Tensors({{"bias"}, {"weight"}}, /*tellsOrder=*/false)
                                .assign({{"", "weight", {2}}, {"", "bias", {2}}}));
}

// A layer of type constant has one parameter, "value", which is stored under the name of the layer;
// older files have ".value" after it.
TEST(Assignment, TheValueOfAConstantLayerHasTheLayersName) {
  const std::vector<WantedTensor> wanted = {{"cls", "value", {2}}, {"a/pos", "value", {2}}};
  EXPECT_EQ("cls", nameInFile(wanted[0].path()));
  EXPECT_EQ("a.pos", nameInFile(wanted[1].path()));
  EXPECT_EQ("cls a.pos ", Tensors({{"a.pos"}, {"cls"}}).assign(wanted));
  EXPECT_EQ("cls.value a.pos.value ", Tensors({{"a.pos.value"}, {"cls.value"}}).assign(wanted));
}

// A linear layer on the points of a field has a weight of shape [2,3,1,1]. PyTorch stores it as a
// matrix [2,3], here under a name that a setting of the layer gives ("a.in_proj_weight"). The
// second parameter is a constant that an imported model has defined (isOptional), so it needs no
// tensor.
TEST(Assignment, ExtentsOfOneAndKnownConstantsCanBeMissing) {
  const std::vector<WantedTensor> wanted = {
      {"a", "weight", {2, 3, 1, 1}, "a.in_proj_weight"},
      {.layer = "constant3", .name = "value", .shape = {2}, .isOptional = true}};
  EXPECT_EQ("a.in_proj_weight [0,1,-1,-1] none ",
            Tensors({{"a.in_proj_weight", {2, 3}}}).assign(wanted));
  expectError(TENON_ERR_FORMAT, {"a/weight has shape [2,3,1,1], but 'a.in_proj_weight' has [3,2]"},
              [&] {
                Tensors({{"a.in_proj_weight", {3, 2}}}).assign(wanted);
              });
}

TEST(Assignment, ByPositionInTheOrderOfTheFile) {
  EXPECT_EQ(
      "enc.weight enc.bias dec.weight dec.bias ",
      Tensors({{"enc.bias"}, {"enc.weight"}, {"dec.weight"}, {"dec.bias"}}).assign(kTwoLayers));
}

// If the file does not list an order, the numbers in the names give it. They are compared as
// numbers: 2 comes before 10. Names without numbers are refused.
TEST(Assignment, ByPositionInTheOrderOfNumbers) {
  const std::vector<Tensor> sequential = {
      {"net.10.bias"}, {"net.10.weight"}, {"net.2.bias"}, {"net.2.weight"}};
  EXPECT_EQ("net.2.weight net.2.bias net.10.weight net.10.bias ",
            Tensors(sequential, /*tellsOrder=*/false).assign(kTwoLayers));
  EXPECT_EQ("net.10.weight net.10.bias net.2.weight net.2.bias ",
            Tensors(sequential, /*tellsOrder=*/true).assign(kTwoLayers));
  expectError(TENON_ERR_FORMAT, {"does not tell the order", "map", "export_weights.py"}, [] {
    Tensors({{"dec.bias"}, {"dec.weight"}, {"enc.bias"}, {"enc.weight"}}, /*tellsOrder=*/false)
        .assign(kTwoLayers);
  });
}

// The normalization layers of this library have "scale" and "shift"; PyTorch's have "weight" and
// "bias".
TEST(Assignment, ScaleAndShiftAreWeightAndBias) {
  const std::vector<WantedTensor> wanted = {{"n", "scale", {2}}, {"n", "shift", {2}}};
  EXPECT_EQ("0.weight 0.bias ", Tensors({{"0.weight"}, {"0.bias"}}).assign(wanted));
  EXPECT_EQ("0.scale 0.shift ", Tensors({{"0.scale"}, {"0.shift"}}).assign(wanted));
}

// One layer of two affine maps gets PyTorch's modules 0 and 2 of nn.Sequential (1 is an activation
// without tensors).
TEST(Assignment, NumberedParametersTakeAModuleEach) {
  const std::vector<WantedTensor> wanted = {{"mlp", "weight0", {3, 2}},
                                            {"mlp", "bias0", {3}},
                                            {"mlp", "weight1", {1, 3}},
                                            {"mlp", "bias1", {1}}};
  EXPECT_EQ("0.weight 0.bias 2.weight 2.bias ",
            Tensors({{"0.weight", {3, 2}}, {"0.bias", {3}}, {"2.weight", {1, 3}}, {"2.bias", {1}}})
                .assign(wanted));
}

// PyTorch stores "num_batches_tracked" next to the running mean and variance. No parameter needs
// it; this is no error if the module's running mean is used.
TEST(Assignment, RunningStatisticsAreTakenAndTheirCounterIsSkipped) {
  const std::vector<WantedTensor> wanted = {{"n", "running_mean", {2}}, {"n", "running_var", {2}}};
  const std::vector<Tensor> norm = {
      {"0.num_batches_tracked", {}, "I64"}, {"0.running_mean"}, {"0.running_var"}};
  EXPECT_EQ("0.running_mean 0.running_var ", Tensors(norm).assign(wanted));
  EXPECT_EQ("0.running_mean 0.running_var ",
            Tensors(norm).assign(wanted, R"({"format": "tenon-weights-map-1",
                "parameters": {"n": "0"}, "unused": ["0.num_batches_tracked"]})"));
  expectError(TENON_ERR_FORMAT, {"no parameter takes '1.num_batches_tracked'"}, [&] {
    Tensors({{"n.running_mean"}, {"n.running_var"}, {"1.num_batches_tracked", {}, "I64"}})
        .assign(wanted);
  });
}

// Layer c1 gets module "f.0", dense/weight gets the transpose of "d.kernel", own/weight is not in
// the map and gets the tensor of its own name, "n" is listed as unused.
TEST(Assignment, ByMap) {
  const Tensors file(
      {{"f.0.weight", {2}}, {"f.0.bias"}, {"d.kernel", {4, 3}}, {"n", {1}, "I64"}, {"own.weight"}});
  EXPECT_EQ("f.0.weight f.0.bias d.kernel own.weight ",
            file.assign({{"c1", "weight", {2}},
                         {"c1", "bias", {2}},
                         {"dense", "weight", {3, 4}},
                         {"own", "weight", {2}}},
                        R"({"format": "tenon-weights-map-1", "parameters": {"c1": "f.0",
                            "dense/weight": {"name": "d.kernel", "transpose": [1, 0]}},
                            "unused": ["n"]})"));
}

TEST(Assignment, ListsAllThatDoesNotMatch) {
  expectError(
      TENON_ERR_FORMAT,
      {"'some file' does not fit net", "c1/weight has shape [2], but 'a.weight' has [3,1]",
       "a/c2/bias: there is no 'b.bias'", "c1/bias: 'a.bias' has elements of type I64",
       "no parameter takes 'b.running_mean'"},
      [] {
        Tensors({{"a.weight", {3, 1}}, {"a.bias", {2}, "I64"}, {"b.weight"}, {"b.running_mean"}})
            .assign(kTwoLayers);
      });
  expectError(TENON_ERR_FORMAT,
              {"has 1 module (a.weight), but net takes 2 (c1/weight; a/c2/weight)"}, [] {
                Tensors({{"a.weight"}, {"a.bias"}}).assign(kTwoLayers);
              });
  // 40 superfluous tensors: an error lists 12 of them.
  expectError(TENON_ERR_FORMAT, {"and 28 more"}, [] {
    std::vector<Tensor> many;
    for (int i = 0; i < 40; ++i)
      many.push_back({"0.extra" + std::to_string(i)});
    many.push_back({"0.weight"});
    Tensors(many).assign({{"", "weight", {2}}});
  });
}

TEST(Assignment, RefusesAMapThatDoesNotMatch) {
  const Tensors file({{"a.weight"}, {"a.bias"}, {"b.weight"}, {"b.bias"}});
  // `rest` is the text of the map from the value of "parameters" on; the error contains `parts`.
  const auto refused = [&](std::initializer_list<const char*> parts, const std::string& rest) {
    expectError(TENON_ERR_FORMAT, parts, [&] {
      file.assign(kTwoLayers,
                  (R"({"format": "tenon-weights-map-1", "parameters": )" + rest).c_str());
    });
  };
  refused({"the map names 'c3', which is no layer"}, R"({"c1": "a", "a/c2": "b", "c3": "a"}})");
  refused({"a/c2/weight: 'a.weight' is taken twice", "no parameter takes 'b.weight'"},
          R"({"c1": "a", "a/c2": "a"}})");
  refused({"a/c2/bias: there is no 'a.c2.bias'"}, R"({"c1": "a"}})");
  refused({"'a.weight' is unused, but it is used", "'z' is unused, but there is no such tensor"},
          R"({"c1": "a", "a/c2": "b"}, "unused": ["a.weight", "z"]})");
  refused({"the map transposes a layer; name its parameter"},
          R"({"c1": {"name": "a", "transpose": [0]}, "a/c2": "b"}})");
  refused(
      {"c1/weight has shape [2], but 'a.weight' has [2] transposed by [1,0]"},
      R"({"c1/weight": {"name": "a.weight", "transpose": [1, 0]}, "c1/bias": "a.bias", "a/c2": "b"}})");
}

// The text of a map that is not JSON, has unknown keys or values of a wrong type.
TEST(WeightsMap, RefusesInvalidMaps) {
  const auto refused = [](std::initializer_list<const char*> parts, const std::string& text) {
    expectError(TENON_ERR_FORMAT, parts, [&] { parseWeightsMap(text, "some.json"); });
  };
  const std::string start = R"({"format": "tenon-weights-map-1", "parameters": )";
  refused({"'some.json', byte", "not valid JSON"}, "{");
  refused({"has no key 'format'"}, "{}");
  refused({"format", "tenon-weights-map-1"}, R"({"format": "tenon-network-1", "parameters": {}})");
  refused({"unknown key", "did you mean 'unused'"}, start + R"({}, "unuse": []})");
  refused({"parameters.c1.nam", "unknown key"}, start + R"({"c1": {"nam": "a"}}})");
  refused({"parameters.c1", "expected an object"}, start + R"({"c1": 3}})");
  for (const char* axes : {"[0, 0]", "[1, 2]", "[0, 99999999999]", "[-1]", "[]", "[0.5]"})
    refused({"parameters.c1.transpose"},
            start + R"({"c1": {"name": "a", "transpose": )" + axes + "}}}");
  refused({"unused[0]", "expected a text"}, start + R"({}, "unused": [1]})");
}

} // namespace
} // namespace tenon
