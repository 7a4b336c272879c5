// SPDX-License-Identifier: BSD-2-Clause
// Tests plans of networks whose input or output has a layout that the user has fixed (pinned), such
// as the uneven blocks of a solver's field: against all combinations of parallelizations with exact
// prices, and against times counted by hand. Also the objectives (training, inference, step), the
// placements of the grid's axes on the levels of a machine, and plans that leave processes idle.
#include "geometry/layout/layout.hpp"
#include "machine/price.hpp"
#include "planner/random_tables.hpp"
#include "planner/small_network.hpp"
#include "studies/named_plan.hpp"
#include "sys/expect_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace tenon {
namespace {

using test::exactTables;

constexpr double kPinnedFlops = 1e13;
const OwnRates kPinnedRates = {.links = {.latency = 2e-6, .bandwidth = 6e9},
                               .kernels = {.flops = kPinnedFlops, .memory = HUGE_VAL}};

// A chain of convolutions that keep the extents 12 x 10 and the number of channels.
NetworkTable fieldNetwork(int layers, Index kernel, Index channels) {
  NetworkTable table{.name = "field", .about = "", .splitDims = 2, .layers = {}, .edges = {}};
  for (int l = 0; l < layers; ++l) {
    table.layers.push_back({.name = "L" + std::to_string(l),
                            .kernel = kernel,
                            .input = {12, 10},
                            .output = {12, 10},
                            .inChannels = channels,
                            .outChannels = channels,
                            .weights = channels * channels * kernel * kernel,
                            .readsInput = l == 0});
    if (l > 0)
      table.edges.push_back({.from = l - 1, .to = l, .elements = 12 * 10 * channels});
  }
  return table;
}

Layout fieldOn(const std::vector<int>& grid, const char* properties, const Shape& shape,
               std::vector<std::vector<Index>> cuts = {}) {
  return Layout({.shape = shape,
                 .grid = Grid::make(grid),
                 .properties = parseProperties(properties),
                 .cuts = std::move(cuts)});
}

FoundPlan pinnedPlan(const NetworkTable& table, Index batch, Index processes, OwnTask task) {
  return findPlan(
      OwnModel(declareNetwork(table, batch), FineGrid({processes}), kPinnedRates, std::move(task)));
}

// The exact seconds of a conversion; nothing moves if each process keeps its elements in place.
double priceInField(const Layout& from, const Layout& to) {
  return haveSameMemory(from, to)
             ? 0
             : priceOfMove(from, to, 4, kPinnedRates.links, Sampling::All).seconds;
}

TEST(PinnedEnds, PlansAreTheBestOfAllCombinations) {
  const struct {
    std::vector<int> grid;
    const char *input, *output;
    Index processes;
  } kCases[] = {{{2}, "S2", nullptr, 2}, {{4}, "S3", nullptr, 4}, {{2, 2}, "S2,S3", nullptr, 4},
                {{3}, "S2", "S0", 4},    {{2}, "B", "S1", 6},     {{2, 3}, "S3,S2", "S0,S1", 6}};
  for (const auto& one : kCases)
    for (bool isSmall : {true, false})
      for (Objective objective : {Objective::Training, Objective::Inference}) {
        const NetworkTable table = isSmall ? test::smallNetwork() : fieldNetwork(3, 3, 4);
        OwnTask task{.objective = objective,
                     .input = fieldOn(one.grid, one.input, {4, isSmall ? 3 : 4, 12, 10})};
        if (one.output && !isSmall)
          task.output = fieldOn(one.grid, one.output, {4, 4, 12, 10});
        const OwnModel model(declareNetwork(table, 4), FineGrid({one.processes}), kPinnedRates,
                             task);
        const double best = *test::leastByForce(exactTables(model, legalParallelizations(model)));
        EXPECT_NEAR(findPlan(model).seconds, best, 1e-12 * best)
            << one.input << " " << one.processes;
      }
}

// A field in blocks of 5 and 7 rows and of 4 and 6 columns, which no parallelization of the fine
// grid has.
Layout unevenField(Index channels) {
  return fieldOn({2, 2}, "S2,S3", {1, channels, 12, 10}, {{}, {}, {0, 5, 12}, {0, 4, 10}});
}

TEST(PinnedEnds, OneConvolutionOfAFieldStaysAndExchangesItsHaloAlone) {
  const Layout field = unevenField(4);
  const NetworkTable table = fieldNetwork(1, 3, 4);
  const FoundPlan found =
      pinnedPlan(table, 1, 4, {.objective = Objective::Inference, .input = field, .output = field});
  EXPECT_EQ(found.layers[0].labels, "input:h,w");
  EXPECT_EQ(found.layers[0].parts.space, 4);
  LayoutSpec halo = field.spec();
  halo.halos.resize(4);
  halo.halos[2] = Halo{.boxes = {{0, 6}, {4, 12}}};
  halo.halos[3] = Halo{.boxes = {{0, 5}, {3, 10}}};
  // The last process has the most elements, 7 x 6, each of which takes 2 operations for each of the
  // 4 input channels, 4 output channels and 9 taps.
  EXPECT_NEAR(found.seconds,
              2.0 * 7 * 6 * 4 * 4 * 9 / kPinnedFlops + priceInField(field, Layout(halo)), 1e-15);
}

TEST(PinnedEnds, LayersThatStayWithUnevenBlocksMoveNothing) {
  const Layout field = unevenField(4);
  const FoundPlan found =
      pinnedPlan(fieldNetwork(3, 1, 4), 1, 4,
                 {.objective = Objective::Inference, .input = field, .output = field});
  for (const PlannedLayer& layer : found.layers)
    EXPECT_EQ(layer.labels, "input:h,w") << layer.name;
  EXPECT_NEAR(found.seconds, 3 * 2.0 * 7 * 6 * 4 * 4 / kPinnedFlops, 1e-18);
}

// Fields with blocks of random size on grids of two axes; some blocks are empty.
TEST(PinnedEnds, PlansOfRandomFieldsAreTheBest) {
  std::mt19937 random(5);
  const auto draw = [&](Index least, Index most) {
    return std::uniform_int_distribution<Index>(least, most)(random);
  };
  const char* const kKinds[] = {"S0", "S1", "S2", "S3", "B"};
  const auto drawnField = [&](const Shape& shape, Index processes) {
    const std::vector<int> grid = processes < 4 ? std::vector<int>{2, 1} : std::vector<int>{2, 2};
    const std::string both = fmt::format("{},{}", kKinds[draw(0, 4)], kKinds[draw(0, 4)]);
    LayoutSpec spec = fieldOn(grid, both.c_str(), shape).spec();
    for (std::size_t d = 0; d < shape.size(); ++d) {
      for (std::size_t cut = 1; cut + 1 < spec.cuts[d].size(); ++cut)
        spec.cuts[d][cut] = draw(0, shape[d]);
      std::sort(spec.cuts[d].begin(), spec.cuts[d].end());
    }
    return Layout(spec);
  };
  for (int round = 0; round < 25; ++round) {
    const Index batch = draw(1, 4), processes = draw(2, 6), channels = draw(2, 4);
    const NetworkTable table =
        fieldNetwork(static_cast<int>(draw(1, 3)), 2 * draw(0, 1) + 1, channels);
    const Shape shape = {batch, channels, 12, 10};
    OwnTask task{.objective = draw(0, 1) ? Objective::Training : Objective::Inference,
                 .input = drawnField(shape, processes),
                 .inputCotangent = draw(0, 1) == 1};
    if (draw(0, 1))
      task.output = drawnField(shape, processes);
    const OwnModel model(declareNetwork(table, batch), FineGrid({processes}), kPinnedRates, task);
    const double best = *test::leastByForce(exactTables(model, legalParallelizations(model)));
    EXPECT_NEAR(findPlan(model).seconds, best, 1e-12 * best) << round;
  }
}

// If the field is on two of eight processes, a plan redistributes it to use all eight.
TEST(PinnedEnds, TheFieldIsLeftWhereThatIsFaster) {
  const Layout field = fieldOn({2}, "S2", {8, 4, 12, 10});
  const NetworkTable table = fieldNetwork(2, 3, 4);
  OwnTask task{.input = field};
  OwnRates slow = kPinnedRates;
  slow.kernels.flops = 1e9; // two of eight processes would take four times as long
  const OwnModel model(declareNetwork(table, 8), FineGrid({8}), slow, task);
  const FoundPlan found = findPlan(model);
  for (const PlannedLayer& layer : found.layers)
    EXPECT_EQ(layer.parts.batch * layer.parts.channels * layer.parts.space, 8) << layer.labels;
  const FoundPlan stays = findPlan(model, {.fixed = {{"L0", "input:h"}, {"L1", "input:h"}}});
  EXPECT_GT(stays.seconds, 3 * found.seconds);
}

// A training takes three times the operations of an inference (own_model_test.cpp), except that the
// first layer computes no cotangent of an input for which none is requested.
TEST(PinnedEnds, ObjectivesCountWhatTheyName) {
  const NetworkTable table = test::smallNetwork();
  const auto plan = [&](OwnTask task) { return pinnedPlan(table, 4, 1, std::move(task)); };
  // Operations of the three layers, for 4 samples.
  const double a = 2.0 * 4 * 120 * 216, b = 2.0 * 4 * 30 * 432, c = 2.0 * 4 * 4320;
  const double forward = (a + b + c) / kPinnedFlops;
  const Objective inference = Objective::Inference;
  EXPECT_NEAR(plan({.objective = inference}).seconds, forward, 1e-18);
  EXPECT_EQ(plan({.objective = inference}).bytes,
            4 * (216 + 432 + 4320 + 4 * 360 + 4 * (360 + 960)) +
                kOnceBytes); // the first layer needs most
  EXPECT_NEAR(plan({.objective = inference, .stepsPerEvaluation = 10}).seconds, forward / 10,
              1e-18);
  // A plan with a fixed input computes the input's cotangent, unless the task says otherwise.
  const Layout input = fieldOn({1}, "B", {4, 3, 12, 10});
  EXPECT_NEAR(plan({.input = input}).seconds, 3 * forward, 1e-18);
  EXPECT_NEAR(plan({.input = input, .inputCotangent = false}).seconds,
              3 * forward - a / kPinnedFlops, 1e-18);
}

// The fixed input is converted in every step of the solver, the kernels run in every 100th.
TEST(PinnedEnds, AStepConvertsItsEndsEachTime) {
  const NetworkTable table = fieldNetwork(1, 1, 4);
  const auto seconds = [&](Index every) {
    OwnTask task{.objective = Objective::Inference,
                 .stepsPerEvaluation = every,
                 .input = fieldOn({4}, "S2", {4, 4, 12, 10})};
    const OwnModel model(declareNetwork(table, 4), FineGrid({4}), kPinnedRates, task);
    return findPlan(model, {.fixed = {{"L0", "n2"}}}).seconds;
  };
  const double kernel = 2.0 * 120 * 16 / kPinnedFlops;
  const double end = seconds(1) - kernel;
  EXPECT_GT(end, 2e-6);
  EXPECT_NEAR(seconds(100), end + kernel / 100, 1e-18);
}

Ref<NamedPlan> alexNetPlan(Index batch, Index processes) {
  Ref<NamedPlan> plan =
      makeRef<NamedPlan>(readNetworkSource(TENON_TEST_TABLES "/alexnet.json"), batch);
  plan->set("processes", Index(processes));
  plan->set("cost_model", "own");
  return plan;
}

PinnedEnd onGrid(std::vector<int> grid, const char* properties) {
  return [grid = std::move(grid), properties](const Shape& shape, Index) {
    return fieldOn(grid, properties, shape);
  };
}

TEST(PinnedEnds, RefusesWhatDoesNotFit) {
  const auto refused = [](TenonErrorCode code, const char* why, auto&& change) {
    const Ref<NamedPlan> plan = alexNetPlan(16, 4);
    change(*plan);
    expectError(code, {why}, [&] { plan->search(); });
  };
  refused(TENON_ERR_SHAPE, "on process 4, but the plan is for 4 processes",
          [](NamedPlan& plan) { plan.pinInput(onGrid({5}, "S0")); });
  refused(TENON_ERR_SHAPE, "shape [16,3,9,9], but that of the network is [16,3,227,227]",
          [](NamedPlan& plan) {
            plan.pinInput([](const Shape&, Index) { return fieldOn({2}, "S2", {16, 3, 9, 9}); });
          });
  refused(TENON_ERR_SUPPORT, "use model own", [](NamedPlan& plan) {
    plan.set("cost_model", "t1");
    plan.set("objective", "inference");
  });
  const Ref<NamedPlan> plan = alexNetPlan(16, 4);
  expectError(TENON_ERR_TYPE, {"training, inference, step"},
              [&] { plan->set("objective", "speed"); });
  refused(TENON_ERR_ARG, "every 5 steps",
          [](NamedPlan& plan) { plan.set("evaluate_every", Index(5)); });
  expectError(TENON_ERR_TYPE, {"batch, space, auto, all"}, [&] { plan->set("placement", "left"); });
}

// On a grid of many axes, all axes have the same label: they keep the field's properties, or none
// does.
TEST(PinnedEnds, FieldsMayHaveManyAxes) {
  const NetworkTable table = fieldNetwork(2, 1, 4);
  const Layout field = fieldOn({1, 1, 1, 1, 2, 2}, "B,B,B,B,S2,S3", {1, 4, 12, 10});
  const FoundPlan found =
      pinnedPlan(table, 1, 4, {.objective = Objective::Inference, .input = field, .output = field});
  for (const PlannedLayer& layer : found.layers)
    EXPECT_EQ(layer.labels, "input:h,w") << layer.name;
}

// A solver's grid has an axis for every dimension. Axes of one process are not printed and add no
// parallelizations.
TEST(PinnedEnds, AxesOfOneProcessHaveNoLabels) {
  const NetworkTable table = fieldNetwork(2, 3, 4);
  const auto modelOn = [&](const std::vector<int>& grid, const char* properties) {
    return OwnModel(declareNetwork(table, 4), FineGrid({4}), kPinnedRates,
                    {.input = fieldOn(grid, properties, {4, 4, 12, 10})});
  };
  const OwnModel model = modelOn({1, 1, 2, 2}, "S0,S1,S2,S3"), same = modelOn({2, 2}, "S2,S3");
  EXPECT_EQ(model.parallelizationCount(), same.parallelizationCount());
  for (int parallelization = 0; parallelization < model.parallelizationCount(); ++parallelization)
    if (model.fault(0, parallelization).empty()) {
      EXPECT_EQ(model.text(0, parallelization), same.text(0, parallelization));
    }
  const FoundPlan found = findPlan(model, {.fixed = {{"L0", "input:h,i"}}});
  EXPECT_EQ(found.layers[0].labels, "input:h,i");
  EXPECT_EQ(found.layers[0].meaning, "rows over 2, channels in over 2");
  const OwnModel one(declareNetwork(table, 4), FineGrid({1}), kPinnedRates,
                     {.input = fieldOn({1, 1}, "S2,S3", {4, 4, 12, 10})});
  EXPECT_EQ(findPlan(one).layers[0].labels, "input:all");
}

// The runner-up has other layouts: it is not the parallelization "n2" on the grid of the processes,
// which gives each process the same elements as "input:n" on the field's grid.
TEST(PinnedEnds, TheNextBestPlanIsAnotherOne) {
  const NetworkTable table = fieldNetwork(1, 3, 4);
  const OwnModel model(declareNetwork(table, 8), FineGrid({4}), kPinnedRates,
                       {.input = fieldOn({4, 1}, "S0,S2", {8, 4, 12, 10})});
  const FoundPlan found = findPlan(model);
  EXPECT_EQ(found.layers[0].labels, "input:n");
  EXPECT_GE(findPlan(model, {.fixed = {{"L0", "n2"}}}).seconds, found.seconds);
  ASSERT_FALSE(found.layers[0].runnerUp.empty());
  EXPECT_NE(found.layers[0].runnerUp, "n2");
  EXPECT_GT(found.layers[0].runnerUpSeconds, found.seconds);
}

// A reversed grid numbers positions from the last axis on; the price of communication between nodes
// depends on it.
TEST(Placements, TheFasterOfBothIsTaken) {
  const FineGrid grid = FineGrid({2, 3}).reversed();
  EXPECT_EQ(grid.extents(), (std::vector<int>{3, 2}));
  EXPECT_EQ(grid.grid()->ranks(), (std::vector<int>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(grid.reversed().grid()->ranks(), (std::vector<int>{0, 1, 2, 3, 4, 5}));

  const auto seconds = [](const char* placement, bool* reversed = nullptr) {
    const Ref<NamedPlan> plan = alexNetPlan(16, 8);
    plan->setMachine(Machine::make("nodes", {{"node", 2}, {"core", 4}},
                                   {{.name = "NIC",
                                     .level = 0,
                                     .units = 1,
                                     .bandwidth = 1e9,
                                     .latency = 1e-5,
                                     .rules = {{LinkRule::Leaving}}}}));
    plan->set("placement", placement);
    if (reversed)
      *reversed = plan->search().spaceOutermost;
    return plan->search().seconds;
  };
  bool reversed = false;
  const double batch = seconds("batch"), space = seconds("space");
  EXPECT_NE(batch, space);
  EXPECT_EQ(seconds("auto", &reversed), std::min(batch, space));
  EXPECT_EQ(reversed, space < batch);
  EXPECT_LE(seconds("all"), std::min(batch, space));
}

// There are six orders of two axes of one level and two of another.
TEST(Placements, OrdersAreAllOfTheAxesThatDiffer) {
  std::vector<std::vector<int>> levels, ranks;
  for (const FineGrid& grid : FineGrid({4, 4}).orders()) {
    levels.push_back(grid.levels());
    ranks.push_back(grid.grid()->ranks());
  }
  EXPECT_EQ(levels.front(), (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(ranks.front()[5], 5);
  std::ranges::sort(levels);
  EXPECT_EQ(
      levels,
      (std::vector<std::vector<int>>{
          {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 0}, {1, 0, 0, 1}, {1, 0, 1, 0}, {1, 1, 0, 0}}));
  std::ranges::sort(ranks);
  EXPECT_EQ(std::ranges::unique(ranks).begin(), ranks.end());
  const std::vector<FineGrid> mixed = FineGrid({2, 3}).orders();
  ASSERT_EQ(mixed.size(), 2u);
  EXPECT_EQ(mixed.back().extents(), (std::vector<int>{3, 2}));
  EXPECT_EQ(mixed.back().grid()->ranks(), (std::vector<int>{0, 3, 1, 4, 2, 5}));
  expectError(TENON_ERR_SUPPORT, {"12870 orders", "placement auto"}, [] {
    FineGrid({256, 256}).orders();
  });
}

TEST(FewerProcesses, TheBestNumberIsTaken) {
  EXPECT_EQ(FineGrid({2, 6}).withoutLast(1).grid()->ranks(), (std::vector<int>{0, 3, 6, 9}));
  const auto seconds = [](Index processes, bool fewer) {
    const Ref<NamedPlan> plan = alexNetPlan(8, processes);
    plan->set("fewer_processes", fewer);
    return plan->search().seconds;
  };
  // One axis of 7 has few parallelizations, and none of the batch of 8 alone.
  double least = seconds(7, /*fewer=*/false);
  for (Index processes : {1, 4, 5, 6})
    least = std::min(least, seconds(processes, /*fewer=*/false));
  EXPECT_EQ(seconds(7, /*fewer=*/true), least);
  // A batch of 1 on 9973 processes: no layer has that many parts.
  const Ref<NamedPlan> plan = alexNetPlan(1, 9973);
  expectError(TENON_ERR_SHAPE, {"layer conv1", "9973 processes"}, [&] { plan->search(); });
  plan->set("fewer_processes", true);
  EXPECT_LE(plan->search().grid->size(), 9973);
}

} // namespace
} // namespace tenon
