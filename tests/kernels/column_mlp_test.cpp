// SPDX-License-Identifier: BSD-2-Clause
// The perceptron at each point of a box (products/column_mlp.hpp), with each instruction set:
// values and tangents compared with the definition in double, point by point; the adjoint by the
// identity <tangent, dy> = <dx, adjoint of x> + <dW, gradients>; and the same bits for any number
// of threads and of points.
#include "kernels/products/column_mlp.hpp"

#include "kernels/draw.hpp"
#include "kernels/thread_count.hpp"
#include "support/draws.hpp"

#include <cmath>
#include <cstring>
#include <numeric>

namespace tenon::test {
namespace {

// The channels of rows x columns points in an array with gaps, whose elements must not change.
template <class T>
struct Field {
  std::vector<T> elements;
  PointArray<T> array() { return {elements.data() + first, {strides[0], strides[1]}, channel}; }
  PointArray<const T> constant() const {
    return {elements.data() + first, {strides[0], strides[1]}, channel};
  }
  T& at(Index i, Index j, Index c) {
    return elements[size_t(first + i * strides[0] + j * strides[1] + c * channel)];
  }
  Index first, strides[2],
      channel; // offset of the first element; strides of rows, columns, channels
};

// A perceptron and the points at which it is evaluated.
struct Case {
  std::vector<Index> widths;
  Index rows, columns;
  bool biases, channelsLast;
  PointwiseFunction function;
};

template <class T>
Field<T> fieldOf(Draw& draw, const Case& c, Index channels) {
  const Index gap = 3;
  Field<T> field;
  if (c.channelsLast)
    field = {.elements = {},
             .first = 2,
             .strides = {c.columns * channels + gap, channels},
             .channel = 1};
  else
    field = {.elements = {},
             .first = 1,
             .strides = {channels * (c.columns + gap), 1},
             .channel = c.columns + gap};
  field.elements = draw.reals<T>(c.rows * (c.columns + gap) * (channels + gap) + gap, -1, 1);
  return field;
}

// Random weights and biases of all layers, or arrays for their gradients.
template <class T>
struct Numbers {
  std::vector<std::vector<T>> weights, biases;
  Numbers(Draw& draw, const Case& c, double size) {
    for (size_t l = 0; l + 1 < c.widths.size(); ++l) {
      weights.push_back(draw.reals<T>(c.widths[l] * c.widths[l + 1], -size, size));
      biases.push_back(draw.reals<T>(c.biases ? c.widths[l + 1] : 0, -size, size));
    }
  }
  template <class U>
  std::vector<LayerNumbers<U>> layers() {
    std::vector<LayerNumbers<U>> all;
    for (size_t l = 0; l < weights.size(); ++l)
      all.push_back({weights[l].data(), biases[l].empty() ? nullptr : biases[l].data()});
    return all;
  }
};

// Value and tangent of one point, in double.
template <class T>
void expectedPoint(const Case& c, const Numbers<T>& n, const Numbers<T>& dn, std::vector<double>& h,
                   std::vector<double>& dh) {
  KernelContext context;
  for (size_t l = 0; l < n.weights.size(); ++l) {
    const size_t in = h.size(), out = size_t(c.widths[l + 1]);
    std::vector<double> z(out), dz(out), f(out), df(out);
    for (size_t k = 0; k < out; ++k) {
      z[k] = c.biases ? double(n.biases[l][k]) : 0;
      dz[k] = c.biases ? double(dn.biases[l][k]) : 0;
      for (size_t i = 0; i < in; ++i) {
        z[k] += double(n.weights[l][k * in + i]) * h[i];
        dz[k] +=
            double(n.weights[l][k * in + i]) * dh[i] + double(dn.weights[l][k * in + i]) * h[i];
      }
    }
    if (l + 1 < n.weights.size()) {
      pointwiseForward<double>(context, c.function, Index(out), z.data(), f.data());
      pointwiseDerivative<double>(context, c.function, Index(out), z.data(), f.data(), dz.data(),
                                  df.data());
      h = f, dh = df;
    } else {
      h = z, dh = dz;
    }
  }
}

template <class T>
void expectMlp(Draw& draw, const Case& c) {
  SCOPED_TRACE(c.rows * c.columns);
  const double tolerance = 300 * double(std::numeric_limits<T>::epsilon());
  const PointBox box{2, {c.rows, c.columns}};
  Numbers<T> n(draw, c, 0.6), dn(draw, c, 1), gradients(draw, c, 1);
  Field<T> x = fieldOf<T>(draw, c, c.widths.front()), dx = fieldOf<T>(draw, c, c.widths.front()),
           y = fieldOf<T>(draw, c, c.widths.back()), dy = fieldOf<T>(draw, c, c.widths.back()),
           weight = fieldOf<T>(draw, c, c.widths.back()), adjointOfX = dx;
  const Field<T> untouched = y;
  ColumnMlp<T> mlp(c.widths, c.function, std::make_shared<KernelContext>());
  const auto layers = n.template layers<const T>();
  for (size_t l = 0; l < layers.size(); ++l)
    mlp.setLayer(int(l), layers[l]);
  mlp.forward(box, x.constant(), y.array());
  mlp.tangent(box, x.constant(), dx.constant(), dn.template layers<const T>(), dy.array());
  const Numbers<T> before = gradients;
  mlp.adjoint(box, x.constant(), weight.constant(), adjointOfX.array(),
              gradients.template layers<T>());

  // The two sides of the identity of tangent and adjoint, and the magnitude of their terms.
  double pairedWithOutputs = 0, pairedWithInputs = 0, size = 1;
  for (Index i = 0; i < c.rows; ++i)
    for (Index j = 0; j < c.columns; ++j) {
      std::vector<double> h, dh;
      for (Index k = 0; k < c.widths.front(); ++k) {
        h.push_back(double(x.at(i, j, k)));
        dh.push_back(double(dx.at(i, j, k)));
        pairedWithInputs += dh.back() * double(adjointOfX.at(i, j, k));
        size += std::abs(dh.back() * double(adjointOfX.at(i, j, k)));
      }
      expectedPoint(c, n, dn, h, dh);
      for (Index k = 0; k < c.widths.back(); ++k) {
        ASSERT_NEAR(double(y.at(i, j, k)), h[size_t(k)], tolerance) << i << " " << j << " " << k;
        ASSERT_NEAR(double(dy.at(i, j, k)), dh[size_t(k)], 10 * tolerance) << i << " " << j;
        pairedWithOutputs += dh[size_t(k)] * double(weight.at(i, j, k));
        y.at(i, j, k) = untouched.elements[size_t(&y.at(i, j, k) - y.elements.data())];
      }
    }
  EXPECT_EQ(y.elements, untouched.elements); // the gaps between the points
  const auto addPairing = [&](const std::vector<T>& d, const std::vector<T>& g,
                              const std::vector<T>& g0) {
    for (size_t i = 0; i < d.size(); ++i) {
      pairedWithInputs += double(d[i]) * (double(g[i]) - double(g0[i]));
      size += std::abs(double(d[i]) * double(g[i]));
    }
  };
  for (size_t l = 0; l < layers.size(); ++l) {
    addPairing(dn.weights[l], gradients.weights[l], before.weights[l]);
    addPairing(dn.biases[l], gradients.biases[l], before.biases[l]);
  }
  EXPECT_NEAR(pairedWithOutputs, pairedWithInputs, tolerance * size);
}

} // namespace

template <class T>
class ColumnMlpKernel : public ::testing::Test {};
TYPED_TEST_SUITE(ColumnMlpKernel, RealTypes);

TYPED_TEST(ColumnMlpKernel, IsItsDefinitionAtEachPoint) {
  using T = TypeParam;
  const PointwiseFunction functions[] = {Pointwise::Tanh, Pointwise::Gelu, Pointwise::Relu,
                                         Pointwise::Sine};
  for (InstructionSet set : instructionSets()) {
    SCOPED_TRACE(instructionSetName(set));
    limitInstructionSet(set);
    Draw draw(71);
    for (const auto& [rows, columns] :
         {std::pair<Index, Index>{1, 1}, {1, 3}, {2, 5}, {1, 16}, {3, 37}, {7, 41}, {0, 4}})
      for (bool last : {false, true}) {
        const Index layers = draw.integer(1, 3);
        Case c{.widths = {},
               .rows = rows,
               .columns = columns,
               .biases = draw.withProbability(0.6),
               .channelsLast = last,
               .function = functions[draw.integer(0, 3)]};
        for (Index l = 0; l <= layers; ++l)
          c.widths.push_back(draw.integer(1, 21));
        expectMlp<T>(draw, c);
      }
    // A network as solvers use it, for numbers of points below and above those of a block, and for
    // the 64 of a block without vector instructions.
    Case network{.widths = {8, 32, 32, 4},
                 .rows = 1,
                 .columns = 1,
                 .biases = true,
                 .channelsLast = true,
                 .function = Pointwise::Tanh};
    for (Index points : {1, 2, 5, 16, 64, 333}) {
      network.columns = points;
      expectMlp<T>(draw, network);
    }
  }
  limitInstructionSet(instructionSets().back());
}

TYPED_TEST(ColumnMlpKernel, GivesTheSameBitsOnAnyNumberOfThreads) {
  using T = TypeParam;
  const Case c{.widths = {5, 16, 3},
               .rows = 40,
               .columns = 50,
               .biases = true,
               .channelsLast = false,
               .function = Pointwise::Tanh};
  const PointBox box{2, {c.rows, c.columns}};
  expectSameForAllThreads("column perceptron", [&] {
    Draw draw(72);
    Numbers<T> n(draw, c, 0.6), gradients(draw, c, 1);
    Field<T> x = fieldOf<T>(draw, c, 5), dx = x, y = fieldOf<T>(draw, c, 3);
    ColumnMlp<T> mlp(c.widths, c.function, std::make_shared<KernelContext>());
    const auto layers = n.template layers<const T>();
    for (size_t l = 0; l < layers.size(); ++l)
      mlp.setLayer(int(l), layers[l]);
    mlp.forward(box, x.constant(), y.array());
    mlp.adjoint(box, x.constant(), y.constant(), dx.array(), gradients.template layers<T>());
    std::vector<T> all = y.elements;
    append(all, dx.elements);
    for (const auto& numbers : gradients.weights)
      append(all, numbers);
    for (const auto& numbers : gradients.biases)
      append(all, numbers);
    return all;
  });
}

// The result of a row depends neither on the number of rows nor on its position among them.
TYPED_TEST(ColumnMlpKernel, GivesTheSameBitsForAnyNumberOfRows) {
  using T = TypeParam;
  constexpr Index kRows = 200;
  const ThreadCount one(1); // many small calls, which more threads would only slow down
  for (InstructionSet set : instructionSets()) {
    SCOPED_TRACE(instructionSetName(set));
    limitInstructionSet(set);
    Draw draw(73);
    int turn = 0;
    for (const PointwiseFunction function :
         {Pointwise::Tanh, Pointwise::Gelu, Pointwise::Silu, Pointwise::Sine})
      for (bool biases : {true, false}) {
        const Case c{.widths = {draw.integer(1, 21), draw.integer(1, 40), draw.integer(1, 21)},
                     .rows = kRows,
                     .columns = 1,
                     .biases = biases,
                     .channelsLast = true,
                     .function = function};
        Numbers<T> n(draw, c, 0.6), dn(draw, c, 1), unused(draw, c, 1);
        Field<T> x = fieldOf<T>(draw, c, c.widths.front()), dx = x,
                 y = fieldOf<T>(draw, c, c.widths.back()), dy = y;
        x.at(77, 0, 0) = T(1e8); // an angle for which the sine uses another form
        ColumnMlp<T> mlp(c.widths, c.function, std::make_shared<KernelContext>());
        const auto layers = n.template layers<const T>();
        for (size_t l = 0; l < layers.size(); ++l)
          mlp.setLayer(int(l), layers[l]);
        // y, the tangent and the adjoint for `count` rows from `first` on.
        const auto resultsOf = [&](Index first, Index count) {
          Field<T> rowsOf[] = {x, y, dy, dx};
          for (Field<T>& field : rowsOf)
            field.first += first * field.strides[0];
          auto& [from, to, tangent, adjointOfX] = rowsOf;
          const PointBox box{2, {count, 1}};
          mlp.forward(box, from.constant(), to.array());
          mlp.tangent(box, from.constant(), from.constant(), dn.template layers<const T>(),
                      tangent.array());
          mlp.adjoint(box, from.constant(), to.constant(), adjointOfX.array(),
                      unused.template layers<T>());
          std::vector<T> results;
          for (Index i = 0; i < count; ++i) {
            for (Index k = 0; k < c.widths.back(); ++k)
              results.insert(results.end(), {to.at(i, 0, k), tangent.at(i, 0, k)});
            for (Index k = 0; k < c.widths.front(); ++k)
              results.push_back(adjointOfX.at(i, 0, k));
          }
          return results;
        };
        const std::vector<T> all = resultsOf(0, kRows);
        const size_t ofRow = all.size() / size_t(kRows);
        // Each number of rows is tested with one of the functions, or with every function in a run
        // of all draws.
        const int step = drawsAll() ? 1 : 4;
        for (Index count = 1 + turn++ % step; count <= kRows; count += step) {
          const Index first = draw.integer(0, kRows - count);
          const std::vector<T> some = resultsOf(first, count);
          ASSERT_EQ(
              std::memcmp(some.data(), all.data() + ofRow * size_t(first), some.size() * sizeof(T)),
              0)
              << count << " rows from " << first << " on";
        }
      }
  }
  limitInstructionSet(instructionSets().back());
}

} // namespace tenon::test
