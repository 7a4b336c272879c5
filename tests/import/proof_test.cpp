// SPDX-License-Identifier: BSD-2-Clause
// The test that a model's file can contain: inputs, outputs, cotangents and gradients that PyTorch
// computed in float64 (share/tenon/export_torch.py writes them). setUp() of an imported model, and
// testModel(), run the network on these inputs and compare. Here the test must pass on any process
// grid, and must fail if one weight of the file, or one stored gradient, is changed by a
// thousandth.
#include "import/changed_model.hpp"
#include "layer/networks/model.hpp"
#include "layer/run_layer.hpp"

#include <fmt/format.h>

namespace tenon {
namespace {

using test::changedModel;
using test::world;

constexpr const char* kModel = TENON_TEST_MODELS "/with_test.pt2";

Ref<Layer> modelAt(const std::string& path, TenonDataType type) {
  const auto layer = makeModel(world());
  layer->set("path", path);
  layer->setDataType(type);
  return layer;
}

std::vector<Layout> layoutsOfModel() {
  const int ranks = world()->size();
  return {test::onWorld({ranks, 3, 12, 16}, "S0"), test::onWorld({2, 3, 13, 10}, "S2"),
          test::onWorld({1, 3, 9, 20}, {1, ranks}, "S2,S3")};
}

TEST(StoredTest, PassesOnAnyProcessGrid) {
  for (const Layout& layout : layoutsOfModel())
    for (const TenonDataType type : {TENON_FLOAT64, TENON_FLOAT32}) {
      const auto layer = modelAt(kModel, type);
      layer->setUp(layout);
      testModel(*layer);
    }
}

// Models with assignments to parts of a tensor, prefix sums, sums along edges of a graph, products
// of parts of a spectrum, also in the order of fftshift and as sums of paddings, other transforms,
// functions, places and samples, plain recurrences, tables at indices of two dimensions; and a
// batch of 1, whose results reach all ranks by a collective of MPI.
TEST(StoredTest, PassesForNetworksOfManyOperators) {
  const std::pair<const char*, Shape> models[] = {{"writes", {2, 2, 8, 10}},
                                                  {"edges", {2, 6, 4}},
                                                  {"spectral_parts", {1, 2, 8, 10}},
                                                  {"parameter_values", {2, 2, 6, 5}},
                                                  {"nothing", {2, 3, 4}},
                                                  {"tables", {2, 3, 4, 12}},
                                                  {"shifted_modes", {2, 2, 8, 10}},
                                                  {"padded_modes", {1, 2, 5, 6, 4}},
                                                  {"filters", {2, 5, 8, 6}},
                                                  {"functions", {2, 3, 6, 8}},
                                                  {"places", {2, 3, 6, 8}},
                                                  {"samples", {2, 3, 6, 8}},
                                                  {"recurrences", {2, 3, 2}},
                                                  {"biases", {2, 9, 4}}};
  for (const auto& [name, shape] : models)
    for (const char* properties : {"S0", "S2"}) {
      const auto layer = modelAt(fmt::format(TENON_TEST_MODELS "/{}.f64.pt2", name), TENON_FLOAT64);
      layer->setUp(test::onWorld(shape, properties));
    }
}

TEST(StoredTest, FailsForOneChangedWeight) {
  for (const Layout& layout : layoutsOfModel()) {
    // Ranks read files of different names and equal bytes.
    const auto layer = modelAt(changedModel<float>(kModel, "weight_0", 5, 1e-3), TENON_FLOAT32);
    if (world()->size() > 1)
      break;
    expectError(
        TENON_ERR_TEST,
        {"does not give its own results", "float64", "y differs by", "allowed 1.0e-12", "dL/dx"},
        [&] { layer->setUp(layout); });
    EXPECT_FALSE(layer->isSetUp());
    // Without the test in setUp(), which is in float64, testModel() also detects the change.
    layer->set("model_test", std::string("off"));
    layer->setUp(layout);
    expectError(TENON_ERR_TEST, {"does not give its own results"}, [&] { testModel(*layer); });
  }
}

// At a few points of this model the argument of a rectifier is as small as a rounding error. In
// float32 a gradient is therefore judged by its norm; in float64 every element counts. Here one
// element of the stored gradient is changed.
TEST(StoredTest, JudgesGradientsAtKinksByTheirNorm) {
  constexpr std::size_t kHeader = 16; // float64 numbers that the header of an npy file occupies
  constexpr const char* kKinks = TENON_TEST_MODELS "/kinks.f64.pt2";
  const Shape shape = {2, 2, 8, 6};
  for (const TenonDataType type : {TENON_FLOAT64, TENON_FLOAT32})
    modelAt(kKinks, type)->setUp(test::onWorld(shape, "S2"));
  if (world()->size() > 1) // ranks would read files of different names
    return;
  const std::string changed = changedModel<double>(kKinks, "grad.x.npy", kHeader + 20, 0.1);
  const auto narrow = modelAt(changed, TENON_FLOAT32);
  narrow->set("model_test", std::string("run"));
  narrow->setUp(test::onWorld(shape, "S2"));
  const auto wide = modelAt(changed, TENON_FLOAT64);
  expectError(TENON_ERR_TEST, {"dL/dx differs by", "allowed 1.0e-12"},
              [&] { wide->setUp(test::onWorld(shape, "S2")); });
  // A gradient whose norm is wrong fails in float32 too.
  const auto wrong =
      modelAt(changedModel<double>(kKinks, "grad.x.npy", kHeader + 20, 1e3), TENON_FLOAT32);
  wrong->set("model_test", std::string("run"));
  expectError(TENON_ERR_TEST, {"dL/dx differs in its norm by", "its largest element"},
              [&] { wrong->setUp(test::onWorld(shape, "S2")); });
}

// The gradient of each parameter is compared, by three numbers that the file stores for it; one of
// them is changed here. In this model a recurrence shares a weight, and a parameter is the argument
// of a function.
TEST(StoredTest, FailsForOneOtherGradientOfAParameter) {
  constexpr std::size_t kHeader = 16; // float64 numbers that the header of an npy file occupies
  if (world()->size() > 1)            // ranks would read files of different names
    return;
  const auto layer = modelAt(changedModel<double>(TENON_TEST_MODELS "/parameter_values.f64.pt2",
                                                  "parameters.npy", kHeader, 1e-3),
                             TENON_FLOAT64);
  expectError(TENON_ERR_TEST,
              {"does not give its own results", "dL/drows differs, in its product with a wave"},
              [&] {
                layer->setUp(test::onWorld({2, 2, 6, 5}, "S2"));
              });
}

TEST(StoredTest, IsAskedForWhereThereIsNone) {
  const auto layer = modelAt(TENON_TEST_MODELS "/mlp_tanh.f64.pt2", TENON_FLOAT64);
  layer->setUp(test::onWorld({5, 6}, "S0"));
  expectError(TENON_ERR_STATE, {"has no test", "export_torch.py"}, [&] { testModel(*layer); });
  expectError(TENON_ERR_TYPE, {"needs type model"},
              [&] { testModel(*test::newLayer(world(), "tanh")); });
}

} // namespace
} // namespace tenon
