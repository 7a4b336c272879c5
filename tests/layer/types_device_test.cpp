// SPDX-License-Identifier: BSD-2-Clause
// Layers of each type on the device (GPU), compared with the same layer on the host, which has
// other kernels: output, tangent, input gradient and parameter gradients must agree. They are also
// compared where the kernels of a layer are recorded and launched as CUDA graphs (option
// device_graphs). All layers run on one rank (alone()).
#include "dtensor/arithmetic.hpp"
#include "dtensor/measure.hpp"
#include "layer/derivatives/derivative_check.hpp"
#include "layer/derivatives/jacobian.hpp"
#include "layer_run.hpp"
#include "mesh_layers.hpp"
#include "support/draws.hpp"
#include "sys/options/options.hpp"

#include <array>
#include <functional>

namespace tenon {
namespace {

using test::expectNear;
using test::kSeed;
using test::LayerCase;
using test::localCells;

Layout alone(const Shape& shape) {
  return Layout({.shape = shape, .grid = Grid::make({1}), .properties = {Property::broadcast()}});
}

// Runs a layer in one memory space and returns its results: output, tangent, input gradient,
// gradients of the parameters, tangent and adjoint of the Jacobian unless the layer has states, and
// the output in inference.
std::vector<std::vector<double>> run(const LayerCase& c, TenonDataType type, Space space,
                                     const char* backend) {
  const Ref<Layer> layer = c.make(test::world());
  layer->setDataType(type);
  layer->setSpace(space);
  if (layer->declaration().settings().has("backend"))
    layer->setText("backend", backend);
  const Layout input = alone(c.input);
  layer->setUp(input);
  test::fillParameters(*layer);
  const Layout output = layer->outputLayout(input);
  const auto made = [&](const Layout& layout, std::uint64_t stream) {
    const auto x = makeRef<DTensor>(test::world(), layout, type, space);
    fillUniform(*x, kSeed, stream, -1, 1);
    return x;
  };
  const auto x = made(input, 1), dy = made(output.dual(), 2), direction = made(input, 3);
  const auto y = made(output, 4), ofDirection = made(output, 4), dx = made(input.dual(), 4);
  layer->apply(*x, *y);
  layer->applyTangent(direction.get(), *ofDirection);
  layer->applyAdjoint(*dy, dx.get());
  std::vector<std::vector<double>> results{localCells(*y), localCells(*ofDirection),
                                           localCells(*dx)};
  for (const auto& p : layer->parameters())
    results.push_back(localCells(p->gradient()));
  if (layer->ownStates().empty()) {
    const auto jacobian = makeRef<Jacobian>(layer, *x);
    jacobian->setPoint(*x);
    jacobian->apply(*direction, *ofDirection);
    jacobian->applyAdjoint(*dy, *dx);
    results.insert(results.end(), {localCells(*ofDirection), localCells(*dx)});
  }
  layer->setTraining(false);
  layer->apply(*x, *y);
  results.push_back(localCells(*y));
  return results;
}

// Runs a layer several times with new values in the same arrays, on two levels of its stack, in
// training and in inference: a recording is made at the second run with the same arrays and
// launched in later ones. Returns the results of all rounds; `view` receives the text of the
// layer's view.
std::vector<std::vector<double>> runAgain(const LayerCase& c, Space space, std::string* view) {
  constexpr int kRounds = 6;
  const Ref<Layer> layer = c.make(test::world());
  layer->setDataType(TENON_FLOAT64);
  layer->setSpace(space);
  layer->setStackDepth(2);
  const Layout input = alone(c.input);
  layer->setUp(input);
  test::fillParameters(*layer);
  const Layout output = layer->outputLayout(input);
  const auto made = [&](const Layout& layout) {
    return makeRef<DTensor>(test::world(), layout, TENON_FLOAT64, space);
  };
  const auto x = made(input), other = made(input), direction = made(input),
             dy = made(output.dual());
  const auto y = made(output), ofOther = made(output), ofDirection = made(output),
             dx = made(input.dual());
  std::vector<std::vector<double>> results;
  for (int round = 0; round < kRounds; ++round) {
    std::uint64_t stream = 10 * static_cast<std::uint64_t>(round);
    for (const auto& tensor : {x, other, direction, dy})
      fillUniform(*tensor, kSeed, ++stream, -1, 1);
    for (const auto& p : layer->parameters()) {
      scaleArray(1.1, p->value());
      p->valueChanged();
    }
    layer->zeroGradients();
    layer->apply(*x, *y);
    results.push_back(localCells(*y));
    layer->apply(*other, *ofOther);
    results.push_back(localCells(*ofOther));
    for (int level = 0; level < 2; ++level) {
      layer->applyTangent(direction.get(), *ofDirection);
      layer->applyAdjoint(*dy, dx.get());
      results.insert(results.end(), {localCells(*ofDirection), localCells(*dx)});
    }
    for (const auto& p : layer->parameters())
      results.push_back(localCells(p->gradient()));
    *view = layer->describe();
    layer->setTraining(false);
    layer->apply(*x, *y);
    layer->setTraining(true);
    results.push_back(localCells(*y));
  }
  return results;
}

// Whether the layer has a choice of backends for products: convolutions, affine layers and networks
// of them.
bool isProduct(const LayerCase& c) {
  const auto begins = [&](const char* name) { return c.name.starts_with(name); };
  return begins("conv_") || begins("affine") || begins("transposedconv") || begins("net") ||
         begins("residual");
}
std::vector<LayerCase> products() {
  std::vector<LayerCase> cases = test::layerCases();
  std::erase_if(cases, [](const LayerCase& c) { return !isProduct(c); });
  return cases;
}
// All cases except the layer of user functions, which run on the host only.
std::vector<LayerCase> types() {
  std::vector<LayerCase> cases = test::layerCases();
  std::erase_if(cases, [](const LayerCase& c) { return c.name == "shell"; });
  return cases;
}

class LayerTypesOnDevice : public testing::TestWithParam<LayerCase> {};

TEST_P(LayerTypesOnDevice, OnTheDeviceGiveWhatTheyGiveOnTheHost) {
  const std::vector<const char*> backends = isProduct(GetParam()) ? std::vector{"cudnn", "gemm"}
                                            : GetParam().name == "spectralconv"
                                                ? std::vector{"cufft", "gemm"}
                                                : std::vector{"auto"};
  for (TenonDataType type : {TENON_FLOAT64, TENON_FLOAT32}) {
    const auto want =
        run(GetParam(), type, Space::Host, isProduct(GetParam()) ? "reference" : "auto");
    for (const char* backend : backends) {
      const auto got = run(GetParam(), type, Space::Device, backend);
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NO_FATAL_FAILURE(
            expectNear(got[i], want[i], type == TENON_FLOAT64 ? 1e-12 : 1e-5,
                       fmt::format("{} by {}, {}", GetParam().name, backend, i)));
    }
  }
}

TEST_P(LayerTypesOnDevice, RecordedGiveWhatTheyGiveOnTheHost) {
  std::string view;
  const auto want = runAgain(GetParam(), Space::Host, &view);
  options().set("-tenon_device_graphs", "true");
  const auto got = runAgain(GetParam(), Space::Device, &view);
  options().clear();
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NO_FATAL_FAILURE(
        expectNear(got[i], want[i], 1e-12, fmt::format("{}, {}", GetParam().name, i)));
  if (isProduct(GetParam())) {
    EXPECT_EQ(view.find("CUDA graphs: 0 in Apply"), std::string::npos) << view;
    EXPECT_NE(view.find("CUDA graphs: "), std::string::npos) << view;
  }
}

LayerCase dropout() {
  return {.name = "dropout", .input = {4, 50}, .make = [](CommPtr comm) {
            return test::newDropout(std::move(comm), 0.3);
          }};
}

TEST(Recorded, DrawsOfDropoutDifferAsOnTheHost) {
  std::string view;
  const auto want = runAgain(dropout(), Space::Host, &view);
  options().set("-tenon_device_graphs", "true");
  const auto got = runAgain(dropout(), Space::Device, &view);
  options().clear();
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_NO_FATAL_FAILURE(expectNear(got[i], want[i], 1e-12, fmt::format("{}", i)));
}

// Sets up the layer on the device, in float64.
void onDevice(const Ref<Layer>& layer, const Shape& input) {
  layer->setDataType(TENON_FLOAT64);
  layer->setSpace(Space::Device);
  layer->setUp(alone(input));
  test::fillParameters(*layer);
}

TEST(TypesOnTheDevice, PassTheTestsOfDerivatives) {
  const Ref<Layer> net = test::residualNet(test::world());
  onDevice(net, {2, 3, 6, 8});
  EXPECT_LE(checkLayerAdjoint(*net, nullptr, 3).relativeError, 1e-12);
  EXPECT_NEAR(checkLayerTaylor(*net, nullptr, 3).order, 2, 0.1);
}

// A network of convolutions, a normalisation and a maximum that saves its activations in bfloat16.
LayerCase roundingNet() {
  return {.name = "rounding", .input = {2, 3, 12, 10}, .make = [](CommPtr comm) {
            const auto net = test::newLayer(comm, "sequential");
            net->setText("saved_type", "bfloat16");
            const std::vector<Window> windows(2, {.kernel = 3, .padLow = 1, .padHigh = 1});
            const std::vector<Window> halves(2, {.kernel = 2, .stride = 2});
            const auto normalisation = test::newLayer(comm, "groupnorm");
            normalisation->set("channels", Index(4));
            normalisation->set("groups", Index(2));
            for (const Ref<Layer>& layer : {test::newConv(comm, 3, 4, windows), normalisation,
                                            test::newPointwise(comm, "gelu"),
                                            test::newPooling(comm, PoolingMode::Max, halves),
                                            test::newConv(comm, 4, 2, windows)})
              appendLayer(*net, layer);
            return net;
          }};
}

// The device adds in another order, so a number can be rounded to the neighbouring bfloat16, which
// differs by up to one part in 256. Results of single kernels and of graphs are bitwise equal.
TEST(RoundedActivations, OnTheDeviceAreThoseOfTheHostAndTheSameInGraphs) {
  std::string view;
  const auto host = runAgain(roundingNet(), Space::Host, &view);
  const auto each = runAgain(roundingNet(), Space::Device, &view);
  options().set("-tenon_device_graphs", "true");
  const auto whole = runAgain(roundingNet(), Space::Device, &view);
  options().clear();
  EXPECT_EQ(view.find("CUDA graphs: 0 in Apply"), std::string::npos) << view;
  EXPECT_TRUE(whole == each);
  ASSERT_EQ(each.size(), host.size());
  for (std::size_t i = 0; i < host.size(); ++i)
    ASSERT_NO_FATAL_FAILURE(expectNear(each[i], host[i], 5e-3, fmt::format("{}", i)));
}

TEST(RoundedActivations, OnTheDeviceHaveTangentAndAdjointAtTheSamePoint) {
  const Ref<Layer> net = roundingNet().make(test::world());
  onDevice(net, roundingNet().input);
  EXPECT_LE(checkLayerAdjoint(*net, nullptr, 5).relativeError, 1e-12);
}

// Records a layer on the device, then calls needMore(), which reallocates scratch memory whose
// addresses the recording contains, and expects the same results afterwards: the layer must be
// recorded again.
void expectSameAfter(const std::function<void()>& needMore, const Ref<Layer>& layer,
                     const Shape& input) {
  options().set("-tenon_device_graphs", "true");
  onDevice(layer, input);
  const auto x =
      makeRef<DTensor>(test::world(), layer->inputLayout(), TENON_FLOAT64, Space::Device);
  const auto y =
      makeRef<DTensor>(test::world(), layer->outputLayout(), TENON_FLOAT64, Space::Device);
  fillUniform(*x, kSeed, /*stream=*/1, -1, 1);
  layer->setTraining(false);
  for (int round = 0; round < 3; ++round)
    layer->apply(*x, *y);
  const std::vector<double> before = localCells(*y);
  needMore();
  fillConstant(*y, 0);
  for (int round = 0; round < 3; ++round)
    layer->apply(*x, *y);
  options().clear();
  EXPECT_EQ(localCells(*y), before);
}

TEST(Recorded, LayerIsRecordedAnewWhenTheScratchHasGrown) {
  const auto conv = [] {
    const Ref<Layer> layer = test::newLayer(test::world(), "conv");
    for (const char* channels : {"in_channels", "out_channels"})
      layer->set(channels, Index(3));
    layer->set("kernel", std::vector<Index>{3, 3});
    layer->setText("backend", "gemm");
    return layer;
  };
  const Ref<Layer> large = conv();
  expectSameAfter([&] { onDevice(large, {1, 3, 60, 60}); }, conv(), {1, 3, 6, 6});
}

TEST(Recorded, LayerIsRecordedAnewWhenPartsOfReductionsHaveGrown) {
  const Ref<Layer> layer = test::newLayer(test::world(), "groupnorm");
  layer->set("channels", Index(2));
  layer->set("groups", Index(1));
  // The norm of a large tensor has more parts than the sums of the layer.
  const DTensor large(test::world(), alone({1 << 22}), TENON_FLOAT64, Space::Device);
  expectSameAfter([&] { norm(large); }, layer, {1, 2, 8, 8});
}

INSTANTIATE_TEST_SUITE_P(Layers, LayerTypesOnDevice, testing::ValuesIn(types()),
                         [](const auto& info) { return info.param.name; });

TEST(TypesOnTheDevice, InDrawnSettingsGiveWhatTheyGiveOnTheHost) {
  for (const std::string& type : test::typesWithExamples()) {
    if (makeDeclaration(type)->isRandom())
      continue;
    for (const LayerCase& c : test::exampleCases(type, test::draws(10))) {
      const auto want = run(c, TENON_FLOAT64, Space::Host, "auto");
      const auto got = run(c, TENON_FLOAT64, Space::Device, "auto");
      ASSERT_EQ(got.size(), want.size()) << type;
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NO_FATAL_FAILURE(expectNear(got[i], want[i], 1e-12, type));
    }
  }
}

// A network on a mesh that combines the edges of a node in this way (mesh_layers.hpp).
LayerCase onMesh(const std::string& how) {
  return {.name = how, .input = {}, .make = [how](const CommPtr& comm) {
            const test::MeshGraph graph(44, /*twoSets=*/false);
            const test::MeshPart part(comm, graph, 44, {.weighted = how == "sparsematrix"});
            return test::addedByEdges(comm, how, part);
          }};
}

TEST(TypesOnTheDevice, OfMeshesGiveWhatTheyGiveOnTheHost) {
  for (const char* how : test::kWaysOfEdges)
    for (const TenonDataType type : {TENON_FLOAT32, TENON_FLOAT64}) {
      LayerCase c = onMesh(how);
      c.input = {static_cast<Index>(test::MeshGraph(44, /*twoSets=*/false).targets.size()), 3};
      const auto want = run(c, type, Space::Host, "auto"),
                 got = run(c, type, Space::Device, "auto");
      ASSERT_EQ(got.size(), want.size()) << how;
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NO_FATAL_FAILURE(
            expectNear(got[i], want[i], type == TENON_FLOAT64 ? 1e-12 : 1e-4, how));
    }
}

// Value, tangent and input gradient of a loss with weights. `target` is the memory space of its
// target and weights.
std::vector<std::vector<double>> weighted(const char* type, const char* weights, Space space,
                                          Space target) {
  const Shape shape = {3, 2, 4, 5};
  const Ref<Layer> layer = test::newLayer(test::world(), type);
  layer->setDataType(TENON_FLOAT64);
  layer->setSpace(space);
  layer->set("loss_weights", std::string(weights));
  const bool hasLabels = type == std::string("crossentropy"); // of 2 classes, and by area
  if (hasLabels)
    layer->set("area", std::string("gauss"));
  const Layout input = alone(shape), terms = hasLabels ? alone({3, 4, 5}) : input;
  const auto made = [&](const Layout& layout, std::uint64_t stream, Space where) {
    const auto x = makeRef<DTensor>(test::world(), layout, TENON_FLOAT64, where);
    fillUniform(*x, kSeed, stream, 0.25, 1);
    return x;
  };
  layer->setUp(input);
  const Layout output = layer->outputLayout(input);
  const auto labels = makeRef<DTensor>(test::world(), terms, TENON_INT64, target);
  fillByIndex(*labels, [](Index i) { return double(i * i % 3 % 2); });
  layer->setTarget(hasLabels ? labels : made(input, 1, target));
  layer->setTargetWeights(made(weights == std::string("element") ? terms : alone({3}), 2, target));
  const auto x = made(input, 3, space), dy = made(output.dual(), 4, space),
             direction = made(input, 5, space), y = made(output, 6, space),
             ofDirection = made(output, 6, space), dx = made(input.dual(), 6, space);
  layer->apply(*x, *y);
  layer->applyTangent(direction.get(), *ofDirection);
  layer->applyAdjoint(*dy, dx.get());
  return {localCells(*y), localCells(*ofDirection), localCells(*dx)};
}

TEST(LossesOnTheDevice, WithWeightsAreThoseOfTheHost) {
  for (const char* type : {"meansquarederror", "meanabsoluteerror", "huber", "relativel2",
                           "gradientpenalty", "crossentropy"})
    for (const char* weights : {"element", "sample"}) {
      const auto want = weighted(type, weights, Space::Host, Space::Host);
      for (const Space target : {Space::Host, Space::Device}) {
        const auto got = weighted(type, weights, Space::Device, target);
        for (std::size_t i = 0; i < want.size(); ++i)
          expectNear(got[i], want[i], 1e-12, fmt::format("{} {} {}", type, weights, i));
      }
    }
}

TEST(LossesOnTheDevice, RefuseLabelsThatAreNoClasses) {
  const Layout input = alone({4, 3}), ofLabels = alone({4});
  const Ref<Layer> layer = test::newLayer(test::world(), "crossentropy");
  layer->setDataType(TENON_FLOAT64);
  layer->setSpace(Space::Device);
  layer->setUp(input);
  const auto x = makeRef<DTensor>(test::world(), input, TENON_FLOAT64, Space::Device);
  const auto y =
      makeRef<DTensor>(test::world(), layer->outputLayout(input), TENON_FLOAT64, Space::Device);
  const auto labels = makeRef<DTensor>(test::world(), ofLabels, TENON_INT64, Space::Device);
  // The labels are 0, 1, 3, 0, and the classes are 0, 1, 2.
  fillByIndex(*labels, [](Index i) { return i == 2 ? 3 : double(i % 3); });
  layer->setTarget(labels);
  test::expectErrorOnAll(TENON_ERR_ARG, {"label 3 of sample 2 is outside [0,3)"},
                         [&] { layer->apply(*x, *y); });
}

// Output and input gradients of a layer with several inputs of these shapes.
std::vector<std::vector<double>> ofSeveral(const char* type, const std::vector<Shape>& shapes,
                                           Space space) {
  const Ref<Layer> layer = test::newLayer(test::world(), type);
  layer->setDataType(TENON_FLOAT64);
  layer->setSpace(space);
  if (layer->declaration().settings().has("dim"))
    layer->set("dim", Index(1));
  if (layer->declaration().settings().has("causal"))
    layer->set("causal", true);
  Layouts inputs;
  for (const Shape& shape : shapes)
    inputs.push_back(alone(shape));
  layer->setUp(inputs);
  std::uint64_t stream = 1;
  const auto made = [&](const Layout& layout) {
    const auto x = makeRef<DTensor>(test::world(), layout, TENON_FLOAT64, space);
    fillUniform(*x, kSeed, stream++, -1, 1);
    return x;
  };
  std::vector<Ref<DTensor>> x, dx;
  std::vector<const DTensor*> reads;
  std::vector<DTensor*> wants;
  for (const Layout& input : inputs) {
    reads.push_back(x.emplace_back(made(input)).get());
    wants.push_back(dx.emplace_back(made(input.dual())).get());
  }
  const auto y = made(layer->outputLayout(inputs)), dy = made(y->layout().dual());
  layer->apply(reads, *y);
  layer->applyAdjoint(*dy, wants);
  std::vector<std::vector<double>> all{localCells(*y)};
  for (const Ref<DTensor>& d : dx)
    all.push_back(localCells(*d));
  return all;
}

TEST(TypesOnTheDevice, OfSeveralInputsGiveWhatTheyGiveOnTheHost) {
  const struct {
    const char* type;
    std::vector<Shape> shapes;
  } cases[] = {{"matmul", {{3, 4, 5}, {3, 5, 2}}},
               {"multiply", {{3, 4, 5}, {3, 4, 5}}},
               {"add", {{3, 4, 5}, {3, 4, 5}}},
               {"concatenate", {{3, 4, 5}, {3, 2, 5}}},
               {"attention", {{3, 4, 5}, {3, 6, 5}, {3, 6, 2}}}};
  for (const auto& c : cases) {
    const auto want = ofSeveral(c.type, c.shapes, Space::Host);
    const auto got = ofSeveral(c.type, c.shapes, Space::Device);
    for (std::size_t i = 0; i < want.size(); ++i)
      expectNear(got[i], want[i], 1e-12, c.type);
  }
}

TEST(ProductsOnTheDevice, RefuseBackendsOfTheHostAtSetUp) {
  for (const char* backend : {"blas", "onednn", "direct", "reference"})
    for (const LayerCase& c : {products().front(), products().back()}) {
      const Ref<Layer> layer = c.make(test::world());
      layer->setSpace(Space::Device);
      layer->setText("backend", backend);
      test::expectErrorOnAll(TENON_ERR_SUPPORT, {backend, "on the host", "'gemm'"},
                             [&] { layer->setUp(alone(c.input)); });
    }
}

TEST(ProductsOnTheHost, RefuseBackendsOfTheDeviceAtSetUp) {
  for (const char* backend : {"cudnn", "cufft", "gemm"})
    for (const LayerCase& c : {products().front(), products().back()}) {
      const Ref<Layer> layer = c.make(test::world());
      layer->setText("backend", backend);
      test::expectErrorOnAll(TENON_ERR_SUPPORT, {backend, "on the device", "'blas'"},
                             [&] { layer->setUp(alone(c.input)); });
    }
}

} // namespace
} // namespace tenon
