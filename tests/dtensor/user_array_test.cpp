// SPDX-License-Identifier: BSD-2-Clause
// Tests the checks of a user's strides: whether two indices are the same element, against the
// addresses of all elements; and whether an array is long enough.
#include "dtensor/stride_sums.hpp"

#include "sys/errors/error.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

namespace tenon {
namespace {

Strides stridesOf(const std::vector<Index>& values) {
  Strides strides{};
  std::copy(values.begin(), values.end(), strides.begin());
  return strides;
}

Index addressOf(const std::vector<Index>& cell, const Strides& strides) {
  Index address = 0;
  for (std::size_t d = 0; d < cell.size(); ++d)
    address += cell[d] * strides[d];
  return address;
}

// By the definition: compares the addresses of all elements.
bool areDistinct(const Shape& extent, const Strides& strides) {
  std::map<Index, int> seen;
  std::vector<Index> cell(extent.size(), 0);
  for (Index n = 0; n < elements(extent); ++n) {
    if (seen[addressOf(cell, strides)]++ > 0)
      return false;
    for (std::size_t d = 0; d < extent.size() && ++cell[d] == extent[d]; ++d)
      cell[d] = 0;
  }
  return true;
}

TEST(UserArray, HasDistinctCellsExactlyWhereAddressesDiffer) {
  std::mt19937 draw(5);
  const auto upTo = [&](Index most) { return static_cast<Index>(draw() % (most + 1)); };
  int distinct = 0, same = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    Shape extent(1 + upTo(3));
    Strides strides{};
    for (std::size_t d = 0; d < extent.size(); ++d) {
      extent[d] = 1 + upTo(4);
      strides[d] = (1 + upTo(trial % 2 == 0 ? 12 : 60)) * (draw() % 4 == 0 ? -1 : 1);
    }
    const auto found = sameElement(extent, strides);
    ASSERT_EQ(!found, areDistinct(extent, strides));
    (found ? same : distinct) += 1;
    if (!found)
      continue;
    EXPECT_NE(found->first, found->second);
    EXPECT_EQ(addressOf(found->first, strides), addressOf(found->second, strides));
    for (std::size_t d = 0; d < extent.size(); ++d) {
      EXPECT_LT(found->first[d], extent[d]);
      EXPECT_LT(found->second[d], extent[d]);
    }
  }
  EXPECT_GT(distinct, 500);
  EXPECT_GT(same, 500);
}

// Rows shorter than their columns' reach: no stride exceeds the span of the others, and yet all
// elements are distinct.
TEST(UserArray, MayInterleaveItsDimensions) {
  EXPECT_FALSE(sameElement({1000, 1000}, stridesOf({1000, 1001})));
  EXPECT_TRUE(sameElement({1002, 1001}, stridesOf({1000, 1001})));
  checkDistinct({2, 3}, stridesOf({3, 2}), false);
}

TEST(UserArray, NamesTwoCellsOfOneElement) {
  expectError(TENON_ERR_ARG, {"{1,1,12,1}", "[1,2,10,10]", "(0,1,0,0) and (0,0,0,1)"}, [] {
    checkDistinct({1, 2, 10, 10}, stridesOf({1, 1, 12, 1}), true);
  });
  expectError(TENON_ERR_ARG, {"dimension 1 has 4 elements", "stride of 0"}, [] {
    checkDistinct({2, 4}, stridesOf({4, 0}), false);
  });
  checkDistinct({2, 4}, stridesOf({4, 0}), true);
}

TEST(UserArray, SpansNoMoreThanItsLength) {
  checkSpan({3, 5}, stridesOf({-8, 1}), 21, 8);
  checkSpan({3, 5}, stridesOf({8, 1}), 0, 8);
  expectError(TENON_ERR_SHAPE, {"{8,1}", "[3,5]", "span 21 elements", "length of 20"}, [] {
    checkSpan({3, 5}, stridesOf({8, 1}), 20, 8);
  });
  expectError(TENON_ERR_SHAPE, {"{64,8}", "not bytes", "divide them by 8"}, [] {
    checkSpan({3, 5}, stridesOf({64, 8}), 24, 8);
  });
  expectError(TENON_ERR_ARG, {"length is -1"}, [] { checkSpan({3}, stridesOf({1}), -1, 8); });
  const Index most = std::numeric_limits<Index>::max();
  for (Index stride : {most, -most, std::numeric_limits<Index>::min(), most / 8})
    expectError(TENON_ERR_SHAPE, {"further than memory"}, [&] {
      checkSpan({4, 3}, stridesOf({stride, 1}), 0, 8);
    });
}

} // namespace
} // namespace tenon
