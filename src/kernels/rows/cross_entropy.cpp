// SPDX-License-Identifier: BSD-2-Clause
// The steps of the cross-entropy of logits [rows, classes]: maxima, sums of exponentials, and the
// loss with its derivative. If the classes are split over processes, the caller reduces maxima and
// sums between the steps. The maximum of its row is subtracted from each logit before the
// exponential, to avoid overflow.
#include "kernels/rows/cross_entropy.hpp"

#include "kernels/elementwise/first_bad.hpp"
#include "kernels/functors/softmax.hpp"
#include "kernels/rows/softmax.hpp"
#include "kernels/walks/device_reduce.hpp"
#include "kernels/walks/pairwise_sum.hpp"

#include <algorithm>

namespace tenon {

namespace {

constexpr Index kExponentialCost = 8; // cost of an exponential, in elements moved

// Calls body(row) for each row of cols elements of that cost, on several threads.
template <class Body>
void forEachRow(KernelContext& context, Index rows, Index cols, Index cost, Body body) {
  parallelRanges(context.threads(), rows, cols * cost, [=](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      body(r);
  });
}

// The exponentials are vectorised in T, by blocks that stay in the first-level cache, and summed in
// double in lanes (several vectors) that are added at the end.
template <class T>
double sumOfExponentials(Index n, const T* z, T shift) {
  constexpr Index kBlock = 64, kLanes = 8;
  double lane[kLanes] = {};
  T e[kBlock];
  for (Index i = 0; i < n; i += kBlock) {
    const Index count = std::min(kBlock, n - i);
    walkElements(0, count, functors::Softmax<T>{shift, T(1), z + i, e});
    for (Index j = 0; j < count; ++j)
      lane[j % kLanes] += double(e[j]);
  }
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

} // namespace

template <class T>
void rowMax(KernelContext& context, Index rows, Index cols, const T* z, T* m) {
  axisMaxima(context, {rows, cols, 1}, z, m);
}

template <class T>
void sumExpShifted(KernelContext& context, Index rows, Index cols, const T* z, const T* m, T* s) {
  if constexpr (kHasDevice)
    if (isOnDevice(context))
      return device::reduceAlongAxis<functors::AddTo, double>(context, {rows, cols, 1},
                                                              functors::ExponentialOf<T>{z, m}, 0.0,
                                                              functors::StoreGroup<T, double>{s});
  forEachRow(context, rows, cols, kExponentialCost,
             [=](Index r) { s[r] = T(sumOfExponentials(cols, z + r * cols, m[r])); });
}

template <class T>
void pickLabel(KernelContext& context, Index rows, Index cols, const T* z,
               const std::int64_t* label, Index firstClass, T* p) {
  eachElement(context, rows, 1, functors::PickedLabel<T>{z, label, cols, firstClass, p});
}

template <class T>
Index firstBadLabel(KernelContext& context, Index rows, const std::int64_t* label, const T* w,
                    Index classes) {
  return firstBad(context, rows, functors::BadLabel<T>{label, w, rows, classes});
}

template <class T>
void sumOfLosses(KernelContext& context, Index rows, const T* m, const T* s, const T* p, const T* w,
                 double factor, T* sum) {
  sumTerms(context, rows, functors::LogLikelihood<T>{m, s, p, w}, factor, sum);
}

template <class T>
void crossEntropyAdjoint(KernelContext& context, Index rows, Index cols, const T* z, const T* m,
                         const T* s, const std::int64_t* label, Index firstClass, const T* dloss,
                         T* dz) {
  if constexpr (kHasDevice)
    if (isOnDevice(context))
      return device::eachAlongAxis(
          context, {rows, cols, 1},
          functors::CrossEntropySlope<T>{z, m, s, dloss, label, cols, firstClass, dz});
  forEachRow(context, rows, cols, kExponentialCost, [=](Index r) {
    if (dloss[r] == T(0))
      return static_cast<void>(std::fill_n(dz + r * cols, cols, T(0)));
    walkElements(0, cols, functors::Softmax<T>{m[r], dloss[r] / s[r], z + r * cols, dz + r * cols});
    // The class of the label can be on another process.
    const Index c = label[r] - firstClass;
    if (c >= 0 && c < cols)
      dz[r * cols + c] -= dloss[r];
  });
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void rowMax<T>(KernelContext&, Index, Index, const T*, T*);                             \
  template void sumExpShifted<T>(KernelContext&, Index, Index, const T*, const T*, T*);            \
  template void pickLabel<T>(KernelContext&, Index, Index, const T*, const std::int64_t*, Index,   \
                             T*);                                                                  \
  template Index firstBadLabel<T>(KernelContext&, Index, const std::int64_t*, const T*, Index);    \
  template void sumOfLosses<T>(KernelContext&, Index, const T*, const T*, const T*, const T*,      \
                               double, T*);                                                        \
  template void crossEntropyAdjoint<T>(KernelContext&, Index, Index, const T*, const T*, const T*, \
                                       const std::int64_t*, Index, const T*, T*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
