// SPDX-License-Identifier: BSD-2-Clause
// Strided copies between arrays: the local part of all data movement (packing and unpacking of
// messages, halo fill, slice, zero-padding) and, with Add and Max, of reductions of received data.
// Also scaled sums of boxes, and products of boxes that are multiplied and summed. Example,
// columns 2 to 4 of a row-major matrix x [100, 10], packed to a contiguous y [100, 3]:
//     const Index extent[] = {100, 3}, xs[] = {10, 1}, ys[] = {3, 1};
//     blockCombine(context, Combine::Copy, 2, extent, x + 2, xs, y, ys);
#pragma once

#include "kernels/base/context.hpp"

#include <type_traits>

namespace tenon {

enum class Combine { Copy, Add, Max };

// y[i . ys] (op)= x[i . xs] for all i in the box `extent`. Strides are in elements and can be
// negative. A stride of 0 in x broadcasts; a stride of 0 in y combines elements into one, in order.
// The rank is 0 to 8; rank 0 is one element. x and y must not overlap. Max propagates NaN.
// Instantiated for float, double, std::int64_t and std::int32_t.
template <class T>
void blockCombine(KernelContext& context, Combine op, int rank, const Index* extent, const T* x,
                  const Index* xs, T* y, const Index* ys);

// blockCombine() for n contiguous elements.
template <class T>
void arrayCombine(KernelContext& context, Combine op, Index n, const T* x, T* y) {
  const Index one = 1;
  blockCombine(context, op, 1, &n, x, &one, y, &one);
}

// y[i . ys] = alpha x[i . xs] + beta y[i . ys] for all i in the box `extent`. x and y can have
// different types: the result is computed in the wider type and rounded once. If beta = 0, y is not
// read; alpha = 1 copies or adds bit by bit. The rank is 0 to 8; x and y must not overlap.
// Instantiated for float, double, std::int64_t and std::int32_t in any combination but from real
// numbers to integers; the caller checks that int32 can hold the results. On the device a stride of
// 0 in y is an error, as in blockScale(), unless elements are only copied or added.
template <class S, class T>
void blockAxpby(KernelContext& context, int rank, const Index* extent,
                std::common_type_t<S, T> alpha, const S* x, const Index* xs,
                std::common_type_t<S, T> beta, T* y, const Index* ys);

// y[i . ys] *= factor; if factor = 0, y is not read.
template <class T>
void blockScale(KernelContext& context, int rank, const Index* extent, T factor, T* y,
                const Index* ys);

// y[i . ys] += alpha a[i . as] x[i . xs] for all i in the box `extent`; null a stands for ones.
// With strides of 0 in some dimensions this scales by channel, computes a dot product per channel,
// or sums over any dimensions. The rank is 1 to 8. y must not overlap a or x. If y has stride 0
// along the last dimension with more than one element, that dimension is summed pairwise in double.
// Instantiated for float, double, std::int64_t and std::int32_t.
template <class T>
void blockMultiplyAdd(KernelContext& context, int rank, const Index* extent, T alpha, const T* a,
                      const Index* as, const T* x, const Index* xs, T* y, const Index* ys);

} // namespace tenon
