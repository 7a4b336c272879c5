// SPDX-License-Identifier: BSD-2-Clause
// The steps of a softmax along one dimension of an array x [outer, n, inner], which can be split
// over processes:
//     y = e / s,  e = exp(x - m),
// where m and s [outer, inner] are the maxima of x and the sums of e along the whole dimension,
// over all processes. Each function is local; the caller reduces between the steps:
//     axisMaxima(x, m);         MPI_Allreduce m by MPI_MAX
//     axisExponentials(x, m, e);
//     axisSums(e, s);           MPI_Allreduce s by MPI_SUM
//     axisQuotients(e, s, y);
// For attention, further functions process the dimension in parts (online softmax).
#pragma once

#include "kernels/base/context.hpp"
#include "kernels/rows/axis_shape.hpp"

namespace tenon {

// The whole softmax, if this process has the whole dimension; m and s are scratch for maxima and
// sums.
template <class T>
void axisSoftmax(KernelContext& context, const AxisShape& shape, const T* x, T* m, T* s, T* y);
// m = the maxima of x, or -infinity for n = 0. NaN propagates.
template <class T>
void axisMaxima(KernelContext& context, const AxisShape& shape, const T* x, T* m);
// e = exp(x - m)
template <class T>
void axisExponentials(KernelContext& context, const AxisShape& shape, const T* x, const T* m, T* e);
// s = sum of x, accumulated in double.
template <class T>
void axisSums(KernelContext& context, const AxisShape& shape, const T* x, T* s);
// y = s for every element along the dimension (a broadcast).
template <class T>
void axisSpread(KernelContext& context, const AxisShape& shape, const T* s, T* y);
// y = e / s
template <class T>
void axisQuotients(KernelContext& context, const AxisShape& shape, const T* e, const T* s, T* y);
// The derivative of e / s in the direction (de, ds). One of the two can be null, which means zero.
template <class T>
void axisQuotientsTangent(KernelContext& context, const AxisShape& shape, const T* e, const T* s,
                          const T* de, const T* ds, T* dy);
// The adjoint of e / s with respect to s: ds = - sum of dy e / s^2.
template <class T>
void axisQuotientsAdjoint(KernelContext& context, const AxisShape& shape, const T* e, const T* s,
                          const T* dy, T* ds);

// s = sum of a b, accumulated in double.
template <class T>
void axisDots(KernelContext& context, const AxisShape& shape, const T* a, const T* b, T* s);
// r = y (d - s): the derivative of a softmax y in the direction d, where s is the sum of y d. r can
// be y.
template <class T>
void axisSoftmaxSlope(KernelContext& context, const AxisShape& shape, const T* y, const T* d,
                      const T* s, T* r);

// For attention, whose softmax processes its dimension in parts (online softmax):

// y = x s; y can be x.
template <class T>
void axisScale(KernelContext& context, const AxisShape& shape, const T* x, const T* s, T* y);
// y -= x s
template <class T>
void axisSubtractScaled(KernelContext& context, const AxisShape& shape, const T* x, const T* s,
                        T* y);

// Position of attention scores [matrices, rows, n] in the full matrix of queries and keys.
struct CausalRows {
  Index rows;       // per matrix
  Index query, key; // of the first row and the first column, counted from 0
};
// x = -infinity for keys after their query.
template <class T>
void maskCausal(KernelContext& context, const AxisShape& shape, const CausalRows& position, T* x);
// One step of the online softmax: m <- max(m, c), where c are the maxima of the next part and m
// begins at the lowest finite number; s <- s exp(old m - new m), the sums of exp(x - m) so far; and
// c <- that factor.
template <class T>
void raiseMaxima(KernelContext& context, Index rows, T* m, T* s, T* c);
// y = e / s, or 0 where s is 0 (rows that attend to no key).
template <class T>
void axisQuotientsOrZero(KernelContext& context, const AxisShape& shape, const T* e, const T* s,
                         T* y);

} // namespace tenon
