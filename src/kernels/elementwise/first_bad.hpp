// SPDX-License-Identifier: BSD-2-Clause
// The search for the first of n elements that a kernel must not be given, such as a label outside
// its classes.
#pragma once

#include "kernels/functors/sum.hpp"
#include "kernels/walks/device_reduce.hpp"
#include "kernels/walks/each.hpp"

namespace tenon {

// The index of the first bad element, or -1 if there is none; term(0, i) is n - i for a bad element
// and 0 for a good one, so that a maximum finds the first. Waits for the answer.
template <class Term>
Index firstBad(KernelContext& context, Index n, const Term& term) {
  if constexpr (kHasDevice)
    if (isOnDevice(context)) {
      const Index most =
          n > 0 ? device::reduceAll<functors::MaxTo, Term>(context, {{term, n}}, 0) : 0;
      return most > 0 ? n - most : -1;
    }
  for (Index i = 0; i < n; ++i)
    if (term(0, i) > 0)
      return i;
  return -1;
}

} // namespace tenon
