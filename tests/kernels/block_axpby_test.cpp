// SPDX-License-Identifier: BSD-2-Clause
// blockAxpby(), y <- alpha x + beta y on strided boxes, and blockScale(), y <- factor y, compared
// with the formula, computed in double element by element.
#include "kernels/host_context.hpp"
#include "kernels/movement/block_copy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tenon {
namespace {

// A box, and the strides of three arrays.
constexpr Index kExtent[3] = {2, 3, 4};
constexpr Index kRows[3] = {12, 4, 1};       // row-major
constexpr Index kColumns[3] = {2, 4, 14};    // column-major with gaps
constexpr Index kBackwards[3] = {-15, 5, 1}; // negative in the first dimension

// Calls f(offset with strides a, offset with strides b) for each element of the box.
template <class F>
void forEachCell(const Index* a, const Index* b, F f) {
  for (Index i = 0; i < kExtent[0]; ++i)
    for (Index j = 0; j < kExtent[1]; ++j)
      for (Index k = 0; k < kExtent[2]; ++k)
        f(i * a[0] + j * a[1] + k * a[2], i * b[0] + j * b[1] + k * b[2]);
}

// 80 small integers, more elements than any of the boxes spans.
template <class T>
std::vector<T> numbers(T first) {
  std::vector<T> values(80);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = first + static_cast<T>(i * 7 % 13);
  return values;
}

template <class S, class T>
void expectAxpby(double alpha, double beta) {
  const std::vector<S> x = numbers<S>(3);
  std::vector<T> y = numbers<T>(-5), expected = y;
  constexpr Index kFirst = 20; // a negative stride reads elements before the first
  forEachCell(kBackwards, kColumns, [&](Index a, Index b) {
    expected[b] = static_cast<T>(alpha * static_cast<double>(x[kFirst + a]) +
                                 beta * static_cast<double>(expected[b]));
  });
  using Wide = std::common_type_t<S, T>;
  blockAxpby<S, T>(test::hostContext(), 3, kExtent, static_cast<Wide>(alpha), x.data() + kFirst,
                   kBackwards, static_cast<Wide>(beta), y.data(), kColumns);
  EXPECT_EQ(y, expected) << alpha << ", " << beta;
}

TEST(BlockAxpby, FollowsTheFormulaInAllTypes) {
  for (double alpha : {1.0, -3.0, 2.0, 0.0})
    for (double beta : {0.0, 1.0, -2.0}) {
      expectAxpby<float, float>(alpha, beta);
      expectAxpby<double, double>(alpha, beta);
      expectAxpby<float, double>(alpha, beta);
      expectAxpby<double, float>(alpha, beta);
      expectAxpby<std::int64_t, std::int64_t>(alpha, beta);
    }
}

TEST(BlockAxpby, RoundsOnceToTheNarrowerType) {
  const double x[1] = {1.0 / 3};
  float y[1] = {0.1F};
  const Index one[1] = {1};
  blockAxpby<double, float>(test::hostContext(), 1, one, 0.3, x, one, 0.7, y, one);
  EXPECT_EQ(y[0], static_cast<float>(0.3 * (1.0 / 3) + 0.7 * static_cast<double>(0.1F)));
}

TEST(BlockAxpby, DoesNotReadYForBetaZero) {
  const std::vector<float> x = numbers<float>(1);
  std::vector<float> y(80, std::numeric_limits<float>::quiet_NaN());
  blockAxpby<float, float>(test::hostContext(), 3, kExtent, 2, x.data(), kRows, 0, y.data(), kRows);
  forEachCell(kRows, kRows, [&](Index a, Index b) { EXPECT_EQ(y[b], 2 * x[a]); });
}

TEST(BlockScale, MultipliesTheBoxAlone) {
  for (double factor : {1.0, -2.0, 0.0}) {
    std::vector<double> y = numbers<double>(2), expected = y;
    forEachCell(kColumns, kColumns, [&](Index a, Index) { expected[a] *= factor; });
    blockScale(test::hostContext(), 3, kExtent, factor, y.data(), kColumns);
    EXPECT_EQ(y, expected);
  }
}

TEST(BlockScale, DoesNotReadForZero) {
  std::vector<double> y(24, std::numeric_limits<double>::quiet_NaN());
  blockScale(test::hostContext(), 3, kExtent, 0.0, y.data(), kRows);
  EXPECT_EQ(y, std::vector<double>(24, 0));
}

} // namespace
} // namespace tenon
