// SPDX-License-Identifier: BSD-2-Clause
// blockStream(), which packs a box by streaming stores, compared with blockCombine(): at every
// alignment of the target, and around the row length from which rows are streamed. The elements
// around the target (77) must not change.
#include "kernels/draw.hpp"
#include "kernels/host_context.hpp"
#include "kernels/movement/block_copy.hpp"
#include "kernels/movement/block_stream.hpp"

namespace tenon::test {

namespace {

template <class T>
void expectSame(Draw& draw, const std::vector<Index>& extent, const std::vector<Index>& strides,
                Index span, Index offset) {
  const int rank = int(extent.size());
  Index elements = 1;
  std::vector<Index> dense(extent.size());
  for (int d = rank - 1; d >= 0; --d) {
    dense[size_t(d)] = elements;
    elements *= extent[size_t(d)];
  }
  const auto x = draw.integers<T>(span, 100);
  std::vector<T> want(size_t(elements + offset + 8), T(77)), got = want;
  blockCombine(test::hostContext(), Combine::Copy, rank, extent.data(), x.data(), strides.data(),
               want.data() + offset, dense.data());
  blockStream(test::hostContext(), rank, extent.data(), x.data(), strides.data(),
              got.data() + offset);
  ASSERT_EQ(got, want) << "offset " << offset;
}

} // namespace

template <class T>
class BlockStream : public ::testing::Test {};
TYPED_TEST_SUITE(BlockStream, ElementTypes);

TYPED_TEST(BlockStream, EqualsTheCopyOfRows) {
  using T = TypeParam;
  Draw draw(31);
  for (Index length : {1, 2, 127, 128, 129, 255, 256, 257, 1000, 4099})
    for (Index offset = 0; offset < 8; ++offset)
      ASSERT_NO_FATAL_FAILURE(
          expectSame<T>(draw, {3, length}, {length + 5, 1}, 3 * (length + 5), offset));
}

TYPED_TEST(BlockStream, EqualsTheCopyOfStridedBoxes) {
  using T = TypeParam;
  Draw draw(32);
  for (int trial = 0; trial < 100; ++trial) {
    const Index a = draw.integer(1, 9), b = draw.integer(1, 40), c = draw.integer(1, 300);
    const bool transposed = draw.withProbability(0.5);
    const std::vector<Index> strides =
        transposed ? std::vector<Index>{1, a, a * b} : std::vector<Index>{b * (c + 1), c + 1, 1};
    ASSERT_NO_FATAL_FAILURE(
        expectSame<T>(draw, {a, b, c}, strides, a * b * (c + 1), draw.integer(0, 3)));
  }
  ASSERT_NO_FATAL_FAILURE(expectSame<T>(draw, {}, {}, 1, 1));
  ASSERT_NO_FATAL_FAILURE(expectSame<T>(draw, {4, 0}, {1, 1}, 1, 1));
}

} // namespace tenon::test
