// SPDX-License-Identifier: BSD-2-Clause
// The pieces of a softmax along one dimension of an array x [outer, n, inner], which may be split
// over
// processes:  y = e / s,  e = exp(x - m),  where the arrays m and s [outer, inner] are the maxima and sums
// along the whole dimension, over all processes.
#pragma once

#include "kernels/base/context.hpp"
#include "kernels/rows/axis_shape.hpp"

namespace tenon {

// y, where the process has the whole dimension; m and s are room for maxima and sums.
template <class T>
void axisSoftmax(KernelContext& context, const AxisShape& shape, const T* x, T* m, T* s, T* y);
// m = the maxima of x: -infinity for n = 0; NaN propagates.
template <class T>
void axisMaxima(KernelContext& context, const AxisShape& shape, const T* x, T* m);
// e = exp(x - m)
template <class T>
void axisExponentials(KernelContext& context, const AxisShape& shape, const T* x, const T* m, T* e);
// s = sum of x, accumulated in double.
template <class T>
void axisSums(KernelContext& context, const AxisShape& shape, const T* x, T* s);
// y = s for every element of the dimension.
template <class T>
void axisSpread(KernelContext& context, const AxisShape& shape, const T* s, T* y);
// y = e / s
template <class T>
void axisQuotients(KernelContext& context, const AxisShape& shape, const T* e, const T* s, T* y);
// The derivative of e / s in the direction de, ds, of which one may be null.
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
// r = y (d - s): the derivative of a softmax y in the direction d, with the sums s of y d. r may be
// y.
template <class T>
void axisSoftmaxSlope(KernelContext& context, const AxisShape& shape, const T* y, const T* d,
                      const T* s, T* r);

// Of attentions, whose softmax meets its dimension part by part.

// y = x s; y may be x.
template <class T>
void axisScale(KernelContext& context, const AxisShape& shape, const T* x, const T* s, T* y);
// y -= x s
template <class T>
void axisSubtractScaled(KernelContext& context, const AxisShape& shape, const T* x, const T* s,
                        T* y);

// Which queries and keys rows of scores [matrices, rows, n] are of: their first ones, counted from
// 0.
struct CausalRows {
  Index rows, query, key;
};
// x = -infinity where a key is behind its query.
template <class T>
void maskCausal(KernelContext& context, const AxisShape& shape, const CausalRows& of, T* x);
// Takes further maxima c into the maxima m, which begin with the least finite number; brings the
// sums s of exp(x - m) to them, and leaves in c the factor by which it did.
template <class T>
void raiseMaxima(KernelContext& context, Index rows, T* m, T* s, T* c);
// y = e / s, where s is 0 for rows that see nothing: 0.
template <class T>
void axisQuotientsOrZero(KernelContext& context, const AxisShape& shape, const T* e, const T* s,
                         T* y);
// r = m + log s, and m where s is 0.
template <class T>
void logSums(KernelContext& context, Index rows, const T* m, const T* s, T* r);

} // namespace tenon
