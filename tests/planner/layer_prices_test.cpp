// SPDX-License-Identifier: BSD-2-Clause
// Tests the price of a single layer (planner/prices/layer_prices.hpp) where it has moves of its
// own. The moves are those of the definition of the type: batch normalisation sums a mean and two
// moments per channel, softmax takes a maximum and a sum per line. Their seconds are compared with
// those of the same conversion by itself.
#include "declaration/core/types.hpp"
#include "machine/route.hpp"
#include "planner/prices/layer_prices.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tenon {
namespace {

constexpr double kFree = std::numeric_limits<double>::infinity(); // the rate of kernels at no cost
constexpr Index kElementBytes = 8;
const LinkRates kLinks = {.latency = 2e-6, .bandwidth = 6e9};

using NamedSettings = std::vector<std::pair<const char*, SettingValue>>;
const NamedSettings kChannels = {{"channels", Index(6)}};

// The cost of a layer whose input is split along a dimension over two ranks. Kernels take no time.
class PricedLayer {
public:
  PricedLayer(const std::string& type, const Shape& input, int dim, bool trains,
              const NamedSettings& settings = {})
      : conversions_(kLinks, 2),
        prices_(conversions_, {.links = kLinks, .kernels = {.flops = kFree, .memory = kFree}},
                kElementBytes, trains) {
    const auto declaration = makeDeclaration(type);
    for (const auto& [name, value] : settings)
      declaration->set(name, value);
    const Layout layout(
        {.shape = input, .grid = Grid::make({2}), .properties = {Property::shard(dim)}});
    prices_.addForm(*declaration, declaration->form({layout}, {}), /*hasCotangent=*/true, cost_);
  }

  int moves(double LayerTerms::*term) const {
    return static_cast<int>(
        std::ranges::count(cost_.moves, term, &ParallelizationCost::Move::term));
  }
  LayerTerms seconds() { return prices_.terms(cost_, Sampling::All); }

private:
  ConversionPrices conversions_;
  LayerPrices prices_;
  ParallelizationCost cost_;
};

// Seconds of the sum of contributions of two ranks.
double sumOf(const Shape& shape) {
  const auto layout = [&](const char* properties) {
    return Layout(
        {.shape = shape, .grid = Grid::make({2}), .properties = parseProperties(properties)});
  };
  double seconds = 0;
  for (const RouteStep& step : findRoute(layout("P"), layout("B"), kElementBytes,
                                         {.mode = RouteMode::Auto, .rates = kLinks}))
    seconds += step.seconds;
  return seconds;
}

TEST(LayerPrices, OfANormHaveTheSumsOfItsMoments) {
  PricedLayer layer("batchnorm", {8, 6, 32}, 0, /*trains=*/true, kChannels);
  EXPECT_EQ(layer.moves(&LayerTerms::forward), 2);
  EXPECT_NEAR(layer.seconds().forward, sumOf({1, 6}) + sumOf({2, 6}), 1e-15);
  // The mean is only a reference for the moments, so nothing is derived with respect to it.
  EXPECT_EQ(layer.moves(&LayerTerms::backward), 1);
  EXPECT_NEAR(layer.seconds().backward, sumOf({2, 6}), 1e-15);
}

TEST(LayerPrices, OfANormHaveNoMovesIfARankHasItsMoments) {
  PricedLayer channels("batchnorm", {8, 6, 32}, 1, /*trains=*/true, kChannels);
  EXPECT_EQ(channels.seconds().sum(), 0);
  PricedLayer inference("batchnorm", {8, 6, 32}, 0, /*trains=*/false, kChannels);
  EXPECT_EQ(inference.seconds().sum(), 0);
}

TEST(LayerPrices, OfASplitSoftmaxHaveItsMaximumAndItsSum) {
  PricedLayer layer("softmax", {8, 6, 32}, 1, /*trains=*/true, {{"dim", Index(1)}});
  EXPECT_EQ(layer.moves(&LayerTerms::forward), 2);
  // A maximum is a single exchange, and so is the best sum of so few numbers.
  EXPECT_NEAR(layer.seconds().forward, 2 * sumOf({8, 32}), 1e-15);
  EXPECT_EQ(layer.moves(&LayerTerms::backward), 1);
  EXPECT_NEAR(layer.seconds().backward, sumOf({8, 32}), 1e-15);
  PricedLayer whole("softmax", {8, 6, 32}, 0, /*trains=*/true, {{"dim", Index(1)}});
  EXPECT_EQ(whole.seconds().sum(), 0);
}

// The halo of an input is a move of the network between two layers.
TEST(LayerPrices, DoNotHaveTheHaloOfTheInput) {
  PricedLayer layer("maxpooling", {8, 6, 32}, 2, /*trains=*/true, {{"kernel", Shape{3}}});
  EXPECT_EQ(layer.moves(&LayerTerms::forward), 0);
}

} // namespace
} // namespace tenon
