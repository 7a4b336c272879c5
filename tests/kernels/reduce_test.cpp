// SPDX-License-Identifier: BSD-2-Clause
// Dot products, sums of squares, maxima and fills of arrays and boxes, compared with sums in plain
// loops. On small integers the sums are exact and must be equal; long sums of fractions must have
// the accuracy of pairwise summation.
#include "kernels/elementwise/reduce.hpp"

#include "kernels/draw.hpp"
#include "kernels/host_context.hpp"

#include <cmath>
#include <limits>

namespace tenon::test {

template <class T>
class Reduce : public ::testing::Test {};
TYPED_TEST_SUITE(Reduce, RealTypes);

TYPED_TEST(Reduce, ExactOnIntegers) {
  using T = TypeParam;
  Draw draw(13);
  // Lengths at and beside the ends of vectors (8 terms) and of runs (256 terms) of the sums.
  for (Index n : {0, 1, 7, 8, 255, 256, 257, 5000}) {
    const auto x = draw.integers<T>(n), y = draw.integers<T>(n);
    EXPECT_EQ(dot<T>(test::hostContext(), n, x.data(), y.data()), exactDot(x, y));
    EXPECT_EQ(sumSquares<T>(test::hostContext(), n, x.data()), exactDot(x, x));
    double largest = 0;
    for (T value : x)
      largest = std::max(largest, std::abs(double(value)));
    EXPECT_EQ(maxAbs<T>(test::hostContext(), n, x.data()), largest);
  }
}

// Four million equal contributions: a running sum in double is wrong by about 1e-10 relative, the
// pairwise one by a few roundings (1e-15 each).
TEST(Reduce, LongSumsArePairwise) {
  const Index n = Index(1) << 22;
  const std::vector<double> x(size_t(n), 0.1), ones(size_t(n), 1.0);
  EXPECT_NEAR(dot<double>(test::hostContext(), n, x.data(), ones.data()), 0.1 * double(n),
              1e-15 * double(n));
  const std::vector<float> y(size_t(n), 1.0f / 3), onesFloat(size_t(n), 1.0f);
  EXPECT_NEAR(dot<float>(test::hostContext(), n, y.data(), onesFloat.data()),
              double(1.0f / 3) * double(n), 1e-15 * double(n));
}

TYPED_TEST(Reduce, BoxesWithStrides) {
  using T = TypeParam;
  Draw draw(14);
  // A box of 3 x 4 x 5 elements. x has its second dimension contiguous; y is reversed along the
  // first one, and so begins at its element 40.
  const Index extent[] = {3, 4, 5}, xs[] = {40, 1, 8}, ys[] = {-20, 5, 1};
  const auto x = draw.integers<T>(120), y = draw.integers<T>(60);
  double sum = 0, largest = 0;
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 4; ++j)
      for (Index k = 0; k < 5; ++k) {
        const double value = x[size_t(40 * i + j + 8 * k)];
        sum += value * double(y[size_t(40 - 20 * i + 5 * j + k)]);
        largest = std::max(largest, std::abs(value));
      }
  EXPECT_EQ(dotBlock<T>(test::hostContext(), 3, extent, x.data(), xs, y.data() + 40, ys), sum);
  EXPECT_EQ(maxAbsBlock<T>(test::hostContext(), 3, extent, x.data(), xs), largest);
  // Boxes without elements, and without dimensions, which have one element.
  const Index empty[] = {3, 0, 5};
  EXPECT_EQ(dotBlock<T>(test::hostContext(), 3, empty, x.data(), xs, y.data(), ys), 0);
  EXPECT_EQ(
      dotBlock<T>(test::hostContext(), 0, nullptr, x.data() + 1, nullptr, y.data() + 2, nullptr),
      double(x[1]) * double(y[2]));
}

TYPED_TEST(Reduce, LargestKeepsNaN) {
  using T = TypeParam;
  const std::vector<T> x{1, std::numeric_limits<T>::quiet_NaN(), -5};
  EXPECT_TRUE(std::isnan(maxAbs<T>(test::hostContext(), 3, x.data())));
  EXPECT_EQ(maxAbs<T>(test::hostContext(), 1, x.data() + 2), 5);
}

template <class T>
class Fill : public ::testing::Test {};
TYPED_TEST_SUITE(Fill, ElementTypes);

TYPED_TEST(Fill, TouchesTheBoxAlone) {
  using T = TypeParam;
  std::vector<T> y(24, T(1));
  // 2 x 3 elements, the rows 12 apart and reversed: 6, 4, 2 and 18, 16, 14.
  const Index extent[] = {2, 3}, strides[] = {12, -2};
  fillBlock<T>(test::hostContext(), 2, extent, T(7), y.data() + 6, strides);
  for (size_t i = 0; i < y.size(); ++i) {
    const bool inside = i == 6 || i == 4 || i == 2 || i == 18 || i == 16 || i == 14;
    EXPECT_EQ(y[i], T(inside ? 7 : 1)) << i;
  }
  const Index whole = 24, one = 1;
  fillBlock<T>(test::hostContext(), 1, &whole, T(3), y.data(), &one);
  EXPECT_EQ(y, std::vector<T>(24, T(3)));
}

} // namespace tenon::test
