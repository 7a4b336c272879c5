// SPDX-License-Identifier: BSD-2-Clause
// Checks the small examples with numbers in the opening comments of the planner's headers: the cost
// of plans, the certificate of a search, the parallelizations of a layer, the volume of a move, and
// the orders of a process grid.
#include "planner/prices/own_model.hpp"
#include "planner/search/candidate_grids.hpp"
#include "planner/search/memory_bound.hpp"
#include "planner/search/plan_search.hpp"
#include "planner/small_network.hpp"

namespace tenon {
namespace {

// One layer with two parallelizations, whose prices are lower bounds below Precision::Close.
class TwoPrices : public CostModel {
public:
  TwoPrices() : CostModel(FineGrid({1}), false) { names_ = {"layer"}; }
  int parallelizationCount() const override { return 2; }
  std::string spatial(int) const override { return {}; }
  Parts parts(int, int) const override { return {}; }
  std::string text(int, int parallelization) const override {
    return std::to_string(parallelization);
  }
  std::string fault(int, int) const override { return {}; }
  double layerSeconds(int, int parallelization, Precision precision) const override {
    const double bounds[] = {5, 6}, exact[] = {7, 6.5};
    return precision < Precision::Close ? bounds[parallelization] : exact[parallelization];
  }
  double moveSeconds(int, int, int, Precision) const override { return 0; }
  double layerBytes(int, int) const override { return 0; }
};

// cost_model.hpp
TEST(Examples, APlanCostsTheSumOfItsLayersAndMoves) {
  const CostTables tables{.names = {"1", "2"},
                          .seconds = {{4, 2}, {3, 3}},
                          .bytes = {{0, 0}, {0, 0}},
                          .pairs = {{.from = 0, .to = 1, .seconds = {0, 2, 1, 0}}}};
  EXPECT_EQ(tables.secondsOf({0, 0}), 7);
  EXPECT_EQ(tables.secondsOf({0, 1}), 9);
  EXPECT_EQ(tables.secondsOf({1, 0}), 6);
  EXPECT_EQ(tables.secondsOf({1, 1}), 5);
  EXPECT_EQ(fastestPlan(tables, 0).choice, (std::vector<int>{1, 1}));
}

// plan_search.hpp
// Parallelization 0 seems the cheapest at first, 5 against 6. Its exact price is 7, so the second
// search finds parallelization 1.
TEST(Examples, ASearchIsRepeatedUntilNoPriceIsTooLow) {
  const FoundPlan found = findPlan(TwoPrices());
  EXPECT_EQ(found.parallelizations, std::vector<int>{1});
  EXPECT_EQ(found.seconds, 6.5);
  EXPECT_EQ(found.rounds, 2);
}

// memory_bound.hpp
TEST(Examples, AMemoryLimitExcludesTheFastestPlan) {
  const CostTables tables{
      .names = {"layer"}, .seconds = {{1, 2.5}}, .bytes = {{100, 40}}, .pairs = {}};
  const BoundedPlan found = fastestPlan(tables, 60);
  EXPECT_EQ(found.seconds, 2.5);
  EXPECT_EQ(found.bytes, 40);
}

// layer_parallelizations.hpp
TEST(Examples, ParallelizationsAreNumberedByGrid) {
  const Layout field(
      {.shape = {4, 3, 12, 10}, .grid = Grid::make({4}), .properties = {Property::shard(2)}});
  const OwnModel model(declareNetwork(test::smallNetwork(), 4), FineGrid({4}),
                       {.links = {.latency = 2e-6, .bandwidth = 6e9}},
                       {.input = field, .inputChannels = false});
  const char* kTexts[] = {"n2", "n,o", "n,h", "o2", "o,h", "hw2-", "input:h", "input:n", "input:o"};
  ASSERT_EQ(model.firstBalanced(), static_cast<int>(std::size(kTexts)));
  EXPECT_EQ(model.parallelizationCount(), 2 * model.firstBalanced());
  std::vector<std::string> texts, expected(std::begin(kTexts), std::end(kTexts));
  for (int number = 0; number < model.firstBalanced(); ++number)
    texts.push_back(model.text(0, number));
  std::ranges::sort(texts);
  std::ranges::sort(expected);
  EXPECT_EQ(texts, expected);
}

// move_prices.hpp: three messages of n / 16 elements (machine/price.hpp has the formula).
TEST(Examples, AMoveFromRowsToChannelsIsAnAllToAll) {
  const Shape shape{1, 16, 16, 16};
  const auto split = [&](int dim) {
    return Layout({.shape = shape, .grid = Grid::make({4}), .properties = {Property::shard(dim)}});
  };
  const LinkRates links{.latency = 2e-6, .overhead = 3e-7, .bandwidth = 1e9, .copyBandwidth = 1e10};
  ConversionPrices conversions(links, 4);
  MovePrices moves(conversions, links, 4);
  const int rows = moves.numberOf(split(2)), channels = moves.numberOf(split(1)),
            batch = moves.numberOf(split(0));
  moves.add({.sources = {rows}, .targets = {channels}, .hasCotangent = false});
  moves.add({.sources = {batch}, .targets = {batch}});
  moves.add({.sources = {rows}, .targets = {channels}});
  // Three messages are packed, and a quarter of the tensor is written.
  const double sent = 3 * 4.0 * 4096 / 16, written = 4.0 * 4096 / 4;
  const double once = 2e-6 + 3 * 3e-7 + sent / 1e9 + (sent + written) / 1e10;
  EXPECT_NEAR(moves.seconds(0, 0, 0, Precision::Exact), once, 1e-15);
  EXPECT_EQ(moves.seconds(1, 0, 0, Precision::Exact), 0);
  EXPECT_NEAR(moves.seconds(2, 0, 0, Precision::Exact), 2 * once, 1e-15);
}

// candidate_grids.hpp
TEST(Examples, ThePlacementIsTheOrderOfTheAxes) {
  const FineGrid grid({2, 6});
  const auto extents = [&](const GridChoice& choice) {
    std::vector<std::vector<int>> all;
    for (const FineGrid& one : candidateGrids(grid, choice))
      all.push_back(one.extents());
    return all;
  };
  const std::vector<int> batch{2, 2, 3}, space{3, 2, 2};
  using Extents = std::vector<std::vector<int>>;
  EXPECT_EQ(extents({.placement = "batch", .isFlat = false}), Extents{batch});
  EXPECT_EQ(extents({.placement = "space", .isFlat = false}), Extents{space});
  EXPECT_EQ(extents({.placement = "auto", .isFlat = false}), (Extents{batch, space}));
  EXPECT_EQ(extents({.placement = "auto", .isFlat = true}), Extents{batch});
  // Without the innermost axes, and the next smaller numbers with small factors: 10, 9 and 8.
  EXPECT_EQ(extents({.placement = "batch", .fewerProcesses = true}),
            (Extents{{2, 2, 3}, {2, 2}, {2}, {}, {2, 5}, {3, 3}, {2, 2, 2}}));
}

} // namespace
} // namespace tenon
