// SPDX-License-Identifier: BSD-2-Clause
// The walks of Fourier transforms: lines are packed and unpacked around cuFFT, and pairs are
// turned, weighted and multiplied. Dense matrices are multiplied by cuBLAS.
#include "kernels/cuda/reductions.cuh"
#include "kernels/functors/axis.hpp"
#include "kernels/functors/fourier.hpp"

namespace tenon::device {

using namespace functors;

#define TENON_ALL(T)                                                                               \
  TENON_ELEMENTS(Turned<T>)                                                                        \
  TENON_ELEMENTS(AlongAxis<WeightedModes<T>>)                                                      \
  TENON_ELEMENTS(ComplexSums<T>)                                                                   \
  TENON_ELEMENTS(ToLines<T, 1>)                                                                    \
  TENON_ELEMENTS(ToLines<T, 2>)                                                                    \
  TENON_ELEMENTS(HalvedLines<T>)                                                                   \
  TENON_ELEMENTS(FromLines<T, 1>)                                                                  \
  TENON_ELEMENTS(FromLines<T, 2>)
TENON_ALL(float)
TENON_ALL(double)

} // namespace tenon::device
