// SPDX-License-Identifier: BSD-2-Clause
// Imported networks compared with PyTorch. The folder of test models has files NAME.*.pt2 and
// NAME.*.onnx that PyTorch's exporters wrote, and for each name the results of PyTorch: NAME.npz
// and, for other extents of the inputs, NAME.other.npz (arrays.hpp: inputs, outputs, cotangents,
// gradients of inputs and parameters). Every file is imported, evaluated and differentiated on
// several layouts, and must agree to 1e-12 in float64 and 1e-5 in float32. The environment variable
// TENON_TEST_MODELS can name another folder. The other tests check properties of certain models:
// errors, names, which parameters are trained, three steps of training, and saving as a network of
// Tenon's own.
#include "import/arrays.hpp"
#include "import/unknown_operators.hpp"
#include "layer/networks/model.hpp"
#include "layer/networks/network_file.hpp"
#include "layer/networks/state.hpp"
#include "layer/networks/weights.hpp"
#include "layer/run_layer.hpp"
#include "weights/assignment.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace tenon {
namespace {

using test::Arrays;
using test::distance;
using test::fillWith;
using test::inputNames;
using test::world;

std::filesystem::path folder() {
  const char* other = std::getenv("TENON_TEST_MODELS");
  return other ? other : TENON_TEST_MODELS;
}

// Returns the paths of all models, in the order of their names.
std::vector<std::filesystem::path> models() {
  std::set<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder()))
    if (entry.path().extension() == ".pt2" || entry.path().extension() == ".onnx")
      found.insert(entry.path());
  return {found.begin(), found.end()};
}

double toleranceOf(const std::string& file, TenonDataType type) {
  if (type == TENON_FLOAT32 || file.find(".f32.") != file.npos)
    return 1e-5;
  return 1e-12;
}

// Returns a layout of an input on a grid of all ranks. `properties` is S0 (batch), S2 (first
// dimension of space) or S2,S3; for tensors with too few dimensions the next simpler one is used.
Layout layoutOf(const Shape& shape, std::string properties) {
  const int ranks = world()->size();
  if (properties == "S2,S3" && shape.size() >= 4)
    return test::onWorld(
        shape,
        {ranks % 2 == 0 && ranks > 2 ? 2 : 1, ranks % 2 == 0 && ranks > 2 ? ranks / 2 : ranks},
        properties);
  return test::onWorld(shape,
                       properties[0] == 'S' && shape.size() > 2 ? properties.substr(0, 2) : "S0");
}

// Returns PyTorch's gradient of a parameter; none if PyTorch does not have this parameter.
std::optional<std::vector<double>> gradientOf(const Arrays& arrays, const std::string& name) {
  if (const StoredTensor* tensor = arrays.find("param." + name))
    return arrays.numbers(*tensor);
  return std::nullopt;
}

// Whether an exporter has changed weights but not their names: PyTorch's newer exporter to ONNX
// combines batch normalisations with the layers before them. Gradients cannot be compared then.
bool hasFoldedWeights(const std::string& file) {
  static const std::set<std::string, std::less<>> normalised = {"column_normalised", "resnet18",
                                                                "unet2d_transposed"};
  return file.find(".dynamo") != file.npos && normalised.contains(file.substr(0, file.find('.')));
}

// Whether the import makes one parameter of several tensors of the file (complex weights).
bool hasJoinedWeights(const std::string& file) {
  return file.starts_with("fno_core");
}

// Returns the name of a parameter in files of weights.
std::string nameOf(const NamedParameter& named) {
  return named.parameter->value().name().empty() ? nameInFile(named.path)
                                                 : nameInFile(named.parameter->value().name());
}

// Imports a model and compares it with the arrays NAME + vectors (".npz" or ".other.npz").
void run(const std::filesystem::path& path, const std::string& properties,
         const std::string& vectors, TenonDataType type) {
  const std::string file = path.filename().string(), name = file.substr(0, file.find('.'));
  SCOPED_TRACE(file + " " + properties + " " + vectors + " " + dataTypeName(type));
  const Arrays arrays(folder() / (name + vectors));
  const auto layer = makeModel(world());
  layer->set("path", path.string());
  layer->setDataType(type);
  readModel(*layer);
  const std::vector<std::string> names = inputNames(*layer, arrays);
  Layouts inputs;
  for (const std::string& input : names)
    inputs.push_back(layoutOf(arrays.find("in." + input)->shape, properties));
  layer->setUp(inputs);
  std::vector<Ref<DTensor>> x, dx, y, dy;
  std::vector<const DTensor*> in, cotangents;
  std::vector<DTensor*> inputCotangents, outputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    x.push_back(test::tensor(inputs[i], type));
    fillWith(*x.back(), arrays, "in." + names[i]);
    dx.push_back(test::tensor(inputs[i].dual(), type));
    in.push_back(x.back().get());
    inputCotangents.push_back(dx.back().get());
  }
  const std::vector<std::string> results = arrays.names("out.");
  for (const Layout& output : layer->outputLayouts()) {
    y.push_back(test::tensor(output, type));
    outputs.push_back(y.back().get());
    dy.push_back(test::tensor(output.dual(), type));
    cotangents.push_back(dy.back().get());
  }
  ASSERT_EQ(y.size(), results.size());
  layer->apply(Inputs(in.data(), in.size()), Outputs(outputs.data(), outputs.size()));
  const double tolerance = toleranceOf(file, type);
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_LT(distance(test::gathered(*y[i]), arrays.numbers(*arrays.find("out." + results[i]))),
              tolerance)
        << results[i];
    fillWith(*dy[i], arrays, "cot." + results[i]);
  }
  layer->zeroGradients();
  layer->applyAdjoint(OutputCotangents(cotangents.data(), cotangents.size()),
                      InputCotangents(inputCotangents.data(), inputCotangents.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const StoredTensor* gradient = arrays.find("grad." + names[i])) {
      EXPECT_LT(distance(test::gathered(*dx[i]), arrays.numbers(*gradient)), tolerance) << names[i];
    }
  if (vectors != ".npz" || hasFoldedWeights(file))
    return;
  // Differences of gradients are compared with the largest gradient of the same layer. A bias
  // before a norm has no influence on the result, so its own gradient is only rounding noise.
  std::map<std::string, double> scales;
  const auto scaleOf = [&](const std::string& path) -> double& {
    return scales[path.substr(0, path.rfind('/') + 1)];
  };
  for (const NamedParameter& named : namedParameters(*layer))
    for (const double number : gradientOf(arrays, nameOf(named)).value_or(std::vector<double>()))
      scaleOf(named.path) = std::max(scaleOf(named.path), std::abs(number));
  std::set<std::string> compared;
  for (const NamedParameter& named : namedParameters(*layer)) {
    const auto expected = gradientOf(arrays, nameOf(named));
    if (!expected || named.parameter->isFrozen())
      continue;
    const auto withoutUnits = [](Shape shape) {
      std::erase(shape, 1);
      return shape;
    };
    EXPECT_EQ(withoutUnits(named.parameter->storage().shape()),
              withoutUnits(arrays.find("param." + nameOf(named))->shape))
        << named.path;
    EXPECT_LT(distance(test::gathered(named.parameter->gradient()), *expected,
                       std::max(scaleOf(named.path), 1e-300)),
              tolerance)
        << named.path;
    compared.insert(nameOf(named));
  }
  // Exporters to ONNX may rename and fold weights.
  if (file.ends_with(".onnx") || hasJoinedWeights(file))
    return;
  for (const std::string& parameter : arrays.names("param."))
    EXPECT_TRUE(compared.contains(parameter)) << parameter;
}

TEST(Model, GivesWhatPyTorchComputes) {
  for (const auto& path : models()) {
    const std::string file = path.filename().string(), name = file.substr(0, file.find('.'));
    for (const std::string vectors : {".npz", ".other.npz"})
      for (const std::string properties : {"S0", "S2", "S2,S3"})
        for (const TenonDataType type : {TENON_FLOAT64, TENON_FLOAT32})
          // float32 on one layout only: float64 detects errors of the others.
          if (std::filesystem::exists(folder() / (name + vectors)) &&
              (type == TENON_FLOAT64 || (vectors == ".npz" && properties == "S2"))) {
            try {
              run(path, properties, vectors, type);
            } catch (const Error& error) {
              ADD_FAILURE() << file << " " << properties << " " << vectors << ": " << error.text();
            }
          }
  }
}

// A refusal contains the operator, the line of the model's source, and what could be used instead.
TEST(Model, NamesWhatCannotBeImported) {
  const auto layer = makeModel(world());
  layer->set("path", std::string(TENON_TEST_MODELS "/refused.pt2"));
  readModel(*layer);
  expectError(TENON_ERR_SUPPORT,
              {"refused.pt2", "2 of its 4 operators",
               "sort: the operator aten.sort.default, with inputs [6,4]",
               "cummax: the operator aten.cummax.default, with inputs [6,4]",
               "column.py, line 12, in forward: return torch.cummax(",
               "what works: max, min, argmax and argmin; which elements come first"},
              [&] {
                layer->setUp(layoutOf({6, 4}, "S0"));
              });
  // A shape that the file fixes.
  const auto masked = makeModel(world());
  masked->set("path", (folder() / "masked.f64.pt2").string());
  expectError(TENON_ERR_SHAPE, {"input 'x'", "[batch,2,any,any]", "[2,3,12,16]"}, [&] {
    masked->setUp({layoutOf({2, 3, 12, 16}, "S2"), layoutOf({2, 1, 12, 16}, "S2")});
  });
}

// The advice for names of both formats: with and without an overload, and of other libraries.
TEST(Model, SaysWhatWorksInPlaceOfAnOperator) {
  for (const auto& [type, advice] : std::map<std::string, std::string>{
           {"aten.sort.default", "sort outside"},
           {"TopK", "sort outside"},
           {"torch.ops.disco_kernels._disco_s2_contraction_optimized.default", "transposeddisco"},
           {"aten.unheard.default", "run_decompositions()"}})
    EXPECT_NE(adviceFor(type).find(advice), std::string::npos) << type << ": " << adviceFor(type);
}

// The first of the largest elements is found among more than the layer can count, 2^24.
TEST(Model, FindsTheLargestOfManyElements) {
  const auto layer = makeModel(world());
  layer->set("path", std::string(TENON_TEST_MODELS "/wide.pt2"));
  layer->setUp(layoutOf({1, 1, 4096, 4100}, "S2"));
  EXPECT_EQ(layer->outputLayout().shape(), (Shape{1, 1, 1, 1}));
}

// It also contains the parameter, if the operator's input is computed from one.
TEST(Model, NamesTheParameterOfWhichNothingCanBeComputed) {
  const auto layer = makeModel(world());
  layer->set("path", std::string(TENON_TEST_MODELS "/refused_parameter.pt2"));
  readModel(*layer);
  expectError(TENON_ERR_SUPPORT,
              {"cummax: the operator aten.cummax.default, with inputs [4], of parameter 'decay'"},
              [&] {
                layer->setUp(layoutOf({2, 4}, "S0"));
              });
}

// Three steps of gradient descent with the learning rate 0.1. The expected weights are those of
// PyTorch after the same steps (recurrence.trained.npz). A matrix that all steps of a recurrence
// multiply by is one parameter. Weights are saved with PyTorch's names and shapes, and read from
// PyTorch's file.
TEST(Model, TrainsAsPyTorchDoes) {
  const Arrays arrays(folder() / "recurrence.npz"), after(folder() / "recurrence.trained.npz");
  const auto newModel = [&] {
    auto layer = makeModel(world());
    layer->set("path", (folder() / "recurrence.f64.pt2").string());
    layer->set("model_test", std::string("off"));
    layer->setDataType(TENON_FLOAT64);
    layer->setUp(layoutOf(arrays.find("in.x")->shape, "S0"));
    return layer;
  };
  const auto layer = newModel();
  const Ref<DTensor> x = test::tensor(layer->inputLayout(), TENON_FLOAT64),
                     y = test::tensor(layer->outputLayout(), TENON_FLOAT64),
                     dy = test::tensor(layer->outputLayout().dual(), TENON_FLOAT64);
  fillWith(*x, arrays, "in.x");
  fillWith(*dy, arrays, "cot.y");
  for (int step = 0; step < 3; ++step) {
    layer->zeroGradients();
    layer->apply(*x, *y);
    layer->applyAdjoint(*dy, nullptr);
    for (const Ref<Parameter>& parameter : layer->parameters())
      if (!parameter->isFrozen()) {
        axpby(-0.1, *parameter->reducedGradient(), 1, parameter->value());
        parameter->valueChanged();
      }
  }
  const auto expectTrained = [&](Layer& model) {
    const std::string file =
        testing::TempDir() + fmt::format("trained_{}.safetensors", world()->size());
    saveWeights(model, file);
    const Arrays saved(file);
    EXPECT_EQ(saved.names("").size(), after.names("").size());
    for (const std::string& name : after.names("")) {
      const StoredTensor* found = saved.find(name);
      ASSERT_TRUE(found) << name;
      EXPECT_EQ(found->shape, after.find(name)->shape) << name;
      EXPECT_LT(distance(saved.numbers(*found), after.numbers(*after.find(name))), 1e-12) << name;
    }
    MPI_Barrier(world()->mpi());
  };
  expectTrained(*layer);
  const auto other = newModel();
  loadWeights(*other, (folder() / "recurrence.trained.npz").string(), "");
  expectTrained(*other);
}

// The description says how the network normalises its input and output, so users do not repeat it.
TEST(Model, SaysHowItNormalises) {
  const auto layer = makeModel(world());
  layer->set("path", (folder() / "cnn_normalised.f64.pt2").string());
  layer->setUp(layoutOf({4, 3, 12, 16}, "S2"));
  const std::string text = layer->describe();
  EXPECT_NE(text.find("input x: normalised by mean "), text.npos) << text;
  EXPECT_NE(text.find("output: brought back by deviation "), text.npos) << text;
}

// A batch normalisation has PyTorch's names, also for its running statistics.
TEST(Model, KeepsTheNamesOfBatchNormalisations) {
  const auto layer = makeModel(world());
  layer->set("path", (folder() / "column_normalised.f64.pt2").string());
  layer->setUp(layoutOf({10, 6}, "S0"));
  std::set<std::string> names;
  for (const NamedTensor& named : namedTensors(*layer))
    names.insert(nameInFile(named.path));
  for (const std::string name : {"weight", "bias", "running_mean", "running_var"})
    EXPECT_EQ(std::ranges::count_if(
                  names, [&](const std::string& found) { return found.ends_with(".1." + name); }),
              1)
        << name;
}

// Constants of the model, such as buffers, are frozen. After all parameters have been frozen and
// released again, the constants are still frozen.
TEST(Model, ReleasedKeepsItsConstants) {
  const auto layer = makeModel(world());
  layer->set("path", (folder() / "cnn_normalised.f64.pt2").string());
  layer->setUp(layoutOf({4, 3, 12, 16}, "S2"));
  const auto frozen = [&](const Layer& network) {
    std::set<std::string> names;
    for (const NamedParameter& named : namedParameters(network))
      if (named.parameter->isFrozen())
        names.insert(named.path);
    return names;
  };
  const std::set<std::string> constants = frozen(*layer);
  EXPECT_FALSE(constants.empty());
  EXPECT_LT(constants.size(), layer->parameters().size());
  layer->setFrozen(true);
  EXPECT_EQ(frozen(*layer).size(), layer->parameters().size());
  layer->setFrozen(false);
  EXPECT_EQ(frozen(*layer), constants);
}

// Parameters that are values instead of weights of layers, here a class token, which the model
// broadcasts to the batch, and a table of positions, have their own names and are trained.
TEST(Model, ParametersAsValuesHaveTheirNames) {
  const auto layer = makeModel(world());
  layer->set("path", std::string(TENON_TEST_MODELS "/vit_cls.f64.pt2"));
  layer->setUp(layoutOf({2, 2, 8, 12}, "S0"));
  std::set<std::string> trained;
  for (const NamedParameter& named : namedParameters(*layer))
    if (!named.parameter->isFrozen())
      trained.insert(nameInFile(named.path));
  EXPECT_TRUE(trained.contains("cls"));
  EXPECT_TRUE(trained.contains("pos"));
}

// Newer ONNX files state which tensors are parameters: those are trained, also as values. Buffers
// are not trained, also if they are weights of a layer.
TEST(Model, OnnxSaysWhatIsTrained) {
  const auto layer = makeModel(world());
  layer->set("path", std::string(TENON_TEST_MODELS "/own_parameters.dynamo18d.f64.onnx"));
  layer->setUp(layoutOf({1, 2, 6, 8}, "S2"));
  std::set<std::string> trained;
  for (const NamedParameter& named : namedParameters(*layer))
    if (!named.parameter->isFrozen())
      trained.insert(nameInFile(named.path));
  for (const char* name : {"c.bias", "c.weight", "gain", "pos"})
    EXPECT_TRUE(trained.contains(name)) << name;
  // The kernel that is a buffer is the weight of a convolution that no module names.
  EXPECT_TRUE(std::ranges::none_of(trained, [](const std::string& name) {
    return name.starts_with("conv") || name.starts_with("channelaffine");
  }));
  // The file has parameters with equal numbers only once; the network has both.
  for (const char* name : {"equal_norms.dynamo18d.f64.onnx", "equal_norms.legacy17d.f64.onnx"}) {
    const auto norms = makeModel(world());
    norms->set("path", std::string(TENON_TEST_MODELS "/") + name);
    norms->setUp(layoutOf({3, 4}, "S0"));
    std::set<std::string> names;
    for (const NamedParameter& named : namedParameters(*norms))
      names.insert(nameInFile(named.path));
    EXPECT_EQ(names, (std::set<std::string>{"dense.bias", "dense.weight", "first.bias",
                                            "first.weight", "second.bias", "second.weight"}))
        << name;
  }
}

// Returns the output for the input "in.x" of the arrays.
std::vector<double> resultOf(Layer& layer, const Layout& layout, const Arrays& arrays) {
  const Ref<DTensor> x = test::tensor(layout, TENON_FLOAT64),
                     y = test::tensor(layer.outputLayout(), TENON_FLOAT64);
  fillWith(*x, arrays, "in.x");
  layer.apply(*x, *y);
  return test::gathered(*y);
}

// The network in a file of Tenon's own, with weights that the model saved, computes exactly the
// same, and so does the model as a layer of another network, which doubles the result.
TEST(Model, IsTheSameNetworkInFilesOfItsOwn) {
  const std::string path = (folder() / "squeeze_excite.f64.pt2").string();
  const Arrays arrays(folder() / "squeeze_excite.npz");
  const Layout layout = layoutOf(arrays.find("in.x")->shape, "S2");
  const auto setUp = [&](Ref<Layer> layer) {
    layer->setDataType(TENON_FLOAT64);
    layer->setUp(layout);
    return layer;
  };
  const auto model = makeModel(world());
  model->set("path", path);
  setUp(model);
  const std::vector<double> expected = resultOf(*model, layout, arrays);
  const std::string weights =
      testing::TempDir() + fmt::format("saved_model_{}.safetensors", world()->size());
  saveWeights(*model, weights);
  const auto network = [&](const std::string& text) {
    const std::string file = testing::TempDir() + fmt::format("of_model_{}.json", world()->size());
    if (world()->rank() == 0)
      std::ofstream(file) << text;
    MPI_Barrier(world()->mpi());
    const auto read = setUp(readNetwork(world(), file));
    MPI_Barrier(world()->mpi());
    return read;
  };
  const auto own = network(networkText(modelOf(*model)->network().graph));
  loadWeights(*own, weights, "");
  EXPECT_EQ(resultOf(*own, layout, arrays), expected);
  const auto around =
      network(fmt::format(R"({{"format": "tenon-network-1", "type": "sequential", "layers": [
                  {{"type": "model", "path": "{}"}}, {{"type": "scale", "factor": 2}}]}})",
                          path));
  std::vector<double> twice = expected;
  for (double& number : twice)
    number *= 2;
  EXPECT_EQ(resultOf(*around, layout, arrays), twice);
}

// A model is saved in a network file by its path, before and after set-up, and its parameters have
// PyTorch's names.
TEST(Model, IsAContainerAsOthers) {
  const auto layer = makeModel(world());
  layer->set("path", (folder() / "mlp_tanh.f64.pt2").string());
  const std::string text = networkText(describeNetwork(*layer));
  EXPECT_NE(text.find("\"type\":\"model\""), text.npos) << text;
  EXPECT_NE(text.find("mlp_tanh.f64.pt2"), text.npos) << text;
  layer->setUp(layoutOf({10, 6}, "S0"));
  EXPECT_EQ(networkText(describeNetwork(*layer)), text);
  std::vector<std::string> names;
  for (const NamedParameter& named : namedParameters(*layer))
    names.push_back(nameInFile(named.path));
  EXPECT_EQ(names, (std::vector<std::string>{"layers.0.weight", "layers.0.bias", "layers.1.weight",
                                             "layers.1.bias", "layers.2.weight", "layers.2.bias"}));
  // A second set-up shares the parameters.
  layer->setUp(layoutOf({7, 6}, "S0"));
  EXPECT_EQ(layer->parameters().size(), 6u);
}

} // namespace
} // namespace tenon
