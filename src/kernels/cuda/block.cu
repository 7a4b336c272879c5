// SPDX-License-Identifier: BSD-2-Clause
// Instantiates the CUDA kernels of the functors that movement/ applies to boxes: combined, scaled,
// filled, transposed, rounded or at listed positions. nvcc compiles this file; the lists must name
// every functor and type that the host code uses, since a missing one is a linker error.
// eachOfBlock() is for the elements of a strided box (Block, walks/block.hpp), eachElement() for
// those at listed positions, and eachThreadBlock() for thread blocks, which transpose a tile each.
#include "kernels/cuda/launch.cuh"
#include "kernels/functors/bfloat16.hpp"
#include "kernels/functors/block.hpp"
#include "kernels/functors/listed.hpp"
#include "kernels/functors/transpose.hpp"

namespace tenon::device {

using namespace functors;

#define TENON_OF_BLOCK(...)                                                                        \
  template void eachOfBlock(const Stream&, const Block&, const __VA_ARGS__&);
#define TENON_ALL(T)                                                                               \
  TENON_OF_BLOCK(CombineElements<T, CopyTo>)                                                       \
  TENON_OF_BLOCK(CombineElements<T, AddTo>)                                                        \
  TENON_OF_BLOCK(CombineElements<T, MaxTo>)                                                        \
  TENON_OF_BLOCK(ScaleElements<T, T>)                                                              \
  TENON_OF_BLOCK(AxpbyElements<T, T>)                                                              \
  TENON_OF_BLOCK(MultiplyElements<T>)                                                              \
  TENON_OF_BLOCK(FillElements<T>)                                                                  \
  template void eachElement(const Stream&, Index, const AxpbyListed<T>&);
TENON_ALL(float)
TENON_ALL(double)
TENON_ALL(std::int64_t)
TENON_ALL(std::int32_t)
TENON_OF_BLOCK(CopyWide)
#define TENON_TRANSPOSED(...)                                                                      \
  template void eachThreadBlock(const Stream&, Index, const TransposeTiles<__VA_ARGS__>&);
TENON_TRANSPOSED(CopiedOnTheWay<std::uint32_t>)
TENON_TRANSPOSED(CopiedOnTheWay<std::uint64_t>)
TENON_TRANSPOSED(RoundedOnTheWay)
TENON_TRANSPOSED(ExpandedOnTheWay)
TENON_OF_BLOCK(ExpandElements<float>)
TENON_OF_BLOCK(RoundElements<float>)
TENON_OF_BLOCK(RoundElements<double>)
#define TENON_CONVERTED(S, T)                                                                      \
  TENON_OF_BLOCK(ScaleElements<S, T>)                                                              \
  TENON_OF_BLOCK(AxpbyElements<S, T>)
TENON_CONVERTED(float, double)
TENON_CONVERTED(double, float)
TENON_CONVERTED(std::int32_t, std::int64_t)
TENON_CONVERTED(std::int64_t, std::int32_t)
TENON_CONVERTED(std::int32_t, float)
TENON_CONVERTED(std::int32_t, double)
TENON_CONVERTED(std::int64_t, float)
TENON_CONVERTED(std::int64_t, double)

} // namespace tenon::device
