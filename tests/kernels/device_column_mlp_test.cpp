// SPDX-License-Identifier: BSD-2-Clause
// The perceptron at each point of a box (products/column_mlp.hpp) on the device: by one kernel for
// narrow layers with a usual activation, otherwise by products. Values are compared with the host's
// to rounding (both_spaces.hpp), and those at a point must not depend on the other points.
#include "kernels/both_spaces.hpp"
#include "kernels/draw.hpp"
#include "kernels/products/column_mlp.hpp"

#include <span>

namespace tenon::test {

namespace {

template <class T>
class DeviceColumns : public ::testing::Test {};
TYPED_TEST_SUITE(DeviceColumns, RealTypes);

// A perceptron and its points, in arrays with gaps between rows of points.
struct Perceptron {
  std::vector<Index> widths;
  PointwiseFunction function;
  Index rows, columns;
  bool hasBiases, channelsLast;

  Index elements(Index channels) const { return rows * (columns + 2) * channels; }
  template <class U>
  PointArray<U> arrayOf(U* first, Index channels) const {
    const Index row = (columns + 2) * channels;
    if (channelsLast)
      return {first, {row, channels}, 1};
    return {first, {row, 1}, columns + 2};
  }
};

// Evaluates the perceptron, and records its outputs with the gaps between them; then dx and the
// gradients of the adjoint, with and without dx.
template <class T>
void evaluate(Arrays<T>& on, const Perceptron& p) {
  Draw draw(7);
  ColumnMlp<T> mlp(p.widths, p.function, on.contextPointer());
  std::vector<LayerNumbers<T>> gradients;
  for (std::size_t l = 0; l + 1 < p.widths.size(); ++l) {
    const Index in = p.widths[l], out = p.widths[l + 1];
    const double size = 1 / std::sqrt(double(in));
    const T* const weights = on.copyOf(draw.reals<T>(in * out, -size, size));
    const T* const biases = on.copyOf(draw.reals<T>(out, -0.5, 0.5));
    mlp.setLayer(int(l), {weights, p.hasBiases ? biases : nullptr});
    gradients.push_back({on.newArray(in * out), p.hasBiases ? on.newArray(out) : nullptr});
  }
  const Index in = p.widths.front(), out = p.widths.back();
  const PointBox box{2, {p.rows, p.columns}};
  const T* const x = on.copyOf(draw.reals<T>(p.elements(in), -2, 2));
  const T* const dy = on.copyOf(draw.reals<T>(p.elements(out), -0.1, 0.1));
  T *const y = on.newArray(p.elements(out)), *const dx = on.newArray(p.elements(in));
  mlp.forward(box, p.arrayOf(x, in), p.arrayOf(y, out));
  on.record(y, p.elements(out));
  for (T* const to : {dx, static_cast<T*>(nullptr)}) {
    mlp.adjoint(box, p.arrayOf(x, in), p.arrayOf(dy, out), p.arrayOf(to, in), gradients);
    on.record(dx, p.elements(in));
    for (std::size_t l = 0; l < gradients.size(); ++l) {
      on.record(gradients[l].weights, p.widths[l] * p.widths[l + 1]);
      if (p.hasBiases)
        on.record(gradients[l].biases, p.widths[l + 1]);
    }
  }
}

} // namespace

TYPED_TEST(DeviceColumns, AreThoseOfTheHost) {
  // The kernel of narrow layers has no sine, and no functions with a parameter.
  const PointwiseFunction functions[] = {
      Pointwise::Relu,       Pointwise::Tanh, Pointwise::Sigmoid,  {Pointwise::LeakyRelu, 0.1},
      {Pointwise::Elu, 1.5}, Pointwise::Gelu, Pointwise::GeluTanh, Pointwise::Silu,
      Pointwise::Softplus,   Pointwise::Sine};
  const std::vector<Index> networks[] = {{8, 64, 64, 8},
                                         {3, 5, 2},
                                         {5, 4},
                                         {1, 7, 1, 9},
                                         {128, 128, 3},
                                         {2, 130, 2}, // wider than one kernel has
                                         {2, 3, 3, 3, 3, 3, 3, 3, 3, 2}}; // with more layers
  const auto check = [](const std::vector<Index>& widths, const PointwiseFunction& function,
                        bool hasBiases, bool channelsLast) {
    SCOPED_TRACE(int(function.kind));
    const Perceptron p{widths, function, 3, 29, hasBiases, channelsLast};
    expectSame<TypeParam>([&](Arrays<TypeParam>& on) { evaluate(on, p); });
  };
  for (const PointwiseFunction& function : functions)
    check({3, 33, 5}, function, true, false);
  for (const std::vector<Index>& widths : networks)
    for (const bool isLast : {false, true}) {
      check(widths, Pointwise::Tanh, !isLast, isLast);
      check(widths, Pointwise::Gelu, isLast, isLast);
    }
}

// No points, one, and so many that each thread block has several tiles.
TYPED_TEST(DeviceColumns, AreThoseOfTheHostForAnyNumberOfPoints) {
  for (const Index columns : {0, 1, 2, 16, 17, 500, 3000})
    for (const bool isLast : {false, true}) {
      SCOPED_TRACE(columns);
      const Perceptron p{{4, 11, 3}, Pointwise::Tanh, 2, columns, true, isLast};
      expectSame<TypeParam>([&](Arrays<TypeParam>& on) { evaluate(on, p); });
    }
}

TYPED_TEST(DeviceColumns, AtAPointDoNotDependOnTheOtherPoints) {
  using T = TypeParam;
  constexpr Index kIn = 6, kHidden = 33, kOut = 3, kPoints = 2000;
  Arrays<T> on(Space::Device);
  Draw draw(9);
  ColumnMlp<T> mlp({kIn, kHidden, kOut}, Pointwise::Silu, on.contextPointer());
  mlp.setLayer(0, {on.copyOf(draw.reals<T>(kIn * kHidden, -1, 1)),
                   on.copyOf(draw.reals<T>(kHidden, -1, 1))});
  mlp.setLayer(1, {on.copyOf(draw.reals<T>(kHidden * kOut, -1, 1)), nullptr});
  const T* const x = on.copyOf(draw.reals<T>(kIn * kPoints, -1, 1));
  T *const all = on.newArray(kOut * kPoints), *const parts = on.newArray(kOut * kPoints);
  const auto evaluateAt = [&](Index first, Index count, T* y) {
    mlp.forward({1, {count}}, {x + first * kIn, {kIn}, 1}, {y + first * kOut, {kOut}, 1});
  };
  evaluateAt(0, kPoints, all);
  Index first = 0;
  for (const Index count : {1, 15, 64, 200, 720, 1000})
    evaluateAt(std::exchange(first, first + count), count, parts);
  ASSERT_EQ(first, kPoints);
  on.record(all, kOut * kPoints);
  on.record(parts, kOut * kPoints);
  const std::span<const T> values(on.results());
  EXPECT_TRUE(std::ranges::equal(values.first(kOut * kPoints), values.last(kOut * kPoints)));
}

} // namespace tenon::test
