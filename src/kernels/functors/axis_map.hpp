// SPDX-License-Identifier: BSD-2-Clause
// The functor of a linear map along one dimension of an array (rows/axis_map.hpp), such as an
// interpolation, or of its adjoint. One thread per element of y: output o of a line is the sum of
// weights[t] x[index[t]] over begin[o] <= t < begin[o + 1], where x counts from the start of the
// line.
#pragma once

#include "kernels/walks/element_offsets.hpp"

namespace tenon::functors {

template <class T>
struct AxisGather {
  ElementOffsets<2> offsets; // start of the line in x, and index of the output
  const Index *begin, *index;
  const double* weights;
  Index step; // stride along a line of x
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
