// SPDX-License-Identifier: BSD-2-Clause
// Instantiates the CUDA kernels of reductions of boxes: sums, maxima and summed products
// (elementwise/reduce.cpp, movement/block_copy.cpp). nvcc compiles this file, and a functor that is
// not listed is a linker error. Integers are summed in their own type, as on the host; other types
// are summed in double. The functors are in functors/reduce.hpp.
#include "kernels/cuda/reductions.cuh"

namespace tenon::device {

using namespace functors;

#define TENON_PRODUCTS(T, Wide)                                                                    \
  TENON_ELEMENTS(MultiplyAddElements<T>)                                                           \
  TENON_GROUPS(AddTo, ProductTerm<T, 1>)                                                           \
  TENON_GROUPS(AddTo, ProductTerm<T, 2>)                                                           \
  TENON_ENDS(AddTo, Wide, AddToElement<T, Wide>)                                                   \
  TENON_WHOLE(AddTo, ProductTerm<T, 1>, AddToElement<T, Wide>)                                     \
  TENON_WHOLE(AddTo, ProductTerm<T, 2>, AddToElement<T, Wide>)
TENON_GROUPS(MaxTo, SizeTerm<float>)
TENON_GROUPS(MaxTo, SizeTerm<double>)
TENON_PRODUCTS(float, double)
TENON_PRODUCTS(double, double)
TENON_PRODUCTS(std::int64_t, std::int64_t)
TENON_PRODUCTS(std::int32_t, std::int32_t)

} // namespace tenon::device
