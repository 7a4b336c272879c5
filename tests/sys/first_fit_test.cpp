// SPDX-License-Identifier: BSD-2-Clause
// Tests FirstFit, the allocator within a range of bytes: small cases by hand, and random
// allocations against a list of flags with one entry per byte.
#include "sys/memory/memory.hpp"

#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace tenon {
namespace {

TEST(FirstFit, TakesTheFirstGapThatIsWideEnough) {
  FirstFit places(100);
  EXPECT_EQ(places.allocate(40, 1), 0);
  EXPECT_EQ(places.allocate(20, 1), 40);
  EXPECT_EQ(places.allocate(30, 1), 60);
  EXPECT_EQ(places.deallocate(0), 40);
  EXPECT_EQ(places.allocate(50, 1), std::nullopt);
  EXPECT_EQ(places.allocate(10, 1), 0);
  EXPECT_EQ(places.allocate(30, 1), 10);
  EXPECT_EQ(places.allocate(10, 1), 90);
  EXPECT_EQ(places.bytesTaken(), 100);
}

TEST(FirstFit, JoinsGapsOnBothSides) {
  FirstFit places(90);
  for (Index at : {0, 30, 60})
    EXPECT_EQ(places.allocate(30, 1), at);
  places.deallocate(0);
  places.deallocate(60);
  EXPECT_EQ(places.allocate(31, 1), std::nullopt);
  places.deallocate(30);
  EXPECT_EQ(places.allocate(90, 1), 0);
}

TEST(FirstFit, AlignsAndUsesWhatThatLeaves) {
  FirstFit places(256);
  EXPECT_EQ(places.allocate(1, 64), 0);
  EXPECT_EQ(places.allocate(10, 64), 64);
  EXPECT_EQ(places.allocate(63, 1), 1);
  EXPECT_EQ(places.allocate(129, 64), std::nullopt);
  EXPECT_EQ(places.allocate(128, 128), 128);
}

TEST(FirstFit, RefusesToFreeAnUnusedOffset) {
  FirstFit places(8);
  expectError(TENON_ERR_INTERNAL, {"place 4"}, [&] { places.deallocate(4); });
}

// Against a list with a flag for each byte that is allocated. If an allocation fails, the list must
// not have a gap that would be large enough.
TEST(FirstFit, NeverOverlapsAndFreesEverything) {
  constexpr Index kBytes = 1000;
  std::mt19937 engine(5);
  FirstFit places(kBytes);
  std::vector<bool> taken(kBytes, false);
  std::vector<std::pair<Index, Index>> held; // Offset and size of each allocation.
  for (int round = 0; round < 4000; ++round) {
    if (engine() % 2 == 0 && !held.empty()) {
      const std::size_t i = engine() % held.size();
      const auto [at, bytes] = held[i];
      EXPECT_EQ(places.deallocate(at), bytes);
      std::fill_n(taken.begin() + at, bytes, false);
      held.erase(held.begin() + static_cast<Index>(i));
      continue;
    }
    const Index bytes = 1 + engine() % 120, alignment = Index(1) << engine() % 5;
    const auto at = places.allocate(bytes, alignment);
    if (!at) {
      for (Index start = 0; start + bytes <= kBytes; start += alignment)
        ASSERT_TRUE(std::find(taken.begin() + start, taken.begin() + start + bytes, true) !=
                    taken.begin() + start + bytes);
      continue;
    }
    ASSERT_EQ(*at % alignment, 0);
    ASSERT_EQ(std::count(taken.begin() + *at, taken.begin() + *at + bytes, true), 0);
    std::fill_n(taken.begin() + *at, bytes, true);
    held.emplace_back(*at, bytes);
  }
}

} // namespace
} // namespace tenon
