// SPDX-License-Identifier: BSD-2-Clause
// Networks in the layout of MOM6's module MOM_ANN, in NetCDF files that the test writes by the
// library. What such a network computes is written out here as MOM6 does it, by which the test
// makes y_test and the expected outputs. A wrong file must be refused at set-up on all ranks, with
// the reason.
#include "training_run.hpp"

#include "import/model_file.hpp"
#include "io/ann/ann_weights.hpp"
#include "layer/networks/model.hpp"
#include "layer/run_layer.hpp"

#include <netcdf.h>

#include <cmath>
#include <functional>

namespace tenon {
namespace {

using test::SharedFolder;
using test::world;
using Numbers = std::vector<double>;

void check(int status) {
  ASSERT_EQ(status, NC_NOERR) << nc_strerror(status);
}

// A network in the test's memory. matrices[n] is [before, after], row-major, as in the file.
struct Ann {
  std::vector<int> sizes;
  std::vector<Numbers> matrices = {}, biases = {};
  Numbers inputMeans = {}, inputNorms = {}, outputMeans = {}, outputNorms = {}; // empty: none
  Numbers x = {}, y = {}; // the test in the file; empty: none

  Numbers operator()(const Numbers& input) const {
    Numbers values = input;
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] -= inputMeans.empty() ? 0 : inputMeans[i];
      values[i] *= inputNorms.empty() ? 1 : 1 / inputNorms[i];
    }
    for (std::size_t n = 0; n < matrices.size(); ++n) {
      Numbers next = biases[n];
      for (std::size_t i = 0; i < values.size(); ++i)
        for (std::size_t o = 0; o < next.size(); ++o)
          next[o] += values[i] * matrices[n][i * next.size() + o];
      if (n + 1 < matrices.size())
        for (double& value : next)
          value = std::max(value, 0.0);
      values = next;
    }
    for (std::size_t o = 0; o < values.size(); ++o)
      values[o] = values[o] * (outputNorms.empty() ? 1 : outputNorms[o]) +
                  (outputMeans.empty() ? 0 : outputMeans[o]);
    return values;
  }
};

// `count` numbers in (-1, 1) that float32 has too, or in (1, 2) for `isPositive`.
Numbers numbers(std::size_t count, int seed, bool isPositive = false) {
  Numbers all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(static_cast<float>((isPositive ? 1.5 : 0) +
                                     std::sin(1.7 * double(i) + seed) * (isPositive ? 0.5 : 1.0)));
  return all;
}

Ann annOf(std::vector<int> sizes, bool isNormalized) {
  Ann ann{.sizes = std::move(sizes)};
  for (std::size_t n = 0; n + 1 < ann.sizes.size(); ++n) {
    const auto before = std::size_t(ann.sizes[n]), after = std::size_t(ann.sizes[n + 1]);
    ann.matrices.push_back(numbers(before * after, int(n)));
    ann.biases.push_back(numbers(after, int(n) + 50));
  }
  const auto inputs = std::size_t(ann.sizes.front()), outputs = std::size_t(ann.sizes.back());
  if (isNormalized) {
    ann.inputMeans = numbers(inputs, 11);
    ann.inputNorms = numbers(inputs, 12, true);
    ann.outputMeans = numbers(outputs, 13);
    ann.outputNorms = numbers(outputs, 14, true);
  }
  ann.x = numbers(inputs, 15);
  ann.y = ann(ann.x);
  return ann;
}

// Writes the file, in a format of NetCDF and with a type of reals, on rank 0. `change` can spoil it
// before the file is defined. Collective.
std::string write(
    const SharedFolder& folder, Ann ann, int format = NC_NETCDF4, nc_type type = NC_DOUBLE,
    const std::function<void(int file)>& define = [](int) {}) {
  const std::string path = folder / "ann.nc";
  MPI_Barrier(MPI_COMM_WORLD);
  if (world()->rank() == 0) {
    int file = 0;
    check(nc_create(path.c_str(), NC_CLOBBER | format, &file));
    std::vector<std::pair<int, const Numbers*>> values;
    const auto variable = [&](const std::string& name, const Numbers& of,
                              const std::vector<std::size_t>& shape, nc_type stored) {
      if (of.empty())
        return;
      std::vector<int> dimensions;
      for (const std::size_t length : shape) {
        dimensions.emplace_back();
        check(nc_def_dim(file, (name + "_" + std::to_string(dimensions.size())).c_str(), length,
                         &dimensions.back()));
      }
      values.emplace_back(0, &of);
      check(nc_def_var(file, name.c_str(), stored, int(shape.size()), dimensions.data(),
                       &values.back().first));
    };
    const Numbers count = {double(ann.sizes.size())}, sizes(ann.sizes.begin(), ann.sizes.end());
    variable("num_layers", count, {1}, NC_INT);
    variable("layer_sizes", sizes, {sizes.size()}, NC_INT);
    for (std::size_t n = 0; n < ann.matrices.size(); ++n) {
      const std::size_t after = ann.biases[n].size();
      variable("A" + std::to_string(n), ann.matrices[n],
               {after == 0 ? 1 : ann.matrices[n].size() / after, std::max<std::size_t>(after, 1)},
               type);
      variable("b" + std::to_string(n), ann.biases[n], {after}, type);
    }
    const std::pair<const char*, const Numbers&> vectors[] = {{"input_means", ann.inputMeans},
                                                              {"input_norms", ann.inputNorms},
                                                              {"output_means", ann.outputMeans},
                                                              {"output_norms", ann.outputNorms},
                                                              {"x_test", ann.x},
                                                              {"y_test", ann.y}};
    for (const auto& [name, of] : vectors)
      variable(name, of, {of.size()}, type);
    define(file);
    check(nc_enddef(file));
    for (const auto& [id, of] : values)
      check(nc_put_var_double(file, id, of->data()));
    check(nc_close(file));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return path;
}

Ref<Layer> networkAt(const std::string& path, TenonDataType type = TENON_FLOAT64) {
  const Ref<Layer> net = makeModel(world());
  net->set("path", path);
  net->setDataType(type);
  return net;
}

// Rows of numbers through the network on all ranks, and through `ann`.
void expectOutputs(const std::string& path, const Ann& ann, const char* split, TenonDataType type) {
  const Index rows = 7, inputs = ann.sizes.front(), outputs = ann.sizes.back();
  const Ref<Layer> net = networkAt(path, type);
  test::Step step(net, test::onWorld({rows, inputs}, split), type);
  const Numbers all = numbers(std::size_t(rows * inputs), 21);
  test::fillFrom(*step.x, all);
  step.apply();
  Numbers wanted;
  for (Index row = 0; row < rows; ++row)
    for (const double value : ann({all.begin() + row * inputs, all.begin() + (row + 1) * inputs}))
      wanted.push_back(value);
  ASSERT_EQ(step.y->layout().shape(), (Shape{rows, outputs}));
  test::expectNear(test::gathered(*step.y), wanted, type == TENON_FLOAT64 ? 1e-13 : 2e-6, split);
}

TEST(Mom6Network, GivesTheOutputsOfMom6InAllFormats) {
  const SharedFolder folder("ann");
  for (const int format : {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4})
    for (const nc_type type : {NC_FLOAT, NC_DOUBLE}) {
      const Ann ann = annOf({5, 8, 6, 3}, /*isNormalized=*/true);
      expectOutputs(write(folder, ann, format, type), ann, "S0", TENON_FLOAT64);
    }
  for (const char* split : {"B", "S0", "S1"})
    for (const bool isNormalized : {false, true})
      for (const std::vector<int>& sizes : {std::vector<int>{4, 2}, {1, 1, 1}, {6, 9, 6}}) {
        const Ann ann = annOf(sizes, isNormalized);
        expectOutputs(write(folder, ann), ann, split, TENON_FLOAT64);
        expectOutputs(write(folder, ann), ann, split, TENON_FLOAT32);
      }
}

// The normalisation is no part of what is trained, and parameters have the names of the file.
TEST(Mom6Network, TrainsItsMatricesAndBiases) {
  const SharedFolder folder("ann_trained");
  const Ref<Layer> net = networkAt(write(folder, annOf({3, 4, 2}, true)));
  net->setUp(test::onWorld({5, 3}, "S0"));
  std::vector<std::string> trained;
  for (const NamedTensor& tensor : namedTensors(*net))
    if (const auto* parameter = std::get_if<Ref<Parameter>>(&tensor.of);
        parameter && !(*parameter)->isFrozen())
      trained.push_back(tensor.file);
  EXPECT_EQ(trained, (std::vector<std::string>{"A0", "b0", "A1", "b1"}));
}

void expectRefused(const std::string& path, TenonErrorCode code,
                   std::initializer_list<const char*> parts) {
  test::expectErrorOnAll(code, parts, [&] { networkAt(path)->setUp(test::onWorld({4, 3}, "S0")); });
}

TEST(Mom6Network, MustGiveTheOutputsOfItsTest) {
  const SharedFolder folder("ann_proof");
  const Ann good = annOf({3, 4, 2}, true);
  const double largest = std::max(std::abs(good.y[0]), std::abs(good.y[1]));
  Ann changed = good;
  changed.y[1] += 0.9e-5 * largest;
  networkAt(write(folder, changed))->setUp(test::onWorld({4, 3}, "S0"));
  changed.y[1] = good.y[1] + 2e-5 * largest;
  expectRefused(write(folder, changed), TENON_ERR_TEST,
                {"differs by 2.0e-05", "allowed 1.0e-05", "at [0,1]", "ann.nc"});
  changed = good;
  changed.biases[1][0] += 1e-3;
  expectRefused(write(folder, changed), TENON_ERR_TEST, {"does not give its own results"});
  changed.x.clear();
  changed.y.clear();
  const std::string path = write(folder, changed);
  testing::internal::CaptureStderr();
  networkAt(path)->setUp(test::onWorld({4, 3}, "S0"));
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_EQ(printed.find("x_test and y_test") != std::string::npos, world()->rank() == 0)
      << printed;
}

TEST(Mom6Network, IsRefusedIfItsTensorsDoNotFit) {
  const SharedFolder folder("ann_refused");
  const Ann good = annOf({3, 4, 2}, true);
  Ann bad = good;
  bad.matrices[1].clear();
  expectRefused(write(folder, bad), TENON_ERR_FORMAT, {"'A1'", "missing", "[4,2]"});
  bad = good;
  bad.sizes[1] = 3; // as if A0 were transposed
  expectRefused(write(folder, bad), TENON_ERR_FORMAT, {"'A0'", "[3,4]", "[3,3]", "transposed"});
  bad = good;
  bad.inputMeans.pop_back();
  expectRefused(write(folder, bad), TENON_ERR_FORMAT, {"'input_means'", "[2]", "[3]"});
  bad = good;
  bad.y.clear();
  expectRefused(write(folder, bad), TENON_ERR_FORMAT, {"'y_test'", "missing"});
  bad = good;
  bad.sizes = {3};
  expectRefused(write(folder, bad), TENON_ERR_FORMAT, {"'num_layers'", "two layers"});
  bad.sizes = {3, -4, 2};
  expectRefused(write(folder, bad), TENON_ERR_FORMAT, {"'layer_sizes'", "-4"});
  const auto other = [](int file) {
    int id = 0;
    check(nc_def_var(file, "activation_ids", NC_INT, 0, nullptr, &id));
  };
  expectRefused(write(folder, good, NC_NETCDF4, NC_DOUBLE, other), TENON_ERR_SUPPORT,
                {"activation_ids", "relu"});
  const auto packed = [](int file) {
    int id = 0;
    const double factor = 0.5;
    check(nc_inq_varid(file, "A0", &id));
    check(nc_put_att_double(file, id, "scale_factor", NC_DOUBLE, 1, &factor));
  };
  expectRefused(write(folder, good, NC_NETCDF4, NC_DOUBLE, packed), TENON_ERR_FORMAT,
                {"A0", "scale_factor"});
  test::expectErrorOnAll(TENON_ERR_SHAPE, {"[batch,3]", "[4,5]"}, [&] {
    networkAt(write(folder, good))->setUp(test::onWorld({4, 5}, "S0"));
  });
}

TEST(Mom6Network, DamagedAndOtherFilesAreRefused) {
  const SharedFolder folder("ann_damaged");
  const std::string path = write(folder, annOf({3, 4, 2}, true), 0);
  const auto size = std::filesystem::file_size(path);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world()->rank() == 0)
    std::filesystem::resize_file(path, size - 8);
  expectRefused(path, TENON_ERR_FORMAT, {"ann.nc", "NetCDF"});
  if (world()->rank() == 0) {
    int file = 0;
    check(nc_create(path.c_str(), NC_CLOBBER | NC_NETCDF4, &file));
    check(nc_close(file));
  }
  expectRefused(path, TENON_ERR_FORMAT, {"ann.nc", "no tensor num_layers", "MOM6"});
}

TEST(Mom6Network, NamesTheOptionOfTheBuildWithoutNetcdf) {
  const SharedFolder folder("ann_without");
  const std::string path = write(folder, annOf({3, 2}, false));
  const NetcdfReader reader = setNetcdfReader(nullptr);
  expectRefused(path, TENON_ERR_SUPPORT, {"ann.nc", "-DTENON_NETCDF=ON"});
  setNetcdfReader(reader);
}

// All numbers of a variable; empty if the file has none of this name.
Numbers numbersIn(const std::string& path, const std::string& name) {
  int file = 0, id = 0, rank = 0, dimensions[2] = {};
  check(nc_open(path.c_str(), NC_NOWRITE, &file));
  Numbers all;
  if (nc_inq_varid(file, name.c_str(), &id) == NC_NOERR) {
    check(nc_inq_varndims(file, id, &rank));
    check(nc_inq_vardimid(file, id, dimensions));
    std::size_t count = 1;
    for (int d = 0; d < rank; ++d) {
      std::size_t length = 0;
      check(nc_inq_dimlen(file, dimensions[d], &length));
      count *= length;
    }
    all.resize(count);
    check(nc_get_var_double(file, id, all.data()));
  }
  check(nc_close(file));
  return all;
}

// The weights of a file come back as they were, and MOM6's test in the written file is passed.
TEST(Mom6Weights, AreThoseThatWereRead) {
  const SharedFolder folder("ann_saved");
  for (const TenonDataType type : {TENON_FLOAT64, TENON_FLOAT32})
    for (const char* split : {"S0", "S1", "B"}) {
      const Ann ann = annOf({3, 4, 2}, true);
      const Ref<Layer> net = networkAt(write(folder, ann), type);
      net->setUp(test::onWorld({5, 3}, split));
      const std::string path = folder / "saved.nc";
      saveAnn(*net, path);
      const double tolerance = type == TENON_FLOAT64 ? 1e-15 : 1e-6;
      test::expectNear(numbersIn(path, "layer_sizes"), {3, 4, 2}, 0, "layer_sizes");
      test::expectNear(numbersIn(path, "A0"), ann.matrices[0], 0, "A0");
      test::expectNear(numbersIn(path, "A1"), ann.matrices[1], 0, "A1");
      test::expectNear(numbersIn(path, "b1"), ann.biases[1], 0, "b1");
      test::expectNear(numbersIn(path, "input_means"), ann.inputMeans, tolerance, "input_means");
      test::expectNear(numbersIn(path, "input_norms"), ann.inputNorms, tolerance, "input_norms");
      test::expectNear(numbersIn(path, "output_means"), ann.outputMeans, tolerance, "output_means");
      test::expectNear(numbersIn(path, "output_norms"), ann.outputNorms, tolerance, "output_norms");
      test::expectNear(numbersIn(path, "y_test"), ann(numbersIn(path, "x_test")), tolerance,
                       "y_test");
      networkAt(path, type)->setUp(test::onWorld({5, 3}, split));
      MPI_Barrier(MPI_COMM_WORLD);
    }
}

// A layer of these types, each of which reads the one before it; 4 inputs and outputs each.
Ref<Layer> chainOf(const std::vector<std::string>& types) {
  const Ref<Layer> net = test::newLayer(world(), "sequential");
  for (std::size_t n = 0; n < types.size(); ++n) {
    const Ref<Layer> layer = test::newLayer(world(), types[n]);
    if (types[n] == "affine") {
      layer->set("inputs", Index(4));
      layer->set("outputs", Index(4));
      layer->set("bias", n > 0);
    } else if (types[n] == "channelaffine") {
      layer->set("channels", Index(4));
    }
    net->addNode(layer, {static_cast<int>(n)});
  }
  net->setUp(test::onWorld({6, 4}, "S0"));
  return net;
}

TEST(Mom6Weights, OfALayerOfTheUserGiveItsOutputs) {
  const SharedFolder folder("ann_own");
  const std::string path = folder / "own.nc";
  for (const std::vector<std::string>& types : {std::vector<std::string>{"affine"},
                                                {"affine", "relu", "affine", "channelaffine"},
                                                {"affine", "relu", "affine", "relu", "affine"}}) {
    test::Step own(chainOf(types), test::onWorld({6, 4}, "S0"), TENON_FLOAT32);
    saveAnn(*own.layer, path);
    test::Step read(networkAt(path, TENON_FLOAT32), test::onWorld({6, 4}, "S0"), TENON_FLOAT32);
    for (test::Step* step : {&own, &read}) {
      test::fillFrom(*step->x, numbers(24, 3));
      step->apply();
    }
    test::expectNear(test::gathered(*read.y), test::gathered(*own.y), 1e-6, types.back());
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Mom6Weights, AreRefusedForOtherNetworks) {
  const SharedFolder folder("ann_other");
  const std::string path = folder / "other.nc";
  const auto expectUnwritten = [&](const Ref<Layer>& net, const char* reason) {
    test::expectErrorOnAll(TENON_ERR_SUPPORT, {reason, "MOM6", ".safetensors"},
                           [&] { saveAnn(*net, path); });
    EXPECT_FALSE(std::filesystem::exists(path));
  };
  expectUnwritten(chainOf({"affine", "relu"}), "does not end with an affine layer");
  expectUnwritten(chainOf({"affine", "tanh", "affine"}), "of type tanh");
  expectUnwritten(chainOf({"affine", "affine"}), "of type affine");
  const Ref<Layer> graph = test::newLayer(world(), "graph");
  graph->addNode(test::newAffine(world(), 4, 4), {0});
  graph->addNode(test::newLayer(world(), "add"), {0, 1}); // x + A x
  graph->setUp(test::onWorld({6, 4}, "S0"));
  expectUnwritten(graph, "does not read the layer before it alone");
  const Ref<Layer> twoOutputs = test::newLayer(world(), "graph");
  twoOutputs->set("output_names", std::string("hidden=1,y=2"));
  twoOutputs->addNode(test::newAffine(world(), 4, 4), {0});
  twoOutputs->addNode(test::newLayer(world(), "relu"), {1});
  twoOutputs->addNode(test::newAffine(world(), 4, 4), {2});
  twoOutputs->setUp(test::onWorld({6, 4}, "S0"));
  expectUnwritten(twoOutputs, "several inputs or outputs");
  test::expectErrorOnAll(TENON_ERR_STATE, {"TenonLayerSetUp()"},
                         [&] { saveAnn(*test::newAffine(world(), 4, 4), path); });
}

} // namespace
} // namespace tenon
