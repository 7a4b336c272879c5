// SPDX-License-Identifier: BSD-2-Clause
// A sum of terms as a number that stays where the kernels work, so that nobody waits for it.
#pragma once

#include "kernels/device_reduce.hpp"
#include "kernels/each.hpp"
#include "kernels/functors/sum.hpp"
#include "kernels/pairwise_sum.hpp"

namespace tenon {

constexpr int kSumLanes = 8;

// The sum of term(i) over a run, in lanes that are added at the end.
template <class Term>
double sumOfRun(Index at, Index count, const Term& term) {
  double lane[kSumLanes] = {};
  for (Index i = 0; i < count; ++i)
    lane[i % kSumLanes] += term(at + i);
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

// *sum = factor times the sum of term(0, i) for i < n, pairwise in double; where sum is null the terms are
// evaluated alone, for what they write.
template <class T, class Term>
void sumTerms(KernelContext& context, Index n, const Term& term, double factor, T* sum) {
  if constexpr (kHasDevice)
    if (isOnDevice(context))
      return device::reduceEach<functors::AddTo>(context, 1, n, term, 0.0,
                                                 functors::StoreScaled<T>{factor, sum});
  const double all = sumOfRuns(context, n, [=](Index at, Index count) {
    return sumOfRun(at, count, [=](Index i) { return term(0, i); });
  });
  functors::StoreScaled<T>{factor, sum}(0, all);
}

} // namespace tenon
