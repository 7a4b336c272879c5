// SPDX-License-Identifier: BSD-2-Clause
// Networks that are evaluated section by section (lowering/sections.hpp), which needs the memory of
// one section only. With sections as small as possible (each layer with parameters begins a new
// one), the outputs and the gradients of the inputs must be those that PyTorch computed
// (arrays.hpp), to 1e-12. All float64 models of the test data are used. The test also checks that
// among them there are the two difficult cases (Coverage).
#include "import/arrays.hpp"
#include "layer/networks/model_sections.hpp"
#include "layer/run_layer.hpp"

#include <filesystem>
#include <set>

namespace tenon {
namespace {

using test::Arrays;
using test::distance;
using test::fillWith;
using test::world;

// Which cases occur in a network: a layer that is in several sections, and a value that is read by
// a section after the next one.
struct Coverage {
  bool isShared = false, isReadLater = false;
};

Coverage coverageOf(const ImportedNetwork& network) {
  Coverage coverage;
  std::multiset<std::string> layers;
  const std::vector<int> starts = sectionStarts(network, 1);
  std::vector<std::set<int>> given;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    const NetworkSection section = makeSection(network, starts[i], starts[i + 1]);
    for (const auto& node : section.network.graph.nodes)
      if (node.sameAs < 0)
        layers.insert(node.layer.name);
    // given.back() has the results of the section before this one. From the third section on, a
    // value that is not among them is a result of an earlier section or an input of the network,
    // which was stored while the section between ran.
    for (const int value : section.reads)
      coverage.isReadLater |= given.size() > 1 && !given.back().contains(value);
    given.emplace_back(section.gives.begin(), section.gives.end());
  }
  for (const std::string& layer : layers)
    coverage.isShared |= layers.count(layer) > 1;
  return coverage;
}

// Evaluates a model in sections and compares it with PyTorch.
Coverage run(const std::filesystem::path& path, const std::string& properties) {
  const std::string file = path.filename().string();
  SCOPED_TRACE(file + " " + properties);
  const Arrays arrays(path.parent_path() / (file.substr(0, file.find('.')) + ".npz"));
  const auto layer = makeModel(world());
  layer->set("path", path.string());
  readModel(*layer);
  const ModelFile& model = *modelOf(*layer)->file();
  const std::vector<std::string> names = test::inputNames(*layer, arrays);
  std::vector<Ref<DTensor>> x;
  std::vector<Shape> shapes;
  std::vector<bool> hasGradient;
  for (const std::string& name : names) {
    shapes.push_back(arrays.find("in." + name)->shape);
    x.push_back(test::tensor(
        test::onWorld(shapes.back(), shapes.back().size() > 2 ? properties : "S0"), TENON_FLOAT64));
    fillWith(*x.back(), arrays, "in." + name);
    hasGradient.push_back(arrays.find("grad." + name) != nullptr);
  }
  const ImportedNetwork network = importNetwork(model.program(), *model.open(), shapes);
  SectionedModel sections(
      *layer, network,
      {.type = TENON_FLOAT64, .space = Space::Host, .backend = "auto", .mostBytes = 1});
  const std::vector<std::string> results = arrays.names("out.");
  EXPECT_EQ(sections.outputCount(), results.size());
  sections.evaluate(x, hasGradient, [&](std::size_t output, const Layout& layout) {
    auto cotangent = test::tensor(layout.dual(), TENON_FLOAT64);
    fillWith(*cotangent, arrays, "cot." + results[output]);
    return cotangent;
  });
  for (std::size_t i = 0; i < results.size(); ++i)
    EXPECT_LT(distance(test::gathered(sections.output(i)),
                       arrays.numbers(*arrays.find("out." + results[i]))),
              1e-12)
        << results[i];
  for (std::size_t i = 0; i < names.size(); ++i)
    if (hasGradient[i]) {
      EXPECT_LT(distance(test::gathered(sections.cotangent(i)),
                         arrays.numbers(*arrays.find("grad." + names[i]))),
                1e-12)
          << names[i];
    }
  return coverageOf(network);
}

TEST(ModelSections, GiveTheValuesAndGradientsOfPyTorch) {
  Coverage coverage;
  for (const auto& entry : std::filesystem::directory_iterator(TENON_TEST_MODELS)) {
    const std::string file = entry.path().filename().string();
    if (file.find(".f64.") == file.npos ||
        !std::filesystem::exists(entry.path().parent_path() /
                                 (file.substr(0, file.find('.')) + ".npz")))
      continue;
    for (const char* properties : {"S0", "S2"}) {
      const Coverage ofModel = run(entry.path(), properties);
      coverage.isShared |= ofModel.isShared;
      coverage.isReadLater |= ofModel.isReadLater;
    }
  }
  EXPECT_TRUE(coverage.isShared);
  EXPECT_TRUE(coverage.isReadLater);
}

// 70 layers of 2 parameters, which all read the input of the network; a last layer adds their
// results. With at most 4 parameters per section, sections begin after 2, 4, ... layers. After n
// layers, n + 1 values cross to later sections: the n results, and the input, which later layers
// read too. A graph can have 64 inputs, so no section begins after 64 layers or more; the last one
// begins after 62, and has all the other layers.
TEST(ModelSections, ReadNoMoreValuesThanAGraphHasInputs) {
  ImportedNetwork network;
  network.graph.type = "graph";
  LayerDescription::Node sum;
  for (int i = 0; i < 70; ++i) {
    LayerDescription::Node node;
    node.layer.type = "scale";
    node.reads = {-1};
    sum.reads.push_back(i);
    network.graph.nodes.push_back(node);
    network.parameters.push_back({i, "weight", ModelConstant::ofNumbers({2}, {1, 2})});
  }
  sum.layer.type = "add";
  network.graph.nodes.push_back(sum);
  const std::vector<int> starts = sectionStarts(network, 4);
  EXPECT_EQ(starts[1], 2);
  EXPECT_EQ(starts[starts.size() - 2], 62);
  EXPECT_EQ(starts.back(), 71);
  for (std::size_t i = 0; i + 1 < starts.size(); ++i)
    EXPECT_LE(makeSection(network, starts[i], starts[i + 1]).reads.size(), 64U);
}

} // namespace
} // namespace tenon
