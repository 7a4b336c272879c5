// SPDX-License-Identifier: BSD-2-Clause
// Reproducible sums, dot products and maxima of arrays and of boxes. On the host a sum is divided
// into runs of 256 terms; in a run, term i is added to partial sum i modulo 8 (a lane of a vector).
// The runs are added pairwise (walks/pairwise_sum.hpp). On the device the terms are functors,
// reduced in two stages (walks/device_reduce.hpp). In both spaces the order of addition depends on
// the shape alone, not on the number of threads.
#include "kernels/elementwise/reduce.hpp"

#include "kernels/functors/block.hpp"
#include "kernels/walks/device_reduce.hpp"
#include "kernels/walks/each.hpp"
#include "kernels/walks/pairwise_sum.hpp"

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

// The sum of x y over one run.
template <class T>
double dotRun(Index n, const T* x, Index xs, const T* y, Index ys) {
  double lane[kSumLanes] = {};
  Index i = 0;
  if (xs == 1 && ys == 1) {
    for (; i + kSumLanes <= n; i += kSumLanes)
      for (int l = 0; l < kSumLanes; ++l)
        lane[l] += double(x[i + l]) * double(y[i + l]);
  }
  // Strided rows use the same lanes, so the result does not depend on the strides, bit for bit.
  for (; i < n; ++i)
    lane[i % kSumLanes] += double(x[i * xs]) * double(y[i * ys]);
  return totalOfLanes(lane);
}

// Adds the sums of x y over the runs of a row.
template <class T>
void addDot(PairwiseSum& sum, Index n, const T* x, Index xs, const T* y, Index ys) {
  for (Index i = 0; i < n; i += kRun)
    sum.add(dotRun(std::min(kRun, n - i), x + i * xs, xs, y + i * ys, ys));
}

// Offsets of a block's elements in the first K of its two arrays.
template <int K>
ElementOffsets<K> offsetsOf(const Block& block) {
  if constexpr (K == 1)
    return {block.rank, block.extent, {block.a}};
  else
    return {block.rank, block.extent, {block.a, block.b}};
}

// Appends the elements of a block of any size to `groups`, in slices that one kernel can index.
// makeTerm(slice, offset in x, offset in y) returns the Term of a slice.
template <class Term, class MakeTerm>
void addSlices(const Block& block, const MakeTerm& makeTerm,
               std::vector<device::OneGroup<Term>>& groups) {
  if (!block.empty)
    forEachSlice(block, sliceElements, [&](const Block& slice, Index x, Index y) {
      groups.push_back({makeTerm(slice, x, y), offsetsOf<1>(slice).count()});
    });
}

// The terms x y, as reductions on the device.
template <class T>
void addProducts(const Block& block, const T* x, const T* y,
                 std::vector<device::OneGroup<functors::ProductTerm<T, 2>>>& groups) {
  addSlices(
      block,
      [=](const Block& slice, Index a, Index b) {
        return functors::ProductTerm<T, 2>{.written = {0, nullptr, {}}, // a single sum
                                           .summed = offsetsOf<2>(slice),
                                           .areColumns = 0,
                                           .arrays = {x + a, y + b}};
      },
      groups);
}

template <class Op, class Term>
double reduceOnDevice(KernelContext& context, const std::vector<device::OneGroup<Term>>& groups) {
  if constexpr (kHasDevice)
    return groups.empty() ? 0 : device::reduceAll<Op>(context, groups, 0);
  return 0;
}

template <class T>
double dotOnDevice(KernelContext& context, const Block& block, const T* x, const T* y) {
  std::vector<device::OneGroup<functors::ProductTerm<T, 2>>> groups;
  addProducts(block, x, y, groups);
  return reduceOnDevice<functors::AddTo>(context, groups);
}

template <class T>
double sumOnDevice(KernelContext& context, const Block& block, const T* x) {
  std::vector<device::OneGroup<functors::ProductTerm<T, 1>>> groups;
  addSlices(
      block,
      [=](const Block& slice, Index a, Index) {
        return functors::ProductTerm<T, 1>{.written = {0, nullptr, {}},
                                           .summed = offsetsOf<1>(slice),
                                           .areColumns = 0,
                                           .arrays = {x + a}};
      },
      groups);
  return reduceOnDevice<functors::AddTo>(context, groups);
}

template <class T>
double maxAbsOnDevice(KernelContext& context, const Block& block, const T* x) {
  std::vector<device::OneGroup<functors::SizeTerm<T>>> groups;
  addSlices(
      block,
      [=](const Block& slice, Index a, Index) {
        return functors::SizeTerm<T>{offsetsOf<1>(slice), x + a};
      },
      groups);
  return reduceOnDevice<functors::MaxTo>(context, groups);
}

// The sum of x y over one row, on several threads if it is long.
template <class T>
double dotOfRow(KernelContext& context, Index n, const T* x, Index xs, const T* y, Index ys) {
  if (isOnDevice(context))
    return dotOnDevice(context, normaliseBlock(1, &n, &xs, &ys), x, y);
  return sumOfRuns(context, n, [=](Index at, Index count) {
    return dotRun(count, x + at * xs, xs, y + at * ys, ys);
  });
}

// The maximum of `best` and |x| over a row.
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
double sum(KernelContext& context, Index n, const T* x) {
  const Index step = 1;
  if (isOnDevice(context))
    return sumOnDevice<T>(context, normaliseBlock(1, &n, &step, &step), x);
  static constexpr T kOne = 1; // a dot product with ones, in an array of stride 0
  return dotOfRow(context, n, x, 1, &kOne, 0);
}

template <class T>
double maxAbs(KernelContext& context, Index n, const T* x) {
  const Index step = 1;
  if (isOnDevice(context))
    return maxAbsBlock(context, 1, &n, x, &step);
  return largest(0.0, n, x, 1);
}

template <class T>
double dotBlock(KernelContext& context, int rank, const Index* extent, const T* x, const Index* xs,
                const T* y, const Index* ys) {
  const Block block = normaliseBlock(rank, extent, xs, ys);
  if (isOnDevice(context))
    return dotOnDevice(context, block, x, y);
  // A single row is divided among threads; several rows are added by one thread, in order.
  if (!block.empty && block.rank == 2 && block.extent[0] == 1)
    return dotOfRow(context, block.extent[1], x, block.a[1], y, block.b[1]);
  PairwiseSum sum;
  forEachRow(block, [&](Index n, Index atX, Index stepX, Index atY, Index stepY) {
    addDot(sum, n, x + atX, stepX, y + atY, stepY);
  });
  return sum.total();
}

template <class T>
double sumSquaresOnDevice(KernelContext& context, const std::vector<BoxOf<T>>& boxes) {
  std::vector<device::OneGroup<functors::ProductTerm<T, 2>>> groups;
  for (const auto& [rank, extent, x, xs] : boxes)
    addProducts(normaliseBlock(rank, extent, xs, xs), x, x, groups);
  return reduceOnDevice<functors::AddTo>(context, groups);
}

template <class T>
double maxAbsBlock(KernelContext& context, int rank, const Index* extent, const T* x,
                   const Index* xs) {
  const Block block = normaliseBlock(rank, extent, xs, xs);
  if (isOnDevice(context))
    return maxAbsOnDevice(context, block, x);
  double best = 0;
  forEachRow(block, [&](Index n, Index at, Index step, Index, Index) {
    best = largest(best, n, x + at, step);
  });
  return best;
}

template <class T>
void fillBlock(KernelContext& context, int rank, const Index* extent, T value, T* y,
               const Index* ys) {
  eachOfBlock(context, normaliseBlock(rank, extent, ys, ys), functors::FillElements<T>{value, y});
}

#define TENON_INSTANTIATE(T)                                                                       \
  template double dot<T>(KernelContext&, Index, const T*, const T*);                               \
  template double sumSquares<T>(KernelContext&, Index, const T*);                                  \
  template double sum<T>(KernelContext&, Index, const T*);                                         \
  template double maxAbs<T>(KernelContext&, Index, const T*);                                      \
  template double dotBlock<T>(KernelContext&, int, const Index*, const T*, const Index*, const T*, \
                              const Index*);                                                       \
  template double sumSquaresOnDevice<T>(KernelContext&, const std::vector<BoxOf<T>>&);             \
  template double maxAbsBlock<T>(KernelContext&, int, const Index*, const T*, const Index*);       \
  template void fillBlock<T>(KernelContext&, int, const Index*, T, T*, const Index*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE
template void fillBlock<std::int64_t>(KernelContext&, int, const Index*, std::int64_t,
                                      std::int64_t*, const Index*);
template void fillBlock<std::int32_t>(KernelContext&, int, const Index*, std::int32_t,
                                      std::int32_t*, const Index*);

} // namespace tenon
