// SPDX-License-Identifier: BSD-2-Clause
// Tests Buffer: alignment, the counters of bytes in use and the high-water mark, moves, memory from
// a source (OnePiece, which has one piece of memory), and errors for impossible sizes.
#include "sys/memory/memory.hpp"

#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>

namespace {

using namespace tenon;

TEST(Buffer, IsAlignedAndCounted) {
  const Index before = bytesAlive();
  {
    Buffer buffer(100, "test");
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data<char>()) % kAlignment, 0U);
    EXPECT_EQ(bytesAlive(), before + 100);
    EXPECT_GE(memoryHighWater(), before + 100);
    EXPECT_EQ(buffer.bytes(), 100);
    EXPECT_EQ(buffer.label(), "test");
  }
  EXPECT_EQ(bytesAlive(), before);
}

TEST(Buffer, HighWaterIsTheMostAliveAtOnce) {
  const Index large = memoryHighWater() + 1000;
  { Buffer first(large, "first"); }
  const Index highest = memoryHighWater();
  EXPECT_EQ(highest, bytesAlive() + large);
  { Buffer second(10, "second"); }
  EXPECT_EQ(memoryHighWater(), highest);
}

TEST(Buffer, OfCountsElements) {
  Buffer buffer = Buffer::of<double>(5, "test");
  EXPECT_EQ(buffer.bytes(), 40);
  buffer.setZero();
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(buffer.data<double>()[i], 0.0);
}

TEST(Buffer, EmptyOnesHoldNothing) {
  Buffer none;
  Buffer zero(0, "zero");
  zero.setZero();
  EXPECT_EQ(none.data<char>(), nullptr);
  EXPECT_EQ(zero.data<char>(), nullptr);
}

TEST(Buffer, MovesGiveTheMemoryAway) {
  const Index before = bytesAlive();
  Buffer a(64, "a");
  char* const place = a.data<char>();
  Buffer b(std::move(a));
  EXPECT_EQ(b.data<char>(), place);
  Buffer c(32, "c");
  c = std::move(b);
  EXPECT_EQ(c.data<char>(), place);
  EXPECT_EQ(c.label(), "a");
  EXPECT_EQ(bytesAlive(), before + 64);
  c = Buffer();
  EXPECT_EQ(bytesAlive(), before);
}

// A source with one piece of memory: allocate() returns it, or NULL while it is in use or if it is
// too small.
class OnePiece : public MemorySource {
public:
  void* allocate(Index bytes) override {
    if (taken || bytes > static_cast<Index>(sizeof piece))
      return nullptr;
    taken = true;
    return piece;
  }
  void deallocate(void* memory) noexcept override {
    EXPECT_EQ(memory, piece);
    taken = false;
  }
  alignas(kAlignment) std::byte piece[256];
  bool taken = false;
};

TEST(Buffer, ComesFromASourceWhileThatHasMemory) {
  const Index before = bytesAlive();
  const auto source = std::make_shared<OnePiece>();
  Buffer first(100, "first", source);
  EXPECT_EQ(first.data<std::byte>(), source->piece);
  Buffer second(100, "second", source);
  EXPECT_NE(second.data<std::byte>(), source->piece);
  EXPECT_EQ(bytesAlive(), before + 200);
  Buffer moved(std::move(first));
  EXPECT_TRUE(source->taken);
  moved = Buffer();
  EXPECT_FALSE(source->taken);
  second = Buffer(50, "again", source);
  EXPECT_EQ(second.data<std::byte>(), source->piece);
  EXPECT_EQ(bytesAlive(), before + 50);
}

TEST(Buffer, KeepsItsSourceAlive) {
  auto source = std::make_shared<OnePiece>();
  const std::weak_ptr<OnePiece> watched = source;
  {
    const Buffer buffer(10, "test", std::move(source));
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

TEST(Buffer, AFailingAllocationNamesSizeAndOwner) {
  const Index before = bytesAlive();
  expectError(TENON_ERR_MEMORY, {"Layer 'conv1' weights", "1152921504606846976 bytes"},
              [] { Buffer(Index{1} << 60, "Layer 'conv1' weights"); });
  EXPECT_EQ(bytesAlive(), before);
}

TEST(Buffer, ImpossibleSizesAreArguments) {
  expectError(TENON_ERR_ARG, {"test", "-1 bytes"}, [] { Buffer(-1, "test"); });
  expectError(TENON_ERR_ARG, {"test", "-4 elements"}, [] { Buffer::of<float>(-4, "test"); });
  expectError(TENON_ERR_ARG, {"test", "elements of 8 bytes"},
              [] { Buffer::of<double>(std::numeric_limits<Index>::max() / 4, "test"); });
}

} // namespace
