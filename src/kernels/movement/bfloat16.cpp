// SPDX-License-Identifier: BSD-2-Clause
// Rounds to bfloat16 by functors, on the host or on the device. The rounded box is contiguous whatever the
// strides of x are, since it is kept or sent, and only ever expanded again.
#include "kernels/movement/bfloat16.hpp"

#include "kernels/functors/bfloat16.hpp"
#include "kernels/walks/each.hpp"

namespace tenon {

template <class T>
void roundToBFloat16(KernelContext& context, int rank, const Index* extent, const T* x,
                     const Index* xs, BFloat16* y) {
  Index ys[kMaxBlockRank], step = 1;
  for (int d = rank; d-- > 0;) {
    ys[d] = step;
    step *= extent[d];
  }
  eachOfBlock(context, normaliseBlock(rank, extent, xs, ys), functors::RoundElements<T>{x, y});
}

template <class T>
void fromBFloat16(KernelContext& context, Index n, const BFloat16* x, T* y) {
  eachElement(context, n, 1, functors::FromBFloat16<T>{x, y});
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void roundToBFloat16<T>(KernelContext&, int, const Index*, const T*, const Index*,      \
                                   BFloat16*);                                                     \
  template void fromBFloat16<T>(KernelContext&, Index, const BFloat16*, T*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
