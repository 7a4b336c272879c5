// SPDX-License-Identifier: BSD-2-Clause
// Exponentials of a row of logits, as softmax.hpp combines them.
#pragma once

#include "kernels/functors/elementary.hpp"
#include "sys/types.hpp"

namespace tenon::functors {

// p = factor exp(z - shift); p may be z.
template <class T>
struct Softmax {
  T shift, factor;
  const T* z;
  T* p;
  TENON_DEVICE void operator()(Index i) const { p[i] = exponential(z[i] - shift) * factor; }
};

} // namespace tenon::functors
