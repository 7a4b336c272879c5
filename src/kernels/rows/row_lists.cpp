// SPDX-License-Identifier: BSD-2-Clause
// Sums, maxima and softmax over lists of rows (definitions in row_lists.hpp). The first part sorts
// entries (row of y, row of x, weight) into one list per row of y; the second runs the functors of
// functors/row_lists.hpp over the rows. Each row of y is written by one thread, so atomic additions
// are not needed and the order of a sum is that of the list.
#include "kernels/rows/row_lists.hpp"

#include "kernels/functors/row_lists.hpp"
#include "kernels/walks/each.hpp"
#include "kernels/walks/slices.hpp"

#include <algorithm>
#include <numeric>

namespace tenon {

struct RowLists::OnDevice {
  ReadList<Index> first, index;
  ReadList<double> weights;
};

void RowLists::finish(KernelContext& context) {
  if (isOnDevice(context))
    onDevice = std::make_shared<const OnDevice>(
        OnDevice{{context, first}, {context, index}, {context, weights}});
}

RowLists listRows(Index rows, const RowEntries& entries) {
  const auto at = [](const Index* list, Index e) { return list ? list[e] : e; };
  std::vector<Index> first(static_cast<std::size_t>(rows) + 1, 0);
  for (Index e = 0; e < entries.count; ++e)
    ++first[at(entries.row, e) + 1];
  const bool hasOneEach = entries.count == rows && std::ranges::count(first, 1) == rows;
  // A counting sort by row, and then a stable sort by key within each row.
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<Index> order(static_cast<std::size_t>(entries.count)), next = first;
  for (Index e = 0; e < entries.count; ++e)
    order[next[at(entries.row, e)]++] = e;
  for (Index i = 0; entries.key && i < rows; ++i)
    std::stable_sort(order.begin() + first[i], order.begin() + first[i + 1],
                     [key = entries.key](Index a, Index b) { return key[a] < key[b]; });
  RowLists lists{
      .rows = rows, .first = {}, .index = {}, .weights = {}, .rowOfList = {}, .onDevice = {}};
  if (!hasOneEach)
    lists.first = std::move(first);
  lists.index.reserve(order.size());
  for (const Index e : order) {
    lists.index.push_back(at(entries.from, e));
    if (entries.weights)
      lists.weights.push_back(entries.weights[e]);
  }
  return lists;
}

// The transposed map: the row that is written and the row that is read exchange their roles.
RowLists listTransposed(Index rows, const RowEntries& entries) {
  RowEntries swapped = entries;
  std::swap(swapped.row, swapped.from);
  return listRows(rows, swapped);
}

namespace {

template <class T>
const T* dataOrNull(const std::vector<T>& list) {
  return list.empty() ? nullptr : list.data();
}

// The lists in the memory space of the kernels.
functors::ListedRows listedOf(const RowLists& lists) {
  const Index last = lists.entries() - 1;
  if (const auto& device = lists.onDevice)
    return {.first = device->first.data(),
            .index = device->index.data(),
            .weights = device->weights.data(),
            .rowOfList = nullptr, // on the device list i belongs to row i
            .last = last};
  return {.first = dataOrNull(lists.first),
          .index = lists.index.data(),
          .weights = dataOrNull(lists.weights),
          .rowOfList = dataOrNull(lists.rowOfList),
          .last = last};
}

// The lists from list `begin` on, as lists 0, 1, ... If the lists have `first`, it has the absolute
// indices of their entries, so only `first` is shifted. Otherwise list i has the single entry i,
// and the arrays of entries are shifted.
functors::ListedRows listedFrom(const RowLists& lists, Index begin) {
  functors::ListedRows listed = listedOf(lists);
  if (listed.rowOfList)
    listed.rowOfList += begin;
  if (listed.first) {
    listed.first += begin;
  } else {
    listed.index += begin;
    listed.last -= begin;
    if (listed.weights)
      listed.weights += begin;
  }
  return listed;
}

// Processes all blocks of width N of the rows [begin, end), starting at `column`. Returns the next
// column.
template <int N, class F>
Index blocksOf(const F& f, Index begin, Index end, Index column, Index inner) {
  for (; column + N <= inner; column += N)
    for (Index i = begin; i < end; ++i)
      f.template block<N>(i, column);
  return column;
}

// Applies f to all columns of each row; `cost` is the work per row, in elements moved. The rows are
// processed kTogether at a time: rows wider than a block then stay in the cache between their
// blocks.
template <class F>
void eachRow(KernelContext& context, Index rows, Index inner, Index cost, const F& f) {
  if (rows * inner == 0)
    return;
  if constexpr (kHasDevice)
    if (isOnDevice(context)) {
      checkElementCount(inner, "a row of a list");
      return forEachRange(rows, inner, [&](Index first, Index count) {
        device::eachElement(context.stream(), count * inner,
                            functors::EachOfRows<F>{divisorOf(inner), first, f});
      });
    }
  constexpr Index kTogether = 16;
  parallelRanges(context.threads(), rows, cost, [=](Index begin, Index end) {
    vectorised([=] {
      for (Index from = begin; from < end; from += kTogether) {
        const Index to = std::min(end, from + kTogether);
        Index column = blocksOf<32>(f, from, to, 0, inner);
        column = blocksOf<16>(f, from, to, column, inner);
        column = blocksOf<8>(f, from, to, column, inner);
        column = blocksOf<4>(f, from, to, column, inner);
        blocksOf<1>(f, from, to, column, inner);
      }
      if constexpr (requires { f.end(); })
        f.end();
    });
  });
}

// The work per row, in elements moved: the mean number of entries, and the row that is written.
Index rowCost(const RowLists& lists, Index inner) {
  return inner * (1 + lists.entries() / std::max<Index>(lists.rows, 1));
}

} // namespace

template <class T>
void combineRows(KernelContext& context, const RowLists& lists, Index inner, const T* x,
                 Index stepX, bool adds, T* y, Index stepY) {
  const auto bytes = [](Index count) { return static_cast<std::size_t>(count) * sizeof(T); };
  const bool streams =
      !adds && !isOnDevice(context) &&
      canStream(y, bytes(inner), bytes(stepY), static_cast<std::size_t>(lists.rows));
  eachRow(context, lists.rows, inner, rowCost(lists, inner),
          functors::CombineRows<T>{listedOf(lists), x, stepX, adds, y, stepY, streams});
}

template <class T>
void combineSomeRows(KernelContext& context, const RowLists& lists, Index begin, Index end,
                     Index inner, const T* x, Index stepX, bool adds, T* y, Index stepY) {
  eachRow(context, end - begin, inner, rowCost(lists, inner),
          functors::CombineRows<T>{listedFrom(lists, begin), x, stepX, adds, y, stepY});
}

template <class T>
void maximaOfRows(KernelContext& context, const RowLists& lists, Index inner, const T* x, T* y,
                  Index* winner) {
  eachRow(context, lists.rows, inner, rowCost(lists, inner),
          functors::MaximaOfRows<T>{listedOf(lists), x, inner, y, winner});
}

template <class T>
void maximaOfRowsTangent(KernelContext& context, const RowLists& transposed, Index rows,
                         Index inner, const Index* winner, const T* dx, T* dy) {
  eachRow(context, rows, inner, 2 * inner,
          functors::TakeWinners<T>{listedOf(transposed), winner, dx, inner, dy});
}

template <class T>
void maximaOfRowsAdjoint(KernelContext& context, const RowLists& transposed, Index inner,
                         const Index* winner, const T* dy, T* dx) {
  eachRow(context, transposed.rows, inner, 2 * inner,
          functors::GiveWinners<T>{listedOf(transposed), winner, dy, inner, dx});
}

template <class T>
void softmaxOfRows(KernelContext& context, const RowLists& lists, Index inner, const T* x, T* y) {
  constexpr Index kExponentialCost = 8; // in elements moved
  eachRow(context, lists.rows, inner, kExponentialCost * rowCost(lists, inner),
          functors::SoftmaxOfRows<T>{listedOf(lists), x, inner, y});
}

template <class T>
void softmaxOfRowsDerivative(KernelContext& context, const RowLists& lists, Index inner, const T* y,
                             const T* d, T* r) {
  eachRow(context, lists.rows, inner, 2 * rowCost(lists, inner),
          functors::SoftmaxDerivative<T>{listedOf(lists), y, d, inner, r});
}

template <class T>
void weighHeads(KernelContext& context, const RowLists& lists, Index heads, Index each, const T* a,
                const T* x, bool adds, T* y) {
  eachRow(context, lists.rows, heads * each, rowCost(lists, heads * each),
          functors::WeighHeads<T>{listedOf(lists), a, heads, divisorOf(each), x, adds, y});
}

template <class T>
void weighHeadsAdjoint(KernelContext& context, const RowLists& transposed, Index heads, Index each,
                       const T* a, const T* x, const T* dy, T* dx, T* da) {
  eachRow(context, transposed.rows, heads, 4 * heads * each,
          functors::GiveHeads<T>{listedOf(transposed), a, heads, each, x, dy, dx, da});
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void combineRows<T>(KernelContext&, const RowLists&, Index, const T*, Index, bool, T*,  \
                               Index);                                                             \
  template void combineSomeRows<T>(KernelContext&, const RowLists&, Index, Index, Index, const T*, \
                                   Index, bool, T*, Index);                                        \
  template void maximaOfRows<T>(KernelContext&, const RowLists&, Index, const T*, T*, Index*);     \
  template void maximaOfRowsTangent<T>(KernelContext&, const RowLists&, Index, Index,              \
                                       const Index*, const T*, T*);                                \
  template void maximaOfRowsAdjoint<T>(KernelContext&, const RowLists&, Index, const Index*,       \
                                       const T*, T*);
#define TENON_INSTANTIATE_SOFTMAX(T)                                                               \
  template void softmaxOfRows<T>(KernelContext&, const RowLists&, Index, const T*, T*);            \
  template void softmaxOfRowsDerivative<T>(KernelContext&, const RowLists&, Index, const T*,       \
                                           const T*, T*);                                          \
  template void weighHeads<T>(KernelContext&, const RowLists&, Index, Index, const T*, const T*,   \
                              bool, T*);                                                           \
  template void weighHeadsAdjoint<T>(KernelContext&, const RowLists&, Index, Index, const T*,      \
                                     const T*, const T*, T*, T*);
TENON_INSTANTIATE_SOFTMAX(float)
TENON_INSTANTIATE_SOFTMAX(double)
#undef TENON_INSTANTIATE_SOFTMAX
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
