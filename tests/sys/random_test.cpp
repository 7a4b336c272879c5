// SPDX-License-Identifier: BSD-2-Clause
// Tests the random numbers: Philox against the published test vectors of Random123, the uniform and
// normal distributions against their moments, permutations against a chi-square bound, and
// streamOf() against the test vectors of FNV-1a.
#include "sys/random.hpp"

#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace {

using namespace tenon;

// The known-answer vectors that come with Random123.
TEST(Philox, AgreesWithThePublishedVectors) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, BitsAreTheCipherOfIndexAndStreamUnderTheSeed) {
  // seed 0x299f31d0a4093822, stream 0x0370734413198a2e, index 0x85a308d3243f6a88: the third vector.
  EXPECT_EQ(bitsAt(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88),
            0x94fdccebd16cfe09ULL);
}

TEST(Random, UniformIsTheTop53Bits) {
  EXPECT_EQ(uniformAt(0, 0, 0), std::ldexp(static_cast<double>(0xe169c58d6627e8d5ULL >> 11), -53));
}

TEST(Random, UniformHasTheRightMoments) {
  constexpr int kDraws = 200000;
  double sum = 0, square = 0, lag = 0, before = 0.5;
  for (int i = 0; i < kDraws; ++i) {
    const double u = uniformAt(1, 2, static_cast<std::uint64_t>(i));
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u - 0.5;
    square += (u - 0.5) * (u - 0.5);
    lag += (u - 0.5) * (before - 0.5);
    before = u;
  }
  // Five standard deviations of the estimates.
  const double root = std::sqrt(static_cast<double>(kDraws));
  EXPECT_LT(std::abs(sum / kDraws), 5 * std::sqrt(1.0 / 12) / root);
  EXPECT_LT(std::abs(square / kDraws - 1.0 / 12), 5 * std::sqrt(1.0 / 180) / root);
  EXPECT_LT(std::abs(lag / kDraws), 5 * (1.0 / 12) / root);
}

TEST(Random, NormalHasTheRightMoments) {
  constexpr int kDraws = 200000;
  double moments[5] = {};
  int within = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double z = normalAt(3, 4, static_cast<std::uint64_t>(i));
    ASSERT_TRUE(std::isfinite(z));
    for (int k = 1; k <= 4; ++k)
      moments[k] += std::pow(z, k) / kDraws;
    if (std::abs(z) < 1)
      ++within;
  }
  const double root = std::sqrt(static_cast<double>(kDraws));
  EXPECT_LT(std::abs(moments[1]), 5 / root);
  EXPECT_LT(std::abs(moments[2] - 1), 5 * std::sqrt(2.0) / root);
  EXPECT_LT(std::abs(moments[3]), 5 * std::sqrt(15.0) / root);
  EXPECT_LT(std::abs(moments[4] - 3), 5 * std::sqrt(96.0) / root);
  const double p = std::erf(std::sqrt(0.5));
  EXPECT_LT(std::abs(static_cast<double>(within) / kDraws - p), 5 * std::sqrt(p * (1 - p)) / root);
}

TEST(Random, SeedsAndStreamsAreApart) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t a = 0; a < 10; ++a)
    for (std::uint64_t b = 0; b < 10; ++b)
      for (std::uint64_t c = 0; c < 10; ++c)
        seen.insert(bitsAt(a, b, c));
  EXPECT_EQ(seen.size(), 1000U);
}

TEST(Permutation, HoldsEachItemOnce) {
  for (Index n : {0, 1, 2, 1000}) {
    auto order = permutation(5, 6, n);
    std::sort(order.begin(), order.end());
    for (Index i = 0; i < n; ++i)
      EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  }
  expectError(TENON_ERR_ARG, {"-1 items"}, [] { permutation(0, 0, -1); });
}

TEST(Permutation, DependsOnSeedAndStreamOnly) {
  EXPECT_EQ(permutation(1, 2, 100), permutation(1, 2, 100));
  EXPECT_NE(permutation(1, 2, 100), permutation(1, 3, 100));
  EXPECT_NE(permutation(1, 2, 100), permutation(2, 2, 100));
}

TEST(Permutation, OrdersAreEquallyLikely) {
  constexpr int kDraws = 24000;
  std::map<std::vector<Index>, int> counts;
  for (std::uint64_t stream = 0; stream < kDraws; ++stream)
    ++counts[permutation(7, stream, 4)];
  ASSERT_EQ(counts.size(), 24U);
  double chiSquare = 0;
  for (const auto& [order, count] : counts)
    chiSquare += (count - 1000.0) * (count - 1000.0) / 1000.0;
  // 23 degrees of freedom: exceeded with probability 1e-4.
  EXPECT_LT(chiSquare, 58.6);
}

TEST(StreamOf, IsFnv1a) {
  // From the FNV reference code's test vectors.
  EXPECT_EQ(streamOf(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(streamOf("a"), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(streamOf("foobar"), 0x85944171f73967e8ULL);
}

} // namespace
