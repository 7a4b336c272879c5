// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/pointwise.hpp"

#include "kernels/parallel.hpp"
#include "kernels/pointwise_functions.hpp"
#include "kernels/pointwise_onednn.hpp"

#include <type_traits>

namespace tenon {

using pointwise::Reads;
using pointwise::withFunction;

namespace {

// Work of an element of a function that is not a comparison or a product, in elements moved.
constexpr Index kTranscendentalCost = 8;

constexpr Index costOf(Pointwise function) {
  switch (function) {
  case Pointwise::Relu:
  case Pointwise::LeakyRelu:
  case Pointwise::Scale:
  case Pointwise::Identity:
    return 1;
  default:
    return kTranscendentalCost;
  }
}

// Columns that a sum over rows gives to one thread together: a cache line of doubles, and more.
constexpr Index kColumns = 16;

} // namespace

PointwiseReads pointwiseReads(const PointwiseFunction& function) {
  return withFunction(function, [](auto f) {
    return PointwiseReads{f.kReads == Reads::Argument, f.kReads == Reads::Value};
  });
}

template <class T>
void pointwiseForward(KernelContext& context, Backend backend, const PointwiseFunction& function,
                      Index n, const T* x, T* y) {
  const Backend chosen = resolveBackend<T>(backend);
  if constexpr (std::is_same_v<T, float>)
    if (chosen == Backend::OneDnn && oneDnnEvaluates(function.kind))
      return pointwiseForwardOneDnn(function.kind, n, x, y);
  withFunction(function, [=, &context, cost = costOf(function.kind)](auto f) {
    parallelRanges(context.threads(), n, cost, [=](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        y[i] = f.value(x[i]);
    });
  });
}

template <class T>
void pointwiseDerivative(KernelContext& context, Backend backend, const PointwiseFunction& function,
                         Index n, const T* x, const T* y, const T* v, T* r) {
  const Backend chosen = resolveBackend<T>(backend);
  if constexpr (std::is_same_v<T, float>)
    if (chosen == Backend::OneDnn && oneDnnDifferentiates(function.kind))
      return pointwiseDerivativeOneDnn(function.kind, n, x, v, r);
  withFunction(function, [=, &context, cost = costOf(function.kind)](auto f) {
    const T* points[] = {v, x, y};
    const T* point = points[int(f.kReads)];
    parallelRanges(context.threads(), n, cost, [=](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        r[i] = f.derivative(point[i], v[i]);
    });
  });
}

template <class T>
void axpby(KernelContext& context, Index n, T alpha, const T* x, T beta, T* y) {
  parallelRanges(context.threads(), n, 1, [=](Index begin, Index end) {
    if (beta == T(0))
      for (Index i = begin; i < end; ++i)
        y[i] = alpha * x[i];
    else
      for (Index i = begin; i < end; ++i)
        y[i] = alpha * x[i] + beta * y[i];
  });
}

template <class T, class U>
void difference(KernelContext& context, Index n, const T* x, const U* t, T* d) {
  parallelRanges(context.threads(), n, 1, [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      d[i] = x[i] - static_cast<T>(t[i]);
  });
}

template <class T>
void addBias(KernelContext& context, Index rows, Index cols, const T* b, T* y) {
  parallelRanges(context.threads(), rows, cols, [=](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      for (Index c = 0; c < cols; ++c)
        y[r * cols + c] += b[c];
  });
}

template <class T>
void sumRows(KernelContext& context, Index rows, Index cols, const T* x, T* b) {
  const Index groups = (cols + kColumns - 1) / kColumns;
  parallelRanges(context.threads(), groups, rows * kColumns, [=](Index begin, Index end) {
    const Index last = std::min(cols, end * kColumns);
    for (Index r = 0; r < rows; ++r)
      for (Index c = begin * kColumns; c < last; ++c)
        b[c] += x[r * cols + c];
  });
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void pointwiseForward<T>(KernelContext&, Backend, const PointwiseFunction&, Index,      \
                                    const T*, T*);                                                 \
  template void pointwiseDerivative<T>(KernelContext&, Backend, const PointwiseFunction&, Index,   \
                                       const T*, const T*, const T*, T*);                          \
  template void axpby<T>(KernelContext&, Index, T, const T*, T, T*);                               \
  template void difference<T>(KernelContext&, Index, const T*, const float*, T*);                  \
  template void difference<T>(KernelContext&, Index, const T*, const double*, T*);                 \
  template void addBias<T>(KernelContext&, Index, Index, const T*, T*);                            \
  template void sumRows<T>(KernelContext&, Index, Index, const T*, T*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
