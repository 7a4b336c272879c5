// SPDX-License-Identifier: BSD-2-Clause
// A functor for each of n elements, in vectors and on several threads. It is a copyable structure of
// pointers and numbers whose f(i) reads and writes elements i of its arrays, and no others: the arrays may
// be the same, or apart.
#pragma once

#include "kernels/context.hpp"
#include "kernels/vectorised.hpp"

namespace tenon {

template <class F>
void walkElements(Index begin, Index end, const F& f) {
  vectorised([=] {
#pragma GCC ivdep
    for (Index i = begin; i < end; ++i)
      f(i);
  });
}

// `cost` is the work of one element, in elements moved.
template <class F>
void eachElement(KernelContext& context, Index n, Index cost, const F& f) {
  parallelRanges(context.threads(), n, cost,
                 [f](Index begin, Index end) { walkElements(begin, end, f); });
}

} // namespace tenon
