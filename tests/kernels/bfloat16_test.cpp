// SPDX-License-Identifier: BSD-2-Clause
// Rounding to bfloat16 compared with its definition, computed from the exponent and the fraction of
// a double by frexp() and nearbyint(): the nearest number with 8 significant bits, of two the even
// one.
#include "kernels/movement/bfloat16.hpp"

#include "kernels/draw.hpp"
#include "kernels/host_context.hpp"
#include "sys/traps.hpp"

#include <cmath>
#include <limits>

namespace tenon::test {
namespace {

// Significant bits, and the exponent of the smallest normal number as returned by frexp().
constexpr int kBits = 8, kMinExponent = -125;

// The nearest number with 8 significant bits or, below the normal numbers, the nearest multiple of
// the smallest denormal number; of two equally near ones the even one.
double nearest(double value) {
  if (value == 0 || !std::isfinite(value))
    return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int unit = std::max(exponent, kMinExponent) - kBits;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  const double largest = std::ldexp(2 - std::ldexp(1, 1 - kBits), 127);
  return std::abs(rounded) > largest ? std::copysign(INFINITY, rounded) : rounded;
}

template <class T>
struct Rounds : ::testing::Test {};
TYPED_TEST_SUITE(Rounds, RealTypes);

} // namespace

TYPED_TEST(Rounds, ToTheNearestAndOfTwoToTheEven) {
  using T = TypeParam;
  const NoTraps noTraps; // some numbers are too large for a float
  Draw draw(61);
  // Zeros, 1 and the halves 1 + 2^-8 and 1 + 3 2^-8 beside it; the largest numbers; numbers below
  // the normal ones, and one just above the smallest of these; and infinities.
  std::vector<double> values{0.0,          -0.0,     1,         1.00390625, 1.01171875,
                             3.4028235e38, -3.4e38,  3.3961e38, 1e-45,      1.2e-38,
                             -9.2e-41,     INFINITY, -INFINITY};
  for (int i = 0; i < 20000; ++i)
    values.push_back(std::ldexp(draw.real(-1, 1), int(draw.integer(-140, 130))));
  for (int i = 0; i < 2000; ++i) { // halves and their neighbours
    const double half =
        std::ldexp(double(2 * draw.integer(128, 255) + 1), int(draw.integer(-9, 9)));
    for (const double value : {half, std::nextafter(half, 0), std::nextafter(half, 1e9), -half})
      values.push_back(value);
  }
  for (const double value : values) {
    const auto x = static_cast<T>(value);
    const double got = valueOf(toBFloat16(x)), want = nearest(double(x));
    ASSERT_EQ(got, want) << x;
    ASSERT_EQ(std::signbit(got), std::signbit(want)) << x;
  }
}

TYPED_TEST(Rounds, NaNStaysNaN) {
  using T = TypeParam;
  EXPECT_TRUE(std::isnan(valueOf(toBFloat16(std::numeric_limits<T>::quiet_NaN()))));
  EXPECT_TRUE(std::isnan(valueOf(toBFloat16(-std::numeric_limits<T>::quiet_NaN()))));
}

TEST(Rounds, NaNWithLowBitsAloneStaysNaN) {
  EXPECT_TRUE(std::isnan(valueOf(toBFloat16(std::bit_cast<float>(0x7f800001U)))));
}

// Rounding to float first would result in a number halfway between two bfloat16 numbers, which is
// then rounded to the even one.
TEST(Rounds, DoublesAreRoundedOnce) {
  const double aboveHalf = 1 + 0x1p-8 + 0x1p-40, belowHalf = 1 + 3 * 0x1p-8 - 0x1p-40;
  EXPECT_EQ(valueOf(toBFloat16(aboveHalf)), 1 + 0x1p-7F);
  EXPECT_EQ(valueOf(toBFloat16(belowHalf)), 1 + 0x1p-7F);
  EXPECT_EQ(valueOf(toBFloat16(-aboveHalf)), -1 - 0x1p-7F);
}

TYPED_TEST(Rounds, BoxesAndBack) {
  using T = TypeParam;
  // A box that is reversed along its second dimension, so that element 40 of x is its first. The
  // result has one element more, which must not change.
  const Index extent[] = {3, 4, 5}, strides[] = {50, -11, 2};
  const std::vector<T> x = Draw(62).reals<T>(200, -9, 9);
  const T* first = x.data() + 40;
  std::vector<BFloat16> y(61, {0x7fff});
  roundToBFloat16(hostContext(), 3, extent, first, strides, y.data());
  std::vector<T> back(60);
  fromBFloat16(hostContext(), 60, y.data(), back.data());
  for (Index i = 0; i < 60; ++i)
    EXPECT_EQ(double(back[std::size_t(i)]),
              nearest(double(first[i / 20 * 50 - i / 5 % 4 * 11 + i % 5 * 2])));
  EXPECT_EQ(y[60].bits, 0x7fff) << "behind the box";
}

} // namespace tenon::test
