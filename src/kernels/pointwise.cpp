// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/pointwise.hpp"

#include "kernels/pointwise_onednn.hpp"

#include <cmath>
#include <type_traits>

namespace tenon {

namespace {

// The derivatives are written in y alone: relu' = [y > 0], tanh' = 1 - y^2, sigmoid' = y (1 - y).
struct Relu {
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
  template <class T>
  static T value(T x) {
    return T(1) / (T(1) + std::exp(-x));
  }
  template <class T>
  static T derivative(T y, T v) {
    return y * (T(1) - y) * v;
  }
};

template <class Visit>
void withFunction(Pointwise function, Visit visit) {
  switch (function) {
  case Pointwise::Relu:
    return visit(Relu{});
  case Pointwise::Tanh:
    return visit(Tanh{});
  case Pointwise::Sigmoid:
    return visit(Sigmoid{});
  }
}

} // namespace

PointwiseReads pointwiseReads(Pointwise) {
  return {false, true};
}

template <class T>
void pointwiseForward(Backend backend, Pointwise function, Index n, const T* x, T* y) {
  const Backend chosen = resolveBackend<T>(backend);
  if constexpr (std::is_same_v<T, float>) {
    // Relu is bound by memory: the loop is as good, and keeps NaN.
    if (chosen == Backend::OneDnn && function != Pointwise::Relu)
      return pointwiseForwardOneDnn(function, n, x, y);
  }
  withFunction(function, [=](auto f) {
    for (Index i = 0; i < n; ++i)
      y[i] = f.value(x[i]);
  });
}

template <class T>
void pointwiseDerivative(Backend backend, Pointwise function, Index n, const T*, const T* y,
                         const T* v, T* r) {
  resolveBackend<T>(backend);
  withFunction(function, [=](auto f) {
    for (Index i = 0; i < n; ++i)
      r[i] = f.derivative(y[i], v[i]);
  });
}

template <class T>
void axpby(Index n, T alpha, const T* x, T beta, T* y) {
  if (beta == T(0))
    for (Index i = 0; i < n; ++i)
      y[i] = alpha * x[i];
  else
    for (Index i = 0; i < n; ++i)
      y[i] = alpha * x[i] + beta * y[i];
}

template <class T>
void addBias(Index rows, Index cols, const T* b, T* y) {
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c)
      y[r * cols + c] += b[c];
}

template <class T>
void sumRows(Index rows, Index cols, const T* x, T* b) {
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c)
      b[c] += x[r * cols + c];
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void pointwiseForward<T>(Backend, Pointwise, Index, const T*, T*);                      \
  template void pointwiseDerivative<T>(Backend, Pointwise, Index, const T*, const T*, const T*,    \
                                       T*);                                                        \
  template void axpby<T>(Index, T, const T*, T, T*);                                               \
  template void addBias<T>(Index, Index, const T*, T*);                                            \
  template void sumRows<T>(Index, Index, const T*, T*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
