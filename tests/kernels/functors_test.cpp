// SPDX-License-Identifier: BSD-2-Clause
// The elementary functions of functors/elementary.hpp, called through the activations that use
// them, with every instruction set of the processor: values within 3 units in the last place of
// formulas in long double, and the limits at infinities, zeros, denormal numbers and NaN.
#include "kernels/draw.hpp"
#include "kernels/each_set.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/host_context.hpp"
#include "sys/traps.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace tenon::test {
namespace {

using Real = long double;

constexpr Pointwise kElementary[] = {Pointwise::Exp,      Pointwise::Tanh, Pointwise::Sigmoid,
                                     Pointwise::Gelu,     Pointwise::Silu, Pointwise::GeluTanh,
                                     Pointwise::Softplus, Pointwise::Sine, Pointwise::Elu};

Real sigmoidOf(Real x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

Real elementaryValue(Pointwise function, Real x) {
  switch (function) {
  case Pointwise::Exp:
    return std::exp(x);
  case Pointwise::Tanh:
    return std::tanh(x);
  case Pointwise::Sigmoid:
    return sigmoidOf(x);
  case Pointwise::Gelu:
    return x * std::erfc(-x * std::numbers::sqrt2_v<Real> / 2) / 2;
  case Pointwise::GeluTanh:
    return x * sigmoidOf(2 * std::sqrt(2 / std::numbers::pi_v<Real>) * (x + 0.044715L * x * x * x));
  case Pointwise::Silu:
    return x * sigmoidOf(x);
  case Pointwise::Softplus:
    return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  case Pointwise::Elu:
    return x > 0 ? x : std::expm1(x);
  default:
    return std::sin(x);
  }
}

template <class T>
std::vector<T> valuesOf(Pointwise function, const std::vector<T>& x) {
  std::vector<T> y(x.size());
  pointwiseForward<T>(hostContext(), {function, 1}, static_cast<Index>(x.size()), x.data(),
                      y.data());
  return y;
}

// The error in units in the last place of the expected value, rounded to T.
template <class T>
double errorIn(T got, Real want) {
  const T nearest = static_cast<T>(want);
  if (got == nearest)
    return 0;
  const T size = std::abs(nearest);
  const Real unit =
      std::isinf(size)
          ? Real(std::numeric_limits<T>::max()) * Real(std::numeric_limits<T>::epsilon())
          : Real(std::nextafter(size, std::numeric_limits<T>::infinity())) - Real(size);
  return static_cast<double>(std::abs(Real(got) - want) / unit);
}

// Arguments of all magnitudes from 2^-60 to 2^mostExponent, and many where the functions are
// curved.
template <class T>
std::vector<T> arguments(Draw& draw, int mostExponent) {
  std::vector<T> x;
  for (int exponent = -60; exponent <= mostExponent; ++exponent)
    for (int i = 0; i < 60; ++i)
      x.push_back(static_cast<T>(std::ldexp(draw.real(1, 2), exponent) *
                                 (draw.withProbability(0.5) ? 1 : -1)));
  for (double size : {1.0, 4.0, 20.0, 120.0, 800.0})
    for (T value : draw.reals<T>(2000, -size, size))
      x.push_back(value);
  return x;
}

} // namespace

template <class T>
class Functors : public ::testing::Test {};
TYPED_TEST_SUITE(Functors, RealTypes);

TYPED_TEST(Functors, AreWithinThreeUnitsInTheLastPlace) {
  using T = TypeParam;
  if (!isLongDoubleLonger())
    GTEST_SKIP() << "long double is double here";
  const NoTraps noTraps; // exponentials of more than 709 are infinite
  Draw draw(61);
  const std::vector<T> x = arguments<T>(draw, 20), large = arguments<T>(draw, 60);
  forEachSet([&] {
    for (Pointwise function : kElementary) {
      const auto& points = function == Pointwise::Sine ? large : x;
      const std::vector<T> y = valuesOf(function, points);
      for (std::size_t i = 0; i < points.size(); ++i)
        ASSERT_LE(errorIn(y[i], elementaryValue(function, points[i])), 3)
            << "function " << int(function) << " at " << points[i] << " gives " << y[i];
    }
  });
}

TYPED_TEST(Functors, HaveTheirLimits) {
  using T = TypeParam;
  const NoTraps noTraps; // infinities and NaN
  using Limits = std::numeric_limits<T>;
  const T inf = Limits::infinity(), least = Limits::denorm_min(), nan = Limits::quiet_NaN();
  const T half = T(0.5), log2 = std::numbers::ln2_v<T>;
  // The values at -infinity, -0, the smallest positive number and infinity.
  const std::vector<std::pair<Pointwise, std::vector<T>>> expected = {
      {Pointwise::Exp, {0, 1, 1, inf}},
      {Pointwise::Tanh, {-1, -T(0), least, 1}},
      {Pointwise::Sigmoid, {0, half, half, 1}},
      {Pointwise::Gelu, {-T(0), -T(0), 0, inf}},
      {Pointwise::GeluTanh, {-T(0), -T(0), 0, inf}},
      {Pointwise::Silu, {-T(0), -T(0), 0, inf}},
      {Pointwise::Softplus, {0, log2, log2, inf}},
      {Pointwise::Sine, {nan, -T(0), least, nan}}};
  const std::vector<T> x = {-inf, -T(0), least, inf};
  forEachSet([&] {
    for (const auto& [function, want] : expected) {
      SCOPED_TRACE(int(function));
      const std::vector<T> y = valuesOf(function, x);
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(std::isnan(y[i]), std::isnan(want[i])) << y[i] << " at " << x[i];
        if (!std::isnan(want[i])) {
          EXPECT_EQ(y[i], want[i]) << "at " << x[i];
          EXPECT_EQ(std::signbit(y[i]), std::signbit(want[i])) << "at " << x[i];
        }
      }
      EXPECT_TRUE(std::isnan(valuesOf<T>(function, {nan})[0]));
    }
  });
}

// The branch-free form of the sine is wrong for large angles. Elements are checked in groups: one
// large angle changes the form for its group, but not the results of the others.
TYPED_TEST(Functors, TheSineOfALargeAngleStandsBesideSmallOnes) {
  using T = TypeParam;
  std::vector<T> x(700, T(0.25));
  x[300] = T(1e30);
  const std::vector<T> y = valuesOf(Pointwise::Sine, x);
  EXPECT_EQ(y[300], std::sin(T(1e30)));
  EXPECT_NEAR(y[299], std::sin(T(0.25)), 1e-7);
}

} // namespace tenon::test
