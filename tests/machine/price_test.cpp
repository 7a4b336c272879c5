// SPDX-License-Identifier: BSD-2-Clause
// Prices against sums made by hand.
#include "machine/price.hpp"
#include "sys/error.hpp"
#include "sys/options.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

const LinkRates kRates{.latency = 10, .overhead = 1, .bandwidth = 4, .copyBandwidth = 8};

Layout line(int ranks, Shape shape, const char* property) {
  return Layout({.shape = std::move(shape),
                 .mesh = Mesh::make({ranks}),
                 .properties = parseProperties(property)});
}

TEST(Price, AnExchangeIsWhatItsDearestRankDoes) {
  // Each of 4 ranks sends its 2 cells of 8 bytes to 3 others, gets 6 cells and keeps 2.
  const ExchangePrice gather = priceOfExchange(line(4, {8}, "S0"), line(4, {8}, "B"), 8, kRates);
  EXPECT_FALSE(gather.local);
  EXPECT_DOUBLE_EQ(gather.seconds, 10 + 3 + 48.0 / 4 + (48 + 48 + 16) / 8.0);
  // The root of a scatter of 7 cells sends 5 of them, in 3 messages.
  const ExchangePrice scatter = priceOfExchange(line(4, {7}, "R"), line(4, {7}, "S0"), 8, kRates);
  EXPECT_DOUBLE_EQ(scatter.seconds, 10 + 3 + 40.0 / 4 + (40 + 16) / 8.0);
}

TEST(Price, ASliceCostsItsCopyAlone) {
  const ExchangePrice slice = priceOfExchange(line(4, {8}, "B"), line(4, {8}, "S0"), 8, kRates);
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

TEST(Price, LooksAtNoMoreThan64Positions) {
  EXPECT_EQ(sampledPositions(*Mesh::make({5})), (std::vector<int>{0, 1, 2, 3, 4}));
  const std::vector<int> many = sampledPositions(*Mesh::make({64, 64}));
  EXPECT_EQ(many.size(), 64u);
  EXPECT_EQ(many.front(), 0);
  EXPECT_EQ(many.back(), 4095);
  EXPECT_TRUE(std::is_sorted(many.begin(), many.end()));
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
