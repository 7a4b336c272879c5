// SPDX-License-Identifier: BSD-2-Clause
// Elementary functions of one number without branches (exp, tanh, the logistic function, log(1 +
// t), the normal distribution, sine and cosine), which compilers vectorise in loops, unlike calls
// of the C library. They are the parts of the activations in functors/pointwise.hpp. Errors are
// less than 3 ulp. NaN propagates; infinities and signed zeros return the limits; denormal numbers
// are supported. (Polynomial coefficients that are not those of a Taylor series interpolate the
// function at Chebyshev points.)
//
// If argument and result are finite, no floating-point exceptions are raised except underflow and
// inexact. This matters because programs may trap division by zero, overflow and invalid
// operations. Code without branches computes both arms of each choice, so arguments are bounded
// (see bound()) to avoid exceptions in the arm that is not used.
#pragma once

#include "sys/device_code.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tenon::functors {

// The floating-point format of T, and constants of its exponential function: kLog2High + kLog2Low
// is log(2), and exp(x) is 0 below kMinExponent and infinite above kMaxExponent. The last digits of
// kLog2High are zeros, which makes its product with an exponent exact.
template <class T>
struct Format;

template <>
struct Format<double> {
  using Bits = std::int64_t;
  static constexpr int kMantissa = 52;
  static constexpr Bits kOne = Bits(1023) << kMantissa, kSign = INT64_MIN;
  // Masks the factor of a product that must be exact.
  static constexpr Bits kUpperHalf = ~Bits((1 << 27) - 1);
  static constexpr double kRound = 0x1.8p52; // x + kRound has x rounded in its low bits
  static constexpr double kLog2High = 0x1.62e42fefa3800p-1, kLog2Low = 0x1.ef35793c76730p-45;
  static constexpr double kMinExponent = -760, kMaxExponent = 710;
};

template <>
struct Format<float> {
  using Bits = std::int32_t;
  static constexpr int kMantissa = 23;
  static constexpr Bits kOne = Bits(127) << kMantissa, kSign = INT32_MIN;
  static constexpr Bits kUpperHalf = ~Bits((1 << 12) - 1);
  static constexpr float kRound = 0x1.8p23F;
  static constexpr float kLog2High = 0x1.62e4p-1F, kLog2Low = 0x1.7f7d1cp-20F;
  static constexpr float kMinExponent = -112, kMaxExponent = 89;
};

template <class T>
TENON_DEVICE auto bitsOf(T x) {
  return std::bit_cast<typename Format<T>::Bits>(x);
}

template <class T>
TENON_DEVICE T magnitude(T x) {
  return std::bit_cast<T>(bitsOf(x) & ~Format<T>::kSign);
}

template <class T>
TENON_DEVICE T withSignOf(T size, T x) {
  return std::bit_cast<T>(bitsOf(size) | (bitsOf(x) & Format<T>::kSign));
}

// Zeros that the compiler cannot see as constants.
extern const double kHiddenZero;
extern const float kHiddenZeroOfFloat;

// A bound that is not a compile-time constant. After a comparison with a constant, compilers
// evaluate the following code for the constant in advance, compute it in vectors from the unbounded
// number, and select afterwards: a constant bound would raise exceptions and could change the
// result.
template <class T>
TENON_DEVICE T bound(T value) {
#ifdef TENON_FOR_DEVICE
  return value; // devices have no exceptions
#else
  if constexpr (sizeof(T) == sizeof(double))
    return value + kHiddenZero;
  else
    return value + kHiddenZeroOfFloat;
#endif
}

template <class T>
TENON_DEVICE T atLeast(T low, T x) {
  return x < low ? low : x;
}
template <class T>
TENON_DEVICE T atMost(T high, T x) {
  return x > high ? high : x;
}
// x limited to [low, high]; NaN propagates.
template <class T>
TENON_DEVICE T clamped(T x, T low, T high) {
  return atMost(high, atLeast(low, x));
}

// c[0] x^(N-1) + ... + c[N-1]
template <class T, std::size_t N>
TENON_DEVICE T polynomial(const T (&c)[N], T x) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    T sum = c[0];
    ((sum = sum * x + c[I + 1]), ...);
    return sum;
  }
  (std::make_index_sequence<N - 1>());
}

// 2^n for an integer n in the range of normal numbers.
template <class T>
TENON_DEVICE T powerOfTwo(T n) {
  return std::bit_cast<T>((bitsOf(n + Format<T>::kRound) << Format<T>::kMantissa) +
                          Format<T>::kOne);
}

// exp(x + low) = 2^n (1 + p) with integer n; low is small beside x.
template <class T>
struct Exponential {
  T n, p;

  TENON_DEVICE explicit Exponential(T x, T low = 0) {
    using F = Format<T>;
    constexpr T kPerLog2 = T(1.4426950408889634074);
    const T rounded = x * kPerLog2 + F::kRound;
    n = rounded - F::kRound;
    const T r = (x - n * F::kLog2High) - n * F::kLog2Low + low;
    p = r + r * r * tail(r);
  }

private:
  // (exp(r) - 1 - r) / r^2, by Taylor
  TENON_DEVICE static T tail(T r) {
    if constexpr (sizeof(T) == sizeof(double)) {
      static constexpr double c[] = {1 / 6227020800., 1 / 479001600., 1 / 39916800., 1 / 3628800.,
                                     1 / 362880.,     1 / 40320.,     1 / 5040.,     1 / 720.,
                                     1 / 120.,        1 / 24.,        1 / 6.,        1 / 2.};
      return polynomial(c, r);
    } else {
      static constexpr float c[] = {1 / 5040.F, 1 / 720.F, 1 / 120.F, 1 / 24.F, 1 / 6.F, 1 / 2.F};
      return polynomial(c, r);
    }
  }
};

// factor exp(x + low), with x and low as above, where exp(x) does not overflow. The power of two is
// applied in two halves, since the result can be denormal, and last, to lose no digits of a larger
// product.
template <class T>
TENON_DEVICE T boundedExponential(T x, T low = 0, T factor = 1) {
  using F = Format<T>;
  const Exponential<T> e(atLeast(bound(F::kMinExponent), x), low);
  const T half = (e.n * T(0.5) + F::kRound) - F::kRound;
  const T first = powerOfTwo(half);
  return (factor + factor * e.p) * first * powerOfTwo(e.n - half);
}

// exp(x) for any x. Functions whose argument is bounded above use boundedExponential(): otherwise
// the compiler can hoist the exponential of the bound, which overflows, out of a loop.
template <class T>
TENON_DEVICE T exponential(T x) {
  return boundedExponential(atMost(bound(Format<T>::kMaxExponent), x));
}

// exp(x) - 1 for x <= 0; undefined for positive x.
template <class T>
TENON_DEVICE T exponentialMinusOne(T x) {
  constexpr T kMin = sizeof(T) == sizeof(double) ? T(-40) : T(-18); // the result is -1 below
  const Exponential<T> e(clamped(x, bound(kMin), bound(T(0))));
  const T scale = powerOfTwo(e.n);
  return scale * e.p + (scale - T(1));
}

// tanh x = sign(x) t / (t + 2), where t = exp(2 |x|) - 1.
template <class T>
TENON_DEVICE T hyperbolicTangent(T x) {
  constexpr T kMax = sizeof(T) == sizeof(double) ? T(19.1) : T(9.1); // the result is 1 beyond
  const T bounded = atMost(bound(kMax), magnitude(x));
  const Exponential<T> e(bounded + bounded);
  const T scale = powerOfTwo(e.n);
  const T t = scale * e.p + (scale - T(1));
  return withSignOf(t / (t + T(2)), x);
}

// 1 / (1 + exp(-(x + low))); about exp(x) for large negative x.
template <class T>
TENON_DEVICE T logistic(T x, T low = 0) {
  const T small = boundedExponential(-magnitude(x), x < T(0) ? low : -low);
  return (x < T(0) ? small : T(1)) / (T(1) + small);
}

// y / (1 + exp(-(x + low))), for y with the sign of x.
template <class T>
TENON_DEVICE T gated(T y, T x, T low = 0) {
  const T small = boundedExponential(-magnitude(x), x < T(0) ? low : -low);
  // A positive y is not used in this arm and could overflow.
  const T negative = atMost(bound(T(0)), y);
  const T scaled = boundedExponential(-magnitude(x), x < T(0) ? low : -low, negative);
  return (x < T(0) ? scaled : y) / (T(1) + small);
}

// log(1 + t) for t in [0, 1], computed as 2 atanh(t / (2 + t)).
template <class T>
TENON_DEVICE T logOfOnePlus(T t) {
  const T f = t / (T(2) + t), z = f * f;
  const T twice = f + f;
  if constexpr (sizeof(T) == sizeof(double)) {
    static constexpr double c[] = {0.080820228059717661105, 0.044003692430723369411,
                                   0.060005364047953562676, 0.066570721048274680752,
                                   0.076927850324793115517, 0.090908947180664290846,
                                   0.11111111358713931495,  0.14285714283554378581,
                                   0.20000000000007291337,  0.33333333333333329281};
    return twice + twice * z * polynomial(c, z);
  } else {
    static constexpr float c[] = {0.11612164612F, 0.10853287900F, 0.14296178997F, 0.19999853166F,
                                  0.33333333660F};
    return twice + twice * z * polynomial(c, z);
  }
}

// A number as the sum of two; the second is small beside the first.
template <class T>
struct Twofold {
  T high, low;
};

template <class T>
TENON_DEVICE T upperHalf(T x) {
  return std::bit_cast<T>(bitsOf(x) & Format<T>::kUpperHalf);
}

// x^2
template <class T>
TENON_DEVICE Twofold<T> square(T x) {
  const T high = upperHalf(x);
  return {high * high, (x + high) * (x - high)};
}

// factor exp(-a^2 / 2), for 0 <= a <= about 40.
template <class T>
TENON_DEVICE T gaussian(T a, T factor = 1) {
  const Twofold<T> s = square(a);
  return boundedExponential(s.high * T(-0.5), s.low * T(-0.5), factor);
}

// The normal distribution function: 1/2 + x normalCentre(x^2) for |x| <= kCentre. For a = |x|
// beyond that, the probability below -a is exp(-a^2 / 2) normalTail(a) / a, with a polynomial in (a
// - 4) / (a + 4).
template <class T>
constexpr T kCentre = T(0.85);

template <class T>
TENON_DEVICE T normalCentre(T square) {
  if constexpr (sizeof(T) == sizeof(double)) {
    static constexpr double c[] = {-9.604366056965132663e-11, 2.2482164295393864771e-9,
                                   -4.1205460238581014889e-8, 6.6595854446334513955e-7,
                                   -9.4446528418253831895e-6, 0.00011543468695702784392,
                                   -0.0011873282154073579183, 0.0099735570100316969727,
                                   -0.06649038006690535619,   0.39894228040143267761};
    return polynomial(c, square);
  } else {
    static constexpr float c[] = {-8.1152685950186587887e-6F, 0.00011438328685051265723F,
                                  -0.0011869393624355036838F, 0.0099734916050285319733F,
                                  -0.066490376029626764877F,  0.39894228036094522663F};
    return polynomial(c, square);
  }
}

template <class T>
TENON_DEVICE T normalTail(T a) {
  const T q = (a - 4) / (a + 4);
  if constexpr (sizeof(T) == sizeof(double)) {
    static constexpr double c[] = {
        1.886430134391216512e-8,    -1.6179670074838267026e-8,  -1.2798977322698272929e-7,
        4.0588028980291874801e-8,   6.55365193247990791e-7,     2.0509323032599118947e-7,
        -3.2800126209511382856e-6,  -2.6046198360703348583e-6,  0.000017932431818379613989,
        0.000016618763175871979651, -0.00011650196860428269969, -0.000048875373428004670834,
        0.00088208143268152844575,  -0.00092443695121243159145, -0.0055099406705664219802,
        0.026428192962023709762,    -0.063062641534229280123,   0.1003077713912779117,
        -0.11037962061484069131,    0.073694244221929717699,    0.37764256520787575125};
    return polynomial(c, q);
  } else {
    static constexpr float c[] = {0.000023681488441F, 0.00079185334371F, -0.00097283978433F,
                                  -0.0054834759555F,  0.026439744501F,   -0.063065965177F,
                                  0.10030673904F,     -0.11037946736F,   0.073694268936F,
                                  0.37764256402F};
    return polynomial(c, q);
  }
}

// Maximum angle for which the remainder of the division by pi is exact to all digits.
constexpr double kMaxAngle = 3e6;

// (-1)^m sin(x - m pi), where m - half is the integer nearest to x / pi - half. The result is the
// sine of x for half = 0, and minus its cosine for half = 1/2. Computed in double.
template <int Terms>
TENON_DEVICE double sineFrom(const double (&c)[Terms], double x, double half) {
  using F = Format<double>;
  constexpr double kPerPi = 0.31830988618379067154;
  // Pi as a sum. The first two have so few digits that their products with m are exact, and x - m
  // pi loses none although the two are nearly equal.
  constexpr double kPi[] = {0x1.921fb544p+1, 0x1.0b4611a6p-33, 0x1.3198a2e037073p-68};
  const double rounded = (x * kPerPi - half) + F::kRound;
  const double m = (rounded - F::kRound) + half;
  const double r = ((x - m * kPi[0]) - m * kPi[1]) - m * kPi[2], z = r * r;
  const double size = r * (1 + z * polynomial(c, z));
  // The lowest bit of `rounded` is that of m - half, which changes the sign if it is odd.
  return std::bit_cast<double>(bitsOf(size) ^ (bitsOf(rounded) << 63));
}

template <class T>
TENON_DEVICE T sineOrCosine(T x, double half) {
  if constexpr (sizeof(T) == sizeof(double)) {
    static constexpr double c[] = {2.7313658674940167149e-15, -7.6439639659253566632e-13,
                                   1.6058977114074673292e-10, -2.5052107613934760316e-8,
                                   2.7557319219139182201e-6,  -0.00019841269841254884688,
                                   0.0083333333333333157466,  -0.16666666666666666633};
    return sineFrom(c, x, half);
  } else {
    static constexpr double c[] = {1.5501961922912369609e-10, -2.5036714612185012458e-8,
                                   2.755712259056579447e-6,   -0.00019841268704550544755,
                                   0.0083333333309284415649,  -0.16666666666658418037};
    return float(sineFrom(c, double(x), half));
  }
}

// Sine and cosine, for |x| <= kMaxAngle.
template <class T>
TENON_DEVICE T sine(T x) {
  return sineOrCosine(x, 0);
}
template <class T>
TENON_DEVICE T cosine(T x) {
  return -sineOrCosine(x, 0.5);
}

} // namespace tenon::functors
