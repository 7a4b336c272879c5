// SPDX-License-Identifier: BSD-2-Clause
// Applies a sparse linear map (such as interpolation; AxisMap in axis_map.hpp) along the middle
// dimension of arrays [outer, n, inner], and its adjoint. On the host, the loop over the inner
// dimension is vectorised. On the device, the map and its adjoint have a list each, built once: the
// inputs of each output, and the outputs that read each input. A thread computes one element by a
// gather instead of scattering to several.
#include "kernels/rows/axis_map.hpp"

#include "kernels/base/context.hpp"
#include "kernels/base/independent.hpp"
#include "kernels/base/instruction_set.hpp"
#include "kernels/functors/axis_map.hpp"
#include "kernels/walks/device_reduce.hpp"
#include "kernels/walks/slices.hpp"

#include <algorithm>

namespace tenon {

void AxisMap::add(Index firstInput, const std::vector<double>& weightsOfInputs) {
  first.push_back(firstInput);
  weights.insert(weights.end(), weightsOfInputs.begin(), weightsOfInputs.end());
  begin.push_back(static_cast<Index>(weights.size()));
}

// Weights by output for the map, and by input for its adjoint: on the device each thread gathers
// one element, so no two threads add to the same element.
struct AxisMap::OnDevice {
  struct Lists {
    ReadList<Index> begin, index;
    ReadList<double> weights;
  };
  Lists forward, adjoint;
};

namespace {

// The inputs of each output.
AxisMap::OnDevice::Lists forwardLists(KernelContext& context, const AxisMap& map) {
  std::vector<Index> index;
  for (Index o = 0; o < map.outputs(); ++o)
    for (Index t = map.begin[o]; t < map.begin[o + 1]; ++t)
      index.push_back(map.first[o] + t - map.begin[o]);
  return {{context, map.begin}, {context, std::move(index)}, {context, map.weights}};
}

// The transpose of the map. The outputs that read an input are listed in increasing order, in which
// the host adds them too.
AxisMap::OnDevice::Lists adjointLists(KernelContext& context, const AxisMap& map) {
  std::vector<std::vector<std::pair<Index, double>>> byInput(static_cast<std::size_t>(map.inputs));
  for (Index o = 0; o < map.outputs(); ++o)
    for (Index t = map.begin[o]; t < map.begin[o + 1]; ++t)
      byInput[map.first[o] + t - map.begin[o]].emplace_back(o, map.weights[t]);
  std::vector<Index> begin{0}, index;
  std::vector<double> weights;
  for (const auto& readers : byInput) {
    for (const auto& [output, weight] : readers) {
      index.push_back(output);
      weights.push_back(weight);
    }
    begin.push_back(static_cast<Index>(index.size()));
  }
  return {{context, std::move(begin)}, {context, std::move(index)}, {context, std::move(weights)}};
}

// y [outer, to, inner] from x [outer, from, inner], by the map or its adjoint.
template <class T>
void gatherOnDevice(KernelContext& context, const AxisMap::OnDevice::Lists& lists, Index outer,
                    Index inner, Index from, Index to, const T* x, T* y) {
  // Strides that result in the start of an element's line in x, and in the index of the output.
  const Index extent[] = {outer, to, inner}, inX[] = {from * inner, 0, 1}, lines[] = {0, 1, 0};
  if constexpr (kHasDevice)
    forEachBoxSlice<2>(3, extent, {inX, lines}, [&](const BoxSlice<2>& slice) {
      const functors::AxisGather<T> gather{.offsets = {3, slice.extent, {inX, lines}},
                                           .begin = lists.begin.data() + slice.offset[1],
                                           .index = lists.index.data(),
                                           .weights = lists.weights.data(),
                                           .step = inner,
                                           .x = x + slice.offset[0],
                                           .y = y + slice.firstElement};
      device::eachElement(context.stream(), gather.offsets.count(), gather);
    });
}

// Elements of the inner dimension that are processed together, few enough for a run of all outputs
// to stay in the cache.
constexpr Index kBlock = 1024;

// Calls body(outer index, first inner index, count) for runs of the inner dimension, on several
// threads.
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

void AxisMap::finish(KernelContext& context) {
  if (isOnDevice(context))
    onDevice = std::make_shared<const OnDevice>(
        OnDevice{forwardLists(context, *this), adjointLists(context, *this)});
}

template <class T>
void axisMapForward(KernelContext& context, const AxisMap& map, Index outer, Index inner,
                    const T* x, T* y) {
  if (map.onDevice)
    return gatherOnDevice(context, map.onDevice->forward, outer, inner, map.inputs, map.outputs(),
                          x, y);
  const Index inputs = map.inputs, outputs = map.outputs();
  const Index *first = map.first.data(), *begin = map.begin.data();
  const double* weights = map.weights.data();
  forEachRun(context, outer, inner, inputs + outputs, [=](Index a, Index b, Index count) {
    // Along the last dimension the inner loop is the sum; otherwise each weight scales a whole run.
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
          TENON_INDEPENDENT_ITERATIONS
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
  if (map.onDevice)
    return gatherOnDevice(context, map.onDevice->adjoint, outer, inner, map.outputs(), map.inputs,
                          y, x);
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
          TENON_INDEPENDENT_ITERATIONS
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
