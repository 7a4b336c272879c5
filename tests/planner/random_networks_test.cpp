// SPDX-License-Identifier: BSD-2-Clause
// Tests the search of plans under the cost model T1 on random networks of up to six layers and 2 to
// 12 processes: the best plan and the runners-up against all combinations of parallelizations,
// properties of the prices that need no formula, and errors.
#include "planner/random_tables.hpp"
#include "planner/search/memory_bound.hpp"
#include "planner/search/plan_search.hpp"
#include "studies/t1_model.hpp"
#include "support/draws.hpp"
#include "sys/expect_error.hpp"

namespace tenon {
namespace {

using test::Graph;

constexpr T1Link kSlow = {.alpha = 2e-6, .beta = 1e-8};

NetworkTable randomNetwork(const Graph& graph, std::mt19937& random) {
  const auto draw = [&](Index least, Index most) {
    return std::uniform_int_distribution<Index>(least, most)(random);
  };
  NetworkTable table{.name = graph.name,
                     .about = "",
                     .splitDims = static_cast<int>(draw(1, 2)),
                     .layers = {},
                     .edges = {}};
  using Kind = TableLayer::Kind;
  for (int l = 0; l < graph.layers; ++l) {
    TableLayer layer{.name = "L" + std::to_string(l),
                     .kind = l == 0 ? Kind::Conv : static_cast<Kind>(draw(0, 3)),
                     .input = {},
                     .output = {}};
    layer.inChannels = draw(1, 12);
    layer.outChannels = layer.kind == Kind::Add ? layer.inChannels : draw(1, 12);
    layer.weights = layer.kind == Kind::Add ? 0 : draw(1, 2000);
    layer.readsInput = l == 0;
    layer.splitSpace = layer.kind != Kind::Affine && draw(0, 5) > 0;
    if (layer.kind == Kind::Conv || layer.kind == Kind::Upconv)
      layer.kernel = draw(1, 5);
    if (layer.kind != Kind::Affine)
      layer.input = layer.output = {draw(1, 12), draw(1, 12)};
    table.layers.push_back(layer);
  }
  for (const auto& [from, to] : graph.edges)
    table.edges.push_back({.from = from, .to = to, .elements = draw(1, 500)});
  return table;
}

// Calls check(model, parallelizations) for twenty networks and each number of processes, except for
// networks that cannot be divided.
template <class Check>
void forRandomNetworks(Check&& check) {
  const std::vector<Graph> graphs = test::smallGraphs();
  std::mt19937 random(23);
  int checked = 0;
  for (Index processes : {2, 4, 6, 8, 12})
    for (int draw = 0; draw < 20; ++draw) {
      const Graph& graph = graphs[draw % graphs.size()];
      const Index batch = std::uniform_int_distribution<Index>(1, 12)(random);
      const T1Model model(randomNetwork(graph, random), batch, FineGrid({processes}), kSlow,
                          /*inputChannels=*/draw % 2 == 0);
      ParallelizationLists parallelizations;
      try {
        parallelizations = legalParallelizations(model);
      } catch (const Error&) {
        continue;
      }
      SCOPED_TRACE(graph.name + " on " + std::to_string(processes));
      check(model, parallelizations);
      ++checked;
    }
  EXPECT_GT(checked, 50); // of 100
}

TEST(RandomNetworks, TheSearchFindsTheBestOfAllPlans) {
  forRandomNetworks([](const T1Model& model, const ParallelizationLists& parallelizations) {
    const CostTables tables = tablesOf(model, parallelizations);
    double combinations = 1;
    for (int layer = 0; layer < tables.layers(); ++layer)
      combinations *= tables.states(layer);
    if (combinations > (test::drawsAll() ? 2e5 : 2e4))
      return;
    double least = std::numeric_limits<double>::infinity();
    test::forAllPlans(tables, [&](const std::vector<int>& choice) {
      std::vector<int> plan;
      for (int layer = 0; layer < tables.layers(); ++layer)
        plan.push_back(parallelizations[layer][choice[layer]]);
      least = std::min(least, secondsOf(model, plan));
    });
    const FoundPlan found = findPlan(model);
    EXPECT_NEAR(found.seconds, least, 1e-12 * least);
    if (found.baselines.uniform) {
      EXPECT_GE(found.baselines.uniform->seconds, found.seconds * (1 - 1e-12));
    }
  });
}

// Only the last layer is checked: each parallelization of a layer costs one more search.
TEST(RandomNetworks, RunnersUpAreTheBestPlansWithAnotherParallelization) {
  forRandomNetworks([](const T1Model& model, const ParallelizationLists& parallelizations) {
    const FoundPlan found = findPlan(model);
    const PlannedLayer& layer = found.layers.back();
    if (layer.runnerUp.empty())
      return;
    double least = std::numeric_limits<double>::infinity();
    for (int parallelization : parallelizations.back()) {
      const std::string text =
          textOf(model.parallelizations()[parallelization], model.spatial(model.layers() - 1));
      if (text != layer.labels)
        least = std::min(least, findPlan(model, {.fixed = {{layer.name, text}}}).seconds);
    }
    EXPECT_NEAR(layer.runnerUpSeconds, least, 1e-12 * least);
    const FoundPlan with = findPlan(model, {.fixed = {{layer.name, layer.runnerUp}}});
    EXPECT_NEAR(with.seconds, least, 1e-12 * least);
  });
}

// If writer and reader have the same parallelization and channels are not split, nothing is moved.
TEST(RandomNetworks, EqualBatchAndSpaceMoveNothing) {
  forRandomNetworks([](const T1Model& model, const ParallelizationLists&) {
    for (std::size_t move = 0; move < model.moves().size(); ++move)
      for (std::size_t parallelization = 0; parallelization < model.parallelizations().size();
           ++parallelization)
        if (model.parallelizations()[parallelization].channels() == 0) {
          EXPECT_EQ(model.moveSeconds(static_cast<int>(move), static_cast<int>(parallelization),
                                      static_cast<int>(parallelization), Precision::Lower),
                    0);
        }
  });
}

NetworkTable oneLayer() {
  NetworkTable table{.name = "one", .about = "", .splitDims = 1, .layers = {}, .edges = {}};
  table.layers.push_back({.name = "conv1",
                          .kernel = 3,
                          .input = {4, 4},
                          .output = {4, 4},
                          .inChannels = 3,
                          .outChannels = 5,
                          .weights = 135});
  return table;
}

// A parallelization is a list of labels with the number of grid axes that each splits; 8 processes
// are a grid of three axes of extent 2. So "n,o2" splits the batch in 2 and the output channels in
// 4 parts, and "h3-" splits the rows in 8.
TEST(PlanSearch, RefusesInvalidTasks) {
  const T1Model model(oneLayer(), 2, FineGrid({64}), kSlow);
  expectError(TENON_ERR_SHAPE,
              {"layer conv1 cannot be divided among 64 processes", "a batch of 2 has no 64 parts"},
              [&] { findPlan(model); });
  const T1Model eight(oneLayer(), 2, FineGrid({8}), kSlow);
  EXPECT_NO_THROW(findPlan(eight, {.fixed = {{"conv1", "n,o2"}}}));
  expectError(TENON_ERR_OPTION, {"layer conv1", "'n3'", "a batch of 2 has no 8 parts"}, [&] {
    findPlan(eight, {.fixed = {{"conv1", "n3"}}});
  });
  expectError(TENON_ERR_OPTION, {"5 output channels have no 8 parts"}, [&] {
    findPlan(eight, {.fixed = {{"conv1", "o3"}}});
  });
  expectError(TENON_ERR_OPTION, {"no 8 parts with halos of 1"}, [&] {
    findPlan(eight, {.fixed = {{"conv1", "h3-"}}});
  });
  expectError(TENON_ERR_OPTION, {"label i is not among the choices"}, [&] {
    findPlan(eight, {.fixed = {{"conv1", "n,i2"}}});
  });
  expectError(TENON_ERR_ARG, {"no layer 'conv'", "did you mean 'conv1'"}, [&] {
    findPlan(eight, {.fixed = {{"conv", "n3"}}});
  });
  expectError(TENON_ERR_MEMORY_LIMIT, {"memory limit is 100 B", "conv1 "},
              [&] { findPlan(eight, {.memoryLimit = 100}); });
}

// On one process there is nothing to communicate, and T1 prices only communication.
TEST(PlanSearch, OneProcessIsFree) {
  const FoundPlan found = findPlan(T1Model(oneLayer(), 2, FineGrid({1}), kSlow));
  EXPECT_EQ(found.seconds, 0);
  EXPECT_EQ(found.layers[0].labels, "");
  EXPECT_EQ(found.layers[0].runnerUp, "");
  // Assumption 14 of t1_model.hpp: 12 bytes for each weight, and 4 for each element of the inputs
  // (3 x 4 x 4) and outputs (5 x 4 x 4) of a batch of 2.
  EXPECT_EQ(found.bytes, 12 * 135 + 4 * 2 * (48 + 80));
}

} // namespace
} // namespace tenon
