// SPDX-License-Identifier: BSD-2-Clause
// Sums and products of vectors, by element.
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
  TENON_DEVICE void operator()(Index i) const { y[i] = alpha * x[i] + beta * y[i]; }
};

template <class T>
struct Scaled {
  T alpha;
  const T* x;
  T* y;
  TENON_DEVICE void operator()(Index i) const { y[i] = alpha * x[i]; }
};

template <class T>
struct Product {
  const T *a, *b;
  T* y;
  TENON_DEVICE void operator()(Index i) const { y[i] = a[i] * b[i]; }
};

template <class T>
struct AddedProduct {
  const T *a, *b;
  T* y;
  TENON_DEVICE void operator()(Index i) const { y[i] += a[i] * b[i]; }
};

} // namespace tenon::functors
