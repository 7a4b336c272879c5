// SPDX-License-Identifier: BSD-2-Clause
// Weighted sums over lists of rows compared with sums entry by entry, and their transposes; copies
// with every bit; the order of sums, which keys determine, bit by bit; maxima with tangent and
// adjoint; and the same bits for any number of threads.
#include "kernels/rows/row_lists.hpp"

#include "kernels/draw.hpp"
#include "kernels/thread_count.hpp"
#include "sys/traps.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>

namespace tenon::test {
namespace {

// Random entries: entry e adds weights[e] times row from[e] of `sources` rows to row[e] of `rows`
// rows.
struct Entries {
  Index rows, sources, inner;
  std::vector<Index> row, from, key;
  std::vector<double> weights; // empty: all weights are 1

  explicit Entries(Draw& draw)
      : rows(draw.integer(0, 30)), sources(draw.integer(0, 20)), inner(draw.integer(0, 70)) {
    const bool isGather = draw.withProbability(0.3);
    const Index entries = rows * sources == 0 ? 0 : isGather ? rows : draw.integer(0, 90);
    for (Index e = 0; e < entries; ++e) {
      row.push_back(isGather ? e : draw.integer(0, rows - 1));
      from.push_back(draw.integer(0, sources - 1));
      key.push_back(draw.integer(-9, 9));
      weights.push_back(double(draw.integer(-3, 3)));
    }
    if (draw.withProbability(0.5))
      weights.clear();
  }
  double weight(Index e) const { return weights.empty() ? 1 : weights[size_t(e)]; }
  RowEntries view() const {
    return {.count = Index(row.size()),
            .row = row.data(),
            .from = from.data(),
            .weights = weights.empty() ? nullptr : weights.data(),
            .key = key.data()};
  }
};

} // namespace

template <class T>
class RowListsKernel : public ::testing::Test {};
TYPED_TEST_SUITE(RowListsKernel, RealTypes);

TYPED_TEST(RowListsKernel, AreTheirMatricesAndTransposes) {
  using T = TypeParam;
  Draw draw(31);
  KernelContext context;
  for (int n = 0; n < 200; ++n) {
    const Entries entries(draw);
    const Index stepX = entries.inner + draw.integer(0, 3),
                stepY = entries.inner + draw.integer(0, 3);
    const auto x = draw.integers<T>(entries.sources * stepX),
               y = draw.integers<T>(entries.rows * stepY);
    const bool adds = draw.withProbability(0.5);
    std::vector<T> got = y, want = y, gotBack = x, wantBack = x;
    for (Index i = 0; !adds && i < entries.rows; ++i)
      std::fill_n(want.begin() + i * stepY, entries.inner, T(0));
    for (Index i = 0; !adds && i < entries.sources; ++i)
      std::fill_n(wantBack.begin() + i * stepX, entries.inner, T(0));
    for (Index e = 0; e < Index(entries.row.size()); ++e)
      for (Index c = 0; c < entries.inner; ++c) {
        const size_t atX = size_t(entries.from[size_t(e)] * stepX + c),
                     atY = size_t(entries.row[size_t(e)] * stepY + c);
        want[atY] += T(entries.weight(e)) * x[atX];
        wantBack[atX] += T(entries.weight(e)) * y[atY];
      }
    combineRows<T>(context, listRows(entries.rows, entries.view()), entries.inner, x.data(), stepX,
                   adds, got.data(), stepY);
    combineRows<T>(context, listTransposed(entries.sources, entries.view()), entries.inner,
                   y.data(), stepY, adds, gotBack.data(), stepX);
    ASSERT_EQ(got, want);
    ASSERT_EQ(gotBack, wantBack);
  }
}

// A row is copied with every bit, zeros of either sign included.
TYPED_TEST(RowListsKernel, GatherBits) {
  using T = TypeParam;
  KernelContext context;
  const std::vector<T> x{T(-0.0), T(0.0), std::numeric_limits<T>::denorm_min(), T(-1)};
  const std::vector<Index> from{3, 0, 2, 0, 1};
  const RowLists lists = listRows(
      5, {.count = 5, .row = nullptr, .from = from.data(), .weights = nullptr, .key = nullptr});
  EXPECT_TRUE(lists.first.empty());
  std::vector<T> y(5);
  combineRows<T>(context, lists, 1, x.data(), 1, false, y.data(), 1);
  for (size_t e = 0; e < 5; ++e)
    EXPECT_EQ(std::memcmp(&y[e], &x[size_t(from[e])], sizeof(T)), 0);
}

// So many rows that they are written by streaming stores (walks/stream.hpp). Each row is followed
// by a gap of the same length, whose elements (-1) must not change.
TYPED_TEST(RowListsKernel, GatherBitsOfManyRows) {
  using T = TypeParam;
  constexpr Index kRows = (Index(1) << 19) + 5, kInner = 128 / sizeof(T), kStep = 2 * kInner;
  constexpr size_t kLine = 64;
  KernelContext context;
  const Index sources = 1000;
  std::vector<T> x(size_t(sources * kInner));
  std::iota(x.begin(), x.end(), T(1));
  std::vector<Index> from(kRows);
  for (Index e = 0; e < kRows; ++e)
    from[size_t(e)] = e * 7 % sources;
  const RowLists lists = listRows(
      kRows,
      {.count = kRows, .row = nullptr, .from = from.data(), .weights = nullptr, .key = nullptr});
  std::vector<T> y(size_t(kRows * kStep) + kLine / sizeof(T), T(-1));
  void* first = y.data();
  size_t space = y.size() * sizeof(T);
  T* to = static_cast<T*>(std::align(kLine, kLine, first, space));
  combineRows<T>(context, lists, kInner, x.data(), kInner, false, to, kStep);
  for (Index e = 0; e < kRows; ++e) {
    const T* row = x.data() + from[size_t(e)] * kInner;
    ASSERT_TRUE(std::equal(row, row + kInner, to + e * kStep)) << "row " << e;
    ASSERT_EQ(std::count(to + e * kStep + kInner, to + (e + 1) * kStep, T(-1)), kStep - kInner);
  }
}

// The same entries in another order, with the same keys, have the same sums bit by bit.
TYPED_TEST(RowListsKernel, AddInTheOrderOfKeys) {
  using T = TypeParam;
  Draw draw(32);
  KernelContext context;
  const Index rows = 7, inner = 5, count = 120;
  std::vector<Index> row, key, order(size_t(count), 0);
  for (Index e = 0; e < count; ++e) {
    row.push_back(draw.integer(0, rows - 1));
    key.push_back(e * 7 % 121); // distinct
  }
  const auto x = draw.reals<T>(count * inner, -1, 1);
  const auto sum = [&](const std::vector<Index>& list) {
    std::vector<Index> ofRow, ofKey, from;
    for (Index e : list) {
      ofRow.push_back(row[size_t(e)]);
      ofKey.push_back(key[size_t(e)]);
      from.push_back(e);
    }
    std::vector<T> y(size_t(rows * inner));
    combineRows<T>(context,
                   listRows(rows, {.count = count,
                                   .row = ofRow.data(),
                                   .from = from.data(),
                                   .weights = nullptr,
                                   .key = ofKey.data()}),
                   inner, x.data(), inner, false, y.data(), inner);
    return y;
  };
  std::iota(order.begin(), order.end(), Index(0));
  const std::vector<T> expected = sum(order);
  std::vector<T> byKey(size_t(rows * inner), T(0));
  std::ranges::sort(order, {}, [&](Index e) { return key[size_t(e)]; });
  for (Index e : order)
    for (Index c = 0; c < inner; ++c)
      byKey[size_t(row[size_t(e)] * inner + c)] += x[size_t(e * inner + c)];
  EXPECT_EQ(expected, byKey);
  EXPECT_EQ(sum(order), expected);
  std::ranges::reverse(order);
  EXPECT_EQ(sum(order), expected);
}

TYPED_TEST(RowListsKernel, TakeTheFirstOfTheLargest) {
  using T = TypeParam;
  Draw draw(33);
  KernelContext context;
  for (int n = 0; n < 100; ++n) {
    const Entries entries(draw);
    const Index count = Index(entries.row.size()), inner = entries.inner;
    RowEntries view = entries.view();
    view.from = nullptr; // entry e reads row e: each row of x is in one list
    const RowLists lists = listRows(entries.rows, view), back = listTransposed(count, view);
    const auto x = draw.integers<T>(count * inner), dy = draw.integers<T>(entries.rows * inner),
               dx = draw.integers<T>(count * inner);
    std::vector<T> y(dy.size()), gotY(dy.size()), gotX(x.size(), T(99));
    std::vector<Index> winner(dy.size());
    maximaOfRows<T>(context, lists, inner, x.data(), y.data(), winner.data());
    maximaOfRowsAdjoint<T>(context, back, inner, winner.data(), dy.data(), gotX.data());
    maximaOfRowsTangent<T>(context, back, entries.rows, inner, winner.data(), dx.data(),
                           gotY.data());
    for (Index i = 0; i < entries.rows; ++i)
      for (Index c = 0; c < inner; ++c) {
        const size_t at = size_t(i * inner + c);
        Index best = -1;
        // The winner is the least by this pair: the largest value first, then the smallest key.
        const auto before = [&](Index p) {
          return std::pair(-T(entries.weight(p)) * x[size_t(p * inner + c)],
                           T(entries.key[size_t(p)]));
        };
        for (Index e = 0; e < count; ++e)
          if (entries.row[size_t(e)] == i && (best < 0 || before(e) < before(best)))
            best = e;
        const auto ofWinner = [&](const std::vector<T>& v) {
          return best < 0 ? T(0) : T(entries.weight(best)) * v[size_t(best * inner + c)];
        };
        ASSERT_EQ(winner[at], best);
        ASSERT_EQ(y[at], ofWinner(x));
        ASSERT_EQ(gotY[at], ofWinner(dx));
        for (Index e = 0; e < count; ++e)
          if (entries.row[size_t(e)] == i) {
            ASSERT_EQ(gotX[size_t(e * inner + c)],
                      e == best ? T(entries.weight(e)) * dy[at] : T(0));
          }
      }
  }
}

TYPED_TEST(RowListsKernel, PropagateNaN) {
  using T = TypeParam;
  const NoTraps noTraps; // NaN is compared
  KernelContext context;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> x{1, nan, 5, nan};
  const std::vector<Index> row{0, 0, 0, 0};
  T y = 0;
  Index winner = 0;
  maximaOfRows<T>(
      context,
      listRows(
          1, {.count = 4, .row = row.data(), .from = nullptr, .weights = nullptr, .key = nullptr}),
      1, x.data(), &y, &winner);
  EXPECT_TRUE(std::isnan(y));
  EXPECT_EQ(winner, 1);
}

TYPED_TEST(RowListsKernel, GiveTheSameBitsOnAnyNumberOfThreads) {
  using T = TypeParam;
  const Index rows = 3001, inner = 18, count = 20011;
  expectSameForAllThreads("sums of rows", [&] {
    Draw draw(34);
    KernelContext context;
    std::vector<Index> row;
    for (Index e = 0; e < count; ++e)
      row.push_back(draw.integer(0, rows - 1));
    const auto x = draw.reals<T>(count * inner, -1, 1);
    std::vector<T> y(size_t(rows * inner));
    combineRows<T>(context,
                   listRows(rows, {.count = count,
                                   .row = row.data(),
                                   .from = nullptr,
                                   .weights = nullptr,
                                   .key = nullptr}),
                   inner, x.data(), inner, false, y.data(), inner);
    return y;
  });
}

} // namespace tenon::test
