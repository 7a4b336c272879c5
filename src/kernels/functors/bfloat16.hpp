// SPDX-License-Identifier: BSD-2-Clause
// Rounding to bfloat16 (the upper 16 bits of a float) and expansion from it, per element of a box
// (eachOfBlock() calls write(to, read(from, to)); on the host row() for a whole row) or of an array
// (FromBFloat16: eachElement() calls write(i, read(i))). movement/bfloat16.hpp has the callers.
#pragma once

#include "kernels/base/independent.hpp"
#include "sys/bfloat16.hpp"
#include "sys/types.hpp"

namespace tenon::functors {

template <class T>
struct RoundElements {
  const T* x;
  BFloat16* y;
  TENON_DEVICE BFloat16 read(Index from, Index) const { return toBFloat16(x[from]); }
  TENON_DEVICE void write(Index to, BFloat16 value) const { y[to] = value; }
  void row(Index n, Index from, Index stepX, Index to, Index stepY) const {
    const T* p = x + from;
    BFloat16* q = y + to;
    if (stepX == 1 && stepY == 1) {
      TENON_INDEPENDENT_ITERATIONS
      for (Index i = 0; i < n; ++i)
        q[i] = toBFloat16(p[i]);
    } else {
      for (Index i = 0; i < n; ++i)
        q[i * stepY] = toBFloat16(p[i * stepX]);
    }
  }
};

// y = x, or y += x if `adds`.
template <class T>
struct ExpandElements {
  const BFloat16* x;
  Index adds;
  T* y;
  TENON_DEVICE T read(Index from, Index to) const {
    const T value = valueOf(x[from]);
    return adds ? y[to] + value : value;
  }
  TENON_DEVICE void write(Index to, T value) const { y[to] = value; }
};

template <class T>
struct FromBFloat16 {
  const BFloat16* x;
  T* y;
  TENON_DEVICE T read(Index i) const { return static_cast<T>(valueOf(x[i])); }
  TENON_DEVICE void write(Index i, T value) const { y[i] = value; }
};

} // namespace tenon::functors
