// SPDX-License-Identifier: BSD-2-Clause
// Networks in inference, whose kernels fold batch normalisations into weights and store images with
// channels last, in float32 against the same networks in float64, which do neither: after changes
// of parameters and of running statistics, and between evaluations in training.
#include "layer_run.hpp"

#include <numeric>

namespace tenon {
namespace {

using test::onWorld;
using test::tensor;
using test::world;

constexpr Index kInferenceChannels = 12;

Ref<Layer> layerOfChannels(const char* type) {
  const auto layer = test::newLayer(world(), type);
  layer->set("channels", kInferenceChannels);
  return layer;
}

Ref<Layer> sameConvolution(Index inputs, Index groups, Index kernel) {
  const Index around = kernel / 2;
  const auto layer = test::newConv(
      world(), inputs, kInferenceChannels,
      std::vector<Window>(2, {.kernel = kernel, .padLow = around, .padHigh = around}));
  layer->set("groups", groups);
  return layer;
}

Ref<Layer> halvedMaxima() {
  const auto layer = test::newLayer(world(), "maxpooling");
  test::setWindows(*layer, std::vector<Window>(2, {.kernel = 2, .stride = 2}));
  return layer;
}

// A convolution, a block with a depthwise convolution and a residual connection, and a convolution
// of single elements. Each normalisation follows a convolution.
Ref<Layer> networkOf(TenonDataType type, const Layout& field) {
  const auto net = test::newLayer(world(), "graph");
  int node = addGraphNode(*net, sameConvolution(5, 1, 3), {-1});
  node = addGraphNode(*net, layerOfChannels("batchnorm"), {node});
  node = addGraphNode(*net, test::newPointwise(world(), "relu"), {node});
  const int skipped = addGraphNode(*net, halvedMaxima(), {node});
  node = addGraphNode(*net, sameConvolution(kInferenceChannels, kInferenceChannels, 3), {skipped});
  node = addGraphNode(*net, layerOfChannels("batchnorm"), {node});
  node = addGraphNode(*net, test::newPointwise(world(), "gelu"), {node});
  node = addGraphNode(*net, sameConvolution(kInferenceChannels, 1, 1), {node});
  node = addGraphNode(*net, layerOfChannels("batchnorm"), {node});
  node = addGraphNode(*net, test::newLayer(world(), "add"), {node, skipped});
  node = addGraphNode(*net, test::newPointwise(world(), "tanh"), {node});
  addGraphNode(*net, sameConvolution(kInferenceChannels, 1, 3), {node});
  net->setDataType(type);
  net->setUp(field);
  test::fillParameters(*net);
  return net;
}

std::vector<double> appliedTo(Layer& net, const Layout& field, std::uint64_t stream) {
  const auto x = tensor(field, net.dataType()), y = tensor(net.outputLayout(), net.dataType());
  test::fillValid(*x, stream);
  net.apply(*x, *y);
  if (net.stackSize() > 0)
    net.clearStack();
  return test::gathered(*y);
}

std::vector<Layout> inferenceFields() {
  const Index ranks = world()->size();
  return {onWorld({2 * ranks + 1, 5, 8, 12}, "S0"), onWorld({2, 5, 8 * ranks, 6}, "S2"),
          onWorld({2, 5, 8, 6}, "B")};
}

// Weights that were folded and stored with channels last in the first evaluation must be made anew
// after each of these changes.
TEST(Inference, EqualsFloat64ToRounding) {
  for (const Layout& field : inferenceFields()) {
    const auto net = networkOf(TENON_FLOAT32, field), exact = networkOf(TENON_FLOAT64, field);
    const auto expectEqual = [&](const char* when) {
      for (const std::uint64_t stream : {4, 5})
        test::expectNear(appliedTo(*net, field, stream), appliedTo(*exact, field, stream), 1e-5,
                         when);
    };
    for (Layer* each : {net.get(), exact.get()})
      each->setTraining(false);
    expectEqual("with the first weights");
    for (Layer* each : {net.get(), exact.get()})
      for (const auto& parameter : each->parameters()) {
        fillUniform(parameter->value(), test::kSeed, /*stream=*/7, 0.1, 0.5);
        parameter->valueChanged();
      }
    expectEqual("with other weights");
    for (Layer* each : {net.get(), exact.get()}) {
      each->setTraining(true);
      appliedTo(*each, field, 6);
      each->setTraining(false);
    }
    expectEqual("with other running statistics");
  }
}

// Recording in inference needs what derivatives read, so nothing is folded; the results agree.
TEST(Inference, AgreesWithInferenceThatIsRecorded) {
  for (const Layout& field : inferenceFields()) {
    const auto net = networkOf(TENON_FLOAT32, field);
    appliedTo(*net, field, 6); // updates the running statistics
    net->setTraining(false);
    const std::vector<double> inferred = appliedTo(*net, field, 4);
    net->setRecording(true);
    test::expectNear(appliedTo(*net, field, 4), inferred, 1e-5, "recorded");
    net->setRecording(false);
    EXPECT_EQ(appliedTo(*net, field, 4), inferred);
  }
}

// Two normalisations after one convolution, and a convolution that is two nodes: nothing may be
// folded into their weights.
TEST(Inference, KeepsConvolutionsThatSeveralNormalisationsRead) {
  const Layout field = onWorld({2 * world()->size(), kInferenceChannels, 6, 5}, "S0");
  std::vector<std::vector<double>> results;
  for (const TenonDataType type : {TENON_FLOAT32, TENON_FLOAT64}) {
    const auto net = test::newLayer(world(), "graph"),
               shared = sameConvolution(kInferenceChannels, 1, 3),
               twice = sameConvolution(kInferenceChannels, 1, 3);
    const int a = addGraphNode(*net, shared, {-1});
    const int b = addGraphNode(*net, layerOfChannels("batchnorm"), {a}),
              c = addGraphNode(*net, layerOfChannels("batchnorm"), {a});
    const int d = addGraphNode(*net, twice, {b}), e = addGraphNode(*net, twice, {c});
    const int f = addGraphNode(*net, layerOfChannels("batchnorm"), {d}),
              g = addGraphNode(*net, layerOfChannels("batchnorm"), {e});
    addGraphNode(*net, test::newLayer(world(), "add"), {f, g});
    net->setDataType(type);
    net->setUp(field);
    test::fillParameters(*net);
    appliedTo(*net, field, 6);
    net->setTraining(false);
    results.push_back(appliedTo(*net, field, 4));
  }
  test::expectNear(results[0], results[1], 1e-5, "in inference");
}

// The result of the network in inference, and in inference that is recorded, where nothing is
// folded and images are row-major.
void expectSameRecorded(Layer& net, const DTensor& x) {
  const auto y = tensor(net.outputLayout(), net.dataType());
  net.setTraining(false);
  net.apply(x, *y);
  const std::vector<double> inferred = test::gathered(*y);
  net.setRecording(true);
  net.apply(x, *y);
  net.clearStack();
  test::expectNear(inferred, test::gathered(*y), 1e-5, "in inference");
}

// A network with statistics of a training step, applied to other values.
void expectSameRecorded(Layer& net, const Layout& field) {
  net.setUp(field);
  test::fillParameters(net);
  appliedTo(net, field, /*stream=*/6);
  const auto x = tensor(field, net.dataType());
  test::fillValid(*x, /*stream=*/4);
  expectSameRecorded(net, *x);
}

// Only the first of two normalisations in a row can be folded: a convolution has one factor and one
// shift for each channel.
TEST(Inference, FoldsOneOfSeveralNormalisationsInARow) {
  const auto net = test::newLayer(world(), "sequential");
  appendLayer(*net, sameConvolution(5, 1, 3));
  for (int i = 0; i < 3; ++i)
    appendLayer(*net, layerOfChannels("batchnorm"));
  expectSameRecorded(*net, onWorld({2 * world()->size(), 5, 8, 6}, "S0"));
}

// Coordinates alone need only the shape of the convolution's result, which folding removes.
TEST(Inference, FoldsBesideALayerThatIgnoresItsInput) {
  const auto net = test::newLayer(world(), "graph"),
             coordinates = test::newLayer(world(), "coordinates"),
             joined = test::newLayer(world(), "concatenate");
  coordinates->set("append", false);
  joined->set("dim", Index(1));
  const int convolved = addGraphNode(*net, sameConvolution(5, 1, 3), {-1});
  const int normalised = addGraphNode(*net, layerOfChannels("batchnorm"), {convolved});
  const int positions = addGraphNode(*net, coordinates, {convolved});
  addGraphNode(*net, joined, {normalised, positions});
  expectSameRecorded(*net, onWorld({2 * world()->size(), 5, 8, 6}, "S0"));
}

// Images of one pixel have the same memory in both orders, row-major and with channels last. Their
// maxima over padded windows, of 2 x 2 pixels, do not.
TEST(Inference, TakesMaximaOfImagesOfOnePixel) {
  const Index images = 2 * world()->size(), channels = kInferenceChannels;
  const auto net = test::newLayer(world(), "sequential"),
             maxima = test::newLayer(world(), "maxpooling");
  test::setWindows(*maxima, std::vector<Window>(2, {.kernel = 2, .padLow = 1, .padHigh = 1}));
  appendLayer(*net, maxima);
  appendLayer(*net, sameConvolution(channels, 1, 1));
  const Layout field = onWorld({images, channels, 1, 1}, "S0");
  net->setUp(field);
  test::fillParameters(*net);
  const auto x = tensor(field, net->dataType());
  std::vector<float> pixels(std::size_t(2 * channels));
  std::iota(pixels.begin(), pixels.end(), 1.f);
  x->placeArray(pixels.data(), {channels, 1, channels, channels}, {0, 0, 0, 0}, {0, 0, 0, 0},
                /*readOnly=*/true);
  expectSameRecorded(*net, *x);
}

} // namespace
} // namespace tenon
