// SPDX-License-Identifier: BSD-2-Clause
// Gathers are boxes at listed places. A sum goes target by target, so that threads share no element and the
// order is that of the list.
#include "kernels/rows/row_segments.hpp"

#include "kernels/functors/segments.hpp"
#include "kernels/movement/listed_block.hpp"
#include "kernels/walks/each.hpp"

#include <algorithm>
#include <numeric>

namespace tenon {

RowSegments rowSegments(Index targets, const std::vector<Index>& target, const Index* key) {
  RowSegments segments{std::vector<Index>(static_cast<std::size_t>(targets) + 1, 0),
                       std::vector<Index>(target.size())};
  for (Index t : target)
    ++segments.first[t + 1];
  std::partial_sum(segments.first.begin(), segments.first.end(), segments.first.begin());
  std::vector<Index> next = segments.first;
  for (std::size_t e = 0; e < target.size(); ++e)
    segments.order[next[target[e]]++] = static_cast<Index>(e);
  for (Index i = 0; key && i < targets; ++i)
    std::stable_sort(segments.order.begin() + segments.first[i],
                     segments.order.begin() + segments.first[i + 1],
                     [key](Index a, Index b) { return key[a] < key[b]; });
  return segments;
}

template <class T>
void gatherRows(KernelContext& context, Index entries, Index inner, const Index* index,
                const double* weights, const T* x, T* y) {
  const Index extent[] = {entries, inner}, strides[] = {inner, 1};
  ListedPlaces from, to;
  from.positions = index;
  from.steps[0] = to.steps[0] = inner;
  listedAxpby<T>(context, 2, extent, 0, T(1), weights, x, strides, from, T(0), y, strides, to);
}

namespace {

// f.row(i), or f.one(i, column) for all columns, for each row; `cost` is the work of a row, in elements moved.
template <class F>
void eachRow(KernelContext& context, Index rows, Index cost, const F& f) {
  if (rows * f.length == 0)
    return;
  if constexpr (kHasDevice)
    if (isOnDevice(context)) {
      checkElementCount(rows * f.length, "a segment operation");
      return device::eachElement(context.stream(), rows * f.length,
                                 functors::EachOfRows<F>{divisorOf(f.length), f});
    }
  parallelRanges(context.threads(), rows, cost, [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      f.row(i);
  });
}

Index costOf(const SegmentLists& lists, Index inner) {
  return inner * (1 + lists.entries / std::max<Index>(lists.targets, 1));
}

} // namespace

template <class T>
void sumSegments(KernelContext& context, const SegmentLists& lists, Index inner,
                 const double* weights, const T* m, bool adds, T* a) {
  eachRow(context, lists.targets, costOf(lists, inner),
          functors::SumSegments<T>{inner, lists.first, lists.order, weights, m, adds, a});
}

template <class T>
void maxSegments(KernelContext& context, const SegmentLists& lists, Index inner, const T* m, T* a,
                 Index* winner) {
  eachRow(context, lists.targets, costOf(lists, inner),
          functors::MaxSegments<T>{inner, lists.first, lists.order, m, a, winner});
}

template <class T>
void maxSegmentsAdjoint(KernelContext& context, Index entries, Index inner, const Index* target,
                        const Index* winner, const T* da, T* dm) {
  eachRow(context, entries, inner, functors::WinnerRows<T>{inner, target, winner, da, dm});
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void gatherRows<T>(KernelContext&, Index, Index, const Index*, const double*, const T*, \
                              T*);                                                                 \
  template void sumSegments<T>(KernelContext&, const SegmentLists&, Index, const double*,          \
                               const T*, bool, T*);                                                \
  template void maxSegments<T>(KernelContext&, const SegmentLists&, Index, const T*, T*, Index*);  \
  template void maxSegmentsAdjoint<T>(KernelContext&, Index, Index, const Index*, const Index*,    \
                                      const T*, T*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
