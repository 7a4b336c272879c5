// SPDX-License-Identifier: BSD-2-Clause
// Rounds boxes to bfloat16 and expands them, by functors, on the host or the device. The rounded
// box is always contiguous and row-major: it is stored until it is expanded. Boxes that the
// conversion also transposes have a separate kernel on the device (transposed.hpp).
#include "kernels/movement/bfloat16.hpp"

#include "kernels/functors/bfloat16.hpp"
#include "kernels/movement/transposed.hpp"
#include "kernels/walks/each.hpp"

#include <array>
#include <type_traits>

namespace tenon {

namespace {

std::array<Index, kMaxBlockRank> rowMajorStrides(int rank, const Index* extent) {
  std::array<Index, kMaxBlockRank> steps{};
  for (Index d = rank, step = 1; d-- > 0; step *= extent[d])
    steps[d] = step;
  return steps;
}

} // namespace

template <class T>
void roundToBFloat16(KernelContext& context, int rank, const Index* extent, const T* x,
                     const Index* xs, BFloat16* y) {
  const auto ys = rowMajorStrides(rank, extent);
  const Block block = normaliseBlock(rank, extent, xs, ys.data());
  if constexpr (std::is_same_v<T, float>)
    if (isOnDevice(context) && transposeTiles(context, block, functors::RoundedOnTheWay{}, x, y))
      return;
  eachOfBlock(context, block, functors::RoundElements<T>{x, y});
}

void expandBFloat16(KernelContext& context, int rank, const Index* extent, const BFloat16* x,
                    bool adds, float* y, const Index* ys) {
  const auto xs = rowMajorStrides(rank, extent);
  const Block block = normaliseBlock(rank, extent, xs.data(), ys);
  if (isOnDevice(context) && transposeTiles(context, block, functors::ExpandedOnTheWay{adds}, x, y))
    return;
  eachOfBlock(context, block, functors::ExpandElements<float>{x, adds ? 1 : 0, y});
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
