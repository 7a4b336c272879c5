// SPDX-License-Identifier: BSD-2-Clause
// The local arithmetic of losses of an input x and a target t: the sum of weighted terms, times a
// scale, and its derivative g with respect to x, in one pass over the elements. Losses are
//     errorTerms()                     squared, absolute or Huber error per element
//     relativeSums(), relativeTerms()  |x - t| / (|t| + epsilon) per sample; the caller reduces the
//                                      sums in between over the ranks that share a sample
//     ensembleTerms()                  score of the members of an ensemble per element of a target
//     differenceTerms()                squared first differences of x - t between neighbours
// Each rank computes its part; the caller adds the parts over the ranks. Sums are pairwise in
// double and stored in *sum, in the memory space of the kernels, so the host need not wait. If sum
// is null, it is not stored.
#pragma once

#include "kernels/base/context.hpp"
#include "sys/device_code.hpp"

namespace tenon {

// The term of a difference d. Squared: d^2. Absolute: |d|, with derivative 0 at 0. Huber: d^2 / 2
// if |d| <= delta, else delta (|d| - delta / 2).
enum class ErrorTerm { Squared, Absolute, Huber };

// Weights: one per elementsEach elements, which is 1 or the size of a sample, times one of the row
// of the element, of which there are `rows` of rowElements elements each, over and over. A box
// [2, 3, 4] with rows in dimension 1 has 3 rows of 4 elements. Null values stand for ones. Elements
// of weight 0 are excluded from sums and derivatives even if they are not finite.
template <class T>
struct ElementWeights {
  const T* values = nullptr;
  Index elementsEach = 1;
  const T* rowValues = nullptr;
  Index rowElements = 1, rows = 1;

  TENON_DEVICE double of(Index element) const {
    const double own =
        values ? double(values[elementsEach == 1 ? element : element / elementsEach]) : 1.0;
    return rowValues ? own * double(rowValues[element / rowElements % rows]) : own;
  }
};

// *sum = scale sum over i of w_i l(x_i - t_i), and g_i = scale w_i l'(x_i - t_i); g can be null.
template <class T, class U>
void errorTerms(KernelContext& context, ErrorTerm term, double delta, Index n, const T* x,
                const U* t, const ElementWeights<T>& weights, double scale, T* g, T* sum);

// x has the `members` of each sample one after the other, of `inner` elements each, and t one field
// for each sample. The term of element i of t, with its members x_k, is
//     sum over k of |x_k - t| / members - pairFactor sum over pairs k < l of |x_k - x_l|.
// Derivatives of |d| are 0 at 0.
struct Ensemble {
  Index members, inner;
  double pairFactor;
};
// *sum = scale sum of w_i times the terms of n elements of t, and g the derivative with respect to
// x; g can be null.
template <class T, class U>
void ensembleTerms(KernelContext& context, const Ensemble& ensemble, Index n, const T* x,
                   const U* t, const ElementWeights<T>& weights, double scale, T* g, T* sum);

// e[r] = sum over c of w (x[r,c] - t[r,c])^2 and s[r] = sum over c of w t[r,c]^2, with a weight w
// per element.
template <class T, class U>
void relativeSums(KernelContext& context, Index rows, Index cols, const T* x, const U* t,
                  const ElementWeights<T>& weights, T* e, T* s);

// The scale and the epsilon of relativeTerms(), and whether this rank counts its samples.
struct RelativeScale {
  double scale, epsilon;
  bool isCounted; // false on a rank whose samples another rank counts
};
// The relative errors of samples. e and s are the sums of relativeSums(), reduced over all ranks
// that share a sample:
//     *sum = scale sum over r of w_r sqrt(e_r) / (sqrt(s_r) + epsilon),
// or 0 unless isCounted. g receives the derivative with respect to x, which is 0 in samples without
// error; g can be null, as can the weights of samples.
template <class T, class U>
void relativeTerms(KernelContext& context, Index rows, Index cols, const T* x, const U* t,
                   const ElementWeights<T>& elementWeights, const T* rowWeights, const T* e,
                   const T* s, const RelativeScale& scale, T* g, T* sum);

// A box of elements whose first differences are summed, along the dimensions from `first` on. The
// array has `extent` elements; the low end of each difference is one of the first `owned` elements.
struct DifferenceBox {
  int rank, first; // the rank is at most 8
  const Index *extent, *owned;
  const double* spacing; // one per dimension from `first` on
};

// *sum = scale sum over differences of w (D e / spacing)^2 with e = x - t, or e = x if t is null; g
// receives the derivative and can be null. The weight w is that of the low end, from an array with
// one weight per owned element or per index of the first dimension. Single-threaded on the host.
template <class T, class U>
void differenceTerms(KernelContext& context, const DifferenceBox& box, const T* x, const U* t,
                     const ElementWeights<T>& weights, double scale, T* g, T* sum);

// Index of the first weight that is negative or not finite, or -1. Waits for the result.
template <class T>
Index firstBadWeight(KernelContext& context, Index n, const T* weights);

// *sum = the sum of slope dx over all elements except those of slope 0, whose dx can be NaN.
template <class T>
void storeSlopeDot(KernelContext& context, Index n, const T* slope, const T* dx, T* sum);
// y = *factor x, where factor points to memory of the kernels' space; null stands for 0.
template <class T>
void scaleByNumber(KernelContext& context, Index n, const T* factor, const T* x, T* y);

} // namespace tenon
