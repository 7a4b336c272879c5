// SPDX-License-Identifier: BSD-2-Clause
// Kernels with sums over long dimensions (softmax, attention, lists of rows, normalisation, maps
// along a dimension, batches of products) on the device, compared with the host to rounding
// (both_spaces.hpp). The lengths are chosen for each way of summing: by one thread, by some lanes
// of a thread block, by a whole block, and by several blocks.
#include "kernels/both_spaces.hpp"
#include "kernels/draw.hpp"
#include "kernels/movement/block_copy.hpp"
#include "kernels/products/gemm.hpp"
#include "kernels/rows/axis_map.hpp"
#include "kernels/rows/losses.hpp"
#include "kernels/rows/normalisation.hpp"
#include "kernels/rows/row_lists.hpp"
#include "kernels/rows/softmax.hpp"
#include "sys/traps.hpp"

#include <limits>
#include <utility>

namespace tenon::test {

namespace {

template <class T>
class DeviceSums : public ::testing::Test {};
TYPED_TEST_SUITE(DeviceSums, RealTypes);

constexpr Index kLengths[] = {0, 1, 63, 300, 9000};

} // namespace

TYPED_TEST(DeviceSums, OfASoftmax) {
  const NoTraps noTraps; // lines without elements, and NaN
  using T = TypeParam;
  for (const Index n : kLengths) {
    Draw draw(5);
    const AxisShape shape{2, n, 3};
    const Index elements = 6 * n, sums = 6;
    auto x = draw.reals<T>(elements, -20, 20);
    const auto dy = draw.reals<T>(elements, -1, 1), ds = draw.reals<T>(sums, -1, 1);
    if (n > 40)
      x[std::size_t(3 * 37 + 1)] = std::numeric_limits<T>::quiet_NaN();
    expectSame<T>([&](Arrays<T>& on) {
      const T *in = on.copyOf(x), *dOut = on.copyOf(dy), *dSums = on.copyOf(ds);
      T *m = on.newArray(sums), *e = on.newArray(elements), *s = on.newArray(sums),
        *y = on.newArray(elements);
      axisMaxima(on.context(), shape, in, m);
      axisExponentials(on.context(), shape, in, m, e);
      axisSums(on.context(), shape, e, s);
      axisQuotients(on.context(), shape, e, s, y);
      const std::pair<const T*, Index> recorded[] = {
          {m, sums}, {e, elements}, {s, sums}, {y, elements}};
      for (const auto& [values, count] : recorded)
        on.record(values, count);
      axisQuotientsTangent(on.context(), shape, e, s, dOut, dSums, y);
      on.record(y, elements);
      axisQuotientsTangent<T>(on.context(), shape, e, s, nullptr, dSums, y);
      on.record(y, elements);
      axisQuotientsAdjoint(on.context(), shape, e, s, dOut, m);
      on.record(m, sums);
    });
  }
}

// Lines that fit into the shared memory of a thread block (up to 16 elements per lane), lines with
// one element more, and numbers of lines that do not fill the last block.
TYPED_TEST(DeviceSums, OfASoftmaxOfWholeLines) {
  const NoTraps noTraps; // lines without elements, and NaN
  using T = TypeParam;
  const std::pair<Index, std::vector<Index>> cases[] = {
      {1, {0, 1, 16, 17, 63, 300, 4096, 4097}}, {3, {35, 4096}}, {40, {16, 250, 512, 513}}};
  for (const auto& [inner, lengths] : cases)
    for (const Index n : lengths) {
      Draw draw(6);
      const AxisShape shape{3, n, inner};
      const Index elements = 3 * n * inner, lines = 3 * inner;
      auto x = draw.reals<T>(elements, -20, 20);
      const auto d = draw.reals<T>(elements, -1, 1);
      if (n > 40)
        x[std::size_t(37 * inner)] = std::numeric_limits<T>::quiet_NaN();
      expectSame<T>([&](Arrays<T>& on) {
        const T *in = on.copyOf(x), *direction = on.copyOf(d);
        T *m = on.newArray(lines), *s = on.newArray(lines), *y = on.newArray(elements);
        axisSoftmax(on.context(), shape, in, m, s, y);
        on.record(y, elements);
        axisDots<T>(on.context(), shape, y, direction, s);
        axisSoftmaxSlope<T>(on.context(), shape, y, direction, s, y);
        on.record(y, elements);
      });
    }
}

// The steps of attention for one part of its keys. The running sum of the last row is 0: all of its
// keys are masked.
TYPED_TEST(DeviceSums, OfAnAttention) {
  using T = TypeParam;
  Draw draw(16);
  constexpr Index rows = 6, n = 40, outputs = 7;
  const AxisShape scores{rows, n, 1}, results{rows, outputs, 1};
  const auto x = draw.reals<T>(rows * n, -20, 20), v = draw.reals<T>(rows * outputs, -1, 1);
  auto before = draw.reals<T>(rows, 0, 1);
  before.back() = 0;
  expectSame<T>([&](Arrays<T>& on) {
    const T* const values = on.copyOf(v);
    T *p = on.copyOf(x), *m = on.copyOf(before), *s = on.copyOf(before), *c = on.newArray(rows),
      *out = on.copyOf(v);
    maskCausal<T>(on.context(), scores, {3, 5, 2}, p);
    axisMaxima<T>(on.context(), scores, p, c);
    raiseMaxima<T>(on.context(), rows, m, s, c);
    axisScale<T>(on.context(), results, values, c, out);
    axisSubtractScaled<T>(on.context(), results, values, s, out);
    on.record(out, rows * outputs);
    axisQuotientsOrZero<T>(on.context(), results, values, s, out);
    axisSpread<T>(on.context(), scores, s, p);
    const std::pair<const T*, Index> recorded[] = {
        {m, rows}, {s, rows}, {c, rows}, {out, rows * outputs}, {p, rows * n}};
    for (const auto& [array, count] : recorded)
      on.record(array, count);
  });
}

// Some rows have no entries, and some many.
TYPED_TEST(DeviceSums, OfListedRows) {
  using T = TypeParam;
  for (const Index entries : {Index(0), Index(1), Index(900)}) {
    Draw draw(15);
    const Index rows = 37, inner = 5;
    std::vector<Index> row;
    for (Index e = 0; e < entries; ++e)
      row.push_back(draw.integer(0, draw.integer(0, rows - 1)));
    const auto weights = draw.reals<double>(entries, -1, 1);
    const auto x = draw.reals<T>(rows * inner, -1, 1), m = draw.reals<T>(entries * inner, -1, 1);
    expectSame<T>([&](Arrays<T>& on) {
      RowEntries listed{.count = entries,
                        .row = row.data(),
                        .from = nullptr,
                        .weights = weights.data(),
                        .key = nullptr};
      RowLists sums = listRows(rows, listed), gather = listTransposed(entries, listed);
      sums.finish(on.context());
      gather.finish(on.context());
      const T *nodes = on.copyOf(x), *edges = on.copyOf(m);
      T *y = on.newArray(entries * inner), *a = on.newArray(rows * inner);
      Index* winner = on.copyOf(std::vector<Index>(std::size_t(rows * inner)));
      combineRows<T>(on.context(), gather, inner, nodes, inner, false, y, inner);
      on.record(y, entries * inner);
      combineRows<T>(on.context(), sums, inner, edges, inner, false, a, inner);
      combineRows<T>(on.context(), sums, inner, edges, inner, true, a, inner);
      on.record(a, rows * inner);
      maximaOfRows<T>(on.context(), sums, inner, edges, a, winner);
      on.record(a, rows * inner);
      maximaOfRowsTangent<T>(on.context(), gather, rows, inner, winner, edges, a);
      on.record(a, rows * inner);
      maximaOfRowsAdjoint<T>(on.context(), gather, inner, winner, nodes, y);
      on.record(y, entries * inner);
    });
  }
}

// Sums along a dimension that is not the last: neighbouring threads sum neighbouring groups. Some
// thread blocks are not full, and some lengths have so many pieces that the pieces are summed by
// lanes too.
TYPED_TEST(DeviceSums, OfColumns) {
  using T = TypeParam;
  for (const Index n : {31, 32, 1000, 5000}) {
    Draw draw(13);
    const AxisShape shape{2, n, 40};
    const auto x = draw.reals<T>(80 * n, -20, 20);
    expectSame<T>([&](Arrays<T>& on) {
      const T* in = on.copyOf(x);
      T* y = on.newArray(80);
      axisMaxima(on.context(), shape, in, y);
      on.record(y, 80);
      axisSums(on.context(), shape, in, y);
      on.record(y, 80);
    });
  }
}

// A number of terms with more than 32 pieces of 4096 terms: the second stage of the reduction then
// sums the pieces by a tree instead of by one thread.
constexpr Index kManyPieces = 140000;

TYPED_TEST(DeviceSums, OfManyPieces) {
  using T = TypeParam;
  Draw draw(14);
  const Index n = kManyPieces;
  const auto x = draw.reals<T>(n, 0, 1), y = draw.reals<T>(n, 0, 1);
  expectSame<T>([&](Arrays<T>& on) {
    const T *in = on.copyOf(x), *factors = on.copyOf(y);
    T *sum = on.newArray(1), *bias = on.copyOf(std::vector<T>{3});
    storeSlopeDot(on.context(), n, in, factors, sum);
    on.record(sum, 1);
    const Index extent[] = {n}, step[] = {1}, noStride[] = {0};
    blockMultiplyAdd<T>(on.context(), 1, extent, T(0.5), nullptr, nullptr, in, step, bias,
                        noStride);
    on.record(bias, 1);
  });
}

TEST(DeviceSumsOfIntegers, OfManyPieces) {
  using T = std::int64_t;
  const std::vector<T> x(std::size_t(kManyPieces), T(1) << 40);
  Arrays<T> on(Space::Device);
  T* sum = on.copyOf(std::vector<T>{3});
  const Index extent[] = {kManyPieces}, step[] = {1}, noStride[] = {0};
  blockMultiplyAdd<T>(on.context(), 1, extent, 1, nullptr, nullptr, on.copyOf(x), step, sum,
                      noStride);
  on.record(sum, 1);
  EXPECT_EQ(on.results()[0], 3 + (T(kManyPieces) << 40));
}

// Normalisation with two rows in one group, which share a weight.
TYPED_TEST(DeviceSums, OfAGroupOfManyPieces) {
  using T = TypeParam;
  Draw draw(17);
  const Index length = kManyPieces / 2, n = kManyPieces;
  RowGroups groups{.rows = 2,
                   .length = length,
                   .groups = 1,
                   .groupOf = {0, 0},
                   .weightOf = {0, 0},
                   .weights = RowWeights::OfRow};
  const auto x = draw.reals<T>(n, 1, 3), dx = draw.reals<T>(n, 0, 1);
  expectSame<T>([&](Arrays<T>& on) {
    RowKernels rows(groups, on.contextPointer());
    const T *in = on.copyOf(x), *dIn = on.copyOf(dx), *weight = on.copyOf(std::vector<T>{T(1.5)});
    const T* m = on.copyOf(std::vector<T>{2, T(0.3)});
    T *more = on.newArray(2), *dWeight = on.newArray(1), *dBias = on.newArray(1);
    rows.moments<T>(in, {more, more + 1});
    on.record(more, 2);
    rows.momentsTangent<T>(in, m, dIn, {more, more + 1});
    on.record(more, 2);
    rows.normaliseAdjoint<T>({in, {m, m + 1}, 1e-3, weight}, dIn,
                             {.moments = {more, more + 1}, .weight = dWeight, .bias = dBias});
    const auto give = [&] {
      on.record(more, 2);
      on.record(dWeight, 1);
      on.record(dBias, 1);
    };
    give();
    // The cotangents of moments and of parameters in separate calls, hence separate sums.
    rows.normaliseAdjoint<T>({in, {m, m + 1}, 1e-3, weight}, dIn, {.moments = {more, more + 1}});
    rows.normaliseAdjoint<T>({in, {m, m + 1}, 1e-3, weight}, dIn,
                             {.weight = dWeight, .bias = dBias});
    give();
  });
}

TYPED_TEST(DeviceSums, OfGroupsOfRows) {
  using T = TypeParam;
  for (const Index length : {Index(1), Index(40), Index(4000)})
    for (const RowWeights kind : {RowWeights::None, RowWeights::OfRow, RowWeights::OfPosition}) {
      Draw draw(9);
      RowGroups groups{.rows = 6,
                       .length = length,
                       .groups = 4,
                       .groupOf = {0, 1, 1, 0, 0, 3}, // group 2 has no rows
                       .weightOf = {},
                       .weights = kind};
      if (kind == RowWeights::OfRow)
        groups.weightOf = {0, 1, 2, 0, 1, 2};
      const Index n = 6 * length, weights = kind == RowWeights::OfRow ? 3 : length;
      const auto x = draw.reals<T>(n, 1, 3), dx = draw.reals<T>(n, -1, 1);
      const auto w = draw.reals<T>(weights, 0.5, 2), b = draw.reals<T>(weights, -1, 1);
      const auto dm = draw.reals<T>(8, -1, 1);
      expectSame<T>([&](Arrays<T>& on) {
        RowKernels rows(groups, on.contextPointer());
        const T *in = on.copyOf(x), *dIn = on.copyOf(dx), *weight = on.copyOf(w),
                *bias = on.copyOf(b);
        const T* dMoments = on.copyOf(dm);
        T *m = on.newArray(8), *y = on.newArray(n), *more = on.newArray(8);
        T *dWeight = on.newArray(weights), *dBias = on.newArray(weights);
        rows.moments<T>(in, {m, m + 4});
        on.record(m, 8);
        rows.momentsTangent<T>(in, m, dIn, {more, more + 4});
        on.record(more, 8);
        for (const bool adds : {false, true}) {
          rows.momentsAdjoint<T>(in, m, {dMoments, dMoments + 4}, adds, y);
          on.record(y, n);
        }
        if (kind == RowWeights::None)
          weight = bias = nullptr;
        const NormalisePoint<T> at{in, {m, m + 4}, 1e-3, weight};
        rows.normalise<T>(at, bias, y);
        on.record(y, n);
        rows.normaliseTangent<T>(at, dIn, {dMoments, dMoments + 4}, weight, bias, y);
        on.record(y, n);
        rows.normaliseTangent<T>(at, nullptr, {nullptr, nullptr}, weight, nullptr, y);
        on.record(y, n);
        rows.normaliseAdjoint<T>(at, dIn,
                                 {.x = y,
                                  .moments = {more, more + 4},
                                  .weight = weight ? dWeight : nullptr,
                                  .bias = bias ? dBias : nullptr});
        on.record(y, n);
        on.record(more, 8);
        on.record(dWeight, weights);
        on.record(dBias, weights);
        // With fixed moments, which need no cotangents.
        rows.normaliseAdjoint<T>(at, dIn, {.x = y});
        on.record(y, n);
      });
    }
}

TYPED_TEST(DeviceSums, OfWeightsOfPositions) {
  using T = TypeParam;
  Draw draw(16);
  const Index rows = 300, length = 37, n = rows * length;
  RowGroups groups{.rows = rows,
                   .length = length,
                   .groups = 1,
                   .groupOf = std::vector<Index>(rows, 0),
                   .weightOf = {},
                   .weights = RowWeights::OfPosition};
  const auto x = draw.reals<T>(n, 1, 3), dy = draw.reals<T>(n, -1, 1);
  const auto w = draw.reals<T>(length, 0.5, 2);
  expectSame<T>([&](Arrays<T>& on) {
    RowKernels kernels(groups, on.contextPointer());
    const T *in = on.copyOf(x), *dOut = on.copyOf(dy), *weight = on.copyOf(w);
    T *m = on.newArray(2), *dWeight = on.newArray(length), *dBias = on.newArray(length);
    kernels.moments<T>(in, {m, m + 1});
    kernels.normaliseAdjoint<T>({in, {m, m + 1}, 1e-3, weight}, dOut,
                                {.weight = dWeight, .bias = dBias});
    on.record(dWeight, length);
    on.record(dBias, length);
  });
}

TYPED_TEST(DeviceSums, AlongADimension) {
  using T = TypeParam;
  Draw draw(10);
  for (int trial = 0; trial < 20; ++trial) {
    const Index outer = draw.integer(0, 3), inner = draw.integer(1, 4), inputs = draw.integer(1, 9);
    AxisMap map;
    map.inputs = inputs;
    for (Index o = draw.integer(1, 6); o-- > 0;) {
      const Index first = draw.integer(0, inputs - 1);
      map.add(first, draw.reals<double>(draw.integer(0, inputs - first), -1, 1));
    }
    const Index in = outer * inputs * inner, out = outer * map.outputs() * inner;
    const auto x = draw.reals<T>(in, -1, 1), dy = draw.reals<T>(out, -1, 1);
    expectSame<T>([&](Arrays<T>& on) {
      AxisMap own = map;
      own.finish(on.context());
      T *y = on.newArray(out), *dx = on.newArray(in);
      axisMapForward<T>(on.context(), own, outer, inner, on.copyOf(x), y);
      axisMapAdjoint<T>(on.context(), own, outer, inner, on.copyOf(dy), dx);
      on.record(y, out);
      on.record(dx, in);
    });
  }
}

TYPED_TEST(DeviceSums, OfABatchOfProducts) {
  using T = TypeParam;
  Draw draw(11);
  for (int trial = 0; trial < 20; ++trial) {
    const bool transA = draw.withProbability(0.5), isOne = draw.withProbability(0.5);
    const Index count = draw.integer(0, 4), m = draw.integer(0, 5), n = draw.integer(1, 5),
                k = draw.integer(0, 5), lda = std::max<Index>(1, transA ? m : k);
    const BatchStrides strides{isOne ? 0 : m * k + 1, k * n, m * n};
    const auto a = draw.reals<T>((m * k + 1) * 5, -1, 1), b = draw.reals<T>(k * n * 5 + 1, -1, 1),
               c = draw.reals<T>(m * n * count + 1, -1, 1);
    expectSame<T>([&](Arrays<T>& on) {
      T* to = on.copyOf(c);
      gemmBatch<T>(on.context(), Backend::Auto, count, strides, transA, false, m, n, k, T(0.5),
                   on.copyOf(a), lda, on.copyOf(b), n, T(2), to, n);
      on.record(to, m * n * count);
    });
  }
}

} // namespace tenon::test
