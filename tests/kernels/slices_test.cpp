// SPDX-License-Identifier: BSD-2-Clause
// Tests the slices into which work on many elements is divided (walks/slices.hpp): they contain
// each element once, and at most as many as a kernel can index. The limit is lowered; offsets of
// arrays of more than 2^31 elements are tested without the arrays.
#include "kernels/draw.hpp"
#include "kernels/functors/axis.hpp"
#include "kernels/walks/slices.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tenon::test {
namespace {

// Lowers the limit while it exists.
class SlicesOf {
public:
  explicit SlicesOf(Index elements) { sliceElements = elements; }
  ~SlicesOf() { sliceElements = kMaxWalkedElements; }
  SlicesOf(const SlicesOf&) = delete;
  SlicesOf& operator=(const SlicesOf&) = delete;
};

// Counts the visits of each element, whose line must be that of the definition.
struct Visits {
  AxisShape shape;
  std::vector<int>* counts;
  Index read(Index element, Index line) const {
    const Index inner = element % shape.inner, outer = element / (shape.n * shape.inner);
    EXPECT_EQ(line, outer * shape.inner + inner);
    return line;
  }
  void write(Index element, Index) const { ++counts->at(std::size_t(element)); }
};

TEST(Slices, OfArraysAlongAnAxisHaveEachElementOnce) {
  Draw draw(71);
  for (int trial = 0; trial < 200; ++trial) {
    const SlicesOf limit(draw.integer(1, 40));
    const AxisShape shape{draw.integer(1, 5), draw.integer(1, 30), draw.integer(1, 12)};
    std::vector<int> counts(std::size_t(shape.outer * shape.n * shape.inner));
    forEachAxisSlice(shape, [&](const AxisSlice& slice) {
      ASSERT_LE(slice.shape.outer * slice.shape.n * slice.shape.inner, sliceElements);
      const functors::AlongAxis<Visits> strips(shape, slice, {shape, &counts});
      for (Index i = 0; i < strips.strips(); ++i)
        strips(i);
    });
    EXPECT_EQ(counts, std::vector<int>(counts.size(), 1)) << shape.outer << ' ' << shape.n;
  }
}

// Slices of whole lines follow each other in [outer, inner].
TEST(Slices, OfLinesAreInOrder) {
  Draw draw(72);
  for (int trial = 0; trial < 200; ++trial) {
    const SlicesOf limit(draw.integer(1, 40));
    const AxisShape shape{draw.integer(1, 9), draw.integer(1, 30), draw.integer(1, 60)};
    Index next = 0;
    forEachSliceOfLines(shape, 1, [&](const AxisSlice& slice) {
      EXPECT_EQ(slice.firstLine, next);
      const Index outer = next / shape.inner;
      EXPECT_EQ(slice.firstElement, outer * shape.n * shape.inner + next % shape.inner);
      EXPECT_LE(slice.shape.outer * slice.shape.inner, sliceElements);
      next += slice.shape.outer * slice.shape.inner;
    });
    EXPECT_EQ(next, shape.outer * shape.inner);
  }
}

TEST(Slices, OfBoxesAreInOrder) {
  Draw draw(73);
  for (int trial = 0; trial < 200; ++trial) {
    const SlicesOf limit(draw.integer(1, 30));
    const int rank = int(draw.integer(0, 4));
    Index extent[kMaxBlockRank], strides[kMaxBlockRank], elements = 1;
    for (int d = 0; d < rank; ++d) {
      elements *= extent[d] = draw.integer(1, 7);
      strides[d] = draw.integer(-9, 9);
    }
    Index next = 0;
    forEachBoxSlice<1>(rank, extent, {strides}, [&](const BoxSlice<1>& slice) {
      EXPECT_EQ(slice.firstElement, next);
      const ElementOffsets<1> all(rank, extent, {strides}), some(rank, slice.extent, {strides});
      EXPECT_LE(some.count(), sliceElements);
      for (Index i = 0; i < some.count(); ++i)
        EXPECT_EQ(slice.offset[0] + some(i).of[0], all(next + i).of[0]);
      next += some.count();
    });
    EXPECT_EQ(next, elements);
  }
}

// The last element of a softmax over 32 channels of 512^3 points, number 2^32 - 1, and the slices
// of more lines than a kernel can have.
TEST(Slices, HaveOffsetsBeyond32Bits) {
  struct Last {
    Index* element;
    Index read(Index, Index line) const { return line; }
    void write(Index at, Index) const { *element = std::max(*element, at); }
  };
  constexpr Index kPoints = Index(512) * 512 * 512;
  Index last = 0, elements = 0;
  const AxisShape shape{1, 32, kPoints};
  forEachAxisSlice(shape, [&](const AxisSlice& slice) {
    elements += slice.shape.outer * slice.shape.n * slice.shape.inner;
    const functors::AlongAxis<Last> strips(shape, slice, {&last});
    strips(strips.strips() - 1);
  });
  EXPECT_EQ(elements, 32 * kPoints);
  EXPECT_EQ(last, 32 * kPoints - 1);
  Index lines = 0, slices = 0;
  forEachSliceOfLines({40, 2, kPoints}, 1, [&](const AxisSlice& slice) {
    lines += slice.shape.outer * slice.shape.inner;
    ++slices;
  });
  EXPECT_EQ(lines, 40 * kPoints);
  EXPECT_EQ(slices, 3); // of up to 15 planes
}

} // namespace
} // namespace tenon::test
