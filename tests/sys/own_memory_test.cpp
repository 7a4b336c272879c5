// SPDX-License-Identifier: BSD-2-Clause
#include "sys/memory/own_memory.hpp"

#include "support/pages.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

namespace tenon {
namespace {

using test::Pages;

const Index kPage = Pages::size();

TEST(OwnMemory, KnowsWhatEachPageAllows) {
  const Pages pages(5, MAP_PRIVATE);
  pages.protect(1, PROT_READ);
  pages.protect(3, PROT_NONE);
  const auto ranges = mappedRanges(pages.page(0) + 5, 4 * kPage);
  ASSERT_EQ(ranges.size(), 5U);
  EXPECT_LE(ranges[0].begin, pages.page(0));
  EXPECT_EQ(ranges[1].begin, pages.page(1));
  EXPECT_EQ(ranges[1].end, pages.page(2));
  EXPECT_TRUE(ranges[0].isWritable && ranges[0].isReadable);
  EXPECT_TRUE(!ranges[1].isWritable && ranges[1].isReadable);
  EXPECT_TRUE(!ranges[3].isWritable && !ranges[3].isReadable);
  EXPECT_FALSE(ranges[0].isShared);
}

TEST(OwnMemory, FindsOnlyWhatTheRangeTouches) {
  const Pages pages(3, MAP_PRIVATE);
  pages.protect(0, PROT_NONE);
  pages.protect(2, PROT_NONE);
  const auto ranges = mappedRanges(pages.page(1), kPage);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].begin, pages.page(1));
  EXPECT_EQ(ranges[0].end, pages.page(2));
}

TEST(OwnMemory, TellsSharedMemoryAndItsFile) {
  const Pages pages(1, MAP_SHARED);
  const auto ranges = mappedRanges(pages.page(0), kPage);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_TRUE(ranges[0].isShared);
  EXPECT_NE(ranges[0].file, 0U);
  EXPECT_FALSE(ranges[0].name.empty());
}

TEST(OwnMemory, KnowsTheStackOfEachThread) {
  const Pages elsewhere(2, MAP_PRIVATE);
  const auto check = [&] {
    const auto* frame = static_cast<const std::byte*>(__builtin_frame_address(0));
    EXPECT_TRUE(touchesOwnStack(frame, 1));
    EXPECT_TRUE(touchesOwnStack(frame - 2 * kPage, 4 * kPage));
    EXPECT_FALSE(touchesOwnStack(elsewhere.page(0), 2 * kPage));
  };
  check();
  std::thread(check).join();
}

TEST(OwnMemory, IsNotMappedAtTheLowestAddress) {
  EXPECT_TRUE(mappedRanges(nullptr, kPage).empty());
}

TEST(OwnMemory, CopiesPages) {
  const Pages from(300, MAP_PRIVATE), to(300, MAP_PRIVATE);
  for (Index i = 0; i < 300 * kPage; ++i)
    from.page(0)[i] = static_cast<std::byte>(i * 7 % 251);
  copyPages(from.page(0), to.page(0), 300 * kPage);
  EXPECT_EQ(std::memcmp(from.page(0), to.page(0), 300 * kPage), 0);
}

TEST(OwnMemory, SaysThatMemoryCannotBeRead) {
  const Pages to(1, MAP_PRIVATE);
  expectError(TENON_ERR_MEMORY, {"/proc/self/mem"}, [&] { copyPages(nullptr, to.page(0), kPage); });
}

} // namespace
} // namespace tenon
