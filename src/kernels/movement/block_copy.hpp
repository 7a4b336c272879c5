// SPDX-License-Identifier: BSD-2-Clause
// Strided boxes moved between arrays: the local half of every data movement (pack, unpack, halo
// fill, slice, zero-pad) and, with Add and Max, of every reduction on receipt. Below are boxes that
// are scaled, and boxes that are multiplied and summed.
#pragma once

#include "kernels/base/context.hpp"

#include <type_traits>

namespace tenon {

enum class Combine { Copy, Add, Max };

// y[i . ys] (op)= x[i . xs] for every i in the box `extent`; strides in elements, of either sign, 0
// for x where it is broadcast, and for y where elements are combined with one of y in order. Rank 0
// to 8; rank 0 is one element. x and y must not overlap. Max propagates NaN. For float, double and
// std::int64_t.
template <class T>
void blockCombine(KernelContext& context, Combine op, int rank, const Index* extent, const T* x,
                  const Index* xs, T* y, const Index* ys);

// blockCombine() of n contiguous elements.
template <class T>
void arrayCombine(KernelContext& context, Combine op, Index n, const T* x, T* y) {
  const Index one = 1;
  blockCombine(context, op, 1, &n, x, &one, y, &one);
}

// y[i . ys] = alpha x[i . xs] + beta y[i . ys] for every i in the box `extent`, where x may have
// another type than y: computed in the wider of the two types and rounded once. With beta = 0 y is
// never read; alpha = 1 copies or adds bit by bit. Rank 0 to 8; x and y must not overlap. For float
// and double in any combination, and for std::int64_t. On the device a stride of 0 for y is
// refused, as in blockScale(), unless bits are copied or added.
template <class S, class T>
void blockAxpby(KernelContext& context, int rank, const Index* extent,
                std::common_type_t<S, T> alpha, const S* x, const Index* xs,
                std::common_type_t<S, T> beta, T* y, const Index* ys);

// y[i . ys] *= factor; with 0 y is never read.
template <class T>
void blockScale(KernelContext& context, int rank, const Index* extent, T factor, T* y,
                const Index* ys);

// y[i . ys] += alpha a[i . as] x[i . xs] for every i in the box `extent`; a = null stands for ones.
// Each of the three may stand still in some dimensions (stride 0), so that this scales by channel,
// takes the dot product of each channel, and sums over any dimensions. Rank 1 to 8. y overlaps
// neither a nor x. If y stands still along the last dimension with more than one element, that
// dimension is summed pairwise in double. For float, double and std::int64_t.
template <class T>
void blockMultiplyAdd(KernelContext& context, int rank, const Index* extent, T alpha, const T* a,
                      const Index* as, const T* x, const Index* xs, T* y, const Index* ys);

} // namespace tenon
