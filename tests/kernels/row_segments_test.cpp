// SPDX-License-Identifier: BSD-2-Clause
// Gathers and segment sums against dense matrices, which are each other's transposes; orders that keys give,
// bit by bit; and maxima, whose adjoint is a matrix of one 1 in each row.
#include "kernels/rows/row_segments.hpp"

#include "kernels/draw.hpp"
#include "kernels/thread_count.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace tenon::test {
namespace {

struct Rows {
  Index targets, inner;
  std::vector<Index> target, key; // of each entry
  std::vector<double> weights;    // or none
  RowSegments segments;

  explicit Rows(Draw& draw) : targets(draw.integer(0, 30)), inner(draw.integer(0, 19)) {
    for (Index n = targets == 0 ? 0 : draw.integer(0, 90); n > 0; --n) {
      target.push_back(draw.integer(0, targets - 1));
      key.push_back(draw.integer(-9, 9));
      weights.push_back(double(draw.integer(-3, 3)));
    }
    if (draw.chance(0.5))
      weights.clear();
    segments = rowSegments(targets, target, key.data());
  }
  Index entries() const { return Index(target.size()); }
  double weight(Index e) const { return weights.empty() ? 1 : weights[size_t(e)]; }
  const double* weightList() const { return weights.empty() ? nullptr : weights.data(); }
  SegmentLists lists() const {
    return {targets, entries(), segments.first.data(), segments.order.data()};
  }
};

} // namespace

template <class T>
class RowSegmentsKernel : public ::testing::Test {};
TYPED_TEST_SUITE(RowSegmentsKernel, RealTypes);

TYPED_TEST(RowSegmentsKernel, AreTheirMatrices) {
  using T = TypeParam;
  Draw draw(31);
  KernelContext context;
  for (int n = 0; n < 200; ++n) {
    const Rows rows(draw);
    const auto x = draw.integers<T>(rows.targets * rows.inner),
               m = draw.integers<T>(rows.entries() * rows.inner);
    std::vector<T> y(m.size(), T(99)), a = draw.integers<T>(rows.targets * rows.inner);
    const bool adds = draw.chance(0.5);
    std::vector<T> wantY(m.size()), wantA = a;
    if (!adds)
      std::fill(wantA.begin(), wantA.end(), T(0));
    for (Index e = 0; e < rows.entries(); ++e)
      for (Index c = 0; c < rows.inner; ++c) {
        const size_t from = size_t(rows.target[size_t(e)] * rows.inner + c),
                     at = size_t(e * rows.inner + c);
        wantY[at] = T(rows.weight(e)) * x[from];
        wantA[from] += T(rows.weight(e)) * m[at];
      }
    gatherRows<T>(context, rows.entries(), rows.inner, rows.target.data(), rows.weightList(),
                  x.data(), y.data());
    sumSegments<T>(context, rows.lists(), rows.inner, rows.weightList(), m.data(), adds, a.data());
    ASSERT_EQ(y, wantY);
    ASSERT_EQ(a, wantA);
  }
}

// The list in another order gives the same bits, since the keys stay with their entries.
TYPED_TEST(RowSegmentsKernel, SumInTheOrderOfKeys) {
  using T = TypeParam;
  Draw draw(32);
  KernelContext context;
  const Index targets = 7, inner = 5, entries = 120;
  std::vector<Index> target, key, order(size_t(entries), 0);
  for (Index e = 0; e < entries; ++e) {
    target.push_back(draw.integer(0, targets - 1));
    key.push_back(e * 7 % 121); // distinct
  }
  const auto m = draw.reals<T>(entries * inner, -1, 1);
  const auto sum = [&](const std::vector<Index>& list) {
    std::vector<Index> ofTarget, ofKey;
    std::vector<T> rows, a(size_t(targets * inner));
    for (Index e : list) {
      ofTarget.push_back(target[size_t(e)]);
      ofKey.push_back(key[size_t(e)]);
      rows.insert(rows.end(), m.begin() + e * inner, m.begin() + (e + 1) * inner);
    }
    const RowSegments s = rowSegments(targets, ofTarget, ofKey.data());
    sumSegments<T>(context, {targets, entries, s.first.data(), s.order.data()}, inner, nullptr,
                   rows.data(), false, a.data());
    return a;
  };
  std::iota(order.begin(), order.end(), Index(0));
  const std::vector<T> expected = sum(order);
  std::vector<T> byKey(size_t(targets * inner), T(0));
  std::ranges::sort(order, {}, [&](Index e) { return key[size_t(e)]; });
  for (Index e : order)
    for (Index c = 0; c < inner; ++c)
      byKey[size_t(target[size_t(e)] * inner + c)] += m[size_t(e * inner + c)];
  EXPECT_EQ(expected, byKey);
  EXPECT_EQ(sum(order), expected);
  std::ranges::reverse(order);
  EXPECT_EQ(sum(order), expected);
}

TYPED_TEST(RowSegmentsKernel, TakeTheFirstOfTheLargest) {
  using T = TypeParam;
  Draw draw(33);
  KernelContext context;
  for (int n = 0; n < 100; ++n) {
    const Rows rows(draw);
    const auto m = draw.integers<T>(rows.entries() * rows.inner),
               da = draw.integers<T>(rows.targets * rows.inner);
    std::vector<T> a(da.size()), dm(m.size(), T(99));
    std::vector<Index> winner(da.size());
    maxSegments<T>(context, rows.lists(), rows.inner, m.data(), a.data(), winner.data());
    maxSegmentsAdjoint<T>(context, rows.entries(), rows.inner, rows.target.data(), winner.data(),
                          da.data(), dm.data());
    for (Index i = 0; i < rows.targets; ++i)
      for (Index c = 0; c < rows.inner; ++c) {
        Index best = -1;
        for (Index e = 0; e < rows.entries(); ++e) {
          const auto before = [&](Index p) {
            return std::pair(-m[size_t(p * rows.inner + c)], T(rows.key[size_t(p)]));
          };
          if (rows.target[size_t(e)] == i && (best < 0 || before(e) < before(best)))
            best = e;
        }
        ASSERT_EQ(winner[size_t(i * rows.inner + c)], best);
        ASSERT_EQ(a[size_t(i * rows.inner + c)],
                  best < 0 ? T(0) : m[size_t(best * rows.inner + c)]);
        for (Index e = 0; e < rows.entries(); ++e)
          if (rows.target[size_t(e)] == i) {
            ASSERT_EQ(dm[size_t(e * rows.inner + c)],
                      e == best ? da[size_t(i * rows.inner + c)] : T(0));
          }
      }
  }
}

TYPED_TEST(RowSegmentsKernel, PropagateNaN) {
  using T = TypeParam;
  KernelContext context;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> m{1, nan, 5, nan};
  const RowSegments s = rowSegments(1, {0, 0, 0, 0}, nullptr);
  T a = 0;
  Index winner = 0;
  maxSegments<T>(context, {1, 4, s.first.data(), s.order.data()}, 1, m.data(), &a, &winner);
  EXPECT_TRUE(std::isnan(a));
  EXPECT_EQ(winner, 1);
}

TYPED_TEST(RowSegmentsKernel, GiveTheSameBitsOnAnyNumberOfThreads) {
  using T = TypeParam;
  const Index targets = 3001, inner = 16, entries = 20011;
  expectSameForAllThreads("segment sums", [&] {
    Draw draw(34);
    KernelContext context;
    std::vector<Index> target;
    for (Index e = 0; e < entries; ++e)
      target.push_back(draw.integer(0, targets - 1));
    const RowSegments s = rowSegments(targets, target, nullptr);
    const auto m = draw.reals<T>(entries * inner, -1, 1);
    std::vector<T> a(size_t(targets * inner));
    sumSegments<T>(context, {targets, entries, s.first.data(), s.order.data()}, inner, nullptr,
                   m.data(), false, a.data());
    return a;
  });
}

} // namespace tenon::test
