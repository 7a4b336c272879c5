// SPDX-License-Identifier: BSD-2-Clause
// The final stage of a sum whose result stays in the memory space of the kernels, so the host need
// not wait for it (StoreScaled), and functors that read such a number: a product with it, and the
// terms of a dot product. The losses (rows/losses.hpp) use them.
#pragma once

#include "sys/device_code.hpp"
#include "sys/types.hpp"

namespace tenon::functors {

// *y = factor times the sum; a factor of 0 results in 0 even if the sum is not finite. y can be
// null.
template <class T>
struct StoreScaled {
  double factor;
  T* y;
  TENON_DEVICE void operator()(Index, double value) const {
    if (y)
      *y = factor == 0 ? T(0) : T(factor * value);
  }
};

// y = *factor x; a null factor stands for 0.
template <class T>
struct ScaledByNumber {
  const T *factor, *x;
  T* y;
  TENON_DEVICE T read(Index i) const { return (factor ? *factor : T(0)) * x[i]; }
  TENON_DEVICE void write(Index i, T value) const { y[i] = value; }
};

// Terms of a sum: a derivative times a direction. A term is 0 where the derivative is 0, even if
// the direction is NaN there.
template <class T>
struct SlopeDot {
  using Wide = double;
  const T *slope, *dx;
  TENON_DEVICE double operator()(Index, Index i) const {
    const double s = double(slope[i]), d = s == 0 ? 0 : double(dx[i]);
    return s * d;
  }
};

} // namespace tenon::functors
