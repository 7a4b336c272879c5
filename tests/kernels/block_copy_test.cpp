// SPDX-License-Identifier: BSD-2-Clause
// blockCombine(), which copies, adds or takes maxima of strided boxes, compared with index
// arithmetic element by element, on random boxes of every rank with permuted, padded, negative and
// zero strides.
#include "kernels/draw.hpp"
#include "kernels/host_context.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/traps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tenon::test {

namespace {

// An array that contains a box: strides, offset of its first element, and number of elements.
struct Strided {
  std::vector<Index> strides;
  Index origin = 0, size = 1;
};

// A permuted, padded layout of the box in which some dimensions run backwards, and, if allowed,
// some are broadcast.
Strided drawStrides(Draw& draw, const std::vector<Index>& extent, bool broadcast) {
  const size_t rank = extent.size();
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t(0));
  for (size_t d = rank; d > 1; --d)
    std::swap(order[d - 1], order[size_t(draw.integer(0, Index(d) - 1))]);
  if (draw.withProbability(0.5))
    std::sort(order.begin(), order.end(), std::greater<>());
  Strided s;
  s.strides.assign(rank, 0);
  for (size_t d : order) {
    if (broadcast && draw.withProbability(0.15))
      continue;
    const bool backwards = draw.withProbability(0.2);
    s.strides[d] = backwards ? -s.size : s.size;
    if (backwards)
      s.origin += s.size * std::max<Index>(0, extent[d] - 1);
    s.size *= std::max<Index>(1, extent[d]) + (draw.withProbability(0.3) ? draw.integer(1, 2) : 0);
  }
  return s;
}

// Calls visit(offset in x, offset in y) for every element of the box.
template <class Visit>
void forEachElement(const std::vector<Index>& extent, const Strided& x, const Strided& y,
                    Visit visit) {
  Index count = 1;
  for (Index e : extent)
    count *= e;
  for (Index flat = 0; flat < count; ++flat) {
    Index rest = flat, atX = x.origin, atY = y.origin;
    for (size_t d = extent.size(); d-- > 0; rest /= extent[d]) {
      atX += rest % extent[d] * x.strides[d];
      atY += rest % extent[d] * y.strides[d];
    }
    visit(atX, atY);
  }
}

template <class T>
T combined(Combine op, T x, T y) {
  return op == Combine::Copy ? x : op == Combine::Add ? T(x + y) : std::max(x, y);
}

} // namespace

template <class T>
class BlockCopy : public ::testing::Test {};
TYPED_TEST_SUITE(BlockCopy, ElementTypes);

TYPED_TEST(BlockCopy, EqualsIndexArithmetic) {
  using T = TypeParam;
  Draw draw(2);
  for (int trial = 0; trial < 1500; ++trial) {
    std::vector<Index> extent(size_t(draw.integer(0, 8)));
    for (Index& e : extent)
      e = draw.withProbability(0.03) ? 0 : draw.integer(1, extent.size() > 5 ? 2 : 4);
    const Strided xs = drawStrides(draw, extent, /*broadcast=*/true),
                  ys = drawStrides(draw, extent, /*broadcast=*/false);
    const auto x = draw.integers<T>(xs.size);
    const auto before = draw.integers<T>(ys.size);
    for (Combine op : {Combine::Copy, Combine::Add, Combine::Max}) {
      auto expected = before, y = before;
      forEachElement(extent, xs, ys, [&](Index i, Index j) {
        expected[size_t(j)] = combined(op, x[size_t(i)], before[size_t(j)]);
      });
      blockCombine(test::hostContext(), op, int(extent.size()), extent.data(), x.data() + xs.origin,
                   xs.strides.data(), y.data() + ys.origin, ys.strides.data());
      ASSERT_EQ(y, expected) << "trial " << trial;
    }
  }
}

// Each element of y gets a row of three elements of x: 7 + 1 + 2 + 3 = 13; their maximum with 13
// changes nothing; and of copies the last one remains.
TYPED_TEST(BlockCopy, WrittenStrideZeroReduces) {
  using T = TypeParam;
  const std::vector<T> x{1, 2, 3, 40, 50, 60};
  std::vector<T> y{7, 7};
  const Index extent[] = {2, 3}, xs[] = {3, 1}, ys[] = {1, 0};
  blockCombine(test::hostContext(), Combine::Add, 2, extent, x.data(), xs, y.data(), ys);
  EXPECT_EQ(y, (std::vector<T>{13, 157}));
  blockCombine(test::hostContext(), Combine::Max, 2, extent, x.data(), xs, y.data(), ys);
  EXPECT_EQ(y, (std::vector<T>{13, 157}));
  blockCombine(test::hostContext(), Combine::Copy, 2, extent, x.data(), xs, y.data(), ys);
  EXPECT_EQ(y, (std::vector<T>{3, 60}));
}

// If all elements are added to one, the order is that of the caller's dimensions, row-major: (1e20
// - 1e20) + 1 + 1, not the order in which x is stored.
TEST(BlockCopy, ReductionsKeepTheOrder) {
  const std::vector<double> x{1e20, 1, -1e20, 1};
  double y = 0;
  const Index extent[] = {2, 2}, xs[] = {1, 2}, ys[] = {0, 0};
  blockCombine(test::hostContext(), Combine::Add, 2, extent, x.data(), xs, &y, ys);
  EXPECT_EQ(y, 2);
}

TEST(BlockCopy, MaximumKeepsNaN) {
  const NoTraps noTraps; // NaN is compared
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> x{nan, 1, 5};
  std::vector<double> y{2, nan, 3};
  const Index extent = 3, stride = 1;
  blockCombine(test::hostContext(), Combine::Max, 1, &extent, x.data(), &stride, y.data(), &stride);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_TRUE(std::isnan(y[1]));
  EXPECT_EQ(y[2], 5);
}

TEST(BlockCopy, RefusesRanksAndExtentsOutOfRange) {
  const Index extent[9] = {1, -1, 1, 1, 1, 1, 1, 1, 1}, strides[9] = {};
  double x = 0, y = 0;
  expectError(errorOf([&] {
                blockCombine(test::hostContext(), Combine::Copy, 9, extent, &x, strides, &y,
                             strides);
              }),
              TENON_ERR_ARG, {"9 dimensions", "0 to 8"});
  expectError(errorOf([&] {
                blockCombine(test::hostContext(), Combine::Copy, 2, extent, &x, strides, &y,
                             strides);
              }),
              TENON_ERR_ARG, {"extent 1", "-1"});
}

} // namespace tenon::test
