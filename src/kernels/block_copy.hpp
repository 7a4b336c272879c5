// SPDX-License-Identifier: BSD-2-Clause
// Strided boxes moved between arrays: the local half of every data movement (pack, unpack, halo
// fill, slice, zero-pad) and, with Add and Max, of every reduction on receipt.
#pragma once

#include "kernels/context.hpp"

namespace tenon {

enum class Combine { Copy, Add, Max };

// y[i . ys] (op)= x[i . xs] for every i in the box `extent`; strides in elements, of either sign, 0
// for x where it is broadcast. Rank 0 to 8; rank 0 is one element. x and y must not overlap.
// Max propagates NaN. For float, double and std::int64_t.
template <class T>
void blockCombine(KernelContext& context, Combine op, int rank, const Index* extent, const T* x,
                  const Index* xs, T* y, const Index* ys);

// Of n elements one after the other.
template <class T>
void arrayCombine(KernelContext& context, Combine op, Index n, const T* x, T* y) {
  const Index one = 1;
  blockCombine(context, op, 1, &n, x, &one, y, &one);
}

} // namespace tenon
