// SPDX-License-Identifier: BSD-2-Clause
// Losses on the device compared with those of the host, to rounding (both_spaces.hpp), with targets
// in either floating-point type. The numbers of terms are chosen for each way of summing: by one
// thread, by some lanes of a thread block, by a whole block, and by several blocks.
#include "kernels/both_spaces.hpp"
#include "kernels/draw.hpp"
#include "kernels/rows/cross_entropy.hpp"
#include "kernels/rows/losses.hpp"
#include "kernels/rows/softmax.hpp"

#include <limits>

namespace tenon::test {

namespace {

template <class T>
class DeviceLosses : public ::testing::Test {};
TYPED_TEST_SUITE(DeviceLosses, RealTypes);

// The target may have another type U.
template <class T, class U>
void expectSameErrors(Index rows, Index cols, U) {
  Draw draw(7);
  const Index n = rows * cols;
  const auto x = draw.reals<T>(n, -1, 1), w = draw.reals<T>(n, 0, 1);
  const auto t = draw.reals<U>(n, -1, 1);
  expectSame<T>([&](Arrays<T>& on) {
    const T *in = on.copyOf(x), *weights = on.copyOf(w);
    const U* target = on.copyOf(t);
    T *g = on.newArray(n), *sum = on.newArray(1), *e = on.newArray(2 * rows);
    for (const ErrorTerm term : {ErrorTerm::Squared, ErrorTerm::Absolute, ErrorTerm::Huber})
      for (const ElementWeights<T>& each :
           {ElementWeights<T>{}, ElementWeights<T>{weights, 1}, ElementWeights<T>{weights, cols},
            ElementWeights<T>{weights, 1, weights, 1, cols},
            ElementWeights<T>{nullptr, 1, weights, cols, rows}}) {
        errorTerms(on.context(), term, 0.3, n, in, target, each, 0.5, g, sum);
        on.record(g, n);
        on.record(sum, 1);
      }
    relativeSums(on.context(), rows, cols, in, target, ElementWeights<T>{weights, 1}, e, e + rows);
    on.record(e, 2 * rows);
    relativeTerms<T>(on.context(), rows, cols, in, target, {}, weights, e, e + rows,
                     {0.5, 1e-3, true}, g, sum);
    on.record(g, n);
    on.record(sum, 1);
    storeSlopeDot(on.context(), n, in, weights, sum);
    on.record(sum, 1);
    scaleByNumber(on.context(), n, sum, in, g);
    on.record(g, n);
  });
}

// The target may have another type U.
template <class T, class U>
void expectSameDifferences(const DifferenceBox& box, Index elements, Index ownedElements, U) {
  Draw draw(8);
  const auto x = draw.reals<T>(elements, -1, 1), w = draw.reals<T>(ownedElements, 0, 1);
  const auto t = draw.reals<U>(elements, -1, 1);
  expectSame<T>([&](Arrays<T>& on) {
    const T *in = on.copyOf(x), *weights = on.copyOf(w);
    const U* target = on.copyOf(t);
    T *g = on.newArray(elements), *sum = on.newArray(1);
    for (const U* targetOrNull : {target, static_cast<const U*>(nullptr)}) {
      differenceTerms(on.context(), box, in, targetOrNull, ElementWeights<T>{weights, 1}, 0.5, g,
                      sum);
      on.record(g, elements);
      on.record(sum, 1);
    }
  });
}

} // namespace

TYPED_TEST(DeviceLosses, CrossEntropy) {
  using T = TypeParam;
  for (const AxisShape& shape :
       {AxisShape{0, 7, 1}, AxisShape{1, 7, 1}, AxisShape{63, 7, 1}, AxisShape{300, 7, 1},
        AxisShape{9000, 7, 1}, AxisShape{20, 5000, 1}, AxisShape{3, 7, 100},
        AxisShape{2, 40, 10}}) {
    Draw draw(6);
    const Index n = shape.outer * shape.inner, logits = n * shape.n;
    const Index first = 2, classes = shape.n + 4;
    const auto z = draw.reals<T>(logits, -5, 5), w = draw.reals<T>(n, 0, 1);
    std::vector<std::int64_t> label;
    for (Index i = 0; i < n; ++i)
      label.push_back(draw.integer(0, classes - 1));
    expectSame<T>([&](Arrays<T>& on) {
      const T *in = on.copyOf(z), *weights = on.copyOf(w);
      std::int64_t* labels = on.copyOf(label);
      T *m = on.newArray(n), *s = on.newArray(n), *p = on.newArray(n), *scaled = on.newArray(n),
        *dz = on.newArray(logits);
      T* loss = on.newArray(1);
      axisMaxima(on.context(), shape, in, m);
      sumExpShifted(on.context(), shape, in, m, s);
      pickLabel(on.context(), shape, in, labels, first, p);
      crossEntropyAdjoint(on.context(), shape, in, m, s, labels, first, weights, dz);
      // Weights of labels, times those of rows of `inner` labels.
      const ElementWeights<T> own{weights, 1}, byRow{weights, 1, weights, shape.inner, shape.outer};
      scaledWeights(on.context(), n, byRow, 0.25, scaled);
      for (const T* values : {m, s, p, scaled})
        on.record(values, n);
      on.record(dz, logits);
      sumOfLosses(on.context(), n, m, s, p, own, 0.25, loss);
      on.record(loss, 1);
      sumOfLosses<T>(on.context(), n, m, s, p, {}, 0, loss);
      on.record(loss, 1);
      EXPECT_EQ(firstBadLabel<T>(on.context(), n, labels, {}, classes), -1);
      if (n < 20)
        return;
      auto bad = label;
      bad[19] = classes;
      bad[17] = -1;
      EXPECT_EQ(firstBadLabel<T>(on.context(), n, on.copyOf(bad), {}, classes), 17);
    });
  }
}

TYPED_TEST(DeviceLosses, WeightsThatAreNone) {
  using T = TypeParam;
  for (const Index n : {0, 1, 300, 5000})
    expectSame<T>([&](Arrays<T>& on) {
      std::vector<T> w(n, T(1));
      EXPECT_EQ(firstBadWeight(on.context(), n, on.copyOf(w)), -1);
      for (Index i = n - 1; i > 0; i /= 2) {
        w[i] = i % 2 ? -T(1) : std::numeric_limits<T>::quiet_NaN();
        EXPECT_EQ(firstBadWeight(on.context(), n, on.copyOf(w)), i);
      }
    });
}

TYPED_TEST(DeviceLosses, Errors) {
  using T = TypeParam;
  for (const Index rows : {0, 1, 63, 300, 9000})
    expectSameErrors<T>(rows, 5, float());
  for (const Index cols : {Index(2), Index(300)}) { // by one thread, and by lanes
    expectSameErrors<T>(11, cols, float());
    expectSameErrors<T>(11, cols, double());
  }
}

TYPED_TEST(DeviceLosses, DifferencesInSpace) {
  using T = TypeParam;
  Draw draw(8);
  for (int trial = 0; trial < 20; ++trial) {
    Index extent[4], owned[4], elements = 1, ownedElements = 1;
    const double spacing[] = {0.5, 0.25};
    for (int d = 0; d < 4; ++d) {
      owned[d] = draw.integer(d < 2 ? 1 : 0, 9);
      extent[d] = owned[d] + (d < 2 || owned[d] == 0 ? 0 : draw.integer(0, 1));
      elements *= extent[d];
      ownedElements *= owned[d];
    }
    const DifferenceBox box{4, 2, extent, owned, spacing};
    expectSameDifferences<T>(box, elements, ownedElements, float());
    expectSameDifferences<T>(box, elements, ownedElements, double());
  }
}

} // namespace tenon::test
