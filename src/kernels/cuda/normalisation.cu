// SPDX-License-Identifier: BSD-2-Clause
// Instantiates the CUDA kernels and reductions of normalisation (rows/normalisation_device.cpp):
// nvcc compiles this file, and a functor that is not listed is a linker error. A reduction has a
// list of terms (TENON_GROUPS) and a list of final stages (TENON_ENDS), since one set of terms has
// several uses; reductions.cuh defines both.
#include "kernels/cuda/reductions.cuh"
#include "kernels/functors/axis.hpp"
#include "kernels/functors/normalisation.hpp"
#include "kernels/functors/part_moments.hpp"

namespace tenon::device {

using namespace functors;

#define TENON_ALL(T)                                                                               \
  TENON_GROUPS(AddMoments, GroupMoments<T>)                                                        \
  TENON_ENDS(AddMoments, Partial, StoreMoments<T>)                                                 \
  TENON_WHOLE(AddMoments, GroupMoments<T>, StoreMoments<T>)                                        \
  TENON_GROUPS(AddSums, GroupMomentsTangent<T>)                                                    \
  TENON_ENDS(AddSums, TwoSums, StoreMomentsTangent<T>)                                             \
  TENON_WHOLE(AddSums, GroupMomentsTangent<T>, StoreMomentsTangent<T>)                             \
  TENON_GROUPS(AddSums, GroupSlopes<T>)                                                            \
  TENON_ENDS(AddSums, TwoSums, StoreGroupSlopes<T>)                                                \
  TENON_ENDS(AddSums, TwoSums, StoreAllSlopes<T>)                                                  \
  TENON_WHOLE(AddSums, GroupSlopes<T>, StoreGroupSlopes<T>)                                        \
  TENON_WHOLE(AddSums, GroupSlopes<T>, StoreAllSlopes<T>)                                          \
  TENON_GROUPS(AddSums, WeightSlopes<T>)                                                           \
  TENON_ENDS(AddSums, TwoSums, AddWeightSlopes<T>)                                                 \
  TENON_WHOLE(AddSums, WeightSlopes<T>, AddWeightSlopes<T>)                                        \
  TENON_ELEMENTS(AlongAxis<MomentsAdjoint<T>>)                                                     \
  TENON_ELEMENTS(AlongAxis<Normalise<T>>)                                                          \
  TENON_ELEMENTS(AlongAxis<NormaliseTangent<T>>)                                                   \
  TENON_ELEMENTS(AlongAxis<NormaliseAdjoint<T>>)                                                   \
  TENON_ELEMENTS(GroupScale<T>)                                                                    \
  TENON_ELEMENTS(ShareOfMean<T>)                                                                   \
  TENON_ELEMENTS(ShareOfMoments<T>)                                                                \
  TENON_ELEMENTS(ShareOfMomentsTangent<T>)                                                         \
  TENON_ELEMENTS(ShareOfMomentsAdjoint<T>)                                                         \
  TENON_ELEMENTS(CombineMoments<T>)                                                                \
  TENON_ELEMENTS(CombineMomentsTangent<T>)                                                         \
  TENON_ELEMENTS(CombineMomentsAdjoint<T>)                                                         \
  TENON_ELEMENTS(FollowMoments<T>)
TENON_ALL(float)
TENON_ALL(double)

} // namespace tenon::device
