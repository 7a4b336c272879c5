// SPDX-License-Identifier: BSD-2-Clause
// The steps of a softmax (maxima m, exponentials e = exp(x - m), sums s, quotients e / s) along any
// dimension of an array [outer, n, inner], where the n elements in the middle form a line. If a
// line is split over processes, the caller reduces maxima and sums between the steps. On the host
// up to kTogether adjacent elements of the inner dimension are processed together, so memory is
// read in order for every dimension. The formulas of single elements are in functors/softmax.hpp.
#include "kernels/rows/softmax.hpp"

#include "kernels/base/independent.hpp"
#include "kernels/base/instruction_set.hpp"
#include "kernels/base/maximum.hpp"
#include "kernels/functors/softmax.hpp"
#include "kernels/rows/axis_runs.hpp"
#include "kernels/walks/device_reduce.hpp"

#include <algorithm>
#include <limits>

namespace tenon {

namespace {

// Calls f.write(offset in x, f.read(offset in x, offset in s)) for each element.
template <class F>
void forEachElement(KernelContext& context, const AxisShape& shape, Index cost, const F& f) {
  if constexpr (kHasDevice)
    if (isOnDevice(context))
      return device::eachAlongAxis(context, shape, f);
  forEachRun(context, shape, cost, [=](const Run& run) {
    vectorised([=] {
      // Along the last dimension all elements share one element of s; otherwise each has its own.
      if (shape.inner == 1) {
        TENON_INDEPENDENT_ITERATIONS
        for (Index k = 0; k < shape.n; ++k)
          f.write(run.x + k, f.read(run.x + k, run.s));
        return;
      }
      for (Index k = 0; k < shape.n; ++k) {
        const Index row = run.x + k * shape.inner;
        TENON_INDEPENDENT_ITERATIONS
        for (Index i = 0; i < run.count; ++i)
          f.write(row + i, f.read(row + i, run.s + i));
      }
    });
  });
}

// Along the last dimension the elements of a line are neighbours. kLanes reductions of every
// kLanes-th element run side by side, which vector instructions can do, and are combined at the
// end, in order: reduced(lanes[l], k) includes element k.
constexpr Index kLanes = 16;
template <class T, class Reduced>
T reducedLine(Index n, T first, const Reduced& reduced) {
  T lanes[kLanes];
  std::fill_n(lanes, kLanes, first);
  vectorised([&lanes, n, reduced] {
    Index k = 0;
    for (; k + kLanes <= n; k += kLanes)
      TENON_ROLLED_LOOP
    TENON_INDEPENDENT_ITERATIONS
    for (Index l = 0; l < kLanes; ++l)
      lanes[l] = reduced(lanes[l], k + l);
    for (Index l = 0; k < n; ++k, ++l)
      lanes[l] = reduced(lanes[l], k);
  });
  T all = lanes[0];
  for (Index l = 1; l < kLanes; ++l)
    all = reduced.both(all, lanes[l]);
  return all;
}

template <class T>
struct LineMaximum {
  const T* x;
  T both(T best, T value) const { return beats(value, best) ? value : best; }
  T operator()(T best, Index k) const { return both(best, x[k]); }
};
template <class Term>
struct LineSum {
  Term term;
  Index x, s; // offsets of the line
  double both(double a, double b) const { return a + b; }
  double operator()(double sum, Index k) const { return sum + double(term(x + k, s)); }
};

// s = the sum of term(offset in x, offset in s) along the dimension, in double.
template <class T, class Term>
void sumEach(KernelContext& context, const AxisShape& shape, const Term& term, T* s) {
  if constexpr (kHasDevice)
    if (isOnDevice(context))
      return device::reduceAlongAxis<functors::AddTo, double>(context, shape, term, 0.0,
                                                              functors::StoreGroup<T, double>{s});
  forEachRun(context, shape, 1, [=](const Run& run) {
    if (shape.inner == 1) {
      s[run.s] = static_cast<T>(reducedLine(shape.n, 0.0, LineSum<Term>{term, run.x, run.s}));
      return;
    }
    double sums[kTogether] = {};
    for (Index k = 0; k < shape.n; ++k)
      for (Index i = 0; i < run.count; ++i)
        sums[i] += double(term(run.x + k * shape.inner + i, run.s + i));
    for (Index i = 0; i < run.count; ++i)
      s[run.s + i] = static_cast<T>(sums[i]);
  });
}

} // namespace

template <class T>
void axisMaxima(KernelContext& context, const AxisShape& shape, const T* x, T* m) {
  constexpr T kMin = -std::numeric_limits<T>::infinity();
  if constexpr (kHasDevice)
    if (isOnDevice(context))
      return device::reduceAlongAxis<functors::MaxTo, T>(context, shape, functors::ElementOf<T>{x},
                                                         kMin, functors::StoreGroup<T, T>{m});
  forEachRun(context, shape, 1, [=](const Run& run) {
    if (shape.inner == 1) {
      m[run.s] = reducedLine(shape.n, kMin, LineMaximum<T>{x + run.x});
      return;
    }
    for (Index i = 0; i < run.count; ++i) {
      T best = kMin;
      for (Index k = 0; k < shape.n; ++k) {
        const T value = x[run.x + k * shape.inner + i];
        if (beats(value, best))
          best = value;
      }
      m[run.s + i] = best;
    }
  });
}

template <class T>
void axisExponentials(KernelContext& context, const AxisShape& shape, const T* x, const T* m,
                      T* e) {
  forEachElement(context, shape, kExponentialCost, functors::ShiftedExponential<T>{x, m, e});
}

template <class T>
void axisSoftmax(KernelContext& context, const AxisShape& shape, const T* x, T* m, T* s, T* y) {
  if constexpr (kHasDevice)
    if (const Index plane = shape.n * shape.inner;
        isOnDevice(context) && plane <= sliceElements && functors::SoftmaxOfLines<T>::fits(shape))
      return forEachRange(shape.outer, plane, [&](Index first, Index count) {
        const functors::SoftmaxOfLines<T> lines({count, shape.n, shape.inner}, x + first * plane,
                                                y + first * plane);
        device::eachThreadBlock(context.stream(), lines.blocks(), lines);
      });
  // On the host, and for lines that exceed the shared memory of a thread block: four passes.
  axisMaxima(context, shape, x, m);
  axisExponentials(context, shape, x, m, y);
  axisSums(context, shape, y, s);
  axisQuotients(context, shape, y, s, y);
}

template <class T>
void axisSums(KernelContext& context, const AxisShape& shape, const T* x, T* s) {
  sumEach(context, shape, functors::ElementOf<T>{x}, s);
}

template <class T>
void axisSpread(KernelContext& context, const AxisShape& shape, const T* s, T* y) {
  forEachElement(context, shape, 1, functors::Spread<T>{s, y});
}

template <class T>
void axisQuotients(KernelContext& context, const AxisShape& shape, const T* e, const T* s, T* y) {
  forEachElement(context, shape, 1, functors::Quotient<T>{e, s, y});
}

template <class T>
void axisQuotientsTangent(KernelContext& context, const AxisShape& shape, const T* e, const T* s,
                          const T* de, const T* ds, T* dy) {
  if (!ds)
    return axisQuotients(context, shape, de, s, dy);
  forEachElement(context, shape, 1, functors::QuotientTangent<T>{e, s, de, ds, dy});
}

template <class T>
void axisQuotientsAdjoint(KernelContext& context, const AxisShape& shape, const T* e, const T* s,
                          const T* dy, T* ds) {
  sumEach(context, shape, functors::ProductOf<T>{dy, e}, ds);
  eachElement(context, shape.outer * shape.inner, 1, functors::QuotientSum<T>{s, ds});
}

template <class T>
void axisDots(KernelContext& context, const AxisShape& shape, const T* a, const T* b, T* s) {
  sumEach(context, shape, functors::ProductOf<T>{a, b}, s);
}

template <class T>
void axisScale(KernelContext& context, const AxisShape& shape, const T* x, const T* s, T* y) {
  forEachElement(context, shape, 1, functors::Scaled<T>{x, s, y});
}

template <class T>
void axisSubtractScaled(KernelContext& context, const AxisShape& shape, const T* x, const T* s,
                        T* y) {
  forEachElement(context, shape, 1, functors::LessScaled<T>{x, s, y});
}

template <class T>
void axisSoftmaxSlope(KernelContext& context, const AxisShape& shape, const T* y, const T* d,
                      const T* s, T* r) {
  forEachElement(context, shape, 1, functors::SoftmaxSlope<T>{y, d, s, r});
}

template <class T>
void maskCausal(KernelContext& context, const AxisShape& shape, const CausalRows& position, T* x) {
  forEachElement(context, shape, 1,
                 functors::Causal<T>{shape.n, position.rows, position.query, position.key, x});
}

template <class T>
void raiseMaxima(KernelContext& context, Index rows, T* m, T* s, T* c) {
  eachElement(context, rows, kExponentialCost, functors::RaisedMaximum<T>{m, s, c});
}

template <class T>
void axisQuotientsOrZero(KernelContext& context, const AxisShape& shape, const T* e, const T* s,
                         T* y) {
  forEachElement(context, shape, 1, functors::QuotientOrZero<T>{e, s, y});
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void axisMaxima<T>(KernelContext&, const AxisShape&, const T*, T*);                     \
  template void axisExponentials<T>(KernelContext&, const AxisShape&, const T*, const T*, T*);     \
  template void axisSums<T>(KernelContext&, const AxisShape&, const T*, T*);                       \
  template void axisSpread<T>(KernelContext&, const AxisShape&, const T*, T*);                     \
  template void axisQuotients<T>(KernelContext&, const AxisShape&, const T*, const T*, T*);        \
  template void axisQuotientsTangent<T>(KernelContext&, const AxisShape&, const T*, const T*,      \
                                        const T*, const T*, T*);                                   \
  template void axisQuotientsAdjoint<T>(KernelContext&, const AxisShape&, const T*, const T*,      \
                                        const T*, T*);                                             \
  template void axisDots<T>(KernelContext&, const AxisShape&, const T*, const T*, T*);             \
  template void axisScale<T>(KernelContext&, const AxisShape&, const T*, const T*, T*);            \
  template void axisSubtractScaled<T>(KernelContext&, const AxisShape&, const T*, const T*, T*);   \
  template void axisSoftmax<T>(KernelContext&, const AxisShape&, const T*, T*, T*, T*);            \
  template void axisSoftmaxSlope<T>(KernelContext&, const AxisShape&, const T*, const T*,          \
                                    const T*, T*);                                                 \
  template void maskCausal<T>(KernelContext&, const AxisShape&, const CausalRows&, T*);            \
  template void raiseMaxima<T>(KernelContext&, Index, T*, T*, T*);                                 \
  template void axisQuotientsOrZero<T>(KernelContext&, const AxisShape&, const T*, const T*, T*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
