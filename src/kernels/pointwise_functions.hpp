// SPDX-License-Identifier: BSD-2-Clause
// The pointwise functions themselves: a value, and the derivative times v at a point that is the
// function's argument or its value, whichever it is written in.
//
//   relu      max(x, 0)                 [y > 0]
//   tanh      tanh x                    1 - y^2
//   sigmoid   s(x) = 1 / (1 + exp(-x))  y (1 - y)
//   leakyrelu x > 0 ? x : a x           x > 0 ? 1 : a
//   gelu      x Phi(x)                  Phi(x) + x phi(x), Phi and phi of the normal distribution
//   gelutanh  x (1 + t) / 2             (1 + t + x (1 - t^2) u') / 2, t = tanh u,
//                                       u = sqrt(2 / pi) (x + 0.044715 x^3)
//   silu      x s(x)                    s (1 + x (1 - s))
//   softplus  log(1 + exp(x))           s(x)
//   scale     a x                       a
//   identity  x                         1
#pragma once

#include "kernels/pointwise.hpp"

#include <cmath>
#include <numbers>

namespace tenon::pointwise {

enum class Reads { Nothing, Argument, Value };

template <class T>
T sigmoid(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

struct Relu {
  static constexpr Reads kReads = Reads::Value;
  template <class T>
  static T value(T x) {
    return x < T(0) ? T(0) : x;
  }
  template <class T>
  static T derivative(T y, T v) {
    return y > T(0) ? v : T(0);
  }
};

struct Tanh {
  static constexpr Reads kReads = Reads::Value;
  template <class T>
  static T value(T x) {
    return std::tanh(x);
  }
  template <class T>
  static T derivative(T y, T v) {
    return (T(1) - y * y) * v;
  }
};

struct Sigmoid {
  static constexpr Reads kReads = Reads::Value;
  template <class T>
  static T value(T x) {
    return sigmoid(x);
  }
  template <class T>
  static T derivative(T y, T v) {
    return y * (T(1) - y) * v;
  }
};

struct LeakyRelu {
  static constexpr Reads kReads = Reads::Argument;
  double slope;
  template <class T>
  T value(T x) const {
    return x > T(0) ? x : T(slope) * x;
  }
  template <class T>
  T derivative(T x, T v) const {
    return x > T(0) ? v : T(slope) * v;
  }
};

struct Gelu {
  static constexpr Reads kReads = Reads::Argument;
  // erfc keeps the digits of the lower tail.
  template <class T>
  static T normal(T x) {
    return T(0.5) * std::erfc(-x * (std::numbers::sqrt2_v<T> / 2));
  }
  template <class T>
  static T value(T x) {
    return x * normal(x);
  }
  template <class T>
  static T derivative(T x, T v) {
    const T density =
        std::exp(-x * x / 2) * (std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>);
    return (normal(x) + x * density) * v;
  }
};

struct GeluTanh {
  static constexpr Reads kReads = Reads::Argument;
  static constexpr double kScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  static constexpr double kCubic = 0.044715;
  template <class T>
  static T inner(T x) {
    return std::tanh(T(kScale) * x * (T(1) + T(kCubic) * x * x));
  }
  template <class T>
  static T value(T x) {
    return x * (T(1) + inner(x)) / 2;
  }
  template <class T>
  static T derivative(T x, T v) {
    const T t = inner(x);
    const T slope = T(kScale) * (T(1) + T(3 * kCubic) * x * x);
    return (T(1) + t + x * (T(1) - t * t) * slope) / 2 * v;
  }
};

struct Silu {
  static constexpr Reads kReads = Reads::Argument;
  template <class T>
  static T value(T x) {
    return x * sigmoid(x);
  }
  template <class T>
  static T derivative(T x, T v) {
    const T s = sigmoid(x);
    return s * (T(1) + x * (T(1) - s)) * v;
  }
};

struct Softplus {
  static constexpr Reads kReads = Reads::Argument;
  template <class T>
  static T value(T x) {
    return (x < T(0) ? T(0) : x) + std::log1p(std::exp(-std::abs(x)));
  }
  template <class T>
  static T derivative(T x, T v) {
    return sigmoid(x) * v;
  }
};

struct Scale {
  static constexpr Reads kReads = Reads::Nothing;
  double factor;
  template <class T>
  T value(T x) const {
    return T(factor) * x;
  }
  template <class T>
  T derivative(T, T v) const {
    return T(factor) * v;
  }
};

// Calls visit with the structure of the function.
template <class Visit>
auto withFunction(const PointwiseFunction& function, Visit visit) {
  switch (function.kind) {
  case Pointwise::Relu:
    return visit(Relu{});
  case Pointwise::Tanh:
    return visit(Tanh{});
  case Pointwise::Sigmoid:
    return visit(Sigmoid{});
  case Pointwise::LeakyRelu:
    return visit(LeakyRelu{function.parameter});
  case Pointwise::Gelu:
    return visit(Gelu{});
  case Pointwise::GeluTanh:
    return visit(GeluTanh{});
  case Pointwise::Silu:
    return visit(Silu{});
  case Pointwise::Softplus:
    return visit(Softplus{});
  case Pointwise::Scale:
    return visit(Scale{function.parameter});
  case Pointwise::Identity:
    break;
  }
  return visit(Scale{1});
}

} // namespace tenon::pointwise
