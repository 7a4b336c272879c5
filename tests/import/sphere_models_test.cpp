// SPDX-License-Identifier: BSD-2-Clause
// Networks on the sphere (tests/data/import/make_sphere.py): those of ACE2, torch-harmonics and
// neuraloperator, each with the results of PyTorch. set-up proves them: with the tables of the file
// in float64, and as the layers compute, in float32 and float64. Their transforms must become the
// layers for spherical harmonics. A table that is changed is not taken for one of Tenon's.
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
  std::map<std::string, int> layers; // of the types with spherical harmonics
};

const std::vector<SphereModel>& sphereModels() {
  static const std::vector<SphereModel> models = {
      {"ace", {2, 3, 8, 16}, {{"sphericalconv", 2}}},
      // Where the grid changes, the field itself is brought to the other grid too.
      {"sfno", {2, 2, 9, 16}, {{"sphericalconv", 3}, {"sht", 2}, {"inversesht", 2}}},
      {"neuralop", {2, 2, 9, 16}, {{"sphericalconv", 2}}},
      {"old", {2, 3, 6, 12}, {{"sphericalconv", 1}, {"sht", 1}, {"inversesht", 1}}},
      // A table of other rows is not a transform, but the synthesis after it is one.
      {"parts", {2, 4, 8, 14}, {{"sphericalconv", 3}, {"sht", 2}, {"inversesht", 3}}}};
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
          type == "sht" || type == "inversesht" || type == "sphericalconv")
        ++layers[type];
    EXPECT_EQ(layers, model.layers) << model.name;
    EXPECT_TRUE(network.computesTables);
    const ImportedNetwork plain = importNetwork(file.program(), *file.open(), {model.input},
                                                ModelMode::Inference, ModelTables::OfFile);
    EXPECT_FALSE(plain.computesTables);
  }
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
