// SPDX-License-Identifier: BSD-2-Clause
// Sums go through a binary counter of partial sums: runs of up to kRun products are summed in eight
// lanes, and the sums of two equally many runs are added as soon as both are there. The sum of a
// power of two of runs is one partial sum of that tree: such pieces of one long row are summed by
// several threads, and the counter goes on with their sums.
#include "kernels/reduce.hpp"

#include "kernels/block.hpp"
#include "kernels/maximum.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tenon {

namespace {

constexpr Index kRun = 256;
constexpr int kLanes = 8;

class PairwiseSum {
public:
  // What total() begins with: the sum of what comes after all that is added.
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

template <class T>
double dotRun(Index n, const T* x, Index xs, const T* y, Index ys) {
  double lane[kLanes] = {};
  Index i = 0;
  if (xs == 1 && ys == 1) {
    for (; i + kLanes <= n; i += kLanes)
      for (int l = 0; l < kLanes; ++l)
        lane[l] += double(x[i + l]) * double(y[i + l]);
  }
  for (; i < n; ++i)
    lane[i % kLanes] += double(x[i * xs]) * double(y[i * ys]);
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

template <class T>
void addDot(PairwiseSum& sum, Index n, const T* x, Index xs, const T* y, Index ys) {
  for (Index i = 0; i < n; i += kRun)
    sum.add(dotRun(std::min(kRun, n - i), x + i * xs, xs, y + i * ys, ys));
}

template <class T>
double sumOfRow(Index n, const T* x, Index xs, const T* y, Index ys) {
  PairwiseSum sum;
  addDot(sum, n, x, xs, y, ys);
  return sum.total();
}

// The pieces into which threads cut n items: as many runs each as the power of two that leaves at
// most kMostPieces.
struct Pieces {
  explicit Pieces(Index n) {
    while (n > kMostPieces * length)
      length *= 2;
    count = (n + length - 1) / length;
  }
  static constexpr Index kMostPieces = 64;
  Index length = kRun, count;
};

template <class T>
double dotOfRow(KernelContext& context, Index n, const T* x, Index xs, const T* y, Index ys) {
  const int threads = context.threads();
  if (!isWorthThreads(threads, n))
    return sumOfRow(n, x, xs, y, ys);
  const Pieces pieces(n);
  std::array<double, Pieces::kMostPieces> sums;
  parallelRanges(threads, pieces.count, pieces.length, [=, &sums](Index begin, Index end) {
    for (Index p = begin; p < end; ++p) {
      const Index at = p * pieces.length, length = std::min(pieces.length, n - at);
      sums[p] = sumOfRow(length, x + at * xs, xs, y + at * ys, ys);
    }
  });
  const Index whole = n / pieces.length;
  PairwiseSum sum(whole < pieces.count ? sums[whole] : 0);
  for (Index p = 0; p < whole; ++p)
    sum.add(sums[p]);
  return sum.total();
}

template <class T>
double largest(double best, Index n, const T* x, Index xs) {
  for (Index i = 0; i < n; ++i) {
    const double value = std::abs(double(x[i * xs]));
    best = beats(value, best) ? value : best;
  }
  return best;
}

} // namespace

template <class T>
double dot(KernelContext& context, Index n, const T* x, const T* y) {
  return dotOfRow(context, n, x, 1, y, 1);
}

template <class T>
double sumSquares(KernelContext& context, Index n, const T* x) {
  return dot(context, n, x, x);
}

template <class T>
double maxAbs(KernelContext&, Index n, const T* x) {
  return largest(0.0, n, x, 1);
}

template <class T>
double dotBlock(KernelContext& context, int rank, const Index* extent, const T* x, const Index* xs,
                const T* y, const Index* ys) {
  const Block block = normaliseBlock(rank, extent, xs, ys);
  if (!block.empty && block.rank == 2 && block.extent[0] == 1)
    return dotOfRow(context, block.extent[1], x, block.a[1], y, block.b[1]);
  PairwiseSum sum;
  forEachRow(block, [&](Index n, Index atX, Index stepX, Index atY, Index stepY) {
    addDot(sum, n, x + atX, stepX, y + atY, stepY);
  });
  return sum.total();
}

template <class T>
double maxAbsBlock(KernelContext&, int rank, const Index* extent, const T* x, const Index* xs) {
  double best = 0;
  forEachRow(
      normaliseBlock(rank, extent, xs, xs),
      [&](Index n, Index at, Index step, Index, Index) { best = largest(best, n, x + at, step); });
  return best;
}

template <class T>
void fillBlock(KernelContext& context, int rank, const Index* extent, T value, T* y,
               const Index* ys) {
  forEachRowInParts(context, normaliseBlock(rank, extent, ys, ys),
                    [=](Index n, Index at, Index step, Index, Index) {
                      if (step == 1)
                        std::fill_n(y + at, n, value);
                      else
                        for (Index i = 0; i < n; ++i)
                          y[at + i * step] = value;
                    });
}

#define TENON_INSTANTIATE(T)                                                                       \
  template double dot<T>(KernelContext&, Index, const T*, const T*);                               \
  template double sumSquares<T>(KernelContext&, Index, const T*);                                  \
  template double maxAbs<T>(KernelContext&, Index, const T*);                                      \
  template double dotBlock<T>(KernelContext&, int, const Index*, const T*, const Index*, const T*, \
                              const Index*);                                                       \
  template double maxAbsBlock<T>(KernelContext&, int, const Index*, const T*, const Index*);       \
  template void fillBlock<T>(KernelContext&, int, const Index*, T, T*, const Index*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE
template void fillBlock<std::int64_t>(KernelContext&, int, const Index*, std::int64_t,
                                      std::int64_t*, const Index*);

} // namespace tenon
