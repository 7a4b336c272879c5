// SPDX-License-Identifier: BSD-2-Clause
// The steps of the cross-entropy of logits [samples, classes, points]: sums of exponentials, and
// the loss with its derivative. If the classes are split over processes, the caller reduces maxima
// and sums between the steps. The maximum over the classes is subtracted from each logit before the
// exponential, to avoid overflow. Without points (inner = 1) the classes of a label are neighbours
// in memory; otherwise labels of neighbouring points are processed together.
#include "kernels/rows/cross_entropy.hpp"

#include "kernels/elementwise/first_bad.hpp"
#include "kernels/functors/cross_entropy.hpp"
#include "kernels/functors/softmax.hpp"
#include "kernels/rows/axis_runs.hpp"
#include "kernels/walks/device_reduce.hpp"
#include "kernels/walks/pairwise_sum.hpp"

#include <algorithm>

namespace tenon {

namespace {

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

// s = the sums of exponentials of the labels of a run (axis_runs.hpp).
template <class T>
void sumRun(const AxisShape& shape, const Run& run, const T* z, const T* m, T* s) {
  double sums[kTogether] = {};
  vectorised([&sums, shape, run, z, m] {
    for (Index c = 0; c < shape.n; ++c) {
      const T* row = z + run.x + c * shape.inner;
      TENON_INDEPENDENT_ITERATIONS
      for (Index i = 0; i < run.count; ++i)
        sums[i] += double(functors::exponential(row[i] - m[run.s + i]));
    }
  });
  for (Index i = 0; i < run.count; ++i)
    s[run.s + i] = T(sums[i]);
}

// dz = dloss softmax in a run, or 0 where dloss is 0.
template <class T>
void softmaxOfRun(const AxisShape& shape, const Run& run, const T* z, const T* m, const T* s,
                  const T* dloss, T* dz) {
  vectorised([=] {
    for (Index c = 0; c < shape.n; ++c) {
      const Index row = run.x + c * shape.inner;
      TENON_INDEPENDENT_ITERATIONS
      for (Index i = 0; i < run.count; ++i) {
        const T d = dloss[run.s + i];
        const T slope = functors::exponential(z[row + i] - m[run.s + i]) * (d / s[run.s + i]);
        dz[row + i] = d == T(0) ? T(0) : slope;
      }
    }
  });
}

// The same without points, where the run is one label.
template <class T>
void softmaxOfRow(Index n, const T* z, T m, T s, T dloss, T* dz) {
  if (dloss == T(0))
    std::fill_n(dz, n, T(0));
  else
    walkElements(0, n, functors::Softmax<T>{m, dloss / s, z, dz});
}

} // namespace

template <class T>
void sumExpShifted(KernelContext& context, const AxisShape& shape, const T* z, const T* m, T* s) {
  if constexpr (kHasDevice)
    if (isOnDevice(context))
      return device::reduceAlongAxis<functors::AddTo, double>(context, shape,
                                                              functors::ExponentialOf<T>{z, m}, 0.0,
                                                              functors::StoreGroup<T, double>{s});
  forEachRun(context, shape, kExponentialCost, [=](const Run& run) {
    if (shape.inner == 1)
      s[run.s] = T(sumOfExponentials(shape.n, z + run.x, m[run.s]));
    else
      sumRun(shape, run, z, m, s);
  });
}

template <class T>
void pickLabel(KernelContext& context, const AxisShape& shape, const T* z,
               const std::int64_t* label, Index firstClass, T* p) {
  eachElement(context, shape.outer * shape.inner, 1,
              functors::PickedLabel<T>{z, {shape, label, firstClass}, p});
}

template <class T>
Index firstBadLabel(KernelContext& context, Index n, const std::int64_t* label,
                    const ElementWeights<T>& weights, Index classes) {
  return firstBad(context, n, functors::BadLabel<T>{label, weights, n, classes});
}

template <class T>
void sumOfLosses(KernelContext& context, Index n, const T* m, const T* s, const T* p,
                 const ElementWeights<T>& weights, double factor, T* sum) {
  sumTerms(context, n, functors::LogLikelihood<T>{m, s, p, weights}, factor, sum);
}

template <class T>
void scaledWeights(KernelContext& context, Index n, const ElementWeights<T>& weights, double scale,
                   T* to) {
  eachElement(context, n, 1, functors::ScaledWeight<T>{weights, scale, to});
}

template <class T>
void crossEntropyAdjoint(KernelContext& context, const AxisShape& shape, const T* z, const T* m,
                         const T* s, const std::int64_t* label, Index firstClass, const T* dloss,
                         T* dz) {
  const functors::LabelPlaces places(shape, label, firstClass);
  if constexpr (kHasDevice)
    if (isOnDevice(context))
      return device::eachAlongAxis(context, shape,
                                   functors::CrossEntropySlope<T>{z, m, s, dloss, places, dz});
  forEachRun(context, shape, kExponentialCost, [=](const Run& run) {
    if (shape.inner == 1)
      softmaxOfRow(shape.n, z + run.x, m[run.s], s[run.s], dloss[run.s], dz + run.x);
    else
      softmaxOfRun(shape, run, z, m, s, dloss, dz);
    // The class of a label can be on another process.
    for (Index line = run.s; line < run.s + run.count; ++line)
      if (const Index at = places.of(line); at >= 0)
        dz[at] -= dloss[line];
  });
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void sumExpShifted<T>(KernelContext&, const AxisShape&, const T*, const T*, T*);        \
  template void pickLabel<T>(KernelContext&, const AxisShape&, const T*, const std::int64_t*,      \
                             Index, T*);                                                           \
  template Index firstBadLabel<T>(KernelContext&, Index, const std::int64_t*,                      \
                                  const ElementWeights<T>&, Index);                                \
  template void sumOfLosses<T>(KernelContext&, Index, const T*, const T*, const T*,                \
                               const ElementWeights<T>&, double, T*);                              \
  template void scaledWeights<T>(KernelContext&, Index, const ElementWeights<T>&, double, T*);     \
  template void crossEntropyAdjoint<T>(KernelContext&, const AxisShape&, const T*, const T*,       \
                                       const T*, const std::int64_t*, Index, const T*, T*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
