// SPDX-License-Identifier: BSD-2-Clause
// Instantiates the CUDA kernels of Fourier transforms: packing and unpacking of the lines for
// cuFFT, and rotation, weighting and multiplication of complex pairs. nvcc compiles this file, and
// a functor that is not listed is a linker error. The functors are in functors/fourier.hpp and
// functors/axis.hpp. Lines have real elements of one component, ToLines<T, 1>, or complex ones of
// two, ToLines<T, 2>.
#include "kernels/cuda/reductions.cuh"
#include "kernels/functors/axis.hpp"
#include "kernels/functors/fourier.hpp"

namespace tenon::device {

using namespace functors;

#define TENON_ALL(T)                                                                               \
  TENON_ELEMENTS(Turned<T>)                                                                        \
  TENON_ELEMENTS(AlongAxis<WeightedModes<T>>)                                                      \
  TENON_ELEMENTS(ComplexSums<T, WholePair<T>>)                                                     \
  TENON_ELEMENTS(ComplexSums<T, LoosePair<T>>)                                                     \
  TENON_ELEMENTS(ToLines<T, 1>)                                                                    \
  TENON_ELEMENTS(ToLines<T, 2>)                                                                    \
  TENON_ELEMENTS(HalvedLines<T>)                                                                   \
  TENON_ELEMENTS(FromLines<T, 1>)                                                                  \
  TENON_ELEMENTS(FromLines<T, 2>)
TENON_ALL(float)
TENON_ALL(double)

} // namespace tenon::device
