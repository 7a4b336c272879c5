// SPDX-License-Identifier: BSD-2-Clause
// What is done to pairs of real and imaginary part, by pair.
#pragma once

#include "kernels/cells.hpp"

namespace tenon::functors {

// i times each.
template <class T>
struct Turned {
  const T* x;
  T* y;
  TENON_DEVICE void operator()(Index i) const {
    y[2 * i] = -x[2 * i + 1];
    y[2 * i + 1] = x[2 * i];
  }
};

// Times the weight of its mode, of lines of so many.
template <class T>
struct WeightedModes {
  const T *weights, *from;
  T* to;
  Index modes;
  TENON_DEVICE void operator()(Index at, Index line) const {
    const T weight = weights[at - line * modes];
    to[2 * at] = weight * from[2 * at];
    to[2 * at + 1] = weight * from[2 * at + 1];
  }
};

// c += a b, with the conjugate of a where the sign is -1.
template <class T>
struct ComplexMultiplyAdd {
  T sign;
  const T *a, *b;
  T* c;
  TENON_DEVICE void operator()(Index i) const {
    const T re = a[2 * i], im = sign * a[2 * i + 1];
    c[2 * i] += re * b[2 * i] - im * b[2 * i + 1];
    c[2 * i + 1] += re * b[2 * i + 1] + im * b[2 * i];
  }
};

// The same for `count` pairs of a and b, one after the other.
template <class T>
struct ComplexSums {
  Cells<3> cells; // pairs of a, b and c
  Index count, stepA, stepB;
  T sign;
  const T *a, *b;
  T* c;
  TENON_DEVICE void operator()(Index i) const {
    const auto at = cells(i);
    for (Index r = 0; r < count; ++r)
      ComplexMultiplyAdd<T>{sign, a + 2 * (at.of[0] + r * stepA), b + 2 * (at.of[1] + r * stepB),
                            c + 2 * at.of[2]}(0);
  }
};

} // namespace tenon::functors
