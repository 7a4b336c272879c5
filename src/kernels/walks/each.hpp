// SPDX-License-Identifier: BSD-2-Clause
// Applies a functor (a struct with the arrays and an operation for one element, walks.hpp) to each
// of n elements, or to each element of a block (a strided box, block.hpp), where the context's
// arrays are: vectorised and on several threads on the host, or as a kernel on the device. Example:
//     struct Halve {
//       double* x;
//       TENON_DEVICE double read(Index i) const { return x[i] / 2; }
//       TENON_DEVICE void write(Index i, double value) const { x[i] = value; }
//     };
//     eachElement(context, n, /*cost=*/2, Halve{x});     2: x[i] is read and written
#pragma once

#include "kernels/base/context.hpp"
#include "kernels/base/independent.hpp"
#include "kernels/base/instruction_set.hpp"
#include "kernels/walks/element_offsets.hpp"
#include "kernels/walks/walks.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <tenon_features.hpp>

namespace tenon {

inline bool isOnDevice(const KernelContext& context) {
  return kHasDevice && context.space() == Space::Device;
}

// Throws TENON_ERR_SUPPORT for more elements than one kernel of the device can index in 32 bits;
// `what` names the operation in the text. Callers whose functors compute in 32 bits (Divisor,
// ElementOffsets) must call it; eachElement() itself counts in 64 bits, and eachOfBlock() divides a
// large block into slices.
inline void checkElementCount(Index elements, const char* what) {
  if (elements > kMaxWalkedElements)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} on the device has more than 2^31 - 1 local elements; divide the "
                            "tensor among more processes",
                            what));
}

// Applies f to one range of elements on one thread of the host.
template <class F>
void walkElements(Index begin, Index end, const F& f) {
  vectorised([=] {
    TENON_INDEPENDENT_ITERATIONS
    for (Index i = begin; i < end; ++i)
      applyTo(f, i);
  });
}

// Applies f(i), or f.write(i, f.read(i)), to each of n elements: eachElementOfHost() on the host,
// whatever the context, and eachElement() where the context is. f must access only element i of its
// arrays; two arrays must be identical or disjoint. `cost` is the work per element, in elements
// moved, which decides whether threads are worth their start.
template <class F>
void eachElementOfHost(KernelContext& context, Index n, Index cost, const F& f) {
  parallelRanges(context.threads(), n, cost,
                 [f](Index begin, Index end) { walkElements(begin, end, f); });
}
template <class F>
void eachElement(KernelContext& context, Index n, Index cost, const F& f) {
  if constexpr (kHasDevice)
    if (isOnDevice(context))
      return device::eachElement(context.stream(), n, f);
  eachElementOfHost(context, n, cost, f);
}

// Applies f.write(offset written, f.read(offset read, offset written)) to each element of the
// block; on the host f.row(n, offset read, stride, offset written, stride) to its rows, if f has
// it. read gets both offsets because a functor can combine with the old value there
// (CombineElements in functors/block.hpp).
template <class F>
void eachOfBlock(KernelContext& context, const Block& block, const F& f) {
  if constexpr (kHasDevice)
    if (isOnDevice(context))
      return device::eachOfBlock(context.stream(), block, f);
  forEachRowInParts(context, block, [f](Index n, Index a, Index stepA, Index b, Index stepB) {
    if constexpr (requires { f.row(n, a, stepA, b, stepB); })
      f.row(n, a, stepA, b, stepB);
    else
      for (Index i = 0; i < n; ++i)
        f.write(b + i * stepB, f.read(a + i * stepA, b + i * stepB));
  });
}

} // namespace tenon
