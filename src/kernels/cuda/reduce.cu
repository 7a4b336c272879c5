// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/cuda/launch.cuh"
#include "kernels/functors/reduce.hpp"

namespace tenon::device {

using namespace functors;

#define TENON_GROUPS(Op, ...)                                                                      \
  template void eachElement(const Stream&, Index, const GroupLoops<Op, __VA_ARGS__>&);             \
  template void eachBlock(const Stream&, Index, const GroupTrees<Op, __VA_ARGS__>&);
#define TENON_ENDS(Op, Wide, ...)                                                                  \
  template void eachElement(const Stream&, Index, const GroupEnds<Op, Wide, __VA_ARGS__>&);
#define TENON_PRODUCTS(T, Wide)                                                                    \
  template void eachElement(const Stream&, Index, const MultiplyAddCells<T>&);                     \
  TENON_GROUPS(Sum, ProductTerm<T>)                                                                \
  TENON_ENDS(Sum, Wide, AddToCell<T, Wide>)
TENON_GROUPS(Sum, DotTerm<float>)
TENON_GROUPS(Sum, DotTerm<double>)
TENON_GROUPS(Maximum, SizeTerm<float>)
TENON_GROUPS(Maximum, SizeTerm<double>)
TENON_PRODUCTS(float, double)
TENON_PRODUCTS(double, double)
TENON_PRODUCTS(std::int64_t, std::int64_t)

} // namespace tenon::device
