// SPDX-License-Identifier: BSD-2-Clause
// Sums and products of vectors of n contiguous elements, per element: eachElement()
// (walks/each.hpp) calls write(i, read(i)) for each i, on the host or the device. The names say
// what y becomes: alpha x + beta y, alpha x, a b, or y + a b.
#pragma once

#include "sys/device_code.hpp"
#include "sys/types.hpp"

namespace tenon::functors {

template <class T>
struct Axpby {
  T alpha;
  const T* x;
  T beta;
  T* y;
  TENON_DEVICE T read(Index i) const { return alpha * x[i] + beta * y[i]; }
  TENON_DEVICE void write(Index i, T value) const { y[i] = value; }
};

template <class T>
struct Scaled {
  T alpha;
  const T* x;
  T* y;
  TENON_DEVICE T read(Index i) const { return alpha * x[i]; }
  TENON_DEVICE void write(Index i, T value) const { y[i] = value; }
};

template <class T>
struct Product {
  const T *a, *b;
  T* y;
  TENON_DEVICE T read(Index i) const { return a[i] * b[i]; }
  TENON_DEVICE void write(Index i, T value) const { y[i] = value; }
};

template <class T>
struct AddedProduct {
  const T *a, *b;
  T* y;
  TENON_DEVICE T read(Index i) const { return y[i] + a[i] * b[i]; }
  TENON_DEVICE void write(Index i, T value) const { y[i] = value; }
};

} // namespace tenon::functors
