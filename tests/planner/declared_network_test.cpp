// SPDX-License-Identifier: BSD-2-Clause
// Tests networks of layers as the search of a plan sees them
// (planner/parallelizations/declared_network.hpp): which layers have a choice of parallelization
// and which follow another layer, the moves between them, plans against all combinations, layouts
// whose blocks are uneven, and network files.
#include "planner/prices/own_model.hpp"
#include "planner/random_tables.hpp"
#include "planner/search/plan_search.hpp"
#include "planner/small_network.hpp"
#include "studies/named_plan.hpp"
#include "sys/expect_error.hpp"

#include <fmt/format.h>

namespace tenon {
namespace {

constexpr const char* kResidual =
    R"({"format": "tenon-network-1", "type": "graph", "layers": [
 {"type": "conv", "name": "a", "in_channels": 2, "out_channels": 4, "kernel": [3, 3], "padding": [1, 1], "reads": [-1]},
 {"type": "relu", "reads": [0]},
 {"type": "conv", "name": "b", "in_channels": 4, "out_channels": 4, "kernel": [3, 3], "padding": [1, 1], "reads": [1]},
 {"type": "add", "name": "sum", "reads": [1, 2]},
 {"type": "relu", "reads": [3]},
 {"type": "flatten", "reads": [4]},
 {"type": "affine", "name": "c", "inputs": 256, "outputs": 12, "reads": [5]}]})";

LayerDescription fileOf(const std::string& text) {
  return parseNetwork(
      text, "net.json", [](const std::string&) { return std::unique_ptr<Declaration>(); }, 8);
}

DeclaredNetwork leNet(Index batch) {
  return declareNetwork(*readNetworkSource(TENON_TEST_NETWORKS "/lenet5.json").layers,
                        {batch, 1, 28, 28});
}

OwnRates fast() {
  return {.links = {.latency = 2e-6, .bandwidth = 6e9}, .kernels = {.flops = 1e13}};
}

std::vector<std::string> namesOf(const DeclaredNetwork& network) {
  std::vector<std::string> names;
  for (const DeclaredLayer& layer : network.layers)
    names.push_back(layer.name);
  return names;
}

TEST(NetworkOfLayers, PlansLayersThatHaveParametersOrSeveralInputs) {
  const DeclaredNetwork network = leNet(8);
  EXPECT_EQ(namesOf(network), (std::vector<std::string>{"C1", "C3", "C5", "F6", "Output"}));
  // Layers without parameters depend on the one before: a tanh or relu and a pooling, after the
  // second convolution also a flatten.
  EXPECT_EQ(network.layers[0].dependents.size(), 2u);
  EXPECT_EQ(network.layers[1].dependents.size(), 3u);
  ASSERT_EQ(network.moves.size(), 4u);
  EXPECT_EQ(network.moves[0].shape, (Shape{8, 6, 14, 14}));
  EXPECT_EQ(network.moves[1].shape, (Shape{8, 400}));

  const DeclaredNetwork residual = declareNetwork(fileOf(kResidual), {4, 2, 8, 8});
  EXPECT_EQ(namesOf(residual), (std::vector<std::string>{"a", "b", "sum", "c"}));
  ASSERT_EQ(residual.moves.size(), 4u);
  EXPECT_EQ(residual.moves[1].output, 1); // the sum reads a's relu
  EXPECT_EQ(residual.moves[1].to, 2);
  EXPECT_EQ(residual.moves[2].output, 0);
  EXPECT_EQ(residual.moves[2].input, 1);
}

TEST(NetworkOfLayers, TheSearchFindsTheBestOfAllCombinations) {
  for (Index processes : {2, 4, 6}) {
    for (const DeclaredNetwork& network :
         {leNet(8), declareNetwork(fileOf(kResidual), {4, 2, 8, 8})}) {
      const OwnModel model(network, FineGrid({processes}), fast());
      const ParallelizationLists parallelizations = legalParallelizations(model);
      const double best = *test::leastByForce(test::exactTables(model, parallelizations));
      EXPECT_NEAR(findPlan(model).seconds, best, 1e-12 * best) << processes;
    }
  }
}

// 16 elements in 4 parts become 3, 4, 4, 3 outputs of a window of 3 without padding. An inner part
// also has two neighbours, and the first has one. Both kernel and halo exchange have the time of an
// inner part.
TEST(NetworkOfLayers, ALayerTakesTheTimeOfItsLargestPart) {
  const DeclaredNetwork network =
      declareNetwork(fileOf(R"({"format": "tenon-network-1", "type": "sequential", "layers": [
 {"type": "conv", "name": "a", "in_channels": 4, "out_channels": 6, "kernel": [3]}]})"),
                     {1, 4, 16});
  OwnRates rates = fast();
  rates.kernels.memory = 1e300;
  const OwnModel model(network, FineGrid({4}), rates);
  const int parallelization = model.parse(0, "w2-");
  const double kernel = 2.0 * 4 * (6 * 4 * 3) / rates.kernels.flops;
  EXPECT_DOUBLE_EQ(model.layerTerms(0, parallelization).backward, kernel);
  const GridPtr grid = Grid::make({2, 2});
  const auto halo = [&](Sampling sampling) {
    LayoutSpec spec{.shape = {1, 4, 16},
                    .grid = grid,
                    .properties = {Property::shard(2), Property::shard(2)},
                    .splitAxes = {{}, {}, {1, 0}}};
    const Layout plain(spec);
    spec.halos = {{}, {}, Halo{.boxes = {{0, 5}, {3, 9}, {7, 13}, {11, 16}}}};
    return priceOfMove(plain, Layout(spec), 4, rates.links, sampling).seconds;
  };
  EXPECT_LT(halo(Sampling::First), halo(Sampling::All));
  EXPECT_NEAR(model.layerTerms(0, parallelization).forward, kernel + halo(Sampling::All), 1e-18);
  EXPECT_LT(model.layerSeconds(0, parallelization, Precision::Lower),
            model.layerSeconds(0, parallelization, Precision::Exact));
}

// One sample, one channel and a single output column: only the rows can be split. 11 rows on three
// processes become 2, 4, 1 output rows of a window of 5, or 3, 2, 2 if the output is balanced.
TEST(NetworkOfLayers, OutputsAreBalancedWhereThatIsFaster) {
  const auto modelOf = [](const char* more, const Shape& input) {
    const std::string text = fmt::format(
        R"({{"format": "tenon-network-1", "type": "sequential", "layers": [
 {{"type": "conv", "name": "a", "in_channels": 1, "out_channels": 1, "kernel": [5, 5]{}}}]}})",
        more);
    // Kernels are so slow that only operations matter: the time is that of the most rows.
    const OwnRates slow{.links = {.latency = 2e-6, .bandwidth = 6e9}, .kernels = {.flops = 1e3}};
    return OwnModel(declareNetwork(fileOf(text), input), FineGrid({3}), slow);
  };
  const OwnModel model = modelOf("", {1, 1, 11, 5});
  const FoundPlan found = findPlan(model), follows = findPlan(model, {.fixed = {{"a", "h"}}});
  EXPECT_EQ(found.layers[0].labels, "h,balanced");
  EXPECT_TRUE(found.layers[0].isBalanced);
  EXPECT_EQ(found.layers[0].signature, "h");
  EXPECT_EQ(found.layers[0].runnerUp, "h");
  EXPECT_FALSE(follows.layers[0].isBalanced);
  EXPECT_NEAR(follows.seconds / found.seconds, 4.0 / 3, 1e-3);
  EXPECT_EQ(findPlan(model, {.fixed = {{"a", "h,balanced"}}}).seconds, found.seconds);
  // A setting of the user remains, and an output that is balanced anyway has no second
  // parallelization.
  EXPECT_EQ(findPlan(modelOf(R"(, "output_cuts": "follow")", {1, 1, 11, 5})).seconds,
            follows.seconds);
  const OwnModel set = modelOf(R"(, "output_cuts": "balanced")", {1, 1, 11, 5});
  EXPECT_EQ(findPlan(set).seconds, found.seconds);
  EXPECT_EQ(findPlan(set).layers[0].labels, "h");
  expectError(TENON_ERR_OPTION, {"layer a", "'h,balanced'", "output_cuts is set"},
              [&] { set.parse(0, "h,balanced"); });
  const OwnModel same = modelOf(R"(, "padding": [2, 2])", {1, 1, 11, 1});
  EXPECT_EQ(findPlan(same).layers[0].labels, "h");
  expectError(TENON_ERR_OPTION, {"'h,balanced'", "in balance without it"},
              [&] { same.parse(0, "h,balanced"); });
}

// The second input is a mask. The layer that reads it is a variable of the search, and each layer
// that reads an input of the network has an entry in `reads`.
TEST(NetworkOfLayers, HasAReadForEachInput) {
  const DeclaredNetwork network = declareNetwork(
      fileOf(R"({"format": "tenon-network-1", "type": "graph", "inputs": ["x", "mask"], "layers": [
             {"type": "conv", "name": "a", "in_channels": 2, "out_channels": 3, "kernel": [1, 1], "reads": [-1]},
             {"type": "multiply", "name": "b", "reads": [0, -2]}]})"),
      std::vector<Shape>{{4, 2, 8, 8}, {4, 1, 8, 8}});
  ASSERT_EQ(network.reads.size(), 2U);
  EXPECT_EQ(network.reads[0].to, 0);
  EXPECT_EQ(network.reads[0].source, 0);
  EXPECT_EQ(network.reads[1].to, 1);
  EXPECT_EQ(network.reads[1].input, 1);
  EXPECT_EQ(network.reads[1].source, 1);
  EXPECT_EQ(network.reads[1].shape, (Shape{4, 1, 8, 8}));
  EXPECT_EQ(network.result.shape, (Shape{4, 3, 8, 8}));
}

// Rows of grid points are numbered block by block, so their layer must have the layout of the
// field, and a plan needs that layout.
TEST(NetworkOfLayers, RowsAreDistributedLikeTheirPoints) {
  const DeclaredNetwork network =
      declareNetwork(fileOf(R"({"format": "tenon-network-1", "type": "sequential", "layers": [
 {"type": "conv", "name": "a", "in_channels": 2, "out_channels": 4, "kernel": [3, 3], "padding": [1, 1]},
 {"type": "rows"}]})"),
                     {4, 2, 8, 8});
  EXPECT_TRUE(network.hasLists);
  expectError(TENON_ERR_STATE, {"rows of points", "TenonPlanSetInput()"},
              [&] { OwnModel(network, FineGrid({4}), fast()); });
}

// If only the batch is split, nothing is moved between layers.
TEST(NetworkOfLayers, ByBatchOnlyGradientsMove) {
  const OwnModel model(leNet(8), FineGrid({4}), fast());
  for (std::size_t move = 0; move < model.moves().size(); ++move) {
    const auto [from, to] = model.moves()[move];
    EXPECT_EQ(model.moveSeconds(static_cast<int>(move), model.parse(from, "n2"),
                                model.parse(to, "n2"), Precision::Lower),
              0);
  }
  EXPECT_GT(model.layerSeconds(0, model.parse(0, "n2"), Precision::Lower), 2e-6);
}

TEST(NetworkOfLayers, RefusesWhatItCannotPlan) {
  const auto refused = [](const std::string& text, std::initializer_list<const char*> parts) {
    expectError(TENON_ERR_SUPPORT, parts, [&] { declareNetwork(fileOf(text), {4, 2, 8, 8}); });
  };
  refused(R"({"format": "tenon-network-1", "type": "relu"})", {"type \"relu\""});
  refused(R"({"format": "tenon-network-1", "type": "sequential", "layers": [
             {"type": "sequential", "name": "inner", "layers": [{"type": "relu"}]}]})",
          {"layer inner", "do not contain others"});
  refused(R"({"format": "tenon-network-1", "type": "graph", "outputs": ["a", "b"], "layers": [
             {"type": "relu", "name": "a", "reads": [-1]}, {"type": "tanh", "name": "b", "reads": [0]}]})",
          {"several outputs"});
  expectError(TENON_ERR_SHAPE, {"2 inputs", "shapes of 1"}, [] {
    declareNetwork(
        fileOf(R"({"format": "tenon-network-1", "type": "graph", "input_count": 2, "layers": [
        {"type": "add", "reads": [-1, -2]}]})"),
        {4, 2, 8, 8});
  });
  refused(R"({"format": "tenon-network-1", "type": "graph", "layers": [
             {"type": "relu", "reads": [-1]}, {"same_as": 0, "reads": [0]}]})",
          {"used twice"});
  refused(R"({"format": "tenon-network-1", "type": "sequential", "recompute": true, "layers": [
             {"type": "relu"}]})",
          {"recompute to false"});
  refused(R"({"format": "tenon-network-1", "type": "sequential", "layers": []})", {"no layers"});
  refused(R"({"format": "tenon-network-1", "type": "graph", "layers": []})", {"no layers"});
  expectError(TENON_ERR_ARG, {"layer twice (relu)", "1 input", "reads 2"}, [] {
    declareNetwork(fileOf(R"({"format": "tenon-network-1", "type": "graph", "layers": [
        {"type": "relu", "name": "twice", "reads": [-1, -1]}]})"),
                   {4, 2, 8, 8});
  });
  expectError(TENON_ERR_SHAPE, {"the input has 3 channels", "layer a needs 2"}, [&] {
    declareNetwork(fileOf(kResidual), {4, 3, 8, 8});
  });
}

// A network file with a repartition whose output layout is on this grid.
std::string onGrid(const char* grid) {
  return fmt::format(
      R"({{"format": "tenon-network-1", "type": "sequential", "layers": [{{"type": "repartition",
          "output": {{"shape": [4, 8], "grid": {}, "properties": "S0"}}}}]}})",
      grid);
}

TEST(NetworkFile, KeepsIntegersOrRefusesThem) {
  EXPECT_EQ(fileOf(onGrid("[2]")).nodes[0].layer.output->grid().size(), 2);
  for (const char* grid : {"[4294967298]", "4294967298"})
    expectError(TENON_ERR_FORMAT, {"net.json", "output.grid", "is 4294967298"},
                [&] { fileOf(onGrid(grid)); });
  for (const char* node :
       {R"({"type": "relu", "reads": [4294967295]})", R"({"same_as": 4294967296, "reads": [0]})"})
    expectError(TENON_ERR_FORMAT, {"net.json", "must be an integer in "}, [&] {
      fileOf(fmt::format(R"({{"format": "tenon-network-1", "type": "graph", "layers": [
                             {{"type": "tanh", "reads": [-1]}}, {}]}})",
                         node));
    });
  expectError(TENON_ERR_FORMAT, {"net.json", "dim", "4294967296"}, [] {
    fileOf(R"({"format": "tenon-network-1", "type": "concatenate", "dim": 4294967296})");
  });
}

// Programs in Fortran have lists by dimension in another order.
TEST(NetworkFile, SaysInWhichOrderItsListsAre) {
  const char* network = R"({{"format": "tenon-network-1", {} "type": "relu"}})";
  const std::string written = networkText(fileOf(fmt::format(fmt::runtime(network), "")));
  EXPECT_EQ(written.substr(0, written.find("\"type\"")),
            R"({"format":"tenon-network-1","dimensions":"z,y,x",)");
  EXPECT_EQ(networkText(fileOf(written)), written);
  expectError(TENON_ERR_FORMAT, {"net.json", "dimensions", "is \"x,y,z\"", "z,y,x"},
              [&] { fileOf(fmt::format(fmt::runtime(network), R"("dimensions": "x,y,z",)")); });
}

// Uneven split points, axes that split in another order than that of the grid, and reversed ranks.
TEST(NetworkFile, KeepsTheLayoutOfAnOutput) {
  LayerDescription network = fileOf(onGrid("[2]"));
  const Layout layout({.shape = {8, 9},
                       .grid = Grid::make({2, 2, 2}, {7, 6, 5, 4, 3, 2, 1, 0}),
                       .properties = parseProperties("S0,S1,S0"),
                       .splitAxes = {{2, 0}, {1}},
                       .cuts = {{}, {0, 2, 9}}});
  network.nodes[0].layer.output = layout;
  EXPECT_EQ(*fileOf(networkText(network)).nodes[0].layer.output, layout);
}

// The grid is refused before its ranks are listed, which would need 8 GiB.
TEST(NetworkFile, RefusesGridsOfMoreProcessesThanThereAre) {
  for (const char* grid : {"[9]", "[2147483647]", "[65536, 65536, 65536, 65536]"})
    expectError(TENON_ERR_FORMAT, {"net.json", "output", "does not fit into 8 processes"},
                [&] { fileOf(onGrid(grid)); });
}

} // namespace
} // namespace tenon
