// SPDX-License-Identifier: BSD-2-Clause
// Long sums in double by pairwise summation: the rounding error grows with the logarithm of the
// number of terms, and the result is bitwise the same for any number of threads. Terms are divided
// into runs of kRun = 256. The terms of a run are summed first; then the sums of two adjacent,
// equally long sequences of runs are added as soon as both are complete, as in a binary counter:
//
//     run    0   1   2   3   4          partial sums after run 4:
//            +---+   +---+              {0..3} of level 2, {4} of level 0
//              +-------+
//
// A sequence of 2^k runs, beginning at a multiple of 2^k, is one node of this tree. Threads compute
// such nodes separately, which does not change the order.
#pragma once

#include "kernels/base/context.hpp"
#include "kernels/base/parallel.hpp"
#include "kernels/functors/sum.hpp"
#include "kernels/walks/device_reduce.hpp"
#include "kernels/walks/each.hpp"

#include <algorithm>
#include <array>

namespace tenon {

constexpr Index kRun = 256; // terms of a run

// The binary counter: bit k of count_ is set if partial_[k] has a sum of 2^k values.
class PairwiseSum {
public:
  // `rest` is the sum of the terms that follow all added ones; total() begins with it.
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

// The division of n items among threads. A piece has a power of two of runs, the smallest for which
// there are at most kMaxPieces pieces.
struct Pieces {
  explicit Pieces(Index n) {
    while (n > kMaxPieces * length)
      length *= 2;
    count = (n + length - 1) / length;
  }
  static constexpr Index kMaxPieces = 64;
  Index length = kRun, count;
};

// The sum of run(begin, count) over the runs of [begin, end); count is at most kRun.
template <class Run>
double sumOfRuns(Index begin, Index end, const Run& run) {
  PairwiseSum sum;
  for (Index i = begin; i < end; i += kRun)
    sum.add(run(i, std::min(kRun, end - i)));
  return sum.total();
}

// The sum over [0, n) by the context's threads, in the same order as by one thread.
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
  // An incomplete last piece is not a node of the tree: it is the rest that follows all others.
  const Index wholePieces = n / pieces.length;
  PairwiseSum sum(wholePieces < pieces.count ? sums[wholePieces] : 0);
  for (Index p = 0; p < wholePieces; ++p)
    sum.add(sums[p]);
  return sum.total();
}

constexpr int kSumLanes = 8; // the lanes of an AVX-512 vector of doubles

// The sum of the lanes, in the order in which a compiler adds those of a vector: its two halves,
// then the halves of the result, and again.
inline double totalOfLanes(const double (&lane)[kSumLanes]) {
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

// The sum of a run: term(i) for begin <= i < begin + count. The terms are added to 8 lanes in turn,
// and the lanes are added at the end.
template <class Term>
double sumOfRun(Index begin, Index count, const Term& term) {
  double lane[kSumLanes] = {};
  for (Index i = 0; i < count; ++i)
    lane[i % kSumLanes] += term(begin + i);
  return totalOfLanes(lane);
}

// *sum = factor times the sum of term(0, i) for i < n, pairwise in double. The result stays in the
// memory space of the kernels, so the host need not wait. If sum is null, the terms are evaluated
// for their side effects.
template <class T, class Term>
void sumTerms(KernelContext& context, Index n, const Term& term, double factor, T* sum) {
  if constexpr (kHasDevice)
    if (isOnDevice(context))
      return device::reduceInStages<functors::AddTo>(context, 1, n, term, 0.0,
                                                     functors::StoreScaled<T>{factor, sum});
  const double total = sumOfRuns(context, n, [=](Index begin, Index count) {
    return sumOfRun(begin, count, [=](Index i) { return term(0, i); });
  });
  functors::StoreScaled<T>{factor, sum}(0, total);
}

} // namespace tenon
