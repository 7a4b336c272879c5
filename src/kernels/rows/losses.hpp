// SPDX-License-Identifier: BSD-2-Clause
// What losses compute on one rank, of an input x and a target t: the sum of weighted terms, times a
// scale, and the derivative by x of that, from one sweep over the elements. Sums are pairwise in double, and left
// in *sum, where the kernels work, so that nobody waits for them; nowhere if sum is null.
#pragma once

#include "kernels/base/context.hpp"
#include "sys/device_code.hpp"

namespace tenon {

// Squared: d^2; Absolute: |d|, of derivative 0 at 0; Huber: d^2 / 2 where |d| <= delta, beyond it
// delta (|d| - delta / 2).
enum class ErrorTerm { Squared, Absolute, Huber };

// One weight for so many elements in a row: 1, or those of a sample. Null: ones.
template <class T>
struct ElementWeights {
  const T* values = nullptr;
  Index elementsEach = 1;

  TENON_DEVICE double of(Index element) const {
    return values ? double(values[elementsEach == 1 ? element : element / elementsEach]) : 1.0;
  }
};

// *sum = scale sum over i of w_i l(x_i - t_i), and g_i = scale w_i l'(x_i - t_i), unless g is null.
template <class T, class U>
void errorTerms(KernelContext& context, ErrorTerm term, double delta, Index n, const T* x,
                const U* t, const ElementWeights<T>& weights, double scale, T* g, T* sum);

// e[r] = sum over c of w (x[r,c] - t[r,c])^2 and s[r] = sum over c of w t[r,c]^2, with weights of elements.
template <class T, class U>
void relativeSums(KernelContext& context, Index rows, Index cols, const T* x, const U* t,
                  const T* weights, T* e, T* s);

// Of those sums over whole samples, with weights of elements, of samples, or null:
//     scale sum over r of w_r sqrt(e_r) / (sqrt(s_r) + epsilon),
// or 0 where another rank counts them, and its derivative by x, in g unless that is null; 0 in samples without
// error.
struct RelativeScale {
  double scale, epsilon;
  bool isCounted;
};
template <class T, class U>
void relativeTerms(KernelContext& context, Index rows, Index cols, const T* x, const U* t,
                   const T* elementWeights, const T* rowWeights, const T* e, const T* s,
                   const RelativeScale& scale, T* g, T* sum);

// A box of elements whose first differences are summed along the dimensions from `first` on. The array
// holds `extent` elements; the low end of each difference is among the first `owned` of them.
struct DifferenceBox {
  int rank, first; // rank at most 8
  const Index *extent, *owned;
  const double* spacing; // of each dimension from `first` on
};

// *sum = scale sum over differences of w (D e / spacing)^2, of e = x - t, or x where t is null; w is the
// weight of the low end, an array of the owned elements, or of the first index. One thread on the host.
template <class T, class U>
void differenceTerms(KernelContext& context, const DifferenceBox& box, const T* x, const U* t,
                     const ElementWeights<T>& weights, double scale, T* g, T* sum);

// The first weight that is not a finite number of at least 0; -1 if there is none. Waits for the answer.
template <class T>
Index firstBadWeight(KernelContext& context, Index n, const T* weights);

// *sum = the dot of x and y.
template <class T>
void storeDot(KernelContext& context, Index n, const T* x, const T* y, T* sum);
// y = *factor x, with a number where the kernels work; null: 0.
template <class T>
void scaleByNumber(KernelContext& context, Index n, const T* factor, const T* x, T* y);

} // namespace tenon
