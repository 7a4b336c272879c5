// SPDX-License-Identifier: BSD-2-Clause
// Kernels that are plain functions (pointwise functions, vector operations, dropout, softmax,
// optimizers, dot products, boxes) on 1, 2, 3 and 5 threads must have the same bits.
#include "kernels/elementwise/dropout.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/elementwise/update.hpp"
#include "kernels/host_context.hpp"
#include "kernels/movement/block_copy.hpp"
#include "kernels/rows/cross_entropy.hpp"
#include "kernels/rows/softmax.hpp"
#include "kernels/thread_count.hpp"
#include "sys/traps.hpp"

namespace tenon::test {

template <class T>
class LoopThreads : public ::testing::Test {};
TYPED_TEST_SUITE(LoopThreads, RealTypes);

TYPED_TEST(LoopThreads, PointwiseGivesTheSameBits) {
  using T = TypeParam;
  const NoTraps noTraps; // roots and logarithms of numbers below 0
  Draw draw(31);
  const auto x = draw.reals<T>(kManyElements, -3, 3), v = draw.reals<T>(kManyElements, -1, 1);
  for (int kind = 0; kind <= int(Pointwise::Identity); ++kind) {
    const PointwiseFunction function(static_cast<Pointwise>(kind), 0.3);
    expectSameForAllThreads("function " + std::to_string(kind), [&] {
      std::vector<T> y(x.size()), r(x.size());
      pointwiseForward<T>(test::hostContext(), function, kManyElements, x.data(), y.data());
      pointwiseDerivative<T>(test::hostContext(), function, kManyElements, x.data(), y.data(),
                             v.data(), r.data());
      append(y, r);
      return y;
    });
  }
}

TYPED_TEST(LoopThreads, VectorOperationsGiveTheSameBits) {
  using T = TypeParam;
  Draw draw(32);
  const auto x = draw.reals<T>(kManyElements, -1, 1), y = draw.reals<T>(kManyElements, -1, 1);
  for (double beta : {0.0, 0.7})
    expectSameForAllThreads("axpby", [&] {
      std::vector<T> sum = y;
      axpby<T>(test::hostContext(), kManyElements, T(0.3), x.data(), T(beta), sum.data());
      return sum;
    });
  for (Index cols : {1, 10, 37, 300}) {
    const Index rows = kManyElements / cols;
    expectSameForAllThreads("matrix of " + std::to_string(cols) + " columns", [&] {
      std::vector<T> sum = y, b(x.begin(), x.begin() + cols);
      addBias<T>(test::hostContext(), rows, cols, x.data(), sum.data());
      sumRows<T>(test::hostContext(), rows, cols, y.data(), b.data());
      append(sum, b);
      return sum;
    });
  }
}

TYPED_TEST(LoopThreads, DropoutGivesTheSameBits) {
  using T = TypeParam;
  Draw draw(34);
  // A box of an array in which rows are 9 elements apart and planes 70; its first element has the
  // global index 11.
  const Index extent[3] = {kManyElements / 40, 5, 8}, strides[3] = {70, 9, 1}, first = 11;
  const auto x = draw.reals<T>(kManyElements, -1, 1);
  const std::uint64_t counter = 3;
  expectSameForAllThreads("dropout", [&] {
    std::vector<T> y(x.size());
    applyDropout<T>(test::hostContext(), {.seed = 5, .stream = 7, .rate = 0.3}, &counter, 3, extent,
                    first, strides, x.data(), y.data());
    return y;
  });
}

TYPED_TEST(LoopThreads, SoftmaxGivesTheSameBits) {
  using T = TypeParam;
  Draw draw(33);
  for (const AxisShape& shape :
       {AxisShape{kManyElements / 10, 10, 1}, AxisShape{kManyElements / 1001, 1001, 1},
        AxisShape{2, 10, kManyElements / 20}}) {
    const Index cols = shape.n, rows = shape.outer * shape.inner;
    const auto z = draw.reals<T>(rows * cols, -4, 4), dloss = draw.reals<T>(rows, -1, 1);
    std::vector<std::int64_t> label;
    for (Index r = 0; r < rows; ++r)
      label.push_back(draw.integer(0, cols));
    expectSameForAllThreads("softmax", [&] {
      std::vector<T> m(rows), s(rows), dz(z.size());
      axisMaxima<T>(test::hostContext(), shape, z.data(), m.data());
      sumExpShifted<T>(test::hostContext(), shape, z.data(), m.data(), s.data());
      crossEntropyAdjoint<T>(test::hostContext(), shape, z.data(), m.data(), s.data(), label.data(),
                             1, dloss.data(), dz.data());
      for (const auto* more : {&s, &dz})
        append(m, *more);
      return m;
    });
  }
}

TYPED_TEST(LoopThreads, UpdatesGiveTheSameBits) {
  using T = TypeParam;
  Draw draw(34);
  const Index n = kManyElements;
  const auto g = draw.reals<T>(n, -1, 1), w = draw.reals<T>(n, -1, 1);
  for (double momentum : {0.0, 0.9})
    expectSameForAllThreads("sgd", [&] {
      std::vector<T> value = w, velocity(w.size());
      for (int step = 0; step < 2; ++step)
        sgdStep<T>(test::hostContext(), n, 0.1, momentum, 0.01, true, g.data(), velocity.data(),
                   value.data());
      append(value, velocity);
      return value;
    });
  expectSameForAllThreads("adam", [&] {
    std::vector<T> value = w, mean(w.size()), square(w.size());
    for (Index step = 1; step <= 2; ++step)
      adamStep<T>(test::hostContext(), n,
                  {.rate = 0.1,
                   .beta1 = 0.9,
                   .beta2 = 0.99,
                   .epsilon = 1e-8,
                   .decay = 0.01,
                   .isDecoupled = step == 2,
                   .number = step},
                  g.data(), mean.data(), square.data(), value.data());
    append(value, mean);
    append(value, square);
    return value;
  });
}

// Lengths around those at which the division into pieces changes (pairwise_sum.hpp), and around the
// end of a run of 256 terms.
TYPED_TEST(LoopThreads, DotsGiveTheSameBits) {
  using T = TypeParam;
  Draw draw(35);
  const auto x = draw.reals<T>(9 * kMinWork, -1, 1), y = draw.reals<T>(9 * kMinWork, -1, 1);
  std::vector<Index> lengths;
  for (Index n = kMinWork; n <= 8 * kMinWork; n *= 2)
    for (Index shift : {-256, -1, 0, 1, 255, 256, 5003})
      lengths.push_back(n + shift);
  expectSameForAllThreads("dot", [&] {
    std::vector<double> sums;
    for (Index n : lengths) {
      const Index one = 1, two = 2, half = n / 2, back = -1;
      sums.push_back(dot<T>(test::hostContext(), n, x.data(), y.data()));
      sums.push_back(sumSquares<T>(test::hostContext(), n, x.data()));
      sums.push_back(
          dotBlock<T>(test::hostContext(), 1, &n, x.data(), &one, y.data() + n - 1, &back));
      sums.push_back(dotBlock<T>(test::hostContext(), 1, &half, x.data(), &two, y.data(), &one));
    }
    return sums;
  });
}

namespace {

// A box, and its strides in two arrays, of which it is a part, or in one of which it has another
// order.
struct Box {
  const char* what;
  int rank;
  Index extent[4], x[4], y[4];
};

// {what, dimensions, extents, strides in x, strides in y}
const Box kBoxes[] = {
    {"a line", 1, {kManyElements}, {1}, {1}},
    {"every second", 1, {kManyElements}, {2}, {1}},
    {"three planes without their halo", 3, {3, 150, 160}, {25000, 164, 1}, {24000, 160, 1}},
    {"a transposed matrix", 2, {300, 250}, {250, 1}, {1, 300}},
    {"backwards", 2, {300, 250}, {250, 1}, {-250, -1}},
    {"a row for all", 2, {300, 250}, {0, 1}, {250, 1}},
    {"sums over rows", 2, {300, 250}, {250, 1}, {0, 1}},
    {"sums over columns", 2, {300, 250}, {250, 1}, {1, 0}},
    {"windows that overlap", 2, {300, 250}, {250, 1}, {100, 1}},
};

// The offset of the box's first element, which is not 0 for negative strides.
Index originOf(const Box& box, const Index* strides) {
  Index at = 0;
  for (int d = 0; d < box.rank; ++d)
    at += strides[d] < 0 ? -strides[d] * (box.extent[d] - 1) : 0;
  return at;
}

} // namespace

template <class T>
class BlockThreads : public ::testing::Test {};
TYPED_TEST_SUITE(BlockThreads, ElementTypes);

TYPED_TEST(BlockThreads, GiveTheSameBits) {
  using T = TypeParam;
  Draw draw(36);
  const Index size = 2 * kManyElements;
  const auto x = std::is_integral_v<T> ? draw.integers<T>(size) : draw.reals<T>(size, -1, 1);
  for (const Box& box : kBoxes)
    expectSameForAllThreads(box.what, [&] {
      std::vector<T> all;
      const auto add = [&](auto call) {
        std::vector<T> y = x;
        call(y.data() + originOf(box, box.y));
        append(all, y);
      };
      for (Combine op : {Combine::Copy, Combine::Add, Combine::Max})
        add([&](T* y) {
          blockCombine(test::hostContext(), op, box.rank, box.extent, x.data(), box.x, y, box.y);
        });
      // Elements that are written several times are multiplied by powers of beta.
      for (int beta : {0, -1})
        add([&](T* y) {
          blockAxpby(test::hostContext(), box.rank, box.extent, T(3), x.data(), box.x, T(beta), y,
                     box.y);
        });
      add([&](T* y) { blockScale(test::hostContext(), box.rank, box.extent, T(-1), y, box.y); });
      add([&](T* y) { fillBlock(test::hostContext(), box.rank, box.extent, T(5), y, box.y); });
      return all;
    });
}

} // namespace tenon::test
