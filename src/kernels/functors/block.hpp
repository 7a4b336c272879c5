// SPDX-License-Identifier: BSD-2-Clause
// Functors for elements of a box that are read at one offset of an array x and written at another
// of an array y: eachOfBlock() (walks/each.hpp) calls write(to, read(from, to)) for each element,
// on the host or the device. If the functor has row(), the host calls it for each row instead.
//   CombineElements               y = op(y, x): a copy, a sum or a maximum
//   CopyWide                      a copy of 16 bytes at a time
//   ScaleElements, AxpbyElements  y = alpha x, and y = alpha x + beta y
//   MultiplyElements, FillElements   y *= factor, and y = value
#pragma once

#include "kernels/functors/operations.hpp"
#include "sys/device_code.hpp"
#include "sys/types.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tenon::functors {

// y = op(y, x); the arrays do not overlap. Op is not a member: tests search kernel parameters for
// host addresses, and the padding of an empty member could look like one.
template <class T, class Op>
struct CombineElements {
  using MayRepeat = void;
  const T* x;
  T* y;
  TENON_DEVICE T read(Index from, Index to) const { return Op{}(y[to], x[from]); }
  TENON_DEVICE void write(Index to, T value) const { y[to] = value; }
  // A whole row on the host: contiguous rows are copied by memcpy, or vectorised.
  void row(Index n, Index from, Index stepX, Index to, Index stepY) const {
    rowOf(n, x + from, stepX, y + to, stepY);
  }

private:
  void rowOf(Index n, const T* __restrict p, Index ps, T* __restrict q, Index qs) const {
    if (ps == 1 && qs == 1) {
      if constexpr (std::is_same_v<Op, CopyTo>)
        std::memcpy(q, p, size_t(n) * sizeof(T));
      else
        for (Index i = 0; i < n; ++i)
          q[i] = Op{}(q[i], p[i]);
    } else {
      for (Index i = 0; i < n; ++i)
        q[i * qs] = Op{}(q[i * qs], p[i * ps]);
    }
  }
};

// y = x, 16 bytes at a time.
struct CopyWide {
  struct alignas(16) Element {
    std::uint64_t halves[2];
  };
  const Element* x;
  Element* y;
  TENON_DEVICE Element read(Index from, Index) const { return x[from]; }
  TENON_DEVICE void write(Index to, const Element& value) const { y[to] = value; }
};

// Whether both addresses are aligned to 16 bytes, as CopyWide requires.
inline bool areWide(const void* x, const void* y) {
  const auto bits = reinterpret_cast<std::uintptr_t>(x) | reinterpret_cast<std::uintptr_t>(y);
  return bits % sizeof(CopyWide::Element) == 0;
}

// y = alpha x, and y = alpha x + beta y.
template <class S, class T>
struct ScaleElements {
  using Wide = std::common_type_t<S, T>;
  Wide alpha;
  const S* x;
  T* y;
  TENON_DEVICE T read(Index from, Index) const { return static_cast<T>(alpha * Wide(x[from])); }
  TENON_DEVICE void write(Index to, T value) const { y[to] = value; }
};
template <class S, class T>
struct AxpbyElements {
  using Wide = std::common_type_t<S, T>;
  Wide alpha;
  const S* x;
  Wide beta;
  T* y;
  TENON_DEVICE T read(Index from, Index to) const {
    return static_cast<T>(alpha * Wide(x[from]) + beta * Wide(y[to]));
  }
  TENON_DEVICE void write(Index to, T value) const { y[to] = value; }
};

// y *= factor
template <class T>
struct MultiplyElements {
  T factor;
  T* y;
  TENON_DEVICE T read(Index, Index at) const { return y[at] * factor; }
  TENON_DEVICE void write(Index at, T value) const { y[at] = value; }
};

template <class T>
struct FillElements {
  T value;
  T* y;
  TENON_DEVICE T read(Index, Index) const { return value; }
  TENON_DEVICE void write(Index at, T filled) const { y[at] = filled; }
  void row(Index n, Index, Index, Index at, Index step) const {
    if (step == 1)
      std::fill_n(y + at, n, value);
    else
      for (Index i = 0; i < n; ++i)
        y[at + i * step] = value;
  }
};

} // namespace tenon::functors
