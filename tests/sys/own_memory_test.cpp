// SPDX-License-Identifier: BSD-2-Clause
// Tests the information on this process's memory, which SharedArena::share() checks before it
// replaces the pages of a user's array by shared ones, against mappings that the tests make
// themselves: test::Pages maps some pages in a row, and changes their permissions by mprotect().
// The system lists neighbouring pages with equal permissions as one range, so a range can begin
// before the first page of a test, or end after its last page.
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
  // Pages 1 and 3 differ from their neighbours, so each of the five pages is in its own range.
  const Pages pages(5, MAP_PRIVATE);
  pages.protect(1, PROT_READ);
  pages.protect(3, PROT_NONE);
  // 4 pages of bytes from the middle of page 0 end in the middle of page 4: they overlap all five.
  const auto ranges = mappedRanges(pages.page(0) + kPage / 2, 4 * kPage);
  ASSERT_EQ(ranges.size(), 5U);
  // Page 0 can be in one range with writable pages of other memory before it.
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
  // Linux maps shared anonymous memory from an unnamed file, such as "/dev/zero (deleted)".
  const Pages pages(1, MAP_SHARED);
  const auto ranges = mappedRanges(pages.page(0), kPage);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_TRUE(ranges[0].isShared);
  EXPECT_NE(ranges[0].file, 0U); // The number of the file's inode.
  EXPECT_FALSE(ranges[0].name.empty());
}

TEST(OwnMemory, KnowsTheStackOfEachThread) {
  const Pages elsewhere(2, MAP_PRIVATE);
  const auto check = [&] {
    const auto* frame = static_cast<const std::byte*>(__builtin_frame_address(0));
    EXPECT_TRUE(touchesOwnStack(frame, 1));
    // A range with the frame in its middle.
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
  // More than a megabyte.
  constexpr Index kCount = 300;
  const Pages from(kCount, MAP_PRIVATE), to(kCount, MAP_PRIVATE);
  // 251 is prime, so the pattern differs from page to page.
  for (Index i = 0; i < kCount * kPage; ++i)
    from.page(0)[i] = static_cast<std::byte>(i * 7 % 251);
  copyPages(from.page(0), to.page(0), kCount * kPage);
  EXPECT_EQ(std::memcmp(from.page(0), to.page(0), kCount * kPage), 0);
}

// Address 0 is not mapped, so the system refuses to read from it.
TEST(OwnMemory, SaysThatMemoryCannotBeRead) {
  const Pages to(1, MAP_PRIVATE);
  expectError(TENON_ERR_MEMORY, {"/proc/self/mem"}, [&] { copyPages(nullptr, to.page(0), kPage); });
}

} // namespace
} // namespace tenon
