// SPDX-License-Identifier: BSD-2-Clause
// Kernels with sums over long dimensions on the device against those on the host: sums by one
// thread, by some lanes of a block, by one block, and by several blocks. float64 to rounding,
// float32 as its host sums are.
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
  const HeldTraps held; // lines without elements, and NaN
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
      const T *in = on.put(x), *dOut = on.put(dy), *dSums = on.put(ds);
      T *m = on.room(sums), *e = on.room(elements), *s = on.room(sums), *y = on.room(elements);
      axisMaxima(on.at(), shape, in, m);
      axisExponentials(on.at(), shape, in, m, e);
      axisSums(on.at(), shape, e, s);
      axisQuotients(on.at(), shape, e, s, y);
      const std::pair<const T*, Index> found[] = {
          {m, sums}, {e, elements}, {s, sums}, {y, elements}};
      for (const auto& [values, count] : found)
        on.give(values, count);
      axisQuotientsTangent(on.at(), shape, e, s, dOut, dSums, y);
      on.give(y, elements);
      axisQuotientsTangent<T>(on.at(), shape, e, s, nullptr, dSums, y);
      on.give(y, elements);
      axisQuotientsAdjoint(on.at(), shape, e, s, dOut, m);
      on.give(m, sums);
    });
  }
}

// Lines that fit into shared memory, in lanes of one element to sixteen and in a last block that is
// not full, and one element more.
TYPED_TEST(DeviceSums, OfASoftmaxOfWholeLines) {
  const HeldTraps held; // lines without elements, and NaN
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
        const T *in = on.put(x), *direction = on.put(d);
        T *m = on.room(lines), *s = on.room(lines), *y = on.room(elements);
        axisSoftmax(on.at(), shape, in, m, s, y);
        on.give(y, elements);
        axisDots<T>(on.at(), shape, y, direction, s);
        axisSoftmaxSlope<T>(on.at(), shape, y, direction, s, y);
        on.give(y, elements);
      });
    }
}

// What an attention does with its scores, part by part. The last row has seen nothing.
TYPED_TEST(DeviceSums, OfAnAttention) {
  using T = TypeParam;
  Draw draw(16);
  constexpr Index rows = 6, n = 40, outputs = 7;
  const AxisShape scores{rows, n, 1}, results{rows, outputs, 1};
  const auto x = draw.reals<T>(rows * n, -20, 20), v = draw.reals<T>(rows * outputs, -1, 1);
  auto before = draw.reals<T>(rows, 0, 1);
  before.back() = 0;
  expectSame<T>([&](Arrays<T>& on) {
    const T* const values = on.put(v);
    T *p = on.put(x), *m = on.put(before), *s = on.put(before), *c = on.room(rows),
      *out = on.put(v), *r = on.room(rows);
    maskCausal<T>(on.at(), scores, {3, 5, 2}, p);
    axisMaxima<T>(on.at(), scores, p, c);
    raiseMaxima<T>(on.at(), rows, m, s, c);
    axisScale<T>(on.at(), results, values, c, out);
    axisSubtractScaled<T>(on.at(), results, values, s, out);
    on.give(out, rows * outputs);
    axisQuotientsOrZero<T>(on.at(), results, values, s, out);
    logSums<T>(on.at(), rows, m, s, r);
    axisSpread<T>(on.at(), scores, s, p);
    const std::pair<const T*, Index> found[] = {
        {m, rows}, {s, rows}, {c, rows}, {out, rows * outputs}, {r, rows}, {p, rows * n}};
    for (const auto& [array, count] : found)
      on.give(array, count);
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
      sums.finish(on.at());
      gather.finish(on.at());
      const T *nodes = on.put(x), *edges = on.put(m);
      T *y = on.room(entries * inner), *a = on.room(rows * inner);
      Index* winner = on.put(std::vector<Index>(std::size_t(rows * inner)));
      combineRows<T>(on.at(), gather, inner, nodes, inner, false, y, inner);
      on.give(y, entries * inner);
      combineRows<T>(on.at(), sums, inner, edges, inner, false, a, inner);
      combineRows<T>(on.at(), sums, inner, edges, inner, true, a, inner);
      on.give(a, rows * inner);
      maximaOfRows<T>(on.at(), sums, inner, edges, a, winner);
      on.give(a, rows * inner);
      maximaOfRowsTangent<T>(on.at(), gather, rows, inner, winner, edges, a);
      on.give(a, rows * inner);
      maximaOfRowsAdjoint<T>(on.at(), gather, inner, winner, nodes, y);
      on.give(y, entries * inner);
    });
  }
}

// Groups that lie beside one another, in full blocks and in one that is not, and with so many
// pieces that these are summed by lanes too.
TYPED_TEST(DeviceSums, OfColumns) {
  using T = TypeParam;
  for (const Index n : {31, 32, 1000, 5000}) {
    Draw draw(13);
    const AxisShape shape{2, n, 40};
    const auto x = draw.reals<T>(80 * n, -20, 20);
    expectSame<T>([&](Arrays<T>& on) {
      const T* in = on.put(x);
      T* y = on.room(80);
      axisMaxima(on.at(), shape, in, y);
      on.give(y, 80);
      axisSums(on.at(), shape, in, y);
      on.give(y, 80);
    });
  }
}

// More pieces than one thread sums, so that a tree sums them too: of more than 32 times 4096 terms.
constexpr Index kManyPieces = 140000;

TYPED_TEST(DeviceSums, OfManyPieces) {
  using T = TypeParam;
  Draw draw(14);
  const Index n = kManyPieces;
  const auto x = draw.reals<T>(n, 0, 1), y = draw.reals<T>(n, 0, 1);
  expectSame<T>([&](Arrays<T>& on) {
    const T *in = on.put(x), *factors = on.put(y);
    T *sum = on.room(1), *bias = on.put(std::vector<T>{3});
    storeSlopeDot(on.at(), n, in, factors, sum);
    on.give(sum, 1);
    const Index extent[] = {n}, step[] = {1}, still[] = {0};
    blockMultiplyAdd<T>(on.at(), 1, extent, T(0.5), nullptr, nullptr, in, step, bias, still);
    on.give(bias, 1);
  });
}

TEST(DeviceSumsOfIntegers, OfManyPieces) {
  using T = std::int64_t;
  const std::vector<T> x(std::size_t(kManyPieces), T(1) << 40);
  Arrays<T> on(Space::Device);
  T* sum = on.put(std::vector<T>{3});
  const Index extent[] = {kManyPieces}, step[] = {1}, still[] = {0};
  blockMultiplyAdd<T>(on.at(), 1, extent, 1, nullptr, nullptr, on.put(x), step, sum, still);
  on.give(sum, 1);
  EXPECT_EQ(on.results()[0], 3 + (T(kManyPieces) << 40));
}

// One group and one weight of two rows.
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
    RowKernels rows(groups, on.context());
    const T *in = on.put(x), *dIn = on.put(dx), *weight = on.put(std::vector<T>{T(1.5)});
    const T* m = on.put(std::vector<T>{2, T(0.3)});
    T *more = on.room(2), *dWeight = on.room(1), *dBias = on.room(1);
    rows.moments<T>(in, {more, more + 1});
    on.give(more, 2);
    rows.momentsTangent<T>(in, m, dIn, {more, more + 1});
    on.give(more, 2);
    rows.normaliseAdjoint<T>({in, {m, m + 1}, 1e-3, weight}, dIn,
                             {.moments = {more, more + 1}, .weight = dWeight, .bias = dBias});
    const auto give = [&] {
      on.give(more, 2);
      on.give(dWeight, 1);
      on.give(dBias, 1);
    };
    give();
    // One after the other, in sums of their own.
    rows.normaliseAdjoint<T>({in, {m, m + 1}, 1e-3, weight}, dIn, {.moments = {more, more + 1}});
    rows.normaliseAdjoint<T>({in, {m, m + 1}, 1e-3, weight}, dIn,
                             {.weight = dWeight, .bias = dBias});
    give();
  });
}

TYPED_TEST(DeviceSums, OfGroupsOfRows) {
  using T = TypeParam;
  for (const Index length : {Index(1), Index(40), Index(4000)})
    for (const RowWeights kind : {RowWeights::None, RowWeights::OfRow, RowWeights::OfPlace}) {
      Draw draw(9);
      RowGroups groups{.rows = 6,
                       .length = length,
                       .groups = 4,
                       .groupOf = {0, 1, 1, 0, 0, 3}, // 2 has none
                       .weightOf = {},
                       .weights = kind};
      if (kind == RowWeights::OfRow)
        groups.weightOf = {0, 1, 2, 0, 1, 2};
      const Index n = 6 * length, weights = kind == RowWeights::OfRow ? 3 : length;
      const auto x = draw.reals<T>(n, 1, 3), dx = draw.reals<T>(n, -1, 1);
      const auto w = draw.reals<T>(weights, 0.5, 2), b = draw.reals<T>(weights, -1, 1);
      const auto dm = draw.reals<T>(8, -1, 1);
      expectSame<T>([&](Arrays<T>& on) {
        RowKernels rows(groups, on.context());
        const T *in = on.put(x), *dIn = on.put(dx), *weight = on.put(w), *bias = on.put(b);
        const T* dMoments = on.put(dm);
        T *m = on.room(8), *y = on.room(n), *more = on.room(8);
        T *dWeight = on.room(weights), *dBias = on.room(weights);
        rows.moments<T>(in, {m, m + 4});
        on.give(m, 8);
        rows.momentsTangent<T>(in, m, dIn, {more, more + 4});
        on.give(more, 8);
        for (const bool adds : {false, true}) {
          rows.momentsAdjoint<T>(in, m, {dMoments, dMoments + 4}, adds, y);
          on.give(y, n);
        }
        if (kind == RowWeights::None)
          weight = bias = nullptr;
        const NormalisePoint<T> at{in, {m, m + 4}, 1e-3, weight};
        rows.normalise<T>(at, bias, y);
        on.give(y, n);
        rows.normaliseTangent<T>(at, dIn, {dMoments, dMoments + 4}, weight, bias, y);
        on.give(y, n);
        rows.normaliseTangent<T>(at, nullptr, {nullptr, nullptr}, weight, nullptr, y);
        on.give(y, n);
        rows.normaliseAdjoint<T>(at, dIn,
                                 {.x = y,
                                  .moments = {more, more + 4},
                                  .weight = weight ? dWeight : nullptr,
                                  .bias = bias ? dBias : nullptr});
        on.give(y, n);
        on.give(more, 8);
        on.give(dWeight, weights);
        on.give(dBias, weights);
        // Of moments that are given, which have no cotangents.
        rows.normaliseAdjoint<T>(at, dIn, {.x = y});
        on.give(y, n);
      });
    }
}

TYPED_TEST(DeviceSums, OfWeightsOfPlaces) {
  using T = TypeParam;
  Draw draw(16);
  const Index rows = 300, length = 37, n = rows * length;
  RowGroups groups{.rows = rows,
                   .length = length,
                   .groups = 1,
                   .groupOf = std::vector<Index>(rows, 0),
                   .weightOf = {},
                   .weights = RowWeights::OfPlace};
  const auto x = draw.reals<T>(n, 1, 3), dy = draw.reals<T>(n, -1, 1);
  const auto w = draw.reals<T>(length, 0.5, 2);
  expectSame<T>([&](Arrays<T>& on) {
    RowKernels kernels(groups, on.context());
    const T *in = on.put(x), *dOut = on.put(dy), *weight = on.put(w);
    T *m = on.room(2), *dWeight = on.room(length), *dBias = on.room(length);
    kernels.moments<T>(in, {m, m + 1});
    kernels.normaliseAdjoint<T>({in, {m, m + 1}, 1e-3, weight}, dOut,
                                {.weight = dWeight, .bias = dBias});
    on.give(dWeight, length);
    on.give(dBias, length);
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
      own.finish(on.at());
      T *y = on.room(out), *dx = on.room(in);
      axisMapForward<T>(on.at(), own, outer, inner, on.put(x), y);
      axisMapAdjoint<T>(on.at(), own, outer, inner, on.put(dy), dx);
      on.give(y, out);
      on.give(dx, in);
    });
  }
}

TYPED_TEST(DeviceSums, OfABatchOfProducts) {
  using T = TypeParam;
  Draw draw(11);
  for (int trial = 0; trial < 20; ++trial) {
    const bool transA = draw.chance(0.5), isOne = draw.chance(0.5);
    const Index count = draw.integer(0, 4), m = draw.integer(0, 5), n = draw.integer(1, 5),
                k = draw.integer(0, 5), lda = std::max<Index>(1, transA ? m : k);
    const BatchStrides strides{isOne ? 0 : m * k + 1, k * n, m * n};
    const auto a = draw.reals<T>((m * k + 1) * 5, -1, 1), b = draw.reals<T>(k * n * 5 + 1, -1, 1),
               c = draw.reals<T>(m * n * count + 1, -1, 1);
    expectSame<T>([&](Arrays<T>& on) {
      T* to = on.put(c);
      gemmBatch<T>(on.at(), Backend::Auto, count, strides, transA, false, m, n, k, T(0.5),
                   on.put(a), lda, on.put(b), n, T(2), to, n);
      on.give(to, m * n * count);
    });
  }
}

} // namespace tenon::test
