// SPDX-License-Identifier: BSD-2-Clause
// Instantiates the CUDA kernels and reductions of softmax and cross-entropy (rows/): nvcc compiles
// this file, and a functor that is not listed is a linker error. Both reduce along the dimension of
// classes. The functors are in functors/softmax.hpp, functors/cross_entropy.hpp, functors/axis.hpp
// and functors/sum.hpp.
#include "kernels/cuda/reductions.cuh"
#include "kernels/functors/axis.hpp"
#include "kernels/functors/cross_entropy.hpp"
#include "kernels/functors/softmax.hpp"
#include "kernels/functors/sum.hpp"

namespace tenon::device {

using namespace functors;

#define TENON_ALL(T)                                                                               \
  TENON_BLOCKS(SoftmaxOfLines<T>)                                                                  \
  TENON_ELEMENTS(AlongAxis<ShiftedExponential<T>>)                                                 \
  TENON_ELEMENTS(AlongAxis<Spread<T>>)                                                             \
  TENON_ELEMENTS(AlongAxis<Quotient<T>>)                                                           \
  TENON_ELEMENTS(AlongAxis<QuotientOrZero<T>>)                                                     \
  TENON_ELEMENTS(AlongAxis<QuotientTangent<T>>)                                                    \
  TENON_ELEMENTS(AlongAxis<Scaled<T>>)                                                             \
  TENON_ELEMENTS(AlongAxis<LessScaled<T>>)                                                         \
  TENON_ELEMENTS(AlongAxis<SoftmaxSlope<T>>)                                                       \
  TENON_ELEMENTS(AlongAxis<Causal<T>>)                                                             \
  TENON_ELEMENTS(RaisedMaximum<T>)                                                                 \
  TENON_ELEMENTS(AlongAxis<CrossEntropySlope<T>>)                                                  \
  TENON_ELEMENTS(QuotientSum<T>)                                                                   \
  TENON_ELEMENTS(PickedLabel<T>)                                                                   \
  TENON_ELEMENTS(ScaledWeight<T>)                                                                  \
  TENON_GROUPS(MaxTo, AxisTerm<T, ElementOf<T>>)                                                   \
  TENON_ENDS(MaxTo, T, StoreGroup<T, T>)                                                           \
  TENON_GROUPS(AddTo, AxisTerm<double, ElementOf<T>>)                                              \
  TENON_GROUPS(AddTo, AxisTerm<double, ProductOf<T>>)                                              \
  TENON_GROUPS(AddTo, AxisTerm<double, ExponentialOf<T>>)                                          \
  TENON_GROUPS(AddTo, LogLikelihood<T>)
TENON_ALL(float)
TENON_ALL(double)
TENON_WHOLE(AddTo, AxisTerm<double, ElementOf<float>>, StoreGroup<float, double>)
TENON_WHOLE(AddTo, AxisTerm<double, ProductOf<float>>, StoreGroup<float, double>)
TENON_WHOLE(AddTo, AxisTerm<double, ExponentialOf<float>>, StoreGroup<float, double>)
TENON_GROUPS(MaxTo, BadLabel<float>)
TENON_GROUPS(MaxTo, BadLabel<double>)

} // namespace tenon::device
