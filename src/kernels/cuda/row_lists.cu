// SPDX-License-Identifier: BSD-2-Clause
// Instantiates the CUDA kernels of sums, maxima and softmax over lists of rows
// (rows/row_lists.cpp): nvcc compiles this file, and a functor that is not listed is a linker
// error. A thread handles one element of a row and processes its entries in order, so sums need no
// atomic additions. The functors are in functors/row_lists.hpp.
#include "kernels/cuda/launch.cuh"
#include "kernels/functors/row_lists.hpp"

namespace tenon::device {

using namespace functors;

#define TENON_ROWS(...)                                                                            \
  template void eachElement(const Stream&, Index, const EachOfRows<__VA_ARGS__>&);
#define TENON_ALL(T)                                                                               \
  TENON_ROWS(CombineRows<T>)                                                                       \
  TENON_ROWS(MaximaOfRows<T>)                                                                      \
  TENON_ROWS(TakeWinners<T>)                                                                       \
  TENON_ROWS(GiveWinners<T>)                                                                       \
  TENON_ROWS(SoftmaxOfRows<T>)                                                                     \
  TENON_ROWS(SoftmaxDerivative<T>)                                                                 \
  TENON_ROWS(WeighHeads<T>)                                                                        \
  TENON_ROWS(GiveHeads<T>)
TENON_ALL(float)
TENON_ALL(double)

} // namespace tenon::device
