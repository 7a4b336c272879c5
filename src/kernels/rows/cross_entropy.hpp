// SPDX-License-Identifier: BSD-2-Clause
// The local computations of the log-softmax cross-entropy, whose classes can be split over
// processes. For logits z [rows, cols] = samples x local classes, with m the maximum over all
// classes, s = sum over all classes of exp(z - m), and p the logit of the label,
//     loss = log s + m - p,      d loss / dz = softmax - onehot = exp(z - m) / s - [class = label].
// Every function is local. Calls by the layer, with its reductions over the ranks that share a row:
//     rowMax(z, m);                   MPI_Allreduce m by MPI_MAX
//     sumExpShifted(z, m, s);         MPI_Allreduce s by MPI_SUM
//     pickLabel(z, label, p);         MPI_Allreduce p by MPI_SUM
//     sumOfLosses(m, s, p), crossEntropyAdjoint(z, m, s, label, dloss, dz)
#pragma once

#include "kernels/base/context.hpp"

namespace tenon {

// m[r] = max over c of z[r,c], or -infinity for cols = 0. NaN propagates.
template <class T>
void rowMax(KernelContext& context, Index rows, Index cols, const T* z, T* m);

// s[r] = sum over c of exp(z[r,c] - m[r]).
template <class T>
void sumExpShifted(KernelContext& context, Index rows, Index cols, const T* z, const T* m, T* s);

// p[r] = z[r, label[r] - firstClass] if that class is local, else 0.
template <class T>
void pickLabel(KernelContext& context, Index rows, Index cols, const T* z,
               const std::int64_t* label, Index firstClass, T* p);

// Index of the first row whose label is outside [0, classes) and whose weight is not 0, or -1. Null
// w stands for ones.
template <class T>
Index firstBadLabel(KernelContext& context, Index rows, const std::int64_t* label, const T* w,
                    Index classes);

// *sum = factor times the sum over r of w[r] (log s[r] + m[r] - p[r]), in double. Null w stands for
// ones. Rows of weight 0 are excluded whatever their logits. If sum is null, nothing is stored.
template <class T>
void sumOfLosses(KernelContext& context, Index rows, const T* m, const T* s, const T* p, const T* w,
                 double factor, T* sum);

// dz[r,c] = dloss[r] (exp(z[r,c] - m[r]) / s[r] - [firstClass + c = label[r]]), or 0 if dloss[r] is
// 0. dz can be z.
template <class T>
void crossEntropyAdjoint(KernelContext& context, Index rows, Index cols, const T* z, const T* m,
                         const T* s, const std::int64_t* label, Index firstClass, const T* dloss,
                         T* dz);

} // namespace tenon
