// SPDX-License-Identifier: BSD-2-Clause
// Tests Tenon's own prices (planner/prices/own_model.hpp). A search works with lower bounds of
// prices and raises few of them; its plans must be as fast as those found with exact prices of all
// layers and moves, and on a small network as the best of all combinations of parallelizations.
// Prices of single layers and moves are compared with operations and bytes counted by hand, and
// with the prices of the conversions that would run.
#include "machine/route.hpp"
#include "planner/prices/own_model.hpp"
#include "planner/random_tables.hpp"
#include "planner/search/memory_bound.hpp"
#include "planner/search/plan_search.hpp"
#include "planner/small_network.hpp"
#include "support/draws.hpp"
#include "sys/expect_error.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <span>

namespace tenon {
namespace {

using test::exactTables;
using test::smallNetwork;

// A rate at which both communication and computation matter.
constexpr double kFlops = 1e13;
// Accesses to memory take no time.
constexpr double kMemory = std::numeric_limits<double>::infinity();

OwnRates rates(std::vector<LevelRates> levels = {}) {
  return {.links = {.latency = 2e-6, .bandwidth = 6e9, .levels = std::move(levels)},
          .kernels = {.flops = kFlops, .memory = kMemory}};
}

OwnModel shippedModel(const std::string& name, Index batch, const std::vector<Index>& levels,
                      bool inputChannels = true) {
  const NetworkTable table = readNetworkTable(TENON_TEST_TABLES "/" + name + ".json");
  return OwnModel(declareNetwork(table, batch), FineGrid(levels), rates(),
                  {.inputChannels = inputChannels});
}

TEST(OwnModel, CertifiedPlansAreTheBestByExactPrices) {
  const struct {
    const char* name;
    Index batch;
    std::vector<Index> levels;
  } kCases[] = {{"alexnet", 8, {2, 16}},
                {"resnet50", 4, {8}},
                {"unet3d_256", 2, {6}},
                {"vgg16", 3, {4, 3}},
                {"alexnet", 16, {12}}};
  for (const auto& one : std::span(kCases).first(test::drawsAll() ? 5 : 3)) {
    const OwnModel model = shippedModel(one.name, one.batch, one.levels);
    const FoundPlan found = findPlan(model);
    const double best = fastestPlan(exactTables(model, legalParallelizations(model)), 0).seconds;
    EXPECT_NEAR(found.seconds, best, 1e-12 * best) << one.name;
    EXPECT_GE(found.rounds, 1);
  }
}

void expectBestByExactPrices(const OwnModel& model, const char* what) {
  const double found = findPlan(model).seconds;
  const double best = fastestPlan(exactTables(model, legalParallelizations(model)), 0).seconds;
  EXPECT_NEAR(found, best, 1e-12 * best) << what;
}

TEST(OwnModel, CertifiedPlansAreTheBestOnSome60Processes) {
  std::vector<std::vector<Index>> all = {{60}, {2, 27}};
  if (test::drawsAll())
    all.push_back({64});
  for (const std::vector<Index>& levels : all)
    expectBestByExactPrices(OwnModel(declareNetwork(smallNetwork(), 8), FineGrid(levels), rates()),
                            "small");
}

// Takes minutes: exact prices need all positions of the process grid for every move.
TEST(OwnModel, CertifiedPlansOfAllTablesAreTheBestOn64Processes) {
  if (!std::getenv("TENON_TEST_EXHAUSTIVE"))
    GTEST_SKIP() << "set TENON_TEST_EXHAUSTIVE=1 to run it";
  for (const char* name : {"alexnet", "vgg16", "resnet50", "unet3d_256"})
    for (Index batch : {4, 64})
      for (Index processes : {32, 48, 64})
        expectBestByExactPrices(shippedModel(name, batch, {processes}), name);
}

// The search excludes most moves by these lower bounds only.
TEST(OwnModel, BoundsOfMovesAreAtMostTheirPrices) {
  const std::vector<LevelRates> levels = {{.ranks = 4, .latency = 3e-6, .bandwidth = 1e9},
                                          {.ranks = 2, .latency = 5e-7, .bandwidth = 2e10}};
  const Layout field({.shape = {4, 3, 12, 10},
                      .grid = Grid::make({2, 2, 2}),
                      .properties = parseProperties("S0,S2,S3")});
  std::vector<std::unique_ptr<OwnModel>> models;
  const std::vector<Index> numbers =
      test::drawsAll() ? std::vector<Index>{12, 32} : std::vector<Index>{12};
  for (const char* name : {"alexnet", "resnet50", "unet3d_256"})
    for (const Index processes : numbers)
      models.push_back(std::make_unique<OwnModel>(shippedModel(name, 6, {processes})));
  for (const bool isPinned : {false, true})
    models.push_back(std::make_unique<OwnModel>(
        declareNetwork(smallNetwork(), 4), FineGrid({2, 2, 2}), rates(levels),
        OwnTask{.input = isPinned ? std::optional(field) : std::nullopt}));
  for (const auto& model : models) {
    const ParallelizationLists parallelizations = legalParallelizations(*model);
    double share = 0;
    int prices = 0;
    for (int m = 0; m < static_cast<int>(model->moves().size()); ++m) {
      if (model->firstLike(m) != m)
        continue;
      for (int from : parallelizations[model->moves()[m].from])
        for (int to : parallelizations[model->moves()[m].to]) {
          const double least = model->moveSeconds(m, from, to, Precision::Least);
          const double price = model->moveSeconds(m, from, to, Precision::Lower);
          ASSERT_LE(least, price * (1 + 1e-12))
              << model->text(model->moves()[m].from, from) << " -> "
              << model->text(model->moves()[m].to, to) << " of " << model->names()[m];
          share += price > 0 ? least / price : 0;
          prices += price > 0;
        }
    }
    // The mean ratio of bound to price must be large for the bounds to be useful. With several
    // levels a bound has the best latency and bandwidth of all levels. The moves of the small
    // network are so short that latency is most of their price, and the latency of the inner level
    // is a sixth of that of the outer one. With equal latencies the ratio is 0.5.
    EXPECT_GT(share, (model->layers() > 4 ? 0.5 : 0.29) * prices);
  }
}

TEST(OwnModel, FindsTheBestOfAllCombinations) {
  for (Index processes : {1, 2, 3, 4, 6, 8, 12}) {
    const OwnModel model(declareNetwork(smallNetwork(), 4), FineGrid({processes}), rates());
    const ParallelizationLists parallelizations = legalParallelizations(model);
    const double best = *test::leastByForce(exactTables(model, parallelizations));
    EXPECT_NEAR(findPlan(model).seconds, best, 1e-12 * best) << processes;
  }
}

// One process computes and does not communicate. A layer has 2 operations for each sample, output
// pixel and weight (a convolution), or sample and weight (an affine layer). The adjoint has twice
// as many, for the gradients of weights and of inputs, but the first layer's input needs none.
TEST(OwnModel, OneProcessTakesTheTimeOfItsOperations) {
  const OwnModel model(declareNetwork(smallNetwork(), 4), FineGrid({1}), rates());
  const double a = 2.0 * 4 * 120 * 216, b = 2.0 * 4 * 30 * 432, c = 2.0 * 4 * 4320;
  EXPECT_NEAR(findPlan(model).seconds, (2 * a + 3 * b + 3 * c) / kFlops, 1e-18);
  // Four arrays per weight: value, gradient and two states of the optimizer; the inputs of the
  // layers; and the temporary arrays of the first layer, which needs the most.
  EXPECT_EQ(findPlan(model).bytes,
            4 * (4 * (216 + 432 + 4320) + 4 * (360 + 960 + 180) + 4 * (360 + 960)) + kOnceBytes);
}

// The time of a kernel is that of its memory accesses if these take longer than its operations,
// such as reading the weights of the affine layer, of which two processes have half each.
TEST(OwnModel, KernelsTakeTheirBytesWhereTheseTakeLonger) {
  OwnRates slow = rates();
  slow.kernels = {.flops = kFlops, .memory = 1e9, .call = 1e-6};
  for (const Index elementBytes : {4, 8}) {
    DeclaredNetwork network = declareNetwork(smallNetwork(), 4);
    network.elementBytes = elementBytes;
    const OwnModel model(network, FineGrid({2}), slow);
    // Elements that the forward kernel reads and writes: inputs, half of the weights and of the
    // outputs. The adjoint, one call too, reads as many, and writes the gradients of inputs and
    // weights.
    const double forward = 4 * 180 + 4320 / 2 + 4 * 12, again = 4 * 180 + 4320 / 2;
    const int half = model.parse(2, "o");
    EXPECT_NEAR(model.layerSeconds(2, half, Precision::Lower),
                2e-6 + elementBytes * (2 * forward + again) / 1e9, 1e-15);
    // Four arrays for the weights; the layer before has the input, and no adjoint reads the output.
    EXPECT_EQ(model.layerBytes(2, half), elementBytes * 4 * 2160);
  }
}

// In float64, moves have twice the bytes and as many messages. Bandwidth dominates here.
TEST(OwnModel, MovesCountTheCellsOfTheDataType) {
  OwnRates costly = rates();
  costly.links = {.latency = 1e-30, .overhead = 1e-30, .bandwidth = 1e9, .copyBandwidth = 1e9};
  DeclaredNetwork network = declareNetwork(smallNetwork(), 4);
  const OwnModel single(network, FineGrid({4}), costly);
  network.elementBytes = 8;
  const OwnModel twice(network, FineGrid({4}), costly);
  const int from = single.parse(1, "n2"), to = single.parse(2, "o2");
  EXPECT_NEAR(twice.moveSeconds(1, from, to, Precision::Exact),
              2 * single.moveSeconds(1, from, to, Precision::Exact), 1e-25);
}

// If parallelizations agree in batch and space, only halos are moved.
TEST(OwnModel, EqualParallelizationsMoveNothing) {
  const OwnModel model(declareNetwork(smallNetwork(), 4), FineGrid({4}), rates());
  EXPECT_EQ(model.moveSeconds(1, model.parse(1, "n2"), model.parse(2, "n2"), Precision::Lower), 0);
  EXPECT_EQ(model.moveSeconds(0, model.parse(0, "n2"), model.parse(1, "n2"), Precision::Lower), 0);
  // The halo of a 3 x 3 window: elements beside the blocks go to the neighbours, and their
  // cotangents come back, each at least one latency of 2e-6.
  EXPECT_GT(model.moveSeconds(0, model.parse(0, "hw2-"), model.parse(1, "hw2-"), Precision::Lower),
            4e-6);
}

// A move from a split batch to split output channels is an all-gather of the input, and in the
// adjoint a reduce-scatter.
TEST(OwnModel, MovesCostWhatTheirConversionsCost) {
  const OwnModel model(declareNetwork(smallNetwork(), 4), FineGrid({4}), rates());
  const GridPtr grid = Grid::make({2, 2});
  const auto layout = [&](Properties properties) {
    return Layout({.shape = {4, 180}, .grid = grid, .properties = std::move(properties)});
  };
  const Property S0 = Property::shard(0), S1 = Property::shard(1), B = Property::broadcast(),
                 P = Property::partial();
  const auto price = [&](const Layout& from, const Layout& to) {
    return priceOfMove(from, to, 4, rates().links, Sampling::All).seconds;
  };
  EXPECT_DOUBLE_EQ(
      model.moveSeconds(1, model.parse(1, "n2"), model.parse(2, "o2"), Precision::Exact),
      price(layout({S0, S0}), layout({B, B})) + price(layout({P, P}), layout({S0, S0})));
  EXPECT_DOUBLE_EQ(
      model.moveSeconds(1, model.parse(1, "n,i"), model.parse(2, "n,o"), Precision::Exact),
      price(layout({S0, P}), layout({S0, B})) + price(layout({S0, P}), layout({S0, B})));
  EXPECT_DOUBLE_EQ(
      model.moveSeconds(1, model.parse(1, "n,o"), model.parse(2, "i2"), Precision::Exact),
      price(layout({S0, S1}), layout({S1, S1})) + price(layout({S1, S1}), layout({S0, S1})));
}

// Gradients of weights that all processes have are summed over all, by the route of a run.
TEST(OwnModel, WeightsThatAllHaveAreSummed) {
  const OwnModel model(declareNetwork(smallNetwork(), 4), FineGrid({4}), rates());
  const auto seconds = [&](const char* parallelization) {
    return model.layerSeconds(2, model.parse(2, parallelization), Precision::Lower);
  };
  const double kernels = 3 * 2.0 * 4320 / kFlops; // of a sample
  const auto layout = [](const char* properties) {
    return Layout({.shape = {24, 180},
                   .grid = Grid::make({2, 2}),
                   .properties = parseProperties(properties)});
  };
  double sum = 0;
  for (const RouteStep& step : findRoute(layout("P,P"), layout("B,B"), 4,
                                         {.mode = RouteMode::Auto, .rates = rates().links}))
    sum += step.seconds;
  EXPECT_NEAR(seconds("n2"), kernels + sum, 1e-15);
  EXPECT_NEAR(seconds("o2"), kernels, 1e-18);
  EXPECT_NEAR(seconds("i2"), kernels, 1e-18);
  // Four arrays of float32 for the quarter of the weights that a process has.
  EXPECT_EQ(model.layerBytes(2, model.parse(2, "o2")), 4 * 4 * 1080);
  // Three more arrays for the reduction of weights that all processes have: what kernels add to the
  // gradient, its sums and their messages.
  EXPECT_EQ(model.layerBytes(2, model.parse(2, "n2")), 4 * 7 * 4320);
}

// On two nodes of four processes, these gradients are summed by the reduction program that would
// run.
TEST(OwnModel, SumsBetweenNodesCostWhatTheirProgramsCost) {
  const std::vector<LevelRates> nodes = {{.ranks = 4, .latency = 2e-6, .bandwidth = 1e8}};
  const OwnModel model(declareNetwork(smallNetwork(), 8), FineGrid({8}), rates(nodes));
  const double kernels = 3 * 2.0 * 4320 / kFlops; // of a sample
  const double sum = cheapestSum({2, 4}, 4 * 4320, rates(nodes).links).seconds;
  const double route =
      priceOfCollective(CollectiveKind::AllReduce, 8, 4 * 4320, rates(nodes).links.onLevel(0));
  EXPECT_LT(sum, route);
  EXPECT_LE(model.layerSeconds(2, model.parse(2, "n3"), Precision::Lower), kernels + sum + 1e-15);
  EXPECT_GT(model.layerSeconds(2, model.parse(2, "n3"), Precision::Lower), sum);
}

// AlexNet's second convolution has two groups.
TEST(OwnModel, GroupsOfChannelsHaveALabelOfTheirOwn) {
  const OwnModel model = shippedModel("alexnet", 16, {8});
  const FoundPlan found = findPlan(model, {.fixed = {{"conv2", "n2,g"}, {"conv3", "n2,o"}}});
  EXPECT_EQ(found.layers[1].labels, "n2,g");
  EXPECT_EQ(found.layers[2].labels, "n2,o");
  const auto refused = [&](const char* layer, const char* parallelization, const char* why) {
    expectError(TENON_ERR_OPTION, {layer, why}, [&] {
      findPlan(model, {.fixed = {{layer, parallelization}}});
    });
  };
  refused("conv2", "n2,o", "its output channels have the label g");
  refused("conv3", "n2,g", "its output channels have the label o");
  refused("conv2", "n,g2", "of which 4 processes cannot all have some");
  refused("conv2", "n2,i", "it has no such label");
  refused("fc6", "n2,h", "'h' is not a label");
  refused("conv1", "i3", "cannot all have some");
}

TEST(OwnModel, WithoutInputChannelsPlansAreNoFaster) {
  const double with = findPlan(shippedModel("vgg16", 16, {16})).seconds;
  const OwnModel model = shippedModel("vgg16", 16, {16}, /*inputChannels=*/false);
  EXPECT_LE(with, findPlan(model).seconds);
  expectError(TENON_ERR_OPTION, {"label i is not among the choices"}, [&] {
    findPlan(model, {.fixed = {{"fc1", "n3,i"}}});
  });
}

// Communication between nodes is more expensive, so a plan for two levels is slower.
TEST(OwnModel, LevelsOfAMachineHaveRatesOfTheirOwn) {
  const NetworkTable table = smallNetwork();
  const OwnModel flat(declareNetwork(table, 8), FineGrid({4, 2}), rates());
  const OwnModel nodes(declareNetwork(table, 8), FineGrid({4, 2}),
                       rates({{.ranks = 2, .latency = 2e-5, .bandwidth = 1e9}}));
  const FoundPlan far = findPlan(nodes), near = findPlan(flat);
  EXPECT_GT(far.seconds, near.seconds);
  // Inside a node the rates are the same: the last axis alone is as dear.
  EXPECT_EQ(nodes.moveSeconds(1, nodes.parse(1, "n3"), nodes.parse(2, "n2,o"), Precision::Lower),
            flat.moveSeconds(1, flat.parse(1, "n3"), flat.parse(2, "n2,o"), Precision::Lower));
}

TEST(DeclaredNetwork, ConvolutionsMakeTheExtentsOfTheTable) {
  for (const char* name : {"alexnet", "vgg16", "resnet50", "unet3d_256"}) {
    const NetworkTable table =
        readNetworkTable(TENON_TEST_TABLES "/" + std::string(name) + ".json");
    const DeclaredNetwork network = declareNetwork(table, 2);
    for (std::size_t l = 0; l < table.layers.size(); ++l) {
      if (table.layers[l].kind != TableLayer::Kind::Conv)
        continue;
      const Shape made = network.layers[l].declaration->outputShape(network.layers[l].inputs);
      EXPECT_EQ(Shape(made.begin() + 2, made.end()), table.layers[l].output)
          << table.layers[l].name;
    }
  }
}

TEST(DeclaredNetwork, RefusesUnknownLayers) {
  NetworkTable table = smallNetwork();
  table.layers[1].output = {30, 5};
  expectError(TENON_ERR_SUPPORT, {"layer b", "30 rows of 12"}, [&] { declareNetwork(table, 2); });
  table = smallNetwork();
  table.layers[1].weights = 431;
  expectError(TENON_ERR_SUPPORT, {"layer b", "431 weights"}, [&] { declareNetwork(table, 2); });
  table = smallNetwork();
  table.edges[0].elements = 961;
  expectError(TENON_ERR_SUPPORT, {"961 elements", "120 pixels"}, [&] { declareNetwork(table, 2); });
}

} // namespace
} // namespace tenon
