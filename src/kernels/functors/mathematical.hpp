// SPDX-License-Identifier: BSD-2-Clause
// The functions of mathematics, as the functors of pointwise.hpp: value(x) is y = f(x), and
// derivative(point, v) is f'(x) v. The derivatives f'(x), by x or by y:
//
//   tan                 1 + y^2
//   asin, acos          1 / sqrt(1 - x^2), -1 / sqrt(1 - x^2)
//   atan                1 / (1 + x^2)
//   sinh, cosh          cosh x, sinh x
//   asinh, acosh        1 / sqrt(x^2 + 1), 1 / sqrt(x^2 - 1)
//   atanh               1 / (1 - x^2)
//   erf                 2 / sqrt(pi) exp(-x^2), where erf x = 2 Phi(sqrt(2) x) - 1 and Phi is the
//                       normal distribution function
//   floor, ceil, round  0, also where they jump
//   negative part       x > 0 ? 0 : 1, of min(x, 0)
//
// 1 - x^2 is computed as (1 - x) (1 + x), which has no cancellation near 1, and x^2 - 1 likewise.
#pragma once

#include "kernels/functors/elementary.hpp"

#include <cmath>

namespace tenon::pointwise {

// What derivative() needs as its point: nothing, the argument x, or the value y.
enum class Reads { Nothing, Argument, Value };

struct NegativePart {
  static constexpr Reads kReads = Reads::Argument;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return x > T(0) ? T(0) : x; // NaN propagates
  }
  template <class T>
  TENON_DEVICE static T derivative(T x, T v) {
    return x > T(0) ? T(0) : v;
  }
};

struct Tan {
  static constexpr Reads kReads = Reads::Value;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return std::tan(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T y, T v) {
    return (T(1) + y * y) * v;
  }
};

struct Asin {
  static constexpr Reads kReads = Reads::Argument;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return std::asin(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T x, T v) {
    return v / std::sqrt((T(1) - x) * (T(1) + x));
  }
};

struct Acos {
  static constexpr Reads kReads = Reads::Argument;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return std::acos(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T x, T v) {
    return -v / std::sqrt((T(1) - x) * (T(1) + x));
  }
};

// The derivative is v / x / x where x^2 would overflow.
struct Atan {
  static constexpr Reads kReads = Reads::Argument;
  template <class T>
  static constexpr T kMax = sizeof(T) == sizeof(double) ? T(1e150) : T(1e18);
  template <class T>
  TENON_DEVICE static T value(T x) {
    return std::atan(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T x, T v) {
    using namespace functors;
    const T a = magnitude(x), inside = atMost(bound(kMax<T>), a), far = atLeast(bound(T(1)), a);
    return a > kMax<T> ? v / far / far : v / (T(1) + inside * inside);
  }
};

struct Sinh {
  static constexpr Reads kReads = Reads::Argument;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return std::sinh(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T x, T v) {
    return std::cosh(x) * v;
  }
};

struct Cosh {
  static constexpr Reads kReads = Reads::Argument;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return std::cosh(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T x, T v) {
    return std::sinh(x) * v;
  }
};

struct Asinh {
  static constexpr Reads kReads = Reads::Argument;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return std::asinh(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T x, T v) {
    return v / std::hypot(x, T(1));
  }
};

struct Acosh {
  static constexpr Reads kReads = Reads::Argument;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return std::acosh(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T x, T v) {
    return v / (std::sqrt(x - T(1)) * std::sqrt(x + T(1)));
  }
};

struct Atanh {
  static constexpr Reads kReads = Reads::Argument;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return std::atanh(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T x, T v) {
    return v / ((T(1) - x) * (T(1) + x));
  }
};

// By the normal distribution function Phi of z = sqrt(2) x (elementary.hpp): near 0 as
// 2 (Phi(z) - 1/2) = 2 z normalCentre(z^2), which has all its digits, and elsewhere from the tail
// of Phi. Beyond kMax the function is 1 to rounding.
struct Erf {
  static constexpr Reads kReads = Reads::Argument;
  template <class T>
  static constexpr T kMax = sizeof(T) == sizeof(double) ? T(6) : T(4);
  template <class T>
  TENON_DEVICE static T value(T x) {
    using namespace functors;
    constexpr T kRootOf2 = T(1.4142135623730950488);
    const T z = clamped(x, bound(-kMax<T>), bound(kMax<T>)) * kRootOf2, a = magnitude(z);
    const T divisor = atLeast(bound(kCentre<T>), a);
    const T outside = T(1) - T(2) * gaussian(a) * normalTail(a) / divisor;
    return a < kCentre<T> ? T(2) * z * normalCentre(z * z) : withSignOf(outside, x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T x, T v) {
    using namespace functors;
    constexpr T kRootOf2 = T(1.4142135623730950488), kTwoPerRootOfPi = T(1.1283791670955125739);
    constexpr T kFar = sizeof(T) == sizeof(double) ? T(28) : T(11); // the derivative is 0 beyond
    const T a = atMost(bound(kFar), magnitude(x));
    return gaussian(a * kRootOf2, kTwoPerRootOfPi) * v;
  }
};

struct Floor {
  static constexpr Reads kReads = Reads::Nothing;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return std::floor(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T, T) {
    return T(0);
  }
};

struct Ceil {
  static constexpr Reads kReads = Reads::Nothing;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return std::ceil(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T, T) {
    return T(0);
  }
};

struct Round {
  static constexpr Reads kReads = Reads::Nothing;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return std::nearbyint(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T, T) {
    return T(0);
  }
};

} // namespace tenon::pointwise
