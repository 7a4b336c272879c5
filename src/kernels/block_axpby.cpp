// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/block_axpby.hpp"

#include "kernels/block_copy.hpp"
#include "kernels/each.hpp"
#include "kernels/functors/block.hpp"
#include "kernels/reduce.hpp"

namespace tenon {

template <class S, class T>
void blockAxpby(KernelContext& context, int rank, const Index* extent,
                std::common_type_t<S, T> alpha, const S* x, const Index* xs,
                std::common_type_t<S, T> beta, T* y, const Index* ys) {
  if constexpr (std::is_same_v<S, T>)
    if (alpha == 1 && (beta == 0 || beta == 1))
      return blockCombine(context, beta == 0 ? Combine::Copy : Combine::Add, rank, extent, x, xs, y,
                          ys);
  const Block block = normaliseBlock(rank, extent, xs, ys);
  if (beta == 0)
    eachCell(context, block, functors::ScaleCells<S, T>{alpha, x, y});
  else
    eachCell(context, block, functors::AxpbyCells<S, T>{alpha, x, beta, y});
}

template <class T>
void blockScale(KernelContext& context, int rank, const Index* extent, T factor, T* y,
                const Index* ys) {
  if (factor == 1)
    return;
  if (factor == 0)
    return fillBlock(context, rank, extent, T(0), y, ys);
  eachCell(context, normaliseBlock(rank, extent, ys, ys), functors::MultiplyCells<T>{factor, y});
}

#define TENON_INSTANTIATE(S, T)                                                                    \
  template void blockAxpby<S, T>(KernelContext&, int, const Index*, std::common_type_t<S, T>,      \
                                 const S*, const Index*, std::common_type_t<S, T>, T*,             \
                                 const Index*);
TENON_INSTANTIATE(float, float)
TENON_INSTANTIATE(double, double)
TENON_INSTANTIATE(float, double)
TENON_INSTANTIATE(double, float)
TENON_INSTANTIATE(std::int64_t, std::int64_t)
#undef TENON_INSTANTIATE
template void blockScale<float>(KernelContext&, int, const Index*, float, float*, const Index*);
template void blockScale<double>(KernelContext&, int, const Index*, double, double*, const Index*);
template void blockScale<std::int64_t>(KernelContext&, int, const Index*, std::int64_t,
                                       std::int64_t*, const Index*);

} // namespace tenon
