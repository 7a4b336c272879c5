// SPDX-License-Identifier: BSD-2-Clause
// Draws the mask of dropout and applies it in one pass, without storing it. The counter of the draw
// (which of the layer's masks this is) is stored by keepCounter() in the memory of the kernels,
// with the values that the forward pass saves for its derivatives: these draw the same mask from
// it.
#include "kernels/elementwise/dropout.hpp"

#include "kernels/functors/dropout.hpp"
#include "kernels/walks/each.hpp"
#include "kernels/walks/slices.hpp"

#include <algorithm>

namespace tenon {

namespace {

constexpr Index kDrawCost = 16; // cost of a random number, in elements moved

template <class T>
void applyOnDevice(KernelContext& context, const DropoutMask& mask, const std::uint64_t* counter,
                   int rank, const Index* extent, Index first, const Index* strides, const T* x,
                   T* y) {
  if constexpr (kHasDevice) {
    if (std::find(extent, extent + rank, 0) != extent + rank)
      return;
    forEachBoxSlice<1>(rank, extent, {strides}, [&](const BoxSlice<1>& slice) {
      const ElementOffsets<1> offsets(rank, slice.extent, {strides});
      device::eachElement(context.stream(), offsets.count(),
                          functors::Dropout<T>{.seed = mask.seed,
                                               .stream = mask.stream,
                                               .rate = mask.rate,
                                               .scale = static_cast<T>(1 / (1 - mask.rate)),
                                               .counter = counter,
                                               .offsets = offsets,
                                               .first = first + slice.offset[0],
                                               .x = x + slice.firstElement,
                                               .y = y + slice.firstElement});
    });
  }
}

} // namespace

template <class T>
void applyDropout(KernelContext& context, const DropoutMask& mask, const std::uint64_t* counter,
                  int rank, const Index* extent, Index first, const Index* strides, const T* x,
                  T* y) {
  // Host and device draw by the global index, and so have the same mask.
  if (isOnDevice(context))
    return applyOnDevice(context, mask, counter, rank, extent, first, strides, x, y);
  const std::uint64_t seed = mask.seed, stream = mask.stream + *counter;
  const bool draws = *counter != kNoDraw;
  const double rate = mask.rate;
  const T scale = static_cast<T>(1 / (1 - rate));
  const Index run = extent[rank - 1]; // elements with consecutive global indices
  Index rows = 1;
  for (int d = 0; d < rank - 1; ++d)
    rows *= extent[d];
  parallelRanges(context.threads(), rows, run * kDrawCost, [=](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      Index index = first;
      for (Index d = rank - 1, rest = row; d-- > 0; rest /= extent[d])
        index += rest % extent[d] * strides[d];
      for (Index i = row * run; i < (row + 1) * run; ++i, ++index)
        y[i] = !draws                                                              ? x[i]
               : uniformAt(seed, stream, static_cast<std::uint64_t>(index)) < rate ? T(0)
                                                                                   : scale * x[i];
    }
  });
}

void keepCounter(KernelContext& context, std::uint64_t value, std::uint64_t* counter) {
  eachElement(context, 1, 1, functors::KeepNumber{value, counter});
}

template void applyDropout<float>(KernelContext&, const DropoutMask&, const std::uint64_t*, int,
                                  const Index*, Index, const Index*, const float*, float*);
template void applyDropout<double>(KernelContext&, const DropoutMask&, const std::uint64_t*, int,
                                   const Index*, Index, const Index*, const double*, double*);

} // namespace tenon
