// SPDX-License-Identifier: BSD-2-Clause
// The local computations of the log-softmax cross-entropy, whose classes can be split over
// processes. Logits z are [samples, classes, points] = AxisShape {outer, n, inner}, n of them the
// classes of this process, and labels are [samples, points]; without points, inner is 1. With m the
// maximum over all classes, s = sum over all classes of exp(z - m), and p the logit of the label,
//     loss = log s + m - p,      d loss / dz = softmax - onehot = exp(z - m) / s - [class = label].
// Every function is local. Calls by the layer, with its reductions over the ranks that share the
// logits of a label:
//     axisMaxima(z, m)                of rows/softmax.hpp; MPI_Allreduce m by MPI_MAX
//     sumExpShifted(z, m, s);         MPI_Allreduce s by MPI_SUM
//     pickLabel(z, label, p);         MPI_Allreduce p by MPI_SUM
//     sumOfLosses(m, s, p), crossEntropyAdjoint(z, m, s, label, dloss, dz)
#pragma once

#include "kernels/base/context.hpp"
#include "kernels/rows/axis_shape.hpp"
#include "kernels/rows/losses.hpp"

namespace tenon {

// s = the sum over c of exp(z[sample, c, point] - m).
template <class T>
void sumExpShifted(KernelContext& context, const AxisShape& shape, const T* z, const T* m, T* s);

// p = z[sample, label - firstClass, point] if that class is local, else 0.
template <class T>
void pickLabel(KernelContext& context, const AxisShape& shape, const T* z,
               const std::int64_t* label, Index firstClass, T* p);

// Index of the first of n labels that is outside [0, classes) and whose weight is not 0, or -1.
template <class T>
Index firstBadLabel(KernelContext& context, Index n, const std::int64_t* label,
                    const ElementWeights<T>& weights, Index classes);

// *sum = factor times the sum over n labels of w (log s + m - p), in double. Labels of weight 0 are
// excluded whatever their logits. If sum is null, nothing is stored.
template <class T>
void sumOfLosses(KernelContext& context, Index n, const T* m, const T* s, const T* p,
                 const ElementWeights<T>& weights, double factor, T* sum);

// to[i] = scale times the weight of label i, for n labels.
template <class T>
void scaledWeights(KernelContext& context, Index n, const ElementWeights<T>& weights, double scale,
                   T* to);

// dz = dloss (exp(z - m) / s - [firstClass + c = label]), or 0 where dloss is 0; dloss is
// [samples, points]. dz can be z.
template <class T>
void crossEntropyAdjoint(KernelContext& context, const AxisShape& shape, const T* z, const T* m,
                         const T* s, const std::int64_t* label, Index firstClass, const T* dloss,
                         T* dz);

} // namespace tenon
