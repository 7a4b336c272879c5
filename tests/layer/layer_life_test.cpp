// SPDX-License-Identifier: BSD-2-Clause
// The life of a layer: set-up, the stack of Apply calls whose adjoints are pending, saved tensors
// and changes to them, arguments that overlap, and gradients that accumulate.
#include "layer_run.hpp"

#include "sys/expect_error.hpp"

#include <algorithm>

namespace tenon {
namespace {

using test::localCells;
using test::onWorld;
using test::tensor;
using test::world;

constexpr Index kIn = 6, kOut = 5;

// An affine layer with this stack depth.
Ref<Layer> small(int depth = 1) {
  auto layer = test::newAffine(world(), kIn, kOut);
  layer->setDataType(TENON_FLOAT64);
  layer->setStackDepth(depth);
  return layer;
}

Ref<Layer> tanhLayer(int depth = 1) {
  auto layer = test::newPointwise(world(), "tanh");
  layer->setDataType(TENON_FLOAT64);
  layer->setStackDepth(depth);
  return layer;
}

Layout batch(Index samples) {
  return onWorld({samples, kIn}, "S0");
}

// The tensors for one Apply of a layer that other such objects share, with random values.
test::Step drawn(const Ref<Layer>& layer, const Layout& input, std::uint64_t stream) {
  test::Step step(layer, input);
  test::fillValid(*step.x, stream);
  test::fillValid(*step.dy, stream + 100);
  return step;
}

std::vector<double> weightGradient(const Ref<Layer>& layer) {
  return test::gathered(layer->parameters()[0]->gradient());
}

std::vector<double> sum(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] += b[i];
  return a;
}

TEST(LayerStack, RefusesAPushBeyondItsDepth) {
  const auto layer = small(2);
  test::Step step = drawn(layer, batch(8), 1);
  step.apply();
  step.apply();
  expectError(TENON_ERR_STATE, {"SetStackDepth", "2"}, [&] { step.apply(); });
  step.adjoint();
  step.adjoint();
  expectError(TENON_ERR_STATE, {"no pending evaluation"}, [&] { step.adjoint(); });
}

TEST(LayerStack, RefusesAnAdjointOrATangentWithoutApply) {
  test::Step step = drawn(small(), batch(8), 1);
  expectError(TENON_ERR_STATE, {"no pending evaluation"}, [&] { step.adjoint(); });
  expectError(TENON_ERR_STATE, {"no pending evaluation"},
              [&] { step.layer->applyTangent(step.x.get(), *step.y); });
}

TEST(LayerArguments, AreTwoTensors) {
  const auto layer = tanhLayer();
  const Layout layout = onWorld({4, 3}, "S0");
  layer->setUp(layout);
  const auto x = tensor(layout), y = tensor(layout);
  expectError(TENON_ERR_ARG, {"the same"}, [&] { layer->apply(*x, *x); });
  layer->apply(*x, *y);
  expectError(TENON_ERR_ARG, {"the same"}, [&] { layer->applyTangent(x.get(), *x); });
  expectError(TENON_ERR_ARG, {"the same"}, [&] { layer->applyAdjoint(*x, x.get()); });
}

// Lets a tensor use an array of the test, with these strides.
void placeAt(DTensor& x, double* first, Shape strides) {
  const std::vector<Index> none(strides.size(), 0);
  x.placeArray(first, strides, none, none, /*readOnly=*/false);
}

// Overlapping arrays with different strides: the output's rows are shorter than the input's.
TEST(LayerArguments, ShareNoMemory) {
  const Layout one = onWorld({2, kIn}, "B");
  const auto layer = small();
  layer->setText("signature", "B"); // every rank has an output that overlaps
  test::Step step = drawn(layer, one, 1);
  std::vector<double> memory(4 * kIn);
  const auto expectRefused = [&](auto call) {
    expectError(TENON_ERR_ARG, {"arrays of the input and output", "overlap"}, call);
  };
  placeAt(*step.x, memory.data(), {kIn, 1});
  placeAt(*step.y, &memory[kIn], {kOut, 1});
  expectRefused([&] { step.apply(); });
  EXPECT_EQ(step.layer->stackSize(), 0);
  placeAt(*step.y, &memory[2 * kIn], {kOut, 1});
  step.apply();
  const auto dx = tensor(one);
  placeAt(*dx, &memory[2 * kIn + 1], {kIn, 1});
  expectRefused([&] { step.layer->applyTangent(dx.get(), *step.y); });
  placeAt(*step.dy, memory.data(), {kOut, 1});
  placeAt(*step.dx, memory.data(), {kIn, 1});
  expectRefused([&] { step.adjoint(); });
  EXPECT_EQ(step.layer->stackSize(), 1);
  placeAt(*step.dy, &memory[2 * kIn], {kOut, 1});
  step.adjoint();
}

// Input and output are two components of one array, as solvers have them; they share no element.
TEST(LayerArguments, MayBeInterleaved) {
  const auto layer = tanhLayer();
  const Layout one = onWorld({3, 4}, "B");
  const auto apart = drawn(layer, one, 1);
  layer->apply(*apart.x, *apart.y);
  layer->clearStack();
  const auto x = tensor(one), y = tensor(one);
  std::vector<double> memory(24, 7);
  placeAt(*x, memory.data(), {8, 2});
  placeAt(*y, &memory[1], {8, 2});
  copyLocal(*apart.x, *x);
  layer->apply(*x, *y);
  for (Index i = 0; i < 12; ++i) {
    EXPECT_EQ(memory[2 * i], apart.x->data<double>()[i]);
    EXPECT_EQ(memory[2 * i + 1], apart.y->data<double>()[i]);
  }
}

TEST(LayerArguments, CotangentsShareNoMemory) {
  const auto layer = test::newLayer(world(), "add");
  layer->setDataType(TENON_FLOAT64);
  const Layout one = onWorld({2, 3}, "B");
  layer->setUp(Layouts{one, one});
  const auto x = tensor(one), y = tensor(one), dy = tensor(one.dual()), first = tensor(one.dual()),
             second = tensor(one.dual());
  const DTensor* inputs[] = {x.get(), x.get()};
  layer->apply(Inputs(inputs), *y);
  std::vector<double> memory(12);
  placeAt(*first, memory.data(), {3, 1});
  placeAt(*second, &memory[5], {3, 1});
  DTensor* cotangents[] = {first.get(), second.get()};
  expectError(TENON_ERR_ARG, {"cotangents of inputs 0 and 1", "overlap"},
              [&] { layer->applyAdjoint(*dy, InputCotangents(cotangents)); });
  placeAt(*second, &memory[6], {3, 1});
  layer->applyAdjoint(*dy, InputCotangents(cotangents));
}

TEST(LayerStack, ForgetsWhatClearStackClears) {
  test::Step step = drawn(small(), batch(8), 1);
  step.apply();
  step.layer->clearStack();
  expectError(TENON_ERR_STATE, {"no pending evaluation"}, [&] { step.adjoint(); });
  step.apply();
  step.adjoint();
}

// x_{t+1} = tanh(x_t): each adjoint, backwards in time, multiplies by 1 - x_{t+1}^2.
TEST(LayerStack, StepsBackInTime) {
  constexpr int kSteps = 3;
  const auto layer = tanhLayer(kSteps);
  const Layout layout = onWorld({4, 3}, "S0");
  layer->setUp(layout);
  std::vector<Ref<DTensor>> states = {tensor(layout)};
  fillUniform(*states[0], /*seed=*/3, /*stream=*/1, -2, 2);
  for (int t = 0; t < kSteps; ++t) {
    states.push_back(tensor(layout));
    layer->apply(*states[t], *states[t + 1]);
  }
  std::vector<Ref<DTensor>> cotangents = {tensor(layout.dual()), tensor(layout.dual())};
  fillConstant(*cotangents[0], 1);
  for (int t = kSteps; t-- > 0;) {
    layer->applyAdjoint(*cotangents[0], cotangents[1].get());
    std::swap(cotangents[0], cotangents[1]);
  }
  std::vector<double> want(states[0]->localElements(), 1);
  for (int t = 1; t <= kSteps; ++t)
    for (std::size_t i = 0; i < want.size(); ++i)
      want[i] *= 1 - std::pow(localCells(*states[t])[i], 2);
  test::expectNear(localCells(*cotangents[0]), want, 1e-14, "derivative through time");
}

TEST(LayerStack, UnrolledApplicationsAddTheirGradients) {
  const auto layer = small(3);
  std::vector<test::Step> steps;
  std::vector<double> want(kIn * kOut, 0);
  for (int t = 0; t < 3; ++t) {
    const auto single = small();
    test::Step alone = drawn(single, batch(8), t);
    test::fillParameters(*single);
    alone.apply();
    alone.adjoint();
    want = sum(want, weightGradient(single));
    steps.push_back(drawn(layer, batch(8), t));
  }
  test::fillParameters(*layer);
  for (int t = 0; t < 3; ++t)
    steps[t].apply();
  for (int t = 3; t-- > 0;)
    steps[t].adjoint();
  test::expectNear(weightGradient(layer), want, 1e-14, "gradient over three steps");
}

TEST(LayerStack, HoldsDifferentInputLayouts) {
  if (world()->size() == 1)
    GTEST_SKIP() << "on one process all layouts of a shape are equal";
  const auto layer = small(2), wide = small(), narrow = small();
  const Layout other = onWorld({8, kIn}, "S1");
  test::Step a = drawn(layer, batch(8), 1), b = drawn(layer, other, 2);
  test::Step aAlone = drawn(wide, batch(8), 1), bAlone = drawn(narrow, other, 2);
  for (const auto& l : {layer, wide, narrow})
    test::fillParameters(*l);
  for (test::Step* step : {&aAlone, &bAlone}) {
    step->apply();
    step->adjoint();
  }
  a.apply();
  b.apply();
  EXPECT_THROW(a.adjoint(), Error); // the top of the stack is the Apply of b
  b.adjoint();
  a.adjoint();
  EXPECT_EQ(localCells(*a.dx), localCells(*aAlone.dx));
  EXPECT_EQ(localCells(*b.dx), localCells(*bAlone.dx));
  test::expectNear(weightGradient(layer), sum(weightGradient(wide), weightGradient(narrow)), 1e-14,
                   "gradient of both");
}

// All input layouts have one stack; otherwise a container could push a frame where a layer in it
// cannot.
TEST(LayerStack, HasOneDepthForAllLayouts) {
  const auto layer = small(1);
  test::Step a = drawn(layer, batch(8), 1), b = drawn(layer, batch(4), 2);
  a.apply();
  expectError(TENON_ERR_STATE, {"SetStackDepth"}, [&] { b.apply(); });
  a.adjoint();
  b.apply();
  b.adjoint();
}

TEST(LayerInference, KeepsNothing) {
  test::Step step = drawn(small(), batch(8), 1);
  step.layer->setTraining(false);
  for (int i = 0; i < 3; ++i)
    step.apply();
  EXPECT_EQ(step.x->references(), 1);
  expectError(TENON_ERR_STATE, {"no pending evaluation"}, [&] { step.adjoint(); });
  const auto y = localCells(*step.y);
  step.layer->setTraining(true);
  step.apply();
  EXPECT_EQ(localCells(*step.y), y);
}

TEST(LayerKeeping, RefusesALibraryTensorThatWasChanged) {
  test::Step step = drawn(small(), batch(8), 1);
  step.apply();
  fillConstant(*step.x, 1);
  expectError(TENON_ERR_STATE, {"was changed after"}, [&] { step.adjoint(); });
  step.layer->clearStack();
  step.apply();
  step.adjoint();

  test::Step output = drawn(tanhLayer(), batch(8), 1); // tanh saves its output
  output.apply();
  fillConstant(*output.y, 1);
  expectError(TENON_ERR_STATE, {"was changed after"}, [&] { output.adjoint(); });
}

TEST(LayerKeeping, NamesTheLayerAndTheTensor) {
  test::Step step = drawn(small(), batch(8), 1);
  step.layer->setName("fc");
  step.x->setName("field");
  step.apply();
  fillConstant(*step.x, 1);
  expectError(TENON_ERR_STATE, {"layer \"fc\"", "tensor \"field\""}, [&] { step.adjoint(); });
}

TEST(LayerKeeping, LetsGoAfterTheAdjoint) {
  for (const auto& layer : {small(), tanhLayer()}) {
    test::Step step = drawn(layer, batch(8), 1);
    step.apply();
    step.adjoint();
    EXPECT_EQ(step.x->references(), 1);
    EXPECT_EQ(step.y->references(), 1);
    step.apply();
    layer->clearStack();
    EXPECT_EQ(step.x->references(), 1);
    EXPECT_EQ(step.y->references(), 1);
  }
}

TEST(LayerKeeping, CopiesTheUserArrays) {
  for (const auto& make : {small, tanhLayer}) {
    test::Step want = drawn(make(1), batch(8), 1), step = drawn(make(1), batch(8), 1);
    test::fillParameters(*want.layer);
    test::fillParameters(*step.layer);
    want.apply();
    want.adjoint();
    std::vector<double> x = localCells(*step.x), y(step.y->localElements());
    const Shape xs = rowMajorStrides(step.x->extent()), ys = rowMajorStrides(step.y->extent());
    step.x->placeArray(x.data(), xs, {0, 0}, {0, 0}, /*readOnly=*/true);
    step.y->placeArray(y.data(), ys, {0, 0}, {0, 0}, /*readOnly=*/false);
    step.apply();
    EXPECT_EQ(y, localCells(*want.y));
    std::fill(x.begin(), x.end(), 7);
    std::fill(y.begin(), y.end(), 7);
    step.adjoint();
    EXPECT_EQ(localCells(*step.dx), localCells(*want.dx));
  }
}

TEST(LayerGradient, NeedsNoInputCotangent) {
  test::Step step = drawn(small(), batch(8), 1), want = drawn(small(), batch(8), 1);
  want.apply();
  want.adjoint();
  step.apply();
  step.layer->applyAdjoint(*step.dy, nullptr);
  EXPECT_EQ(weightGradient(step.layer), weightGradient(want.layer));
}

TEST(LayerGradient, AccumulatesUntilItIsCleared) {
  test::Step step = drawn(small(), batch(8), 1);
  auto run = [&] {
    step.apply();
    step.adjoint();
  };
  run();
  const auto once = weightGradient(step.layer);
  run();
  run(); // two adjoints, without reading the gradient between them
  test::expectNear(weightGradient(step.layer), sum(once, sum(once, once)), 1e-14, "three times");
  step.layer->zeroGradients();
  EXPECT_EQ(weightGradient(step.layer), std::vector<double>(once.size(), 0));
  run();
  step.layer->zeroGradients(); // contributions that are not collected yet are cleared too
  run();
  EXPECT_EQ(weightGradient(step.layer), once);
}

TEST(LayerGradient, IsSharedByAllBatchSizes) {
  const auto layer = small();
  test::Step full = drawn(layer, batch(8), 1), last = drawn(layer, batch(3), 2);
  ASSERT_EQ(layer->parameters().size(), 2u);
  test::fillParameters(*layer);
  full.apply();
  full.adjoint();
  const auto first = weightGradient(layer);
  layer->zeroGradients();
  last.apply();
  last.adjoint();
  const auto second = weightGradient(layer);
  full.apply();
  full.adjoint();
  test::expectNear(weightGradient(layer), sum(first, second), 1e-14, "both batches");
}

TEST(LayerGradient, RefusesAParameterThatWasSteppedSinceApply) {
  test::Step step = drawn(small(), batch(8), 1);
  step.apply();
  step.layer->initialize(9, 0);
  expectError(TENON_ERR_STATE, {"weight", "was changed after"}, [&] { step.adjoint(); });
  step.layer->clearStack();
  step.apply();
  step.adjoint();
}

// The direction is the sum of the contributions, on every rank that stores a copy.
TEST(LayerGradient, BecomesADirectionInTheStorageLayout) {
  for (const char* storage : {"use", "root", "S0", "S1"}) {
    const auto layer = test::newAffine(world(), kIn, kOut);
    layer->set("bias", false);
    layer->setText("storage", storage);
    test::Step step = drawn(layer, batch(8), 1);
    step.apply();
    step.adjoint();
    const auto want = weightGradient(layer);
    Parameter& weight = *layer->parameters()[0];
    const DTensor& direction = weight.direction();
    const Box box = weight.storage().boxOfRank(world()->rank());
    std::vector<double> mine;
    for (Index o = box[0].begin; o < box[0].end; ++o)
      for (Index i = box[1].begin; i < box[1].end; ++i)
        mine.push_back(want[o * kIn + i]);
    test::expectNear(localCells(direction), mine, 1e-14, storage);
  }
}

TEST(LayerGradient, IsThatOfAnExposedParameterAsItIsNow) {
  for (const char* storage : {"use", "root"}) {
    const auto layer = small();
    layer->setText("storage", storage);
    test::Step step = drawn(layer, batch(8), 1);
    const Ref<DTensor> weight = layer->parameters()[0]->expose();
    for (double value : {1.0, -2.0}) {
      fillConstant(*weight, value); // without a notification of the library
      step.apply();
      const auto x = test::gathered(*step.x), y = test::gathered(*step.y);
      for (std::size_t n = 0; n < 8; ++n) {
        double rowSum = 0;
        for (Index i = 0; i < kIn; ++i)
          rowSum += x[n * kIn + i];
        EXPECT_NEAR(y[n * kOut], value * rowSum, 1e-14) << storage;
      }
      step.adjoint();
    }
  }
}

// A tensor that uses every second element of a larger array.
struct Strided {
  std::vector<double> memory;
  explicit Strided(DTensor& x) {
    Shape padded = x.extent();
    for (Index& extent : padded)
      extent += 1;
    Shape strides = rowMajorStrides(padded);
    for (Index& stride : strides)
      stride *= 2;
    memory.assign(2 * elements(padded), -99);
    const std::vector<Index> none(padded.size(), 0);
    x.placeArray(memory.data(), strides, none, none, /*readOnly=*/false);
  }
};

class LayerArrays : public testing::TestWithParam<test::LayerCase> {};

TEST_P(LayerArrays, GiveTheSameNumbersWithAnyStrides) {
  test::LayoutDraw draw(41);
  for (int i = 0; i < 6; ++i) {
    const Layout input = test::drawInput(draw, GetParam().input);
    const auto layer = GetParam().make(world());
    layer->setDataType(TENON_FLOAT64);
    layer->setStackDepth(2);
    test::Step want(layer, input), step(layer, input);
    test::fillParameters(*layer);
    const Strided x(*step.x), y(*step.y), dy(*step.dy), dx(*step.dx);
    for (test::Step* s : {&want, &step}) {
      test::fillValid(*s->x, 1);
      test::fillValid(*s->dy, 2);
    }
    const std::string what = GetParam().name + " on " + input.describe();
    want.apply();
    want.layer->applyTangent(want.x.get(), *want.y);
    const auto tangent = localCells(*want.y);
    want.layer->clearStack();
    want.apply();
    want.adjoint();
    step.apply();
    step.layer->applyTangent(step.x.get(), *step.y);
    EXPECT_EQ(localCells(*step.y), tangent) << what;
    step.layer->clearStack();
    step.apply();
    EXPECT_EQ(localCells(*step.y), localCells(*want.y)) << what;
    step.apply(); // a second level must not change the values saved by the first
    step.adjoint();
    step.adjoint();
    EXPECT_EQ(localCells(*step.dx), localCells(*want.dx)) << what;
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, LayerArrays, testing::ValuesIn(test::layerCases()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace tenon
