// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/block_copy.hpp"

#include "kernels/each.hpp"
#include "kernels/functors/block.hpp"

namespace tenon {

template <class T>
void blockCombine(KernelContext& context, Combine op, int rank, const Index* extent, const T* x,
                  const Index* xs, T* y, const Index* ys) {
  const Block block = normaliseBlock(rank, extent, xs, ys);
  switch (op) {
  case Combine::Copy:
    return eachCell(context, block, functors::CombineCells<T, functors::CopyTo>{x, y});
  case Combine::Add:
    return eachCell(context, block, functors::CombineCells<T, functors::AddTo>{x, y});
  case Combine::Max:
    return eachCell(context, block, functors::CombineCells<T, functors::MaxTo>{x, y});
  }
}

template void blockCombine<float>(KernelContext&, Combine, int, const Index*, const float*,
                                  const Index*, float*, const Index*);
template void blockCombine<double>(KernelContext&, Combine, int, const Index*, const double*,
                                   const Index*, double*, const Index*);
template void blockCombine<std::int64_t>(KernelContext&, Combine, int, const Index*,
                                         const std::int64_t*, const Index*, std::int64_t*,
                                         const Index*);

} // namespace tenon
