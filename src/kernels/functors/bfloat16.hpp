// SPDX-License-Identifier: BSD-2-Clause
// Rounding to bfloat16 (the upper 16 bits of a float) and expansion from bfloat16, for the
// functions of movement/bfloat16.hpp. RoundElements and ExpandElements work on the elements of a
// box: eachOfBlock() calls write(to, read(from, to)), or on the host row() for a whole row.
// FromBFloat16 works on an array: eachElement() calls write(i, read(i)).
#pragma once

#include "kernels/base/independent.hpp"
#include "sys/bfloat16.hpp"
#include "sys/types.hpp"

namespace tenon::functors {

// y = x, rounded.
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

// y = x
template <class T>
struct FromBFloat16 {
  const BFloat16* x;
  T* y;
  TENON_DEVICE T read(Index i) const { return static_cast<T>(valueOf(x[i])); }
  TENON_DEVICE void write(Index i, T value) const { y[i] = value; }
};

} // namespace tenon::functors
