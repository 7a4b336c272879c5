// SPDX-License-Identifier: BSD-2-Clause
// The activations of layers, for host and device: value(x) is y = f(x), and derivative(point, v) is
// f'(x) v. The point is the argument x or the value y, whichever the last column has (kReads).
//   name      f(x)                      f'(x); [y > 0] is 1 if y > 0, else 0
//   relu      max(x, 0)                 [y > 0]
//   tanh      tanh x                    1 - y^2
//   sigmoid   s(x) = 1 / (1 + exp(-x))  y (1 - y)
//   leakyrelu x > 0 ? x : a x           x > 0 ? 1 : a
//   elu       x > 0 ? x : a (exp x - 1)   x > 0 ? 1 : a exp x
//   gelu      x Phi(x)                  Phi(x) + x phi(x), Phi and phi of the normal distribution
//   gelutanh  x (1 + tanh u) / 2        s + x s (1 - s) 2 u', s = s(2 u) = (1 + tanh u) / 2,
//                                       u = sqrt(2 / pi) (x + 0.044715 x^3)
//   silu      x s(x)                    s (1 + x (1 - s))
//   softplus  log(1 + exp(x))           s(x)
//   exp       exp x                     y
//   sine, cosine   sin x, cos x         cos x, -sin x
//   clamp     x < a ? a : x > b ? b : x   a < x < b ? 1 : 0
//   abs       |x|                       -1, 0 or 1
//   sqrt      sqrt x                    1 / (2 y)
//   reciprocal  1 / x                   -y^2
//   power     x^a                       a x^(a - 1), 0 for a = 0
//   log       log x                     1 / x
//   softsign  x / (1 + |x|)             1 / (1 + |x|)^2
//   mish      x t, t = tanh log(1 + exp x)   t + x (1 - t^2) s(x)
//   hardswish x min(max(x + 3, 0), 6) / 6    0, x / 3 + 1/2, or 1
//   selu      l (x > 0 ? x : a (exp x - 1))  l (x > 0 ? 1 : a exp x); l, a: Klambauer et al. 2017
//   celu      x > 0 ? x : a (exp(x / a) - 1)  x > 0 ? 1 : exp(x / a)
//   scale     a x + b, identity: x      a
// Functions of mathematics, such as tan and erf, are in mathematical.hpp.
#pragma once

#include "kernels/elementwise/pointwise.hpp"
#include "kernels/functors/mathematical.hpp"

namespace tenon::pointwise {

struct Relu {
  static constexpr Reads kReads = Reads::Value;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return x < T(0) ? T(0) : x;
  }
  template <class T>
  TENON_DEVICE static T derivative(T y, T v) {
    return y <= T(0) ? T(0) : v; // NaN propagates
  }
};

struct Tanh {
  static constexpr Reads kReads = Reads::Value;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return functors::hyperbolicTangent(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T y, T v) {
    return (T(1) - y * y) * v;
  }
};

struct Sigmoid {
  static constexpr Reads kReads = Reads::Value;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return functors::logistic(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T y, T v) {
    return y * (T(1) - y) * v;
  }
};

struct LeakyRelu {
  static constexpr Reads kReads = Reads::Argument;
  double slope;
  template <class T>
  TENON_DEVICE T value(T x) const {
    return x > T(0) ? x : T(slope) * x;
  }
  template <class T>
  TENON_DEVICE T derivative(T x, T v) const {
    return x > T(0) ? v : T(slope) * v;
  }
};

struct Elu {
  static constexpr Reads kReads = Reads::Argument;
  double factor;
  template <class T>
  TENON_DEVICE T value(T x) const {
    const T negative = functors::exponentialMinusOne(x); // for x <= 0
    return x > T(0) ? x : T(factor) * negative;
  }
  template <class T>
  TENON_DEVICE T derivative(T x, T v) const {
    const T negative = functors::boundedExponential(functors::atMost(functors::bound(T(0)), x));
    return x > T(0) ? v : T(factor) * negative * v;
  }
};

// Outside [-kMax, kMax] the normal distribution function is 0 or 1 to rounding.
struct Gelu {
  static constexpr Reads kReads = Reads::Argument;
  template <class T>
  static constexpr T kMax = sizeof(T) == sizeof(double) ? T(39) : T(14.6);
  template <class T>
  TENON_DEVICE static T value(T argument) {
    using namespace functors;
    const T x = clamped(argument, bound(-kMax<T>), bound(kMax<T>)), a = magnitude(x);
    const T below = gaussian(a, normalTail(a)); // a Phi(-a), for a >= kCentre
    const T centre = x * (T(0.5) + x * normalCentre(x * x));
    const T outside = x < T(0) ? -below : argument - below;
    return a < kCentre<T> ? centre : outside;
  }
  template <class T>
  TENON_DEVICE static T derivative(T argument, T v) {
    using namespace functors;
    constexpr T kPerRootOf2Pi = T(0.39894228040143267794);
    const T x = clamped(argument, bound(-kMax<T>), bound(kMax<T>)), a = magnitude(x);
    const T bell = gaussian(a), divisor = atLeast(bound(kCentre<T>), a);
    const T tail = bell * normalTail(a) / divisor, centre = T(0.5) + x * normalCentre(x * x);
    const T phi = a < kCentre<T> ? centre : x < T(0) ? tail : T(1) - tail; // Phi(x)
    return (phi + x * bell * kPerRootOf2Pi) * v;
  }
};

struct GeluTanh {
  static constexpr Reads kReads = Reads::Argument;
  // 2 u = kLinear x + kCubic x^3, with each coefficient split in two; the first part has 26 bits.
  // It is a sum high + low: the absolute error of 2 u, up to 900, is the relative one of exp(2 u).
  // Products of 26 bits are exact, and sum + lost is exactly cube + kLinear[0] (Knuth's sum).
  static constexpr double kLinear[] = {0x1.988453p+0, 0x1.ea1b284687e5ap-27};
  static constexpr double kCubic[] = {0x1.2444f28p-4, 0x1.26c5a57a4def1p-31};
  template <class T>
  static constexpr T kMax = sizeof(T) == sizeof(double) ? T(23)
                                                        : T(12); // x s(2 u) is 0 or x beyond
  template <class T>
  TENON_DEVICE static T within(T x) {
    return functors::clamped(x, functors::bound(-kMax<T>), functors::bound(kMax<T>));
  }

  TENON_DEVICE static functors::Twofold<double> twiceU(double x) {
    const auto [square, more] = functors::square(x);
    const double s = functors::upperHalf(square), rest = (square - s) + more;
    const double cube = kCubic[0] * s, sum = cube + kLinear[0];
    const double back = sum - cube, lost = (cube - (sum - back)) + (kLinear[0] - back);
    const double low = lost + (kCubic[0] * rest + kCubic[1] * (s + rest) + kLinear[1]);
    const double a = functors::upperHalf(x), b = functors::upperHalf(sum);
    return {a * b, (x - a) * b + ((sum - b) + low) * x};
  }
  TENON_DEVICE static functors::Twofold<float> twiceU(float x) {
    const double exact =
        double(x) * (kLinear[0] + kLinear[1] + (kCubic[0] + kCubic[1]) * double(x) * double(x));
    const float high = float(exact);
    return {high, float(exact - double(high))};
  }
  template <class T>
  TENON_DEVICE static T value(T argument) {
    const T x = within(argument);
    const auto [u, low] = twiceU(x);
    return functors::gated(argument < x ? x : argument, u, low);
  }
  template <class T>
  TENON_DEVICE static T derivative(T argument, T v) {
    const T x = within(argument);
    const auto [u, low] = twiceU(x);
    const T s = functors::logistic(u, low), rest = functors::logistic(-u, -low);
    const T slope = T(kLinear[0] + kLinear[1]) + T(3 * (kCubic[0] + kCubic[1])) * x * x;
    return (s + x * s * rest * slope) * v;
  }
};

struct Silu {
  static constexpr Reads kReads = Reads::Argument;
  template <class T>
  TENON_DEVICE static T least(T x) { // s(x) is 0 for smaller x
    return functors::atLeast(functors::bound(functors::Format<T>::kMinExponent), x);
  }
  template <class T>
  TENON_DEVICE static T value(T x) {
    return functors::gated(least(x), x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T argument, T v) {
    constexpr T kMax = -functors::Format<T>::kMinExponent; // s(-x) is 0 beyond
    const T x = least(argument), s = functors::logistic(x), rest = functors::logistic(-x);
    return s * (T(1) + functors::atMost(functors::bound(kMax), x) * rest) * v;
  }
};

struct Softplus {
  static constexpr Reads kReads = Reads::Argument;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return (x < T(0) ? T(0) : x) +
           functors::logOfOnePlus(functors::boundedExponential(-functors::magnitude(x)));
  }
  template <class T>
  TENON_DEVICE static T derivative(T x, T v) {
    return functors::logistic(x) * v;
  }
};

struct Exp {
  static constexpr Reads kReads = Reads::Value;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return functors::exponential(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T y, T v) {
    return y * v;
  }
};

// For |x| > kMax only Anywhere is accurate.
struct Sine {
  static constexpr Reads kReads = Reads::Argument;
  static constexpr double kMax = functors::kMaxAngle;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return functors::sine(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T x, T v) {
    return functors::cosine(x) * v;
  }
  struct Anywhere {
    template <class T>
    TENON_DEVICE static T value(T x) {
      return std::sin(x);
    }
    template <class T>
    TENON_DEVICE static T derivative(T x, T v) {
      return std::cos(x) * v;
    }
  };
};

// For |x| > kMax only Anywhere is accurate.
struct Cosine {
  static constexpr Reads kReads = Reads::Argument;
  static constexpr double kMax = functors::kMaxAngle;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return functors::cosine(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T x, T v) {
    return -functors::sine(x) * v;
  }
  struct Anywhere {
    template <class T>
    TENON_DEVICE static T value(T x) {
      return std::cos(x);
    }
    template <class T>
    TENON_DEVICE static T derivative(T x, T v) {
      return -std::sin(x) * v;
    }
  };
};

struct Clamp {
  static constexpr Reads kReads = Reads::Argument;
  double low, high;
  template <class T>
  TENON_DEVICE T value(T x) const {
    return functors::clamped(x, T(low), T(high));
  }
  template <class T>
  TENON_DEVICE T derivative(T x, T v) const {
    return x > T(low) && x < T(high) ? v : T(0);
  }
};

struct Abs {
  static constexpr Reads kReads = Reads::Argument;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return functors::magnitude(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T x, T v) {
    return x > T(0) ? v : x < T(0) ? -v : T(0);
  }
};

struct Sqrt {
  static constexpr Reads kReads = Reads::Value;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return std::sqrt(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T y, T v) {
    return v / (T(2) * y);
  }
};

struct Reciprocal {
  static constexpr Reads kReads = Reads::Value;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return T(1) / x;
  }
  template <class T>
  TENON_DEVICE static T derivative(T y, T v) {
    return -y * y * v;
  }
};

struct Power {
  static constexpr Reads kReads = Reads::Argument;
  double exponent;
  template <class T>
  TENON_DEVICE T value(T x) const {
    return std::pow(x, T(exponent));
  }
  template <class T>
  TENON_DEVICE T derivative(T x, T v) const {
    return exponent == 0 ? T(0) : T(exponent) * std::pow(x, T(exponent - 1)) * v;
  }
};

struct Log {
  static constexpr Reads kReads = Reads::Argument;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return std::log(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T x, T v) {
    return v / x;
  }
};

struct Softsign {
  static constexpr Reads kReads = Reads::Argument;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return x / (T(1) + functors::magnitude(x));
  }
  template <class T>
  TENON_DEVICE static T derivative(T x, T v) {
    const T divisor = T(1) + functors::magnitude(x);
    return v / divisor / divisor;
  }
};

// With z = exp x and n = z (z + 2), tanh log(1 + z) = n / (n + 2). It is 1 beyond kMax.
struct Mish {
  static constexpr Reads kReads = Reads::Argument;
  template <class T>
  static constexpr T kMax = sizeof(T) == sizeof(double) ? T(40) : T(20);
  template <class T>
  TENON_DEVICE static T value(T x) {
    const T z = functors::boundedExponential(functors::atMost(functors::bound(kMax<T>), x));
    const T n = z * (z + T(2));
    return x * (n / (n + T(2)));
  }
  template <class T>
  TENON_DEVICE static T derivative(T argument, T v) {
    using namespace functors;
    const T x = clamped(argument, bound(Format<T>::kMinExponent), bound(kMax<T>));
    const T z = boundedExponential(x), n = z * (z + T(2)), divisor = n + T(2);
    const T t = n / divisor, oneMinusT = T(2) / divisor;
    return (t + x * oneMinusT * ((T(1) + t) * (z / (T(1) + z)))) * v;
  }
};

struct HardSwish {
  static constexpr Reads kReads = Reads::Argument;
  template <class T>
  TENON_DEVICE static T value(T x) {
    return x * functors::clamped(x + T(3), T(0), T(6)) / T(6);
  }
  template <class T>
  TENON_DEVICE static T derivative(T x, T v) {
    const T clampedX = functors::clamped(x, functors::bound(T(-3)), functors::bound(T(3)));
    return x <= T(-3) ? T(0) : x < T(3) ? v * (clampedX / T(3) + T(0.5)) : v;
  }
};

struct Selu {
  static constexpr Reads kReads = Reads::Argument;
  static constexpr double kScale = 1.0507009873554804934193349852946,
                          kAlpha = 1.6732632423543772848170429916717;
  template <class T>
  TENON_DEVICE static T value(T x) {
    const T negative = functors::exponentialMinusOne(x); // for x <= 0
    return x > T(0) ? T(kScale) * x : T(kScale * kAlpha) * negative;
  }
  template <class T>
  TENON_DEVICE static T derivative(T x, T v) {
    const T negative = functors::atMost(functors::bound(T(0)), x);
    return (x > T(0) ? T(kScale) : T(kScale * kAlpha) * functors::boundedExponential(negative)) * v;
  }
};

struct Celu {
  static constexpr Reads kReads = Reads::Argument;
  double factor;
  template <class T>
  TENON_DEVICE T value(T x) const {
    const T negative = functors::exponentialMinusOne(boundedQuotient(x)); // for x <= 0
    return x > T(0) ? x : T(factor) * negative;
  }
  template <class T>
  TENON_DEVICE T derivative(T x, T v) const {
    const T negative = functors::boundedExponential(boundedQuotient(x)); // for x <= 0
    return x > T(0) ? v : negative * v;
  }

private:
  // x / factor for x <= 0, bounded such that the quotient does not overflow.
  template <class T>
  TENON_DEVICE T boundedQuotient(T x) const {
    using namespace functors;
    return clamped(x, T(factor) * bound(Format<T>::kMinExponent), bound(T(0))) / T(factor);
  }
};

struct Scale {
  static constexpr Reads kReads = Reads::Nothing;
  double factor;
  template <class T>
  TENON_DEVICE T value(T x) const {
    return T(factor) * x;
  }
  template <class T>
  TENON_DEVICE T derivative(T, T v) const {
    return T(factor) * v;
  }
};

// Separate from Scale, which preserves the sign of a zero.
struct ShiftedScale {
  static constexpr Reads kReads = Reads::Nothing;
  double factor, shift;
  template <class T>
  TENON_DEVICE T value(T x) const {
    return T(factor) * x + T(shift);
  }
  template <class T>
  TENON_DEVICE T derivative(T, T v) const {
    return T(factor) * v;
  }
};

// Functors for element i: y = f(x), and r = f'(point) v.
template <class F, class T>
struct Value {
  F f;
  const T* x;
  T* y;
  TENON_DEVICE T read(Index i) const { return f.value(x[i]); }
  TENON_DEVICE void write(Index i, T value) const { y[i] = value; }
};

template <class F, class T>
struct Derivative {
  F f;
  const T *point, *v;
  T* r;
  TENON_DEVICE T read(Index i) const { return f.derivative(point[i], v[i]); }
  TENON_DEVICE void write(Index i, T value) const { r[i] = value; }
};

// Selects F or, for an argument that is too large for it, F::Anywhere, per element.
template <class F>
struct Everywhere {
  template <class T>
  TENON_DEVICE static bool isWithin(T x) {
    return functors::magnitude(x) <= T(F::kMax);
  }
  // [[unlikely]] keeps ptxas from spilling a register at the call.
  template <class T>
  TENON_DEVICE static T value(T x) {
    if (!isWithin(x)) [[unlikely]]
      return F::Anywhere::value(x);
    return F::value(x);
  }
  template <class T>
  TENON_DEVICE static T derivative(T x, T v) {
    return isWithin(x) ? F::derivative(x, v) : F::Anywhere::derivative(x, v);
  }
};

// The functions without parameters that accept any argument, by their names in the enum.
// clang-format off
#define TENON_PLAIN_FUNCTIONS(X) \
  X(Relu) X(Tanh) X(Sigmoid) X(Gelu) X(GeluTanh) X(Silu) X(Softplus) X(Exp) X(Abs) X(Sqrt) \
  X(Reciprocal) X(Log) X(Softsign) X(Mish) X(HardSwish) X(Selu) X(Tan) X(Asin) X(Acos) X(Atan) \
  X(Sinh) X(Cosh) X(Asinh) X(Acosh) X(Atanh) X(Erf) X(Floor) X(Ceil) X(Round) X(NegativePart)
// clang-format on

// Calls visit(functor) with the functor of the function.
template <class Visit>
auto withFunction(const PointwiseFunction& function, Visit visit) {
  switch (function.kind) {
#define TENON_PLAIN(F)                                                                             \
  case Pointwise::F:                                                                               \
    return visit(F{});
    TENON_PLAIN_FUNCTIONS(TENON_PLAIN)
#undef TENON_PLAIN
  case Pointwise::Sine:
    return visit(Sine{});
  case Pointwise::Cosine:
    return visit(Cosine{});
  case Pointwise::LeakyRelu:
    return visit(LeakyRelu{function.parameter});
  case Pointwise::Elu:
    return visit(Elu{function.parameter});
  case Pointwise::Clamp:
    return visit(Clamp{function.parameter, function.second});
  case Pointwise::Power:
    return visit(Power{function.parameter});
  case Pointwise::Celu:
    return visit(Celu{function.parameter});
  case Pointwise::Scale:
    if (function.second != 0)
      return visit(ShiftedScale{function.parameter, function.second});
    return visit(Scale{function.parameter});
  case Pointwise::Identity:
    break;
  }
  return visit(Scale{1});
}

} // namespace tenon::pointwise
