// SPDX-License-Identifier: BSD-2-Clause
// ElementOffsets, which converts the number of an element of a box to its offset in an array,
// compared on the host with loops over the box. Boxes with more elements than 32 bits can number
// can be counted, and checkElementCount() throws for them.
#include "kernels/walks/element_offsets.hpp"

#include "kernels/walks/each.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

// The stride 7 does not matter, because its dimension has one element.
TEST(ElementOffsets, FollowTheNumbersRowByRow) {
  const Index extent[] = {3, 1, 4, 5}, strides[] = {100, 7, -20, 3};
  const ElementOffsets<1> offsets(4, extent, {strides});
  ASSERT_EQ(offsets.count(), 60);
  Index number = 0;
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 4; ++j)
      for (Index k = 0; k < 5; ++k)
        EXPECT_EQ(offsets(number++).of[0], 100 * i - 20 * j + 3 * k);
}

TEST(ElementOffsets, OfAnyExtentAreCountedAndRefused) {
  for (const Index extentBeyond32Bits :
       {Index(1) << 32, Index(3) << 32, (Index(1) << 32) + 1, Index(1) << 40}) {
    const Index extent[] = {2, extentBeyond32Bits}, strides[] = {0, 0};
    const ElementOffsets<1> offsets(2, extent, {strides});
    EXPECT_EQ(offsets.count(), 2 * extentBeyond32Bits);
    expectError(TENON_ERR_SUPPORT, {"a walk", "2^31 - 1"},
                [&] { checkElementCount(offsets.count(), "a walk"); });
  }
}

} // namespace
} // namespace tenon
