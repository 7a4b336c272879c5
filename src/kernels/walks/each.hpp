// SPDX-License-Identifier: BSD-2-Clause
// A functor (walks.hpp) for each of n elements or each element of a block, in the space of the
// context: on the host in vectors and on several threads, on the device by its walks.
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

// Throws TENON_ERR_SUPPORT for more elements than one walk of the device covers; `what` names the
// operation in the text.
inline void checkElementCount(Index elements, const char* what) {
  if (elements > kMaxWalkedElements)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} on the device has more than 2^31 - 1 local elements; divide the "
                            "tensor among more processes",
                            what));
}

// One range of elements on one thread of the host.
template <class F>
void walkElements(Index begin, Index end, const F& f) {
  vectorised([=] {
    TENON_INDEPENDENT_ITERATIONS
    for (Index i = begin; i < end; ++i)
      applyTo(f, i);
  });
}

// f(i), or f.write(i, f.read(i)), for each of n elements: it reads and writes elements i of its
// arrays, and no others; the arrays may be the same, or apart. `cost` is the work of one element,
// in elements moved.
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

// f.write(offset written, f.read(offset read, offset written)) for each element of the block; on
// the host f.row(n, offset read, step, offset written, step) for its rows, if f has that.
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
