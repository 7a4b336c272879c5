// SPDX-License-Identifier: BSD-2-Clause
// Sums, dot products, squared norms and maxima of the arrays of one rank, accumulated pairwise in
// double: the rounding error grows with the logarithm of the length. The order of a sum depends on
// shape and strides alone, not on the number of threads. The caller reduces the results over ranks.
// Also fillBlock(), which writes one value to a box.
#pragma once

#include "kernels/base/context.hpp"

#include <vector>

namespace tenon {

template <class T>
double dot(KernelContext& context, Index n, const T* x, const T* y);
template <class T>
double sumSquares(KernelContext& context, Index n, const T* x);
template <class T>
double sum(KernelContext& context, Index n, const T* x);
// NaN propagates. The result is 0 for n = 0.
template <class T>
double maxAbs(KernelContext& context, Index n, const T* x);

// The sum of x[i . xs] y[i . ys] over all i in the box `extent`; the rank is 0 to 8.
template <class T>
double dotBlock(KernelContext& context, int rank, const Index* extent, const T* x, const Index* xs,
                const T* y, const Index* ys);
// A box of an array: the elements x[i . strides].
template <class T>
struct BoxOf {
  int rank;
  const Index* extent;
  const T* x;
  const Index* strides;
};
// Sum of the squares of the elements of several boxes on the device, with a single wait of the
// host.
template <class T>
double sumSquaresOnDevice(KernelContext& context, const std::vector<BoxOf<T>>& boxes);
// The maximum of |x[i . xs]|; NaN propagates.
template <class T>
double maxAbsBlock(KernelContext& context, int rank, const Index* extent, const T* x,
                   const Index* xs);

// y[i . ys] = value. Also instantiated for std::int64_t and std::int32_t.
template <class T>
void fillBlock(KernelContext& context, int rank, const Index* extent, T value, T* y,
               const Index* ys);

} // namespace tenon
