// SPDX-License-Identifier: BSD-2-Clause
// Graphs of layers: several inputs and outputs, layers that are several nodes, nesting, and errors.
// A recurrent network, in which one layer is applied k times with shared parameters, is compared
// with loops over whole arrays (Unrolled).
#include "layer/derivatives/derivative_check.hpp"
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

// The reference: the network unrolled on whole arrays, with states h_0 .. h_k and, for the loss <c,
// h_k>, all gradients.
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

// The distributed network. The state of each step has the layout in which the previous step wrote
// it.
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
      for (const char* storage : {"use", "root"}) {
        if (storage != std::string("use") && input != state && !test::drawsAll())
          continue;
        ASSERT_NO_FATAL_FAILURE(expectRecurrent(onWorld({kBatch, kState}, state),
                                                onWorld({kBatch, kInput}, input), 4, storage))
            << state << " and " << input;
      }
}

TEST(Recurrent, RunsOnADrawnGrid) {
  test::LayoutDraw draw(61);
  for (int i = 0, end = test::draws(20); i < end; ++i)
    ASSERT_NO_FATAL_FAILURE(expectRecurrent(test::drawInput(draw, {kBatch, kState}),
                                            test::drawInput(draw, {kBatch, kInput}), 3, "use"));
}

// If a step does not change the layout of the state, one set-up serves all steps.
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

// Outputs h = tanh(W x + b), z = W2 h and w = x * h. Another node reads h; no node reads w.
Ref<Layer> severalOutputs(const char* names) {
  auto graph = test::newLayer(world(), "graph");
  graph->set("input_names", std::string("x"));
  graph->set("output_names", std::string(names));
  const auto affine = test::newAffine(world(), 4, 4), second = test::newAffine(world(), 4, 3),
             hidden = test::newPointwise(world(), "tanh"),
             product = test::newLayer(world(), "multiply");
  hidden->setName("h");
  second->setName("z");
  const int a = addGraphNode(*graph, affine, {-1});
  const int h = addGraphNode(*graph, hidden, {a});
  addGraphNode(*graph, product, {-1, h});
  addGraphNode(*graph, second, {h});
  return graph;
}

// Each output equals that of a graph with this output alone; the adjoint for all outputs is the sum
// of theirs, and a missing cotangent counts as zero.
TEST(Graph, GivesSeveralOutputs) {
  test::LayoutDraw draw(67);
  const char* const names[] = {"h", "w=2", "z"};
  for (int i = 0, end = test::draws(15); i < end; ++i) {
    const Layout input = test::drawInput(draw, {5, 4});
    const auto graph = severalOutputs("h,w=2,z");
    graph->setDataType(TENON_FLOAT64);
    graph->setUp(input);
    test::fillParameters(*graph);
    EXPECT_EQ(graph->outputNames(), (std::vector<std::string>{"h", "w", "z"}));
    EXPECT_EQ(graph->inputNames(), std::vector<std::string>{"x"});
    const auto x = tensor(input), dx = tensor(input.dual()), only = tensor(input.dual());
    test::fillValid(*x, 1);
    std::vector<Ref<DTensor>> y, dy;
    std::vector<DTensor*> written;
    std::vector<const DTensor*> given;
    for (const Layout& output : graph->outputLayouts()) {
      y.push_back(tensor(output));
      dy.push_back(tensor(output.dual()));
      test::fillValid(*dy.back(), 2 + dy.size());
      written.push_back(y.back().get());
      given.push_back(dy.back().get());
    }
    const DTensor* in[] = {x.get()};
    DTensor* out[] = {dx.get()};
    DTensor* alone[] = {only.get()};
    graph->apply(Inputs(in), Outputs(written));
    graph->applyAdjoint(OutputCotangents(given), InputCotangents(out));
    Array sum(20, 0.0);
    std::vector<Array> gradients;
    for (const auto& p : graph->parameters())
      gradients.push_back(gathered(p->gradient()));
    for (std::size_t k = 0; k < 3; ++k) {
      // The same graph, with the other cotangents missing.
      graph->zeroGradients();
      graph->apply(Inputs(in), Outputs(written));
      std::vector<const DTensor*> one(3, nullptr);
      one[k] = given[k];
      graph->applyAdjoint(OutputCotangents(one), InputCotangents(alone));
      const Array part = gathered(*only);
      for (std::size_t e = 0; e < sum.size(); ++e)
        sum[e] += part[e];
      for (std::size_t p = 0; p < gradients.size(); ++p) {
        const Array its = gathered(graph->parameters()[p]->gradient());
        for (std::size_t e = 0; e < its.size(); ++e)
          gradients[p][e] -= its[e];
      }
      // A graph with this output as the first one. The other outputs follow, because a node that no
      // other node reads must be an output.
      std::string turned = names[k];
      for (std::size_t other = 0; other < 3; ++other)
        if (other != k)
          turned += std::string(",") + names[other];
      const auto another = severalOutputs(turned.c_str());
      another->setDataType(TENON_FLOAT64);
      another->setUp(input);
      test::fillParameters(*another);
      std::vector<Ref<DTensor>> theirs;
      std::vector<DTensor*> pointers;
      for (const Layout& output : another->outputLayouts()) {
        theirs.push_back(tensor(output));
        pointers.push_back(theirs.back().get());
      }
      another->apply(Inputs(in), Outputs(pointers));
      EXPECT_EQ(test::localCells(*theirs[0]), test::localCells(*y[k])) << turned;
    }
    expectNear(gathered(*dx), sum, 1e-13, graph->describe());
    for (const Array& rest : gradients)
      expectNear(rest, Array(rest.size(), 0.0), 1e-13, "gradients of all outputs at once");
    EXPECT_LE(checkLayerAdjoint(*graph, nullptr, 5).relativeError, 1e-12);
    EXPECT_NEAR(checkLayerTaylor(*graph, nullptr, 5).order, 2, 0.1);
  }
}

// The outputs of severalOutputs(), in another order, against loops. "again=1" is node 1, h, under a
// second name.
TEST(Graph, OutputsAreTheNodesThatTheyName) {
  const Layout input = onWorld({5, 4}, "S0");
  const auto graph = severalOutputs("z,h,w=2,again=1");
  graph->setDataType(TENON_FLOAT64);
  graph->setUp(input);
  test::fillParameters(*graph);
  const auto x = tensor(input);
  test::fillValid(*x, 1);
  std::vector<Ref<DTensor>> y;
  std::vector<DTensor*> written;
  for (const Layout& output : graph->outputLayouts()) {
    y.push_back(tensor(output));
    written.push_back(y.back().get());
  }
  const DTensor* in[] = {x.get()};
  graph->apply(Inputs(in), Outputs(written));
  const Array wholeX = gathered(*x), h = gathered(*y[1]);
  const Array W = gathered(graph->parameters()[0]->value()),
              b = gathered(graph->parameters()[1]->value()),
              W2 = gathered(graph->parameters()[2]->value()),
              b2 = gathered(graph->parameters()[3]->value());
  Array wantH, wantW, wantZ;
  for (Index n = 0; n < 5; ++n) {
    for (Index o = 0; o < 4; ++o) {
      double sum = b[o];
      for (Index i = 0; i < 4; ++i)
        sum += W[o * 4 + i] * wholeX[n * 4 + i];
      wantH.push_back(std::tanh(sum));
      wantW.push_back(wholeX[n * 4 + o] * wantH.back());
    }
    for (Index o = 0; o < 3; ++o) {
      double sum = b2[o];
      for (Index i = 0; i < 4; ++i)
        sum += W2[o * 4 + i] * wantH[n * 4 + i];
      wantZ.push_back(sum);
    }
  }
  expectNear(gathered(*y[0]), wantZ, 1e-13, "z");
  expectNear(h, wantH, 1e-13, "h");
  expectNear(gathered(*y[2]), wantW, 1e-13, "w");
  EXPECT_EQ(gathered(*y[3]), h);
}

TEST(Graph, RefusesOutputsThatAreNotThere) {
  const Layout input = onWorld({5, 4}, "S0");
  expectErrorOnAll(TENON_ERR_ARG, {"no node", "\"q\"", "q=3"},
                   [&] { severalOutputs("h,q")->setUp(input); });
  expectErrorOnAll(TENON_ERR_ARG, {"\"q\"", "node 7", "0 to 3"},
                   [&] { severalOutputs("h,q=7")->setUp(input); });
  expectErrorOnAll(TENON_ERR_STATE, {"node 2", "not used", "its outputs"},
                   [&] { severalOutputs("h,z")->setUp(input); });
  expectError(TENON_ERR_ARG, {"output_names", "h,h"}, [&] { severalOutputs("h,h"); });
  expectError(TENON_ERR_ARG, {"h=x", "number of a node"}, [&] { severalOutputs("h=x"); });
  const auto graph = severalOutputs("h,w=2,z");
  expectError(TENON_ERR_STATE, {"already has nodes", "input_names"},
              [&] { graph->set("input_names", std::string("x,mask")); });
  graph->setDataType(TENON_FLOAT64);
  graph->setUp(input);
  const auto x = tensor(input), y = tensor(graph->outputLayouts()[0]);
  expectError(TENON_ERR_ARG, {"1 tensor was passed", "3 outputs"}, [&] { graph->apply(*x, *y); });
  expectError(TENON_ERR_STATE, {"3 outputs", "one is needed"}, [&] { graph->outputLayout(); });
  const auto outer = test::newLayer(world(), "sequential");
  appendLayer(*outer, severalOutputs("h,w=2,z"));
  expectErrorOnAll(TENON_ERR_SUPPORT, {"several outputs", "is a node"},
                   [&] { outer->setUp(input); });
  const auto again = severalOutputs("h,w=2,z");
  again->set("recompute", true);
  expectErrorOnAll(TENON_ERR_SUPPORT, {"cannot recompute", "3 outputs"},
                   [&] { again->setUp(input); });
}

TEST(Graph, SharesALayerOfSeveralNodes) {
  const auto graph = test::residualNet(world());
  graph->setUp(onWorld({2, 3, 6, 5}, "S0"));
  EXPECT_EQ(graph->parameters().size(),
            2u); // weight and bias of the convolution that both nodes share
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

// A layer is put into further containers, and containers into it, until the limit on nesting
// refuses one.
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

// A layer that a container has refused is unchanged and can be added to another container of the
// same depth.
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

// Three products of one tensor, as for queries, keys and values: y = sum over i of (W_i x + b_i),
// and dx = sum over i of W_i^T dy. The tensor is split by channels, which each product needs in
// full: it is moved once for all of them.
TEST(Graph, EqualConversionsOfOneTensorAreOne) {
  constexpr Index kIn = 8, kOut = 6;
  constexpr int kProducts = 3;
  const Ref<Layer> graph = test::newLayer(world(), "graph");
  std::vector<int> products;
  for (int i = 0; i < kProducts; ++i) {
    const Ref<Layer> affine = test::newAffine(world(), kIn, kOut);
    affine->setText("signature", "o");
    products.push_back(addGraphNode(*graph, affine, {-1}));
  }
  const int sum = addGraphNode(*graph, test::newLayer(world(), "add"), {products[0], products[1]});
  addGraphNode(*graph, test::newLayer(world(), "add"), {sum, products[2]});
  test::Step step(graph, onWorld({kBatch, kIn}, "S1"));
  test::fillParameters(*graph);
  test::fillValid(*step.x, 1);
  test::fillValid(*step.dy, 2);
  step.apply();
  step.adjoint();
  const Array x = gathered(*step.x), dy = gathered(*step.dy);
  Array y(kBatch * kOut, 0.0), dx(kBatch * kIn, 0.0);
  for (int i = 0; i < kProducts; ++i) {
    const Array W = gathered(graph->parameters()[2 * i]->value()),
                b = gathered(graph->parameters()[2 * i + 1]->value());
    for (Index n = 0; n < kBatch; ++n)
      for (Index o = 0; o < kOut; ++o) {
        y[n * kOut + o] += b[o];
        for (Index c = 0; c < kIn; ++c) {
          y[n * kOut + o] += W[o * kIn + c] * x[n * kIn + c];
          dx[n * kIn + c] += W[o * kIn + c] * dy[n * kOut + o];
        }
      }
  }
  expectNear(gathered(*step.y), y, 1e-13, "y");
  expectNear(gathered(*step.dx), dx, 1e-13, "dx");
  const MapList& list = graph->maps(Layouts{step.x->layout()}).list();
  const auto moves = std::ranges::count_if(list.maps(), [&](const Map& map) {
    return map.kind == Map::Kind::Operator && list.values()[map.x[0]].layout == step.x->layout();
  });
  EXPECT_EQ(moves, world()->size() > 1 ? 1 : 0) << graph->describe();
}

} // namespace
} // namespace tenon
