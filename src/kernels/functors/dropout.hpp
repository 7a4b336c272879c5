// SPDX-License-Identifier: BSD-2-Clause
// The random mask of dropout, per element of a contiguous box, for the device; the definitions are
// in elementwise/dropout.hpp. An element becomes 0 if the random number of its global index is less
// than the rate, and is scaled by 1 / (1 - rate) otherwise.
#pragma once

#include "kernels/elementwise/dropout.hpp"
#include "kernels/walks/element_offsets.hpp"
#include "sys/random.hpp"

namespace tenon::functors {

template <class T>
struct Dropout {
  std::uint64_t seed, stream;
  double rate;
  T scale;                      // 1 / (1 - rate)
  const std::uint64_t* counter; // number of the draw, in the memory of the device
  ElementOffsets<1> offsets;    // offsets in the global array
  Index first;                  // global index of element 0
  const T* x;
  T* y;
  TENON_DEVICE void operator()(Index i) const {
    const auto index = static_cast<std::uint64_t>(first + offsets(i).of[0]);
    if (*counter == kNoDraw)
      y[i] = x[i];
    else
      y[i] = uniformAt(seed, stream + *counter, index) < rate ? T(0) : scale * x[i];
  }
};

// *to = value, for the counter of a draw, in a kernel: it is then ordered with the kernels that
// read the counter.
struct KeepNumber {
  std::uint64_t value;
  std::uint64_t* to;
  TENON_DEVICE void operator()(Index) const { *to = value; }
};

} // namespace tenon::functors
