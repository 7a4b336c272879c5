// SPDX-License-Identifier: BSD-2-Clause
// Kernels with sums over long dimensions on the device against those on the host: sums by one thread, by some
// lanes of a block, by one block, and by several blocks. float64 to rounding, float32 as its host sums are.
#include "kernels/draw.hpp"
#include "kernels/here.hpp"
#include "kernels/movement/block_copy.hpp"
#include "kernels/on_device.hpp"
#include "kernels/products/gemm.hpp"
#include "kernels/rows/axis_map.hpp"
#include "kernels/rows/cross_entropy.hpp"
#include "kernels/rows/losses.hpp"
#include "kernels/rows/normalisation.hpp"
#include "kernels/rows/row_lists.hpp"
#include "kernels/rows/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tenon::test {

namespace {

// Runs the same calls in either space on copies of the same arrays.
template <class T>
class Arrays {
public:
  explicit Arrays(Space space)
      : context_(space == Space::Device ? deviceContext() : std::make_shared<KernelContext>()) {}
  const KernelContextPtr& context() const { return context_; }
  KernelContext& at() { return *context_; }
  template <class U>
  U* put(const std::vector<U>& values) {
    memory_.emplace_back(Index(values.size() * sizeof(U)), "a test's array", context_->memory());
    Buffer& made = memory_.back();
    if (context_->space() == Space::Device)
      context_->fetch(made.data<U>(), values.data(), made.bytes());
    else
      std::copy(values.begin(), values.end(), made.data<U>());
    return made.data<U>();
  }
  T* room(Index n) { return put(std::vector<T>(std::size_t(n), T(-7))); }
  // Notes n values of an array for the comparison.
  void give(const T* from, Index n) {
    std::vector<T> values(static_cast<std::size_t>(n));
    if (context_->space() == Space::Device)
      context_->fetch(values.data(), from, n * Index(sizeof(T)));
    else
      std::copy_n(from, n, values.begin());
    results_.insert(results_.end(), values.begin(), values.end());
  }
  const std::vector<T>& results() const { return results_; }

private:
  KernelContextPtr context_;
  std::vector<Buffer> memory_;
  std::vector<T> results_;
};

template <class T, class Run>
void expectSame(const Run& run) {
  Arrays<T> host(Space::Host), device(Space::Device), again(Space::Device);
  run(host);
  run(device);
  run(again);
  ASSERT_EQ(device.results().size(), host.results().size());
  const double tolerance = sizeof(T) == sizeof(double) ? 1e-12 : 2e-5;
  for (std::size_t i = 0; i < host.results().size(); ++i) {
    const double got = device.results()[i], want = host.results()[i];
    ASSERT_EQ(std::isnan(got), std::isnan(want)) << i;
    if (!std::isnan(want) && got != want) {
      ASSERT_NEAR(got, want, tolerance * (1 + std::abs(want))) << i;
    }
    const double repeated = again.results()[i];
    ASSERT_TRUE(repeated == got || std::isnan(got)) << i;
  }
}

template <class T>
class DeviceSums : public ::testing::Test {};
TYPED_TEST_SUITE(DeviceSums, RealTypes);

constexpr Index kLengths[] = {0, 1, 63, 300, 9000};

// The target may have another type U.
template <class T, class U>
void expectSameErrors(Index rows, Index cols, U) {
  Draw draw(7);
  const Index n = rows * cols;
  const auto x = draw.reals<T>(n, -1, 1), w = draw.reals<T>(n, 0, 1);
  const auto t = draw.reals<U>(n, -1, 1);
  expectSame<T>([&](Arrays<T>& on) {
    const T *in = on.put(x), *weights = on.put(w);
    const U* target = on.put(t);
    T *g = on.room(n), *sum = on.room(1), *e = on.room(2 * rows);
    for (const ErrorTerm term : {ErrorTerm::Squared, ErrorTerm::Absolute, ErrorTerm::Huber})
      for (const ElementWeights<T>& each :
           {ElementWeights<T>{}, ElementWeights<T>{weights, 1}, ElementWeights<T>{weights, cols}}) {
        errorTerms(on.at(), term, 0.3, n, in, target, each, 0.5, g, sum);
        on.give(g, n);
        on.give(sum, 1);
      }
    relativeSums(on.at(), rows, cols, in, target, weights, e, e + rows);
    on.give(e, 2 * rows);
    relativeTerms<T>(on.at(), rows, cols, in, target, nullptr, weights, e, e + rows,
                     {0.5, 1e-3, true}, g, sum);
    on.give(g, n);
    on.give(sum, 1);
    storeDot(on.at(), n, in, weights, sum);
    on.give(sum, 1);
    scaleByNumber(on.at(), n, sum, in, g);
    on.give(g, n);
  });
}

// The target may have another type U.
template <class T, class U>
void expectSameDifferences(const DifferenceBox& box, Index elements, Index ownedCells, U) {
  Draw draw(8);
  const auto x = draw.reals<T>(elements, -1, 1), w = draw.reals<T>(ownedCells, 0, 1);
  const auto t = draw.reals<U>(elements, -1, 1);
  expectSame<T>([&](Arrays<T>& on) {
    const T *in = on.put(x), *weights = on.put(w);
    const U* target = on.put(t);
    T *g = on.room(elements), *sum = on.room(1);
    for (const U* of : {target, static_cast<const U*>(nullptr)}) {
      differenceTerms(on.at(), box, in, of, ElementWeights<T>{weights, 1}, 0.5, g, sum);
      on.give(g, elements);
      on.give(sum, 1);
    }
  });
}

} // namespace

TYPED_TEST(DeviceSums, OfASoftmax) {
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

// Groups that lie beside one another, in full blocks and in one that is not, and with so many pieces that these are
// summed by lanes too.
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
    storeDot(on.at(), n, in, factors, sum);
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
    on.give(more, 2);
    on.give(dWeight, 1);
    on.give(dBias, 1);
  });
}

TYPED_TEST(DeviceSums, OfACrossEntropy) {
  using T = TypeParam;
  const std::pair<Index, Index> shapes[] = {{0, 7},   {1, 7},    {63, 7},
                                            {300, 7}, {9000, 7}, {20, 5000}};
  for (const auto& [rows, cols] : shapes) {
    Draw draw(6);
    const Index first = 2, classes = cols + 4;
    const auto z = draw.reals<T>(rows * cols, -5, 5), w = draw.reals<T>(rows, 0, 1);
    std::vector<std::int64_t> label;
    for (Index r = 0; r < rows; ++r)
      label.push_back(draw.integer(0, classes - 1));
    expectSame<T>([&](Arrays<T>& on) {
      const T *logits = on.put(z), *weights = on.put(w);
      std::int64_t* labels = on.put(label);
      T *m = on.room(rows), *s = on.room(rows), *p = on.room(rows), *dz = on.room(rows * cols);
      T* loss = on.room(1);
      rowMax(on.at(), rows, cols, logits, m);
      sumExpShifted(on.at(), rows, cols, logits, m, s);
      pickLabel(on.at(), rows, cols, logits, labels, first, p);
      crossEntropyAdjoint(on.at(), rows, cols, logits, m, s, labels, first, weights, dz);
      for (const T* values : {m, s, p})
        on.give(values, rows);
      on.give(dz, rows * cols);
      sumOfLosses(on.at(), rows, m, s, p, weights, 0.25, loss);
      on.give(loss, 1);
      sumOfLosses<T>(on.at(), rows, m, s, p, nullptr, 0, loss);
      on.give(loss, 1);
      EXPECT_EQ(firstBadLabel(on.at(), rows, labels, classes), -1);
      if (rows < 20)
        return;
      auto bad = label;
      bad[19] = classes;
      bad[17] = -1;
      EXPECT_EQ(firstBadLabel(on.at(), rows, on.put(bad), classes), 17);
    });
  }
}

TYPED_TEST(DeviceSums, OfWeightsThatAreNone) {
  using T = TypeParam;
  for (const Index n : {0, 1, 300, 5000})
    expectSame<T>([&](Arrays<T>& on) {
      std::vector<T> w(n, T(1));
      EXPECT_EQ(firstBadWeight(on.at(), n, on.put(w)), -1);
      for (Index i = n - 1; i > 0; i /= 2) {
        w[i] = i % 2 ? -T(1) : std::numeric_limits<T>::quiet_NaN();
        EXPECT_EQ(firstBadWeight(on.at(), n, on.put(w)), i);
      }
    });
}

TYPED_TEST(DeviceSums, OfErrors) {
  using T = TypeParam;
  for (const Index rows : kLengths)
    expectSameErrors<T>(rows, 5, float());
  for (const Index cols : {Index(2), Index(300)}) { // by one thread, and by lanes
    expectSameErrors<T>(11, cols, float());
    expectSameErrors<T>(11, cols, double());
  }
}

TYPED_TEST(DeviceSums, OfDifferencesInSpace) {
  using T = TypeParam;
  Draw draw(8);
  for (int trial = 0; trial < 20; ++trial) {
    Index extent[4], owned[4], elements = 1, ownedCells = 1;
    const double spacing[] = {0.5, 0.25};
    for (int d = 0; d < 4; ++d) {
      owned[d] = draw.integer(d < 2 ? 1 : 0, 9);
      extent[d] = owned[d] + (d < 2 || owned[d] == 0 ? 0 : draw.integer(0, 1));
      elements *= extent[d];
      ownedCells *= owned[d];
    }
    const DifferenceBox box{4, 2, extent, owned, spacing};
    expectSameDifferences<T>(box, elements, ownedCells, float());
    expectSameDifferences<T>(box, elements, ownedCells, double());
  }
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
