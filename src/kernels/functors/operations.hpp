// SPDX-License-Identifier: BSD-2-Clause
// Binary operations op(y, x), by which an element y is combined with x: for boxes
// (functors/block.hpp) and for reductions (functors/reduce.hpp). MaxTo returns y if the two are
// equal, and propagates NaN.
#pragma once

#include "kernels/base/maximum.hpp"
#include "sys/device_code.hpp"

namespace tenon::functors {

struct CopyTo {
  template <class T>
  TENON_DEVICE T operator()(T, T x) const {
    return x;
  }
};
struct AddTo {
  template <class T>
  TENON_DEVICE T operator()(T y, T x) const {
    return y + x;
  }
};
struct MaxTo {
  template <class T>
  TENON_DEVICE T operator()(T y, T x) const {
    return beats(x, y) ? x : y;
  }
};

} // namespace tenon::functors
