// SPDX-License-Identifier: BSD-2-Clause
// The moves and the seconds of passes, counted by hand. Rates are such that each exchange takes one
// second and each floating-point operation one more, whatever the number of bytes.
#include "compile/prices/pass_prices.hpp"

#include "declaration/core/types.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tenon::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// 16 elements split over 2 ranks, of one channel.
Layout twoHalves() {
  return Layout({.shape = {1, 1, 16}, .grid = Grid::make({2}), .properties = {Property::shard(2)}});
}

// A convolution with a window of 3, without bias: 8 outputs on a rank take 2 x 3 x 8 = 48
// operations, and read one element of the other rank.
constexpr double kWindowFlops = 48;
std::shared_ptr<const Declaration> window() {
  std::shared_ptr<Declaration> layer = makeDeclaration("conv");
  layer->set("in_channels", Index(1));
  layer->set("out_channels", Index(1));
  layer->set("kernel", Shape{3});
  layer->set("padding", Shape{1});
  layer->set("bias", false);
  return layer;
}

Network windows(int count) {
  Network network;
  for (int n = 0; n < count; ++n)
    network.nodes.push_back({.type = window(), .reads = {n}});
  network.outputs = {count};
  return network;
}

class PricedNetwork {
public:
  explicit PricedNetwork(Network network) : network_(std::move(network), {twoHalves()}, Target()) {}

  const CompiledNetwork& network() const { return network_; }
  const MapList& list() const { return network_.list(); }
  Pass apply() const { return applyPass(list(), network_.order()); }
  Pass adjoint(bool wanted) const { return adjointPass(list(), {wanted}, network_.order()); }
  std::vector<NodePrice> prices(const MapList& list, const Pass& pass) {
    return PassPrices(network_, conversions_, kernels_, Sampling::All).of(list, pass);
  }
  std::vector<NodePrice> prices(const Pass& pass) { return prices(list(), pass); }

private:
  CompiledNetwork network_;
  ConversionPrices conversions_{
      {.latency = 1, .overhead = 0, .bandwidth = kInfinity, .copyBandwidth = kInfinity}, 2};
  KernelRates kernels_{.flops = 1, .memory = kInfinity};
};

void expectPrice(const NodePrice& price, double kernels, double moves) {
  EXPECT_DOUBLE_EQ(price.kernels, kernels);
  EXPECT_DOUBLE_EQ(price.moves, moves);
}

TEST(PassPrices, OfAWindow) {
  PricedNetwork priced(windows(1));
  expectPrice(priced.prices(priced.apply()).front(), kWindowFlops, 1);
  // The adjoint computes the gradient of the weights, and the cotangent with its halo if it is
  // wanted.
  expectPrice(priced.prices(priced.adjoint(false)).front(), kWindowFlops, 0);
  expectPrice(priced.prices(priced.adjoint(true)).front(), 2 * kWindowFlops, 1);
  EXPECT_DOUBLE_EQ(priced.prices(priced.apply()).front().work.flops, kWindowFlops);
}

// Derivatives make the input of the second layer again, by the first layer and an exchange. The
// time of two passes says nothing of the rate of one.
TEST(PassPrices, OfALayerThatRunsAgain) {
  PricedNetwork priced(windows(2));
  const MapList again = priced.network().recomputing({true, true});
  const Pass adjoint = adjointPass(again, {false}, priced.network().order());
  const std::vector<NodePrice> prices = priced.prices(again, adjoint);
  expectPrice(prices[0], 2 * kWindowFlops, 0);
  expectPrice(prices[1], 2 * kWindowFlops, 2); // the exchange again, and that of the cotangent
  EXPECT_EQ(prices[0].work.flops, 0);
  EXPECT_EQ(prices[1].work.flops, 2 * kWindowFlops);
}

// A container that recomputes as a whole is one kernel, whose moves are those within it: Apply has
// a convolution and an exchange of 1 s; the adjoint has both again, then two convolutions and the
// exchange of the cotangent.
TEST(PassPrices, OfAContainerThatRunsAgain) {
  Network outer;
  outer.nodes.push_back({.type = makeDeclaration("sequential"),
                         .reads = {0},
                         .segment = std::make_shared<const Network>(windows(1))});
  outer.outputs = {1};
  PricedNetwork priced(std::move(outer));
  const Pass apply = priced.apply(), adjoint = priced.adjoint(true);
  expectPrice(priced.prices(apply).front(), kWindowFlops + 1, 0);
  expectPrice(priced.prices(adjoint).front(), 3 * kWindowFlops + 2, 0);
  EXPECT_EQ(movesOf(priced.network(), priced.list(), apply).size(), 1U);
  const std::vector<PassMove> moves = movesOf(priced.network(), priced.list(), adjoint);
  ASSERT_EQ(moves.size(), 2U);
  EXPECT_TRUE(moves[0].inKernel && !moves[0].adjoint);
  EXPECT_TRUE(moves[1].inKernel && moves[1].adjoint);
}

// A parameter that is stored elsewhere is moved in Apply.
TEST(PassPrices, OfAStoredParameter) {
  Network network = windows(1);
  network.nodes.front().parameters = {
      {"weight",
       Layout({.shape = {1, 1, 3}, .grid = Grid::make({2}), .properties = {Property::shard(2)}})}};
  PricedNetwork priced(std::move(network));
  const std::vector<PassMove> moves = movesOf(priced.network(), priced.list(), priced.apply());
  EXPECT_EQ(moves.size(), 2U);
  EXPECT_EQ(priced.prices(priced.apply()).front().moves, 2);
}

// A conversion is carried out as the target decides, a maximum in one exchange.
TEST(MovementOf, AnOperator) {
  const auto line = [](const char* property) {
    return Layout(
        {.shape = {1 << 20}, .grid = Grid::make({8}), .properties = parseProperties(property)});
  };
  MovementTarget target{.ranks = 8};
  target.routes.mode = RouteMode::Auto;
  const OperatorEntry sum{.kind = OperatorKind::Conversion, .from = line("P"), .to = line("B")};
  OperatorEntry maximum = sum;
  maximum.kind = OperatorKind::Maximum;
  EXPECT_NE(movementOf(sum, 4, target).by, Movement::By::Exchange);
  EXPECT_EQ(movementOf(maximum, 4, target).by, Movement::By::Exchange);
  // To the 7 others, and to each the whole tensor.
  const PassMove move{.op = maximum};
  EXPECT_EQ(sentFor(move, 0, true, 4, target).messages, 7);
  EXPECT_EQ(sentFor(move, 0, true, 4, target).elements, Index(7) << 20);
}

} // namespace
} // namespace tenon::test
