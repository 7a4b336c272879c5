// SPDX-License-Identifier: BSD-2-Clause
// The maps of rows/axis_map.hpp, by element of the array that is written: output o is the sum of
// the elements index[t] of its line in x times weights[t], begin[o] <= t < begin[o + 1].
#pragma once

#include "kernels/walks/element_offsets.hpp"

namespace tenon::functors {

template <class T>
struct AxisGather {
  ElementOffsets<2> offsets; // the begin of the line in x, and the number of the output
  const Index *begin, *index;
  const double* weights;
  Index step; // along a line
  const T* x;
  T* y;
  TENON_DEVICE void operator()(Index i) const {
    const auto [line, o] = offsets(i).of;
    T sum = 0;
    for (Index t = begin[o]; t < begin[o + 1]; ++t)
      sum += T(weights[t]) * x[line + index[t] * step];
    y[i] = sum;
  }
};

} // namespace tenon::functors
