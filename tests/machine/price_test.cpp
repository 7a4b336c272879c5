// SPDX-License-Identifier: BSD-2-Clause
// Tests prices of exchanges and collectives against sums written by hand, in the order of the
// formula of price.hpp: latency + overheads + bytes / bandwidth + (packed + written) /
// copyBandwidth.
#include "machine/price.hpp"
#include "sys/errors/error.hpp"
#include "sys/options/options.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon {
namespace {

const LinkRates kRates{.latency = 10, .overhead = 1, .bandwidth = 4, .copyBandwidth = 8};

Layout line(int ranks, Shape shape, const char* property) {
  return Layout({.shape = std::move(shape),
                 .grid = Grid::make({ranks}),
                 .properties = parseProperties(property)});
}

TEST(Price, AnExchangeCostsAsMuchAsItsMostExpensiveRank) {
  // Each of 4 ranks sends its 2 elements of 8 bytes to 3 others, gets 6 elements and keeps 2.
  const ExchangePrice gather =
      priceOfExchange(line(4, {8}, "S0"), line(4, {8}, "B"), 8, kRates, Sampling::Sampled);
  EXPECT_FALSE(gather.local);
  EXPECT_DOUBLE_EQ(gather.seconds, 10 + 3 + 48.0 / 4 + (48 + 48 + 16) / 8.0);
  // The root of a scatter of 7 elements sends 5 of them, in 3 messages.
  const ExchangePrice scatter =
      priceOfExchange(line(4, {7}, "R"), line(4, {7}, "S0"), 8, kRates, Sampling::Sampled);
  EXPECT_DOUBLE_EQ(scatter.seconds, 10 + 3 + 40.0 / 4 + (40 + 16) / 8.0);
}

TEST(Price, ASliceCostsItsCopyAlone) {
  const ExchangePrice slice =
      priceOfExchange(line(4, {8}, "B"), line(4, {8}, "S0"), 8, kRates, Sampling::Sampled);
  EXPECT_TRUE(slice.local);
  EXPECT_DOUBLE_EQ(slice.seconds, 16 / 8.0);
}

TEST(Price, CollectivesByTheirFormulas) {
  const auto price = [](CollectiveKind kind, Index bytes) {
    return priceOfCollective(kind, 5, bytes, kRates) - 2.0 * static_cast<double>(bytes) / 8;
  };
  // 5 ranks: 3 rounds of 11 s; 4/5 of 40 bytes take 8 s, all of them 10 s; adding them 5 s.
  EXPECT_DOUBLE_EQ(price(CollectiveKind::AllGather, 40), 33 + 8);
  EXPECT_DOUBLE_EQ(price(CollectiveKind::Broadcast, 40), 33 + 30);
  EXPECT_DOUBLE_EQ(price(CollectiveKind::ReduceScatter, 40), 10 + 4 + 8 + 5);
  EXPECT_DOUBLE_EQ(price(CollectiveKind::AllReduce, 40), (10 + 4 + 8 + 5) + (33 + 8));
  EXPECT_DOUBLE_EQ(price(CollectiveKind::Reduce, 40), (10 + 4 + 8 + 5) + (33 + 8));
  // A long broadcast is a scatter and a ring: 3 + 4 rounds, twice 4/5 of 4000 bytes.
  EXPECT_DOUBLE_EQ(price(CollectiveKind::Broadcast, 4000), 77 + 1600);
}

TEST(Price, ShortSumsOfManyRanksGoAlongATree) {
  EXPECT_TRUE(sumsByTree(CollectiveKind::AllReduce, 4096, 8, LinkRates{}));
  EXPECT_FALSE(sumsByTree(CollectiveKind::AllReduce, 4096, Index(1) << 30, LinkRates{}));
}

TEST(Price, LooksAtAFewPositionsInsideAndOffTheDiagonals) {
  EXPECT_EQ(sampledPositions(*Grid::make({2, 2, 2}), Sampling::Few), (std::vector<int>{0, 5, 3}));
  EXPECT_EQ(sampledPositions(*Grid::make({7}), Sampling::Few), (std::vector<int>{0, 3}));
  // Position 0 sends less than positions whose two coordinates differ.
  const GridPtr grid = Grid::make({2, 2});
  const auto price = [&](Sampling sampling) {
    const Layout from({.shape = {8, 8}, .grid = grid, .properties = parseProperties("S0,S1")});
    const Layout to({.shape = {8, 8}, .grid = grid, .properties = parseProperties("S1,S0")});
    return priceOfExchange(from, to, 8, kRates, sampling).seconds;
  };
  EXPECT_LT(price(Sampling::First), price(Sampling::All));
  EXPECT_EQ(price(Sampling::Few), price(Sampling::All));
}

TEST(Price, LooksAtOnePositionOr64OrAll) {
  EXPECT_EQ(sampledPositions(*Grid::make({5}), Sampling::First), (std::vector<int>{0}));
  EXPECT_EQ(sampledPositions(*Grid::make({5}), Sampling::Sampled),
            (std::vector<int>{0, 1, 2, 3, 4}));
  const Grid grid({64, 64}, Grid::make({64, 64})->ranks());
  const std::vector<int> many = sampledPositions(grid, Sampling::Sampled);
  EXPECT_EQ(many.size(), 64u);
  EXPECT_EQ(many.front(), 0);
  EXPECT_EQ(many.back(), 4095);
  EXPECT_TRUE(std::is_sorted(many.begin(), many.end()));
  EXPECT_EQ(sampledPositions(grid, Sampling::All).size(), 4096u);
}

TEST(Price, OneExpensivePositionOfManyIsFoundByAllSamplings) {
  LayoutSpec spec = line(200, {1200}, "S0").spec();
  for (int part = 0; part <= 200; ++part)
    spec.cuts[0][part] = part + (part > 100 ? 1000 : 0); // part 100 has 1001 elements, others one
  const Layout uneven(spec), even = line(200, {1200}, "S0");
  const auto seconds = [&](Sampling sampling) {
    return priceOfExchange(uneven, even, 8, kRates, sampling).seconds;
  };
  EXPECT_LE(seconds(Sampling::First), seconds(Sampling::Sampled));
  EXPECT_GT(seconds(Sampling::All), 10 * seconds(Sampling::Sampled));
}

// A halo of one element on parts of two: an inner rank sends one element to each neighbour.
Layout withHalo(const Layout& plain) {
  LayoutSpec spec = plain.spec();
  spec.halos.resize(plain.ndim());
  Halo halo{.boxes = {}, .low = Boundary::Zero, .high = Boundary::Zero};
  for (int part = 0; part < plain.parts(0); ++part)
    halo.boxes.push_back({plain.owned(0, part).begin - 1, plain.owned(0, part).end + 1});
  spec.halos[0] = halo;
  return Layout(spec);
}

TEST(Price, AHaloIsItsNeighboursCells) {
  const Layout plain = line(4, {8}, "S0"), halo = withHalo(plain);
  EXPECT_DOUBLE_EQ(priceOfExchange(plain, halo, 8, kRates, Sampling::All).seconds,
                   10 + 2 + 16.0 / 4 + (16 + 32) / 8.0);
  // In the adjoint a rank receives the same number of elements and adds them to its own two.
  EXPECT_DOUBLE_EQ(priceOfExchange(halo.dual(), plain, 8, kRates, Sampling::All).seconds,
                   10 + 2 + 16.0 / 4 + (16 + 32) / 8.0);
  const ExchangePrice trim = priceOfExchange(halo, plain, 8, kRates, Sampling::All);
  EXPECT_TRUE(trim.local);
  EXPECT_DOUBLE_EQ(trim.seconds, 16 / 8.0);
}

LinkRates withNodes(Index ranks) {
  LinkRates rates = kRates;
  rates.levels = {{ranks, 100, 1}};
  return rates;
}

TEST(Price, ElementsHaveTheRatesOfTheOutermostLevelThatTheyCross) {
  const Layout plain = line(4, {8}, "S0"), halo = withHalo(plain);
  // Rank 1 has one neighbour in its node and one in the other.
  EXPECT_DOUBLE_EQ(priceOfExchange(plain, halo, 8, withNodes(2), Sampling::All).seconds,
                   100 + 2 + 8.0 / 4 + 8.0 / 1 + (16 + 32) / 8.0);
  EXPECT_DOUBLE_EQ(priceOfExchange(plain, halo, 8, withNodes(4), Sampling::All).seconds,
                   priceOfExchange(plain, halo, 8, kRates, Sampling::All).seconds);
  // The same positions held by ranks of which no two neighbours share a node.
  LayoutSpec mixed = plain.spec();
  mixed.grid = Grid::make({4}, {0, 2, 1, 3});
  const Layout apart(mixed);
  EXPECT_DOUBLE_EQ(priceOfExchange(apart, withHalo(apart), 8, withNodes(2), Sampling::All).seconds,
                   100 + 2 + 16.0 / 1 + (16 + 32) / 8.0);
}

TEST(Price, ACollectiveGoesByTheOutermostLevelOfItsLines) {
  const GridPtr grid = Grid::make({2, 4});
  const auto layout = [&](const char* properties) {
    return Layout({.shape = {80}, .grid = grid, .properties = parseProperties(properties)});
  };
  const LinkRates rates = withNodes(4);
  const auto inside = priceAsCollective(layout("B,P"), layout("B,B"), 8, rates, Sampling::All);
  const auto across = priceAsCollective(layout("P,B"), layout("B,B"), 8, rates, Sampling::All);
  EXPECT_DOUBLE_EQ(inside->seconds, priceOfCollective(CollectiveKind::AllReduce, 4, 640, kRates));
  EXPECT_DOUBLE_EQ(across->seconds,
                   priceOfCollective(CollectiveKind::AllReduce, 2, 640, rates.onLevel(0)));
}

// MPI counts in int: of a sum, and of the adjoint of an all-gather, also the contributions of one
// piece from all ranks.
TEST(Price, CollectivesOfMoreElementsThanAnIntCountsAreImpossible) {
  const auto isCollective = [](Index elements, std::vector<Index> cuts, const char* from,
                               const char* to) {
    const auto layout = [&](const char* property) {
      LayoutSpec spec{
          .shape = {elements}, .grid = Grid::make({2}), .properties = parseProperties(property)};
      if (spec.properties[0].isShard())
        spec.cuts = {cuts};
      return Layout(spec);
    };
    return priceAsCollective(layout(from), layout(to), 8, kRates, Sampling::All).has_value();
  };
  const Index most = 2'000'000'000, half = most / 2;
  for (const auto& [from, to] : {std::pair{"S0", "B"}, {"P", "S0"}}) {
    EXPECT_TRUE(isCollective(most, {0, half, most}, from, to)) << from << to;
    EXPECT_FALSE(isCollective(most, {0, half + 200'000'000, most}, from, to)) << from << to;
    EXPECT_FALSE(isCollective(2 * most, {0, most, 2 * most}, from, to)) << from << to;
  }
  EXPECT_TRUE(isCollective(most, {}, "P", "B"));
  EXPECT_FALSE(isCollective(Index(1) << 31, {}, "P", "B"));
}

TEST(Price, AMoveIsTheCheaperOfExchangeAndCollective) {
  const Layout p = line(64, {8}, "P"), b = line(64, {8}, "B");
  const MovePrice sum = priceOfMove(p, b, 8, LinkRates{}, Sampling::All);
  EXPECT_EQ(sum.collective, CollectiveKind::AllReduce);
  EXPECT_DOUBLE_EQ(sum.seconds, priceOfCollective(CollectiveKind::AllReduce, 64, 64, LinkRates{}));
  // The same on axes that are one when merged.
  const GridPtr binary = Grid::make({2, 2, 2, 2, 2, 2});
  const auto all = [&](Property property) {
    return Layout({.shape = {8}, .grid = binary, .properties = Properties(6, property)});
  };
  const MovePrice merged = priceOfMove(all(Property::partial()), all(Property::broadcast()), 8,
                                       LinkRates{}, Sampling::All);
  EXPECT_EQ(merged.collective, sum.collective);
  EXPECT_DOUBLE_EQ(merged.seconds, sum.seconds);
  // Two ranks gain nothing, halos and slices have no collective.
  for (const auto& [from, to] : {std::pair(line(2, {8}, "P"), line(2, {8}, "B")),
                                 std::pair(line(4, {8}, "B"), line(4, {8}, "S0")),
                                 std::pair(line(4, {8}, "S0"), withHalo(line(4, {8}, "S0")))}) {
    const MovePrice move = priceOfMove(from, to, 8, kRates, Sampling::All);
    EXPECT_FALSE(move.collective);
    EXPECT_DOUBLE_EQ(move.seconds, priceOfExchange(from, to, 8, kRates, Sampling::All).seconds);
  }
}

TEST(Price, RatesComeFromOptionsAndAreAboveZero) {
  options().set("-tenon_machine_latency", "0.5");
  EXPECT_EQ(LinkRates::fromOptions().latency, 0.5);
  for (const char* wrong : {"0", "-1", "inf"})
    EXPECT_THROW(options().set("-tenon_machine_latency", wrong), Error);
  options().clear();
  EXPECT_EQ(LinkRates::fromOptions(), LinkRates{});
}

} // namespace
} // namespace tenon
