// SPDX-License-Identifier: BSD-2-Clause
// Search for the first invalid element in the arguments of a kernel, such as a label that is not a
// class.
#pragma once

#include "kernels/functors/sum.hpp"
#include "kernels/walks/device_reduce.hpp"
#include "kernels/walks/each.hpp"

namespace tenon {

// The index of the first invalid element, or -1. term(0, i) must be n - i for an invalid element
// and 0 for a valid one: the maximum over all i then identifies the first. (The 0 is the group of
// the reduction, of which there is one.) On the device the host waits for the result.
template <class Term>
Index firstBad(KernelContext& context, Index n, const Term& term) {
  if constexpr (kHasDevice)
    if (isOnDevice(context)) {
      const Index maximum =
          n > 0 ? device::reduceAll<functors::MaxTo, Term>(context, {{term, n}}, 0) : 0;
      return maximum > 0 ? n - maximum : -1;
    }
  for (Index i = 0; i < n; ++i)
    if (term(0, i) > 0)
      return i;
  return -1;
}

} // namespace tenon
