// SPDX-License-Identifier: BSD-2-Clause
// Long sums in double through a binary counter of partial sums: runs of up to kRun terms are summed
// in order, and the sums of two equal numbers of runs are added as soon as both are known. The sum
// of a power of two of runs is one partial sum of that tree: such pieces of a long sum are given to
// several threads, and the counter goes on with their sums. So the order does not depend on
// threads.
#pragma once

#include "kernels/base/context.hpp"
#include "kernels/base/parallel.hpp"
#include "kernels/functors/sum.hpp"
#include "kernels/walks/device_reduce.hpp"
#include "kernels/walks/each.hpp"

#include <algorithm>
#include <array>

namespace tenon {

constexpr Index kRun = 256;

class PairwiseSum {
public:
  // `rest` is the sum of what comes after everything that is added; total() begins with it.
  explicit PairwiseSum(double rest = 0) : rest_(rest) {}
  void add(double value) {
    int level = 0;
    for (; count_ >> level & 1; ++level)
      value += partial_[level];
    partial_[level] = value;
    ++count_;
  }
  double total() const {
    double sum = rest_;
    for (int level = 0; count_ >> level; ++level)
      if (count_ >> level & 1)
        sum += partial_[level];
    return sum;
  }

private:
  double rest_;
  std::uint64_t count_ = 0;
  double partial_[64];
};

// The pieces into which threads cut n items. A piece has a power of two of runs, the least that
// leaves at most kMaxPieces.
struct Pieces {
  explicit Pieces(Index n) {
    while (n > kMaxPieces * length)
      length *= 2;
    count = (n + length - 1) / length;
  }
  static constexpr Index kMaxPieces = 64;
  Index length = kRun, count;
};

// The sum of run(at, count) over the runs of [begin, end); count is at most kRun.
template <class Run>
double sumOfRuns(Index begin, Index end, const Run& run) {
  PairwiseSum sum;
  for (Index i = begin; i < end; i += kRun)
    sum.add(run(i, std::min(kRun, end - i)));
  return sum.total();
}

// The sum over [0, n) by the context's threads, in the same order as by one.
template <class Run>
double sumOfRuns(KernelContext& context, Index n, const Run& run) {
  const int threads = context.threads();
  if (!isWorthThreads(threads, n))
    return sumOfRuns(Index(0), n, run);
  const Pieces pieces(n);
  std::array<double, Pieces::kMaxPieces> sums;
  parallelRanges(threads, pieces.count, pieces.length, [=, &sums](Index begin, Index end) {
    for (Index p = begin; p < end; ++p)
      sums[p] = sumOfRuns(p * pieces.length, std::min((p + 1) * pieces.length, n), run);
  });
  // A last piece that is not whole is not a partial sum of the tree: it is what comes after all of
  // them.
  const Index whole = n / pieces.length;
  PairwiseSum sum(whole < pieces.count ? sums[whole] : 0);
  for (Index p = 0; p < whole; ++p)
    sum.add(sums[p]);
  return sum.total();
}

constexpr int kSumLanes = 8;

// The sum of term(i) over a run, in lanes that are added at the end.
template <class Term>
double sumOfRun(Index at, Index count, const Term& term) {
  double lane[kSumLanes] = {};
  for (Index i = 0; i < count; ++i)
    lane[i % kSumLanes] += term(at + i);
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

// *sum = factor times the sum of term(0, i) for i < n, pairwise in double. The number stays where
// the kernels work, so that nobody waits for it. If sum is null, the terms are evaluated for what
// they write.
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
