// SPDX-License-Identifier: BSD-2-Clause
// Comparison of two arrays and selection by a mask (elementwise/selection.hpp), per element:
// eachElement() (walks/each.hpp) calls write(i, read(i)) for each i, on the host or the device.
#pragma once

#include "sys/device_code.hpp"
#include "sys/types.hpp"

namespace tenon::functors {

struct IsGreater {
  template <class T>
  TENON_DEVICE bool operator()(T a, T b) const {
    return a > b;
  }
};
struct IsGreaterOrEqual {
  template <class T>
  TENON_DEVICE bool operator()(T a, T b) const {
    return a >= b;
  }
};
struct IsEqual {
  template <class T>
  TENON_DEVICE bool operator()(T a, T b) const {
    return a == b;
  }
};
struct IsNotEqual {
  template <class T>
  TENON_DEVICE bool operator()(T a, T b) const {
    return a != b;
  }
};

// y = 1 if the relation holds, else 0. The relation is created where it is used instead of being a
// member: tests search kernel parameters for host addresses, and the padding of an empty member
// could look like one.
template <class Relation, class T>
struct CompareElements {
  const T *a, *b;
  T* y;
  TENON_DEVICE T read(Index i) const { return Relation{}(a[i], b[i]) ? T(1) : T(0); }
  TENON_DEVICE void write(Index i, T value) const { y[i] = value; }
};

// y = a where `mask` is not 0, else b; all elements of a null a or b are `otherwise`. (A double
// leaves no padding, see above.)
template <class T>
struct SelectElements {
  const T *mask, *a, *b;
  T* y;
  double otherwise;
  TENON_DEVICE T read(Index i) const {
    const T* from = mask[i] != T(0) ? a : b;
    return from ? from[i] : T(otherwise);
  }
  TENON_DEVICE void write(Index i, T value) const { y[i] = value; }
};

} // namespace tenon::functors
