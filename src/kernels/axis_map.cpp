// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/axis_map.hpp"

#include "kernels/vectorised.hpp"

#include <algorithm>

namespace tenon {

void AxisMap::add(Index firstInput, const std::vector<double>& its) {
  first.push_back(firstInput);
  weights.insert(weights.end(), its.begin(), its.end());
  begin.push_back(static_cast<Index>(weights.size()));
}

namespace {

// Elements of the inner dimension that are done together.
constexpr Index kBlock = 1024;

// body(a, b, count) for runs of the inner dimension.
template <class Body>
void forEachRun(KernelContext& context, Index outer, Index inner, Index cost, const Body& body) {
  const Index runs = (inner + kBlock - 1) / kBlock;
  parallelRanges(context.threads(), outer * runs, cost * std::min(inner, kBlock),
                 [=](Index begin, Index end) {
                   for (Index r = begin; r < end; ++r) {
                     const Index b = r % runs * kBlock;
                     body(r / runs, b, std::min(kBlock, inner - b));
                   }
                 });
}

} // namespace

template <class T>
void axisMapForward(KernelContext& context, const AxisMap& map, Index outer, Index inner,
                    const T* x, T* y) {
  const Index inputs = map.inputs, outputs = map.outputs();
  const Index *first = map.first.data(), *begin = map.begin.data();
  const double* weights = map.weights.data();
  forEachRun(context, outer, inner, inputs + outputs, [=](Index a, Index b, Index count) {
    if (inner == 1) {
      for (Index o = 0; o < outputs; ++o) {
        const T* in = x + a * inputs + first[o] - begin[o];
        T sum = 0;
        for (Index t = begin[o]; t < begin[o + 1]; ++t)
          sum += static_cast<T>(weights[t]) * in[t];
        y[a * outputs + o] = sum;
      }
      return;
    }
    vectorised([=] {
      for (Index o = 0; o < outputs; ++o) {
        T* out = y + (a * outputs + o) * inner + b;
        std::fill(out, out + count, T(0));
        for (Index t = begin[o]; t < begin[o + 1]; ++t) {
          const T weight = static_cast<T>(weights[t]);
          const T* in = x + (a * inputs + first[o] + t - begin[o]) * inner + b;
#pragma GCC ivdep
          for (Index i = 0; i < count; ++i)
            out[i] += weight * in[i];
        }
      }
    });
  });
}

template <class T>
void axisMapAdjoint(KernelContext& context, const AxisMap& map, Index outer, Index inner,
                    const T* y, T* x) {
  const Index inputs = map.inputs, outputs = map.outputs();
  const Index *first = map.first.data(), *begin = map.begin.data();
  const double* weights = map.weights.data();
  forEachRun(context, outer, inner, inputs + outputs, [=](Index a, Index b, Index count) {
    vectorised([=] {
      for (Index i = 0; i < inputs; ++i) {
        T* in = x + (a * inputs + i) * inner + b;
        std::fill(in, in + count, T(0));
      }
      for (Index o = 0; o < outputs; ++o) {
        const T* out = y + (a * outputs + o) * inner + b;
        for (Index t = begin[o]; t < begin[o + 1]; ++t) {
          const T weight = static_cast<T>(weights[t]);
          T* in = x + (a * inputs + first[o] + t - begin[o]) * inner + b;
#pragma GCC ivdep
          for (Index i = 0; i < count; ++i)
            in[i] += weight * out[i];
        }
      }
    });
  });
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void axisMapForward<T>(KernelContext&, const AxisMap&, Index, Index, const T*, T*);     \
  template void axisMapAdjoint<T>(KernelContext&, const AxisMap&, Index, Index, const T*, T*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
