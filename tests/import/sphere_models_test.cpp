// SPDX-License-Identifier: BSD-2-Clause
// Networks on the sphere (tests/data/import/make_sphere.py): those of ACE2, torch-harmonics and
// neuraloperator, each with the results of PyTorch. set-up proves them: with the tables of the file
// in float64, and as the layers compute, in float32 and float64. Their transforms must become the
// layers for spherical harmonics, and their filters of compact support those with the settings of
// PyTorch's modules. A table that is changed is not taken for one of Tenon's.
#include "import/changed_model.hpp"
#include "layer/networks/model.hpp"
#include "layer/run_layer.hpp"

#include <fmt/format.h>

#include <map>

namespace tenon {
namespace {

using test::changedModel;
using test::world;

struct SphereModel {
  const char* name;
  Shape input;
  std::map<std::string, int> layers; // of the types with spherical harmonics or filters
  // Whether layers compute what the file has with fewer digits: Legendre functions, unless the
  // tables are those of the file, and filters.
  bool hasTables = true, hasRoundedFilters = false;
};

const std::vector<SphereModel>& sphereModels() {
  static const std::vector<SphereModel> models = {
      {"ace", {2, 3, 8, 16}, {{"sphericalconv", 2}}},
      // Where the grid changes, the field itself is brought to the other grid too.
      {"sfno", {2, 2, 9, 16}, {{"sphericalconv", 3}, {"sht", 2}, {"inversesht", 2}}},
      {"neuralop", {2, 2, 9, 16}, {{"sphericalconv", 2}}},
      {"old", {2, 3, 6, 12}, {{"sphericalconv", 1}, {"sht", 1}, {"inversesht", 1}}},
      // A table of other rows is not a transform, but the synthesis after it is one.
      {"parts", {2, 4, 8, 14}, {{"sphericalconv", 3}, {"sht", 2}, {"inversesht", 3}}},
      {"local", {2, 2, 10, 16}, {{"sphericalconv", 1}, {"disco", 3}}},
      {"filters", {2, 2, 6, 12}, {{"disco", 5}, {"transposeddisco", 1}}, false},
      // The sums with the basis functions are not products with weights.
      {"bare", {2, 2, 6, 12}, {{"disco", 1}, {"transposeddisco", 1}}, true, true},
      // The weight has two biases, and none.
      {"twice", {2, 2, 6, 12}, {{"disco", 1}}, false},
      {"resampled", {2, 2, 4, 6}, {}, false}};
  return models;
}

std::string pathOf(const char* name) {
  return fmt::format(TENON_TEST_MODELS "/sphere_{}.pt2", name);
}

Ref<Layer> sphereModelAt(const std::string& path, TenonDataType type) {
  const auto layer = makeModel(world());
  layer->set("path", path);
  layer->setDataType(type);
  return layer;
}

// Splits of latitudes and longitudes; each of many ranks would have few of either alone.
std::vector<Layout> splitsOf(const Shape& shape) {
  const int ranks = world()->size();
  if (ranks == 1)
    return {test::onWorld(shape, "S0")};
  if (ranks < 4 || ranks % 2 != 0)
    return {test::onWorld(shape, "S2"), test::onWorld(shape, "S3")};
  return {test::onWorld(shape, {2, ranks / 2}, "S2,S3")};
}

TEST(SphereModelTest, TransformsBecomeLayers) {
  for (const SphereModel& model : sphereModels()) {
    const ModelFile file(pathOf(model.name));
    const ImportedNetwork network = importNetwork(file.program(), *file.open(), {model.input});
    std::map<std::string, int> layers;
    for (const LayerDescription::Node& node : network.graph.nodes)
      if (const std::string& type = network.layer(int(&node - network.graph.nodes.data())).type;
          type == "sht" || type == "inversesht" || type == "sphericalconv" ||
          type.ends_with("disco"))
        ++layers[type];
    EXPECT_EQ(layers, model.layers) << model.name;
    EXPECT_EQ(network.computesTables, model.hasTables) << model.name;
    const ImportedNetwork plain = importNetwork(file.program(), *file.open(), {model.input},
                                                ModelMode::Inference, ModelTables::OfFile);
    EXPECT_EQ(plain.computesTables, model.hasRoundedFilters) << model.name;
  }
}

// The settings of the modules in make_sphere.py, class Filters, to the last digit.
TEST(SphereModelTest, FiltersHaveTheSettingsOfTheirModules) {
  struct Module {
    const char* name;
    std::vector<Index> kernel;
    std::string basis, normalisation, grid, outputGrid;
    double cutoff;
    Index groups;
    bool bias;
  };
  const Module modules[] = {
      {"first", {3, 2}, "linear", "nodal", "poles", "gauss", 0.9, 1, true},
      {"grouped", {2, 2}, "morlet", "geometric", "gauss", "gauss", 1.1, 2, false},
      {"fused", {3}, "zernike", "mean", "gauss", "gauss", 1.3, 1, true},
      {"up", {2, 1}, "fourierbessel", "support", "gauss", "poles", 1.2, 2, true},
      {"fewer", {2, 1}, "harmonic", "modal", "poles", "poles", 0.7, 1, false},
      {"last", {1, 1}, "linear", "none", "poles", "poles", 4, 1, false}};
  const ModelFile file(pathOf("filters"));
  const ImportedNetwork network = importNetwork(file.program(), *file.open(), {{2, 2, 6, 12}});
  std::size_t next = 0;
  for (const LayerDescription::Node& node : network.graph.nodes) {
    if (!node.layer.type.ends_with("disco"))
      continue;
    ASSERT_LT(next, std::size(modules));
    const Module& module = modules[next++];
    const Ref<Layer> layer = test::newLayer(world(), node.layer.type);
    for (const auto& [name, value] : node.layer.settings)
      layer->set(name, value);
    const Declaration& found = layer->declaration();
    EXPECT_EQ(node.layer.name, module.name);
    EXPECT_EQ(found.value<std::vector<Index>>("kernel"), module.kernel) << module.name;
    EXPECT_EQ(found.value<std::string>("basis"), module.basis) << module.name;
    EXPECT_EQ(found.value<std::string>("normalisation"), module.normalisation) << module.name;
    EXPECT_EQ(found.value<std::string>("grid"), module.grid) << module.name;
    const auto output = found.value<std::string>("output_grid");
    EXPECT_EQ(output.empty() ? module.grid : output, module.outputGrid) << module.name;
    EXPECT_DOUBLE_EQ(found.value<double>("cutoff"), module.cutoff) << module.name;
    EXPECT_EQ(found.value<Index>("groups"), module.groups) << module.name;
    EXPECT_EQ(found.value<bool>("bias"), module.bias) << module.name;
  }
  EXPECT_EQ(next, std::size(modules));
}

// One value of a row, which is not among those that are compared first; a field on which the points
// of a filter are others; other settings, and none.
TEST(SphereModelTest, RefusesOtherFiltersByTheirModule) {
  if (world()->size() > 1)
    return;
  const ModelFile file(pathOf("filters"));
  const auto expectRefused = [](const ModelFile& from, const ModelProgram& program,
                                const Shape& input, std::initializer_list<const char*> parts) {
    expectError(TENON_ERR_SUPPORT, parts, [&] { importNetwork(program, *from.open(), {input}); });
  };
  const ModelFile changed(changedModel<double>(pathOf("filters").c_str(),
                                               "tensor_29" /* values of up */,
                                               134 /* in the last row but one */, 1e-4));
  expectRefused(changed, changed.program(), {2, 2, 6, 12},
                {"the filters of module 'up'", "whose values differ by", "equiangular"});
  expectRefused(file, file.program(), {2, 2, 8, 9},
                {"the filters of module 'first'", "whose values differ by"});
  ModelProgram program = file.program();
  program.filters["up"].cutoff *= 1 + 1e-4;
  expectRefused(file, program, {2, 2, 6, 12}, {"module 'up'", "whose values differ by"});
  program.filters["up"].kernel[1] = 2;
  expectRefused(file, program, {2, 2, 6, 12}, {"module 'up', which have", "in the file make"});
  program.filters.erase("up");
  expectRefused(file, program, {2, 2, 6, 12},
                {"module 'up'", "are not in the file", "export_model()"});
}

// Lists that the first operation reads as filters, and the second as transposes of these, which
// have another normalisation.
TEST(SphereModelTest, ListsAreComparedForEachUse) {
  const ModelFile file(pathOf("tied"));
  expectError(TENON_ERR_SUPPORT, {"the filters of module 'conv'", "whose values differ by 3.1e-01"},
              [&] {
                importNetwork(file.program(), *file.open(), {{2, 2, 6, 12}});
              });
}

// Extents and numbers of filters are integers of the graph. What they ask for is not computed if
// the lists have no such numbers of values.
TEST(SphereModelTest, SizesOfFiltersAreBoundedByTheirLists) {
  const ModelFile file(pathOf("bare"));
  const auto expectRefused = [&](std::map<std::string, Index> integers,
                                 const ModelFilterBasis& basis, const char* part) {
    ModelProgram program = file.program();
    program.filters["down"] = basis;
    for (ModelOperation& operation : program.operations)
      if (operation.type.find("_disco_s2_contraction") != std::string::npos)
        for (auto& [name, argument] : operation.arguments)
          if (integers.contains(name))
            argument = ModelArgument::ofInteger(integers[name]);
    expectError(TENON_ERR_SUPPORT, {part}, [&] {
      importNetwork(program, *file.open(), {{2, 2, 6, 12}});
    });
  };
  const ModelFilterBasis own = file.program().filters.at("down");
  expectRefused({{"nlat_out", 200000}, {"nlon_out", 1}}, own, "at most 32768 x 131072");
  expectRefused({{"nlat_out", 32768}, {"nlon_out", 131072}}, own, "a grid of 32768 x 131072");
  expectRefused({{"nlat_out", 30000}, {"nlon_out", 12}}, own,
                "fewer than the rows of the grids need");
  expectRefused({{"nlat_out", 100}}, {"linear", {2, 2}, 12}, "many more or fewer");
  expectRefused({}, {"linear", {2, 2}, 0.01}, "many more or fewer");
  expectRefused({}, {.name = {}, .why = "some reason"}, "module 'down': some reason");
}

TEST(SphereModelTest, GivesItsOwnResultsOnAnyProcessGrid) {
  for (const SphereModel& model : sphereModels())
    for (const Layout& layout : splitsOf(model.input))
      for (const TenonDataType type : {TENON_FLOAT64, TENON_FLOAT32}) {
        SCOPED_TRACE(fmt::format("{} {}", model.name, layout.describe()));
        sphereModelAt(pathOf(model.name), type)->setUp(layout);
      }
}

// The table of the analyses, one element of which differs by a thousandth: the network is imported
// with products with this table, and its results are others than those of the file's test.
TEST(SphereModelTest, AChangedTableIsNotRecognised) {
  if (world()->size() > 1)
    return;
  const std::string path = changedModel<float>(pathOf("ace").c_str(), "tensor_0", 77, 1e-3);
  const ModelFile file(path);
  const ImportedNetwork network = importNetwork(file.program(), *file.open(), {{2, 3, 8, 16}});
  for (const LayerDescription::Node& node : network.graph.nodes)
    EXPECT_NE(node.layer.type, "sphericalconv");
  expectError(TENON_ERR_TEST, {"does not give its own results", "float64", "y differs by"}, [&] {
    sphereModelAt(path, TENON_FLOAT32)->setUp(test::onWorld({2, 3, 8, 16}, "S2"));
  });
}

} // namespace
} // namespace tenon
