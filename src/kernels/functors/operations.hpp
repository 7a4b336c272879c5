// SPDX-License-Identifier: BSD-2-Clause
// Binary operations for combining blocks and for reductions.
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
