// SPDX-License-Identifier: BSD-2-Clause
// Activations that are saved in bfloat16: derivatives are those at the rounded values, tangent and
// adjoint use the same rounded values, and the saved memory is two bytes per element. The reference
// applies the layers one by one, with inputs that are rounded here (byHand).
#include "layer/derivatives/derivative_check.hpp"

#include "layer_run.hpp"
#include "sys/expect_error.hpp"
#include "sys/memory/memory.hpp"

#include <algorithm>
#include <cmath>

namespace tenon {
namespace {

using test::localCells;
using test::onWorld;
using test::tensor;
using test::world;

constexpr int kBits = 8; // significant bits of bfloat16

// The nearest bfloat16, by rounding the fraction in [1/2, 1) to 8 binary digits; a tie goes to the
// even neighbour.
double rounded(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, kBits)), exponent - kBits);
}

Ref<DTensor> roundedCopy(const DTensor& x) {
  const Ref<DTensor> copy = tensor(x.layout(), x.dataType());
  visitFloating(x.dataType(), [&]<class T>(T) {
    for (Index i = 0; i < x.localElements(); ++i)
      copy->mutableData<T>()[i] = static_cast<T>(rounded(double(x.data<T>()[i])));
  });
  return copy;
}

Ref<Layer> roundingNet() {
  const auto net = test::newLayer(world(), "sequential");
  net->setText("saved_type", "bfloat16");
  return net;
}

const Shape kBatch = {24, 18};

// affine, gelu, affine: all of them save their inputs.
std::vector<Ref<Layer>> threeLayers() {
  return {test::newAffine(world(), 18, 33), test::newPointwise(world(), "gelu"),
          test::newAffine(world(), 33, 7)};
}

// The input's cotangent, followed by the gradients of the parameters.
struct Gradients {
  std::vector<std::vector<double>> found;

  void add(const Layer& layer) {
    for (const auto& p : layer.parameters())
      found.push_back(localCells(p->gradient()));
  }
};

void setUp(const Ref<Layer>& layer, const Layout& input, TenonDataType type) {
  layer->setDataType(type);
  layer->setUp(input);
  test::fillParameters(*layer);
}

void takeParameters(Layer& layer, const Layer& from) {
  const auto theirs = from.parameters(), own = layer.parameters();
  for (std::size_t i = 0; i < own.size(); ++i) {
    copyLocal(theirs[i]->value(), own[i]->value());
    own[i]->valueChanged();
  }
}

// The gradients of the network, layer by layer: each layer is applied a second time at the rounding
// of its input, and its adjoint there. The first input is rounded only if it is an array of the
// program.
Gradients byHand(const Layer& net, const Layout& input, TenonDataType type, bool roundsInput) {
  const std::vector<Ref<Layer>> layers = threeLayers();
  std::vector<Ref<DTensor>> values{tensor(input, type)};
  test::fillValid(*values[0], 1);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    setUp(layers[l], values[l]->layout(), type);
    takeParameters(*layers[l], *net.children()[l]);
    values.push_back(tensor(layers[l]->outputLayout(), type));
    layers[l]->setTraining(false);
    layers[l]->apply(*values[l], *values[l + 1]);
    layers[l]->setTraining(true);
  }
  Ref<DTensor> dy = tensor(values.back()->layout().dual(), type);
  test::fillValid(*dy, 2);
  for (std::size_t l = layers.size(); l-- > 0;) {
    const Ref<DTensor> point = l > 0 || roundsInput ? roundedCopy(*values[l]) : values[l];
    const auto y = tensor(values[l + 1]->layout(), type),
               dx = tensor(values[l]->layout().dual(), type);
    layers[l]->apply(*point, *y);
    layers[l]->applyAdjoint(*dy, dx.get());
    dy = dx;
  }
  Gradients result{{localCells(*dy)}};
  for (const auto& layer : layers)
    result.add(*layer);
  return result;
}

// threeLayers() as a network that saves its activations in this type.
Ref<Layer> networkOfThree(const Layout& input, TenonDataType type,
                          const char* savedType = "bfloat16") {
  const auto net = test::newLayer(world(), "sequential");
  net->setText("saved_type", savedType);
  for (const auto& layer : threeLayers())
    appendLayer(*net, layer);
  setUp(net, input, type);
  return net;
}

// Layouts in which no conversion is needed between the layers, so each layer saves its input
// itself.
std::vector<Layout> inputs() {
  std::vector<Layout> all = {onWorld(kBatch, "S0"), onWorld(kBatch, "B")};
  if (world()->size() % 2 == 0)
    all.push_back(onWorld(kBatch, {2, world()->size() / 2}, "S0,B"));
  return all;
}

TEST(Rounding, DerivativesAreThoseAtTheRoundedValues) {
  for (const TenonDataType type : {TENON_FLOAT32, TENON_FLOAT64})
    for (const Layout& input : inputs()) {
      const Ref<Layer> net = networkOfThree(input, type);
      test::Step step(net, input, type);
      test::fillValid(*step.x, 1);
      test::fillValid(*step.dy, 2);
      step.apply();
      step.adjoint();
      Gradients got{{localCells(*step.dx)}};
      got.add(*net);
      EXPECT_TRUE(got.found == byHand(*net, input, type, false).found) << input.describe();
    }
}

// The program can change its array before the adjoint, so the layer saves a rounded copy.
TEST(Rounding, ArrayOfTheProgramIsCopiedRounded) {
  for (const Layout& input : inputs()) {
    const Ref<Layer> net = networkOfThree(input, TENON_FLOAT64);
    test::Step step(net, input);
    std::vector<double> array(std::size_t(step.x->localElements()));
    step.x->placeBox(array.data(), false);
    test::fillValid(*step.x, 1);
    test::fillValid(*step.dy, 2);
    step.apply();
    std::fill(array.begin(), array.end(), 1e30);
    step.adjoint();
    Gradients got{{localCells(*step.dx)}};
    got.add(*net);
    EXPECT_TRUE(got.found == byHand(*net, input, TENON_FLOAT64, true).found) << input.describe();
  }
}

TEST(Rounding, OutputsHaveTheBitsOfThoseWithout) {
  const Layout input = onWorld(kBatch, "S1");
  std::vector<std::vector<double>> outputs;
  for (const char* savedType : {"same", "bfloat16"}) {
    test::Step step(networkOfThree(input, TENON_FLOAT32, savedType), input, TENON_FLOAT32);
    test::fillValid(*step.x, 1);
    step.apply();
    outputs.push_back(localCells(*step.y));
  }
  EXPECT_TRUE(outputs[0] == outputs[1]);
}

// Three Apply calls and then their adjoints (a stack of depth 3) have the bits of each Apply
// followed by its adjoint.
TEST(Rounding, LevelsOfTheStackKeepTheirOwn) {
  constexpr int kLevels = 3;
  const Layout input = onWorld(kBatch, "S0");
  std::vector<std::vector<double>> alone, stacked;
  for (const int depth : {1, kLevels}) {
    const auto net = roundingNet();
    net->setStackDepth(depth);
    for (const auto& layer : threeLayers())
      appendLayer(*net, layer);
    setUp(net, input, TENON_FLOAT64);
    test::Step step(net, input);
    std::vector<Ref<DTensor>> points;
    for (int level = 0; level < kLevels; ++level) {
      points.push_back(tensor(input));
      test::fillValid(*points.back(), 5 + static_cast<std::uint64_t>(level));
    }
    test::fillValid(*step.dy, 2);
    for (int level = 0; depth > 1 && level < kLevels; ++level)
      net->apply(*points[level], *step.y);
    for (int level = kLevels; level-- > 0;) {
      if (depth == 1)
        net->apply(*points[level], *step.y);
      net->zeroGradients();
      step.adjoint();
      auto& found = depth == 1 ? alone : stacked;
      found.push_back(localCells(*step.dx));
      for (const auto& p : net->parameters())
        found.push_back(localCells(p->gradient()));
    }
  }
  EXPECT_TRUE(stacked == alone);
}

// The bytes that the network has saved after one Apply.
Index savedBytes(const char* type, TenonDataType dataType) {
  const auto net = test::newLayer(world(), "sequential");
  net->setText("saved_type", type);
  for (const auto& layer : threeLayers())
    appendLayer(*net, layer);
  const Layout input = onWorld({Index(64) * world()->size(), 18}, "S0");
  setUp(net, input, dataType);
  return net->memory().saved;
}

// Of 64 rows per rank, gelu and the second affine save their inputs of 33 columns. The first affine
// saves its input by reference, since the tensor is the library's, which counts no bytes.
TEST(Rounding, TakesTwoBytesForACell) {
  const Index elements = 64 * (33 + 33);
  EXPECT_EQ(savedBytes("same", TENON_FLOAT32), 4 * elements);
  EXPECT_EQ(savedBytes("bfloat16", TENON_FLOAT32), 2 * elements);
  EXPECT_EQ(savedBytes("same", TENON_FLOAT64), 8 * elements);
  EXPECT_EQ(savedBytes("bfloat16", TENON_FLOAT64), 2 * elements);
}

// Statistics are saved without rounding: the moments of the rank's block and those of all. On
// several ranks also the mean and the sums between these (see Normalisation::addMomentsOfBatch()).
TEST(Rounding, StatisticsAreExact) {
  const auto net = roundingNet();
  const auto normalisation = test::newLayer(world(), "groupnorm");
  normalisation->set("channels", Index(4));
  normalisation->set("groups", Index(2));
  appendLayer(*net, test::newPointwise(world(), "scale", "factor", 1));
  appendLayer(*net, normalisation);
  setUp(net, onWorld({2, 4, 30}, "S2"), TENON_FLOAT64);
  net->describe();
  int exact = 0, rounded = 0;
  for (const Value& value : net->maps({net->inputLayout()}).list().values())
    if (value.saved)
      ++(value.exact ? exact : rounded);
  EXPECT_EQ(exact, world()->size() > 1 ? 4 : 2) << "moments, a reference, sums, all";
  EXPECT_EQ(rounded, 1) << "the input";
}

// In any network, the input of each layer is a value of the network and is rounded when saved.
TEST(Rounding, TangentAndAdjointOfEachTypeAreAtTheSamePoint) {
  test::LayoutDraw draw(52);
  for (const test::LayerCase& c : test::layerCases()) {
    const auto layer = c.make(world());
    const auto net = roundingNet();
    appendLayer(*net, test::newPointwise(world(), "scale", "factor", 1.25));
    appendLayer(*net, layer);
    appendLayer(*net, test::newPointwise(world(), "tanh"));
    setUp(net, test::drawInput(draw, c.input), TENON_FLOAT64);
    EXPECT_LE(checkLayerAdjoint(*net, nullptr, 7).relativeError, 1e-12) << c.name;
  }
}

TEST(Rounding, TaylorTestIsRefused) {
  const Ref<Layer> net = networkOfThree(onWorld(kBatch, "S0"), TENON_FLOAT64);
  expectError(TENON_ERR_SUPPORT, {"bfloat16", "set saved_type to same"},
              [&] { checkLayerTaylor(*net, nullptr, 1); });
}

TEST(Rounding, ContainerThatRecomputesStartsFromARoundedInput) {
  const auto inner = test::newLayer(world(), "sequential");
  inner->set("recompute", true);
  for (const auto& layer : threeLayers())
    appendLayer(*inner, layer);
  const auto net = roundingNet();
  appendLayer(*net, test::newPointwise(world(), "scale", "factor", 1));
  appendLayer(*net, inner);
  const Layout input = onWorld(kBatch, "S0");
  setUp(net, input, TENON_FLOAT64);
  EXPECT_LE(checkLayerAdjoint(*net, nullptr, 7).relativeError, 1e-12);
  EXPECT_EQ(inner->declaration().value<std::string>("saved_type"), "bfloat16");
}

} // namespace
} // namespace tenon
