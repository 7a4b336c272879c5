// SPDX-License-Identifier: BSD-2-Clause
// The walks of rows that are summed by segments, or compared. A thread has one element of a row and goes through
// its entries in order, so that sums need no atomic additions.
#include "kernels/cuda/launch.cuh"
#include "kernels/functors/segments.hpp"

namespace tenon::device {

using namespace functors;

#define TENON_ROWS(...)                                                                            \
  template void eachElement(const Stream&, Index, const EachOfRows<__VA_ARGS__>&);
#define TENON_ALL(T)                                                                               \
  TENON_ROWS(SumSegments<T>)                                                                       \
  TENON_ROWS(MaxSegments<T>)                                                                       \
  TENON_ROWS(WinnerRows<T>)
TENON_ALL(float)
TENON_ALL(double)

} // namespace tenon::device
