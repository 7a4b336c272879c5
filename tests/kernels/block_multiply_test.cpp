// SPDX-License-Identifier: BSD-2-Clause
// blockMultiplyAdd(), y <- y + alpha a x, where each array can have stride 0 in some dimensions
// (which broadcasts a or x, and sums into y), compared with the sum element by element on small
// integers, for which any order is exact.
#include "kernels/movement/block_copy.hpp"

#include "kernels/draw.hpp"
#include "kernels/host_context.hpp"
#include "kernels/thread_count.hpp"

#include <array>

namespace tenon {
namespace {

using test::Draw;
using Strides4 = std::array<Index, 4>;

// Row-major strides of the dimensions whose bits are set in `dims`, and 0 in the others.
Strides4 stridesOf(const Strides4& extent, unsigned dims) {
  Strides4 strides{};
  Index step = 1;
  for (int d = 3; d >= 0; --d)
    if (dims >> d & 1) {
      strides[d] = step;
      step *= extent[d];
    }
  return strides;
}

template <class F>
void forEachIndex(const Strides4& extent, F f) {
  Strides4 i;
  for (i[0] = 0; i[0] < extent[0]; ++i[0])
    for (i[1] = 0; i[1] < extent[1]; ++i[1])
      for (i[2] = 0; i[2] < extent[2]; ++i[2])
        for (i[3] = 0; i[3] < extent[3]; ++i[3])
          f(i);
}

Index offset(const Strides4& index, const Strides4& strides) {
  Index sum = 0;
  for (int d = 0; d < 4; ++d)
    sum += index[d] * strides[d];
  return sum;
}

// Compares for many sets of dimensions in which a, x and y have strides: all 16 sets for y, and
// samples for a and x, in steps of 5 and 3, which both end with the set of all dimensions, 15.
template <class T>
void expectSums(const Strides4& extent, bool hasA) {
  Draw draw(7);
  const Index elements = extent[0] * extent[1] * extent[2] * extent[3];
  // One more, as the arrays must not be empty if an extent is 0.
  const auto a = draw.integers<T>(elements + 1), x = draw.integers<T>(elements + 1);
  for (unsigned dimsOfA = 0; dimsOfA < (hasA ? 16u : 1u); dimsOfA += 5)
    for (unsigned dimsOfX = 0; dimsOfX < 16; dimsOfX += 3)
      for (unsigned dimsOfY = 0; dimsOfY < 16; ++dimsOfY) {
        const Strides4 as = stridesOf(extent, dimsOfA), xs = stridesOf(extent, dimsOfX),
                       ys = stridesOf(extent, dimsOfY);
        auto y = draw.integers<T>(elements + 1), expected = y;
        forEachIndex(extent, [&](const Strides4& i) {
          expected[offset(i, ys)] += T(2) * (hasA ? a[offset(i, as)] : T(1)) * x[offset(i, xs)];
        });
        blockMultiplyAdd<T>(test::hostContext(), 4, extent.data(), 2, hasA ? a.data() : nullptr,
                            as.data(), x.data(), xs.data(), y.data(), ys.data());
        ASSERT_EQ(y, expected) << dimsOfA << " " << dimsOfX << " " << dimsOfY;
      }
}

TEST(BlockMultiplyAdd, SumsOverTheDimensionsThatYHasNot) {
  for (const Strides4& extent : {Strides4{2, 3, 4, 5}, Strides4{3, 1, 1, 4}, Strides4{1, 1, 1, 1},
                                 Strides4{2, 0, 3, 1}, Strides4{2, 3, 1, 1}}) {
    expectSums<float>(extent, true);
    expectSums<double>(extent, true);
    expectSums<double>(extent, false);
    expectSums<std::int64_t>(extent, true);
  }
}

TEST(BlockMultiplyAdd, ALongSumInFloatIsAsExactAsInDouble) {
  const Index n = 1 << 22, one = 1, noStride = 0;
  const std::vector<float> x(n, 0.1F);
  float y = 0;
  blockMultiplyAdd<float>(test::hostContext(), 1, &n, 1, nullptr, nullptr, x.data(), &one, &y,
                          &noStride);
  EXPECT_FLOAT_EQ(y, static_cast<float>(static_cast<double>(n) * static_cast<double>(0.1F)));
}

// y has dimension 1 only (bit 1 of the dimensions): sums of squares by channel.
TEST(BlockMultiplyAdd, ThreadsDoNotChangeASum) {
  const Strides4 extent{8, 6, 40, 50};
  Draw draw(11);
  const auto x = draw.reals<double>(extent[0] * extent[1] * extent[2] * extent[3], -1, 1);
  test::expectSameForAllThreads("sum by channel", [&] {
    std::vector<double> y(6);
    blockMultiplyAdd<double>(test::hostContext(), 4, extent.data(), 1, x.data(),
                             stridesOf(extent, 15).data(), x.data(), stridesOf(extent, 15).data(),
                             y.data(), stridesOf(extent, 2).data());
    return y;
  });
}

} // namespace
} // namespace tenon
