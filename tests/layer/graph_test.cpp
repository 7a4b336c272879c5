// SPDX-License-Identifier: BSD-2-Clause
// Graphs: several inputs, shared layers, what is refused; and a recurrent net, one layer applied k
// times with its parameters shared, against loops over whole arrays.
#include "layer_run.hpp"
#include "support/draws.hpp"
#include "sys/expect_error.hpp"

#include <cmath>

namespace tenon {
namespace {

using test::expectErrorOnAll;
using test::expectNear;
using test::gathered;
using test::onWorld;
using test::tensor;
using test::world;

constexpr Index kBatch = 5, kState = 4, kInput = 3, kBoth = kState + kInput;

// h' = tanh(W [h, x] + b)
Ref<Layer> recurrentCell(CommPtr comm) {
  auto cell = test::newLayer(comm, "graph");
  cell->set("input_count", Index(2));
  const int joined = addGraphNode(*cell, test::newConcatenate(comm, 1), {-1, -2});
  const int affine = addGraphNode(*cell, test::newAffine(comm, kBoth, kState), {joined});
  addGraphNode(*cell, test::newPointwise(comm, "tanh"), {affine});
  return cell;
}

using Array = std::vector<double>;

// The net unrolled on whole arrays: states h_0 .. h_k, and for the loss <c, h_k> all gradients.
struct Unrolled {
  std::vector<Array> h, dx;
  Array dh, dW = Array(kState * kBoth, 0.0), db = Array(kState, 0.0);

  Unrolled(const Array& W, const Array& b, const Array& first, const std::vector<Array>& x,
           const Array& c)
      : h{first}, dx(x.size()), dh(c) {
    for (const Array& xt : x)
      h.push_back(step(W, b, h.back(), xt));
    for (std::size_t t = x.size(); t-- > 0;)
      back(W, t, x[t]);
  }

private:
  static double joined(const Array& h, const Array& x, Index n, Index i) {
    return i < kState ? h[n * kState + i] : x[n * kInput + i - kState];
  }
  static Array step(const Array& W, const Array& b, const Array& h, const Array& x) {
    Array next(kBatch * kState);
    for (Index n = 0; n < kBatch; ++n)
      for (Index o = 0; o < kState; ++o) {
        double sum = b[o];
        for (Index i = 0; i < kBoth; ++i)
          sum += W[o * kBoth + i] * joined(h, x, n, i);
        next[n * kState + o] = std::tanh(sum);
      }
    return next;
  }
  void back(const Array& W, std::size_t t, const Array& x) {
    Array before(kBatch * kState, 0.0);
    dx[t].assign(kBatch * kInput, 0.0);
    for (Index n = 0; n < kBatch; ++n)
      for (Index o = 0; o < kState; ++o) {
        const double y = h[t + 1][n * kState + o], g = dh[n * kState + o] * (1 - y * y);
        db[o] += g;
        for (Index i = 0; i < kBoth; ++i) {
          dW[o * kBoth + i] += g * joined(h[t], x, n, i);
          (i < kState ? before[n * kState + i] : dx[t][n * kInput + i - kState]) +=
              g * W[o * kBoth + i];
        }
      }
    dh = before;
  }
};

// The distributed net: each step's state lies as the step before has left it.
void expectRecurrent(const Layout& state, const Layout& input, int steps, const char* storage) {
  const auto cell = recurrentCell(world());
  cell->setDataType(TENON_FLOAT64);
  cell->setStackDepth(steps);
  cell->setText("storage", storage);
  std::vector<Ref<DTensor>> h = {tensor(state)}, x;
  test::fillValid(*h[0], 1);
  std::vector<Array> wholeX;
  for (int t = 0; t < steps; ++t) {
    x.push_back(tensor(input));
    test::fillValid(*x[t], 10 + t);
    wholeX.push_back(gathered(*x[t]));
    cell->setUp({h[t]->layout(), input});
    if (t == 0)
      test::fillParameters(*cell);
    h.push_back(tensor(cell->outputLayout()));
    const DTensor* in[] = {h[t].get(), x[t].get()};
    cell->apply(Inputs(in), *h[t + 1]);
  }
  Ref<DTensor> dh = tensor(h.back()->layout().dual());
  test::fillValid(*dh, 2);
  const auto weight = cell->parameters()[0], bias = cell->parameters()[1];
  const Unrolled want(gathered(weight->value()), gathered(bias->value()), gathered(*h[0]), wholeX,
                      gathered(*dh));
  const std::string what = cell->describe();
  for (int t = steps; t-- > 0;) {
    const auto before = tensor(h[t]->layout().dual()), dx = tensor(input.dual());
    DTensor* out[] = {before.get(), dx.get()};
    cell->applyAdjoint(*dh, InputCotangents(out));
    ASSERT_NO_FATAL_FAILURE(expectNear(gathered(*h[t + 1]), want.h[t + 1], 1e-13, what));
    ASSERT_NO_FATAL_FAILURE(expectNear(gathered(*dx), want.dx[t], 1e-13, what));
    dh = before;
  }
  expectNear(gathered(*dh), want.dh, 1e-13, what);
  expectNear(gathered(weight->gradient()), want.dW, 1e-13, what);
  expectNear(gathered(bias->gradient()), want.db, 1e-13, what);
}

TEST(Recurrent, StepsBackInTimeThroughSharedParameters) {
  const char* const states[] = {"S0", "S1", "B", "R", "P"};
  for (const char* state : states)
    for (const char* input : states)
      for (const char* storage : {"use", "root"})
        ASSERT_NO_FATAL_FAILURE(expectRecurrent(onWorld({kBatch, kState}, state),
                                                onWorld({kBatch, kInput}, input), 4, storage))
            << state << " and " << input;
}

TEST(Recurrent, RunsOnADrawnGrid) {
  test::LayoutDraw draw(61);
  for (int i = 0, end = test::draws(20); i < end; ++i)
    ASSERT_NO_FATAL_FAILURE(expectRecurrent(test::drawInput(draw, {kBatch, kState}),
                                            test::drawInput(draw, {kBatch, kInput}), 3, "use"));
}

// Where the state lies the same after a step one set-up serves all steps.
TEST(Recurrent, SetsUpOncePerShape) {
  const auto cell = recurrentCell(world());
  const Layout h = onWorld({kBatch, kState}, "S0"), x = onWorld({kBatch, kInput}, "S0");
  cell->setUp({h, x});
  const std::string once = cell->describe();
  cell->setUp({cell->outputLayout(), x});
  EXPECT_EQ(cell->describe(), once);
  cell->setUp({onWorld({2, kState}, "S0"), onWorld({2, kInput}, "S0")});
  EXPECT_NE(cell->describe(), once);
  EXPECT_EQ(cell->parameters().size(), 2u);
}

TEST(Graph, SharesALayerOfSeveralNodes) {
  const auto graph = test::residualNet(world());
  graph->setUp(onWorld({2, 3, 6, 5}, "S0"));
  EXPECT_EQ(graph->parameters().size(), 2u); // weight and bias of the one convolution
}

TEST(Graph, RefusesNodesThatAreNotThere) {
  const auto graph = test::newLayer(world(), "graph");
  const auto relu = test::newPointwise(world(), "relu");
  EXPECT_THROW(addGraphNode(*graph, relu, {}), Error);
  EXPECT_THROW(addGraphNode(*graph, relu, {0}), Error);
  EXPECT_THROW(addGraphNode(*graph, relu, {-2}), Error);
  EXPECT_THROW(addGraphNode(*graph, graph, {-1}), Error);
  EXPECT_EQ(addGraphNode(*graph, relu, {-1}), 0);
  EXPECT_THROW(addGraphNode(*graph, relu, {1}), Error);
  EXPECT_THROW(graph->set("input_count", Index(2)), Error);
}

Ref<Layer> sequential() {
  return test::newLayer(world(), "sequential");
}

TEST(Graph, ContainersDoNotHoldEachOther) {
  const auto outer = sequential(), middle = sequential(), inner = sequential();
  expectError(TENON_ERR_ARG, {"cannot contain itself"}, [&] { appendLayer(*outer, outer); });
  appendLayer(*middle, inner);
  expectError(TENON_ERR_ARG, {"cannot contain itself"}, [&] { appendLayer(*inner, middle); });
  appendLayer(*outer, middle);
  expectError(TENON_ERR_ARG, {"cannot contain itself"}, [&] { appendLayer(*inner, outer); });
  EXPECT_TRUE(inner->nodes().empty());
  appendLayer(*inner, test::newPointwise(world(), "relu"));
  outer->setUp(onWorld({4, 3}, "S0"));
  EXPECT_EQ(outer.get()->references(), 1);
  EXPECT_EQ(inner.get()->references(), 2);
}

// From within and from without, until one more is refused.
TEST(Graph, NestsContainersUpToABound) {
  for (const bool fromWithin : {true, false}) {
    Ref<Layer> all = sequential(), last = all;
    int nested = 0;
    const auto nest = [&] {
      for (; nested < 100000; ++nested) {
        const Ref<Layer> next = sequential();
        appendLayer(fromWithin ? *next : *last, fromWithin ? last : next);
        last = next;
      }
    };
    expectError(TENON_ERR_ARG, {"30", "nested"}, nest);
    EXPECT_EQ(nested, 30);
    Layer* innermost = fromWithin ? all.get() : last.get();
    expectError(TENON_ERR_ARG, {"nested"},
                [&] { appendLayer(*innermost, test::newPointwise(world(), "relu")); });
    const Ref<Layer> outermost = fromWithin ? last : all;
    Layer* at = outermost.get();
    while (at->children().size() == 1 && at->children()[0] != innermost)
      at = at->children()[0];
    appendLayer(*at, test::newPointwise(world(), "relu"));
  }
}

// A refused layer is where it was: it may go in another container of the same depth.
TEST(Graph, ARefusedLayerKeepsItsLevel) {
  const auto deep = sequential();
  Ref<Layer> last = deep;
  for (int i = 0; i < 20; ++i) {
    const Ref<Layer> next = sequential();
    appendLayer(*last, next);
    last = next;
  }
  const auto other = sequential(), tail = sequential();
  Ref<Layer> end = tail;
  for (int i = 0; i < 15; ++i) {
    const Ref<Layer> next = sequential();
    appendLayer(*end, next);
    end = next;
  }
  expectError(TENON_ERR_ARG, {"nested"}, [&] { appendLayer(*last, tail); });
  for (int i = 0; i < 15; ++i) {
    const Ref<Layer> next = sequential();
    appendLayer(*end, next);
    end = next;
  }
  EXPECT_EQ(last->nodes().size(), 0u);
}

TEST(Graph, RefusesWhatNothingReads) {
  const Layout x = onWorld({4, 3}, "S0");
  const auto relu = test::newPointwise(world(), "relu");
  const auto dangling = test::newLayer(world(), "graph");
  addGraphNode(*dangling, relu, {-1});
  addGraphNode(*dangling, relu, {-1});
  expectErrorOnAll(TENON_ERR_STATE, {"node 0", "is not used"}, [&] { dangling->setUp(x); });
  const auto deaf = test::newLayer(world(), "graph");
  deaf->set("input_count", Index(2));
  addGraphNode(*deaf, test::newPointwise(world(), "relu"), {-1});
  expectErrorOnAll(TENON_ERR_STATE, {"input 1", "is not used"}, [&] { deaf->setUp({x, x}); });
  expectErrorOnAll(TENON_ERR_ARG, {"2 inputs", "1 layout"}, [&] { deaf->setUp(x); });
  expectErrorOnAll(TENON_ERR_STATE, {"no layers"},
                   [&] { test::newLayer(world(), "graph")->setUp(x); });
}

} // namespace
} // namespace tenon
