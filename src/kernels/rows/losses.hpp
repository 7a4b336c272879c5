// SPDX-License-Identifier: BSD-2-Clause
// The local arithmetic of losses of an input x and a target t: the sum of weighted terms, times a
// scale, and its derivative with respect to x, from one sweep over the elements. Sums are pairwise
// in double, and left in *sum, where the kernels work, so that nobody waits for them; if sum is
// null, they are not stored.
#pragma once

#include "kernels/base/context.hpp"
#include "sys/device_code.hpp"

namespace tenon {

// The term of a difference d. Squared: d^2; Absolute: |d|, with derivative 0 at 0; Huber: d^2 / 2
// where |d| <= delta, beyond it delta (|d| - delta / 2).
enum class ErrorTerm { Squared, Absolute, Huber };

// Weights of elements: one weight for each run of elementsEach elements, which is 1 or the size of
// a sample. Null stands for ones. What has weight 0 is left out of sums and derivatives, also where
// it is not finite.
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

// e[r] = sum over c of w (x[r,c] - t[r,c])^2 and s[r] = sum over c of w t[r,c]^2, with a weight w
// of each element.
template <class T, class U>
void relativeSums(KernelContext& context, Index rows, Index cols, const T* x, const U* t,
                  const T* weights, T* e, T* s);

struct RelativeScale {
  double scale, epsilon;
  bool isCounted; // not on a rank whose samples another rank counts
};
// The relative errors of samples whose sums e and s, of relativeSums(), are over all ranks that
// share a sample:
//     *sum = scale sum over r of w_r sqrt(e_r) / (sqrt(s_r) + epsilon),
// or 0 unless it is counted, and the derivative with respect to x in g, unless that is null; the
// derivative is 0 in samples without error. Weights of elements and of samples may be null.
template <class T, class U>
void relativeTerms(KernelContext& context, Index rows, Index cols, const T* x, const U* t,
                   const T* elementWeights, const T* rowWeights, const T* e, const T* s,
                   const RelativeScale& scale, T* g, T* sum);

// A box of elements whose first differences are summed along the dimensions from `first` on. The
// array holds `extent` elements; the low end of each difference is among the first `owned` of them.
struct DifferenceBox {
  int rank, first; // rank at most 8
  const Index *extent, *owned;
  const double* spacing; // of each dimension from `first` on
};

// *sum = scale sum over differences of w (D e / spacing)^2 with e = x - t, or e = x if t is null,
// and the derivative in g unless that is null. The weight w is that of the low end, from an array
// of the owned elements or of the first index. One thread on the host.
template <class T, class U>
void differenceTerms(KernelContext& context, const DifferenceBox& box, const T* x, const U* t,
                     const ElementWeights<T>& weights, double scale, T* g, T* sum);

// The first weight that is not a finite number of at least 0; -1 if there is none. Waits for the
// answer.
template <class T>
Index firstBadWeight(KernelContext& context, Index n, const T* weights);

// *sum = the sum of slope dx over all elements but those of slope 0, whose dx may be NaN.
template <class T>
void storeSlopeDot(KernelContext& context, Index n, const T* slope, const T* dx, T* sum);
// y = *factor x, where the factor is a number where the kernels work; a null factor is 0.
template <class T>
void scaleByNumber(KernelContext& context, Index n, const T* factor, const T* x, T* y);

} // namespace tenon
