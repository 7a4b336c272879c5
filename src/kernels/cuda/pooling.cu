// SPDX-License-Identifier: BSD-2-Clause
// Instantiates the CUDA kernels of pooling (pooling/pooling.cpp) and dropout: nvcc compiles this
// file, and a functor that is not listed is a linker error. In all of them a thread computes one
// element, and none is written twice, so atomic additions are not needed. The functors are in
// functors/pooling.hpp and functors/dropout.hpp.
#include "kernels/cuda/launch.cuh"
#include "kernels/functors/dropout.hpp"
#include "kernels/functors/pooling.hpp"

namespace tenon::device {

using namespace functors;

#define TENON_ELEMENTS(...) template void eachElement(const Stream&, Index, const __VA_ARGS__&);
#define TENON_ALL(T)                                                                               \
  TENON_ELEMENTS(AveragePool<T>)                                                                   \
  TENON_ELEMENTS(AveragePoolAdjoint<T>)                                                            \
  TENON_ELEMENTS(MaxPool<T>)                                                                       \
  TENON_ELEMENTS(MaxPoolTangent<T>)                                                                \
  TENON_ELEMENTS(MaxPoolAdjoint<T>)                                                                \
  TENON_ELEMENTS(Dropout<T>)
TENON_ALL(float)
TENON_ALL(double)
TENON_ELEMENTS(KeepNumber)

} // namespace tenon::device
