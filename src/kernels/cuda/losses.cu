// SPDX-License-Identifier: BSD-2-Clause
// Instantiates the CUDA kernels and sums of losses (rows/losses.cpp): nvcc compiles this file, and
// a functor that is not listed is a linker error. Types come in pairs, since a target can be stored
// in another type than the input. The final stages of sums that other lists share (StoreScaled,
// StoreGroup of float and double) are in this list. TENON_GROUPS and TENON_ENDS: reductions.cuh.
#include "kernels/cuda/reductions.cuh"
#include "kernels/functors/axis.hpp"
#include "kernels/functors/losses.hpp"
#include "kernels/functors/sum.hpp"

namespace tenon::device {

using namespace functors;

#define TENON_BOTH(T, U)                                                                           \
  TENON_GROUPS(AddTo, WeightedError<SquaredTerm, T, U>)                                            \
  TENON_GROUPS(AddTo, WeightedError<AbsoluteTerm, T, U>)                                           \
  TENON_GROUPS(AddTo, WeightedError<HuberTerm, T, U>)                                              \
  TENON_GROUPS(AddTo, EnsembleTerm<T, U>)                                                          \
  TENON_GROUPS(AddTo, RowError<T, U>)                                                              \
  TENON_GROUPS(AddTo, RowTarget<T, U>)                                                             \
  TENON_GROUPS(AddTo, DifferenceTerm<T, U>)                                                        \
  TENON_ELEMENTS(AlongAxis<RelativeGradient<T, U>>)
TENON_BOTH(float, float)
TENON_BOTH(float, double)
TENON_BOTH(double, float)
TENON_BOTH(double, double)
#define TENON_ROWS(U)                                                                              \
  TENON_WHOLE(AddTo, RowError<float, U>, StoreGroup<float, double>)                                \
  TENON_WHOLE(AddTo, RowTarget<float, U>, StoreGroup<float, double>)
TENON_ROWS(float)
TENON_ROWS(double)

#define TENON_ALL(T)                                                                               \
  TENON_GROUPS(AddTo, RelativeError<T>)                                                            \
  TENON_GROUPS(AddTo, SlopeDot<T>)                                                                 \
  TENON_GROUPS(MaxTo, BadWeight<T>)                                                                \
  TENON_ENDS(AddTo, double, StoreGroup<T, double>)                                                 \
  TENON_ENDS(AddTo, double, StoreScaled<T>)                                                        \
  TENON_ELEMENTS(RelativeSlopes<T>)                                                                \
  TENON_ELEMENTS(ScaledByNumber<T>)
TENON_ALL(float)
TENON_ALL(double)

} // namespace tenon::device
