// SPDX-License-Identifier: BSD-2-Clause
// How many calls of CUDA nine small networks make in an Apply and in its adjoint, once all memory
// and plans exist, counted by the stand-in for CUDA. A device takes some microseconds for each,
// whatever it computes. The numbers may only become smaller; then change the table here and the one
// in doc/cuda.md.
#include "layer_run.hpp"
#include "mesh_layers.hpp"
#include "standin/calls.hpp"
#include "support/networks.hpp"
#include "sys/options/options.hpp"

#include <cuda_runtime_api.h>

namespace tenon {
namespace {

using test::newLayer;
using test::world;

// Launched kernels; calls of libraries such as cuBLAS; and copies, events and waits for the device,
// of which there must be none.
struct Numbers {
  std::uint64_t kernels, libraries, copies, events, waits;
};

struct Case {
  const char* name;
  Shape input;
  std::function<Ref<Layer>()> make;
  Numbers apply, adjoint; // the most of each, on one process
};

Ref<Layer> perceptron() {
  const Ref<Layer> net = test::newNetwork(world(), "sequential");
  const Index widths[] = {64, 128, 128, 10};
  for (int n = 0; n < 3; ++n) {
    appendLayer(*net, test::newAffine(world(), widths[n], widths[n + 1]));
    if (n < 2)
      appendLayer(*net, test::newPointwise(world(), "tanh"));
  }
  return net;
}

Ref<Layer> columns() {
  const Ref<Layer> layer = newLayer(world(), "columnmlp");
  layer->set("widths", std::vector<Index>{8, 64, 64, 8});
  return layer;
}

Ref<Layer> spectral() {
  const Ref<Layer> net = test::newNetwork(world(), "sequential");
  for (int n = 0; n < 2; ++n) {
    const Ref<Layer> layer = newLayer(world(), "spectralconv");
    layer->set("in_channels", Index(4));
    layer->set("out_channels", Index(4));
    layer->set("modes", std::vector<Index>{5, 5});
    appendLayer(*net, layer);
    appendLayer(*net, test::newPointwise(world(), "gelu"));
  }
  return net;
}

Ref<Layer> normalised() {
  const Ref<Layer> net = test::newNetwork(world(), "sequential");
  for (int n = 0; n < 2; ++n) {
    appendLayer(*net, test::conv2d(world(), 4, 4, 3, 1));
    const Ref<Layer> norm = newLayer(world(), "batchnorm");
    norm->set("channels", Index(4));
    appendLayer(*net, norm);
    appendLayer(*net, test::newPointwise(world(), "relu"));
  }
  return net;
}

const test::MeshGraph& mesh() {
  static const test::MeshGraph graph(44, /*twoSets=*/false);
  return graph;
}

Ref<Layer> messages() {
  return test::addedByEdges(world(), "sum", test::MeshPart(world(), mesh(), 44, {}));
}

// The last two columns are {kernels, libraries, copies, events, waits} of Apply and of its adjoint.
std::vector<Case> cases() {
  return {
      {"perceptron", {32, 64}, perceptron, {5, 3, 0, 0, 0}, {5, 6, 0, 0, 0}},
      {"column MLP", {1, 8, 100, 100}, columns, {1, 0, 0, 0, 0}, {8, 3, 0, 0, 0}},
      {"LeNet-5",
       {8, 1, 28, 28},
       [] { return test::lenet5(world()); },
       {12, 5, 0, 0, 0},
       {13, 10, 0, 0, 0}},
      {"small AlexNet",
       {4, 3, 34, 34},
       [] { return test::smallAlexNet(world()); },
       {14, 6, 0, 0, 0},
       {14, 12, 0, 0, 0}},
      {"residual",
       {4, 1, 8, 8},
       [] { return test::residual(world()); },
       {15, 6, 0, 0, 0},
       {17, 12, 0, 0, 0}},
      {"3-D U-Net",
       {1, 1, 16, 16, 16},
       [] { return test::unet3d(world()); },
       {19, 8, 0, 0, 0},
       {21, 16, 0, 0, 0}},
      {"normalised", {2, 4, 16, 16}, normalised, {12, 2, 0, 0, 0}, {12, 4, 0, 0, 0}},
      {"spectral", {2, 4, 16, 16}, spectral, {16, 8, 0, 0, 0}, {18, 8, 0, 0, 0}},
      {"messages", {Index(mesh().targets.size()), 3}, messages, {6, 0, 0, 0, 0}, {10, 2, 0, 0, 0}},
  };
}

// By default the ways in which convolutions are computed are chosen by measured times, which differ
// from run to run; the numbers of calls must not.
class DeviceCalls : public testing::TestWithParam<Case> {
protected:
  void SetUp() override { options().set("-tenon_device_plans", "heuristic"); }
  void TearDown() override { options().set("-tenon_device_plans", "measured"); }
};

Numbers countedIn(const std::function<void()>& work) {
  const standin::Calls before = tenonStandinCalls();
  work();
  const standin::Calls after = tenonStandinCalls();
  return {after.kernels - before.kernels, after.libraries - before.libraries,
          after.copies - before.copies, after.events - before.events, after.waits - before.waits};
}

void expectAtMost(const Numbers& counted, const Numbers& most, const char* what) {
  fmt::print("{:>10}: {:4} kernels, {:3} calls of libraries, {} copies, {} events, {} waits\n",
             what, counted.kernels, counted.libraries, counted.copies, counted.events,
             counted.waits);
  EXPECT_LE(counted.kernels, most.kernels) << what;
  EXPECT_LE(counted.libraries, most.libraries) << what;
  EXPECT_LE(counted.copies, most.copies) << what;
  EXPECT_LE(counted.events, most.events) << what;
  EXPECT_LE(counted.waits, most.waits) << what;
}

TEST_P(DeviceCalls, AreThoseOfTheTable) {
  const Case& c = GetParam();
  const Ref<Layer> net = c.make();
  const Layout input = test::onWorld(c.input, "B");
  net->setDataType(TENON_FLOAT32);
  net->setSpace(Space::Device);
  net->setUp(input);
  test::fillParameters(*net);
  const auto made = [&](const Layout& layout) {
    const auto tensor = makeRef<DTensor>(world(), layout, TENON_FLOAT32, Space::Device);
    fillConstant(*tensor, 0.5);
    return tensor;
  };
  const auto x = made(input), y = made(net->outputLayout()), dy = made(net->outputLayout().dual()),
             dx = made(input.dual());
  const auto apply = [&] { net->apply(*x, *y); };
  const auto adjoint = [&] { net->applyAdjoint(*dy, dx.get()); };
  // Afterwards all memory and plans exist.
  for (int warming = 0; warming < 2; ++warming) {
    apply();
    adjoint();
  }
  expectAtMost(countedIn(apply), c.apply, "Apply");
  expectAtMost(countedIn(adjoint), c.adjoint, "adjoint");
}

// Narrow layers are one kernel; wider ones are products.
TEST(DeviceColumns, AreDescribedAsTheyAreEvaluated) {
  const struct {
    Index hidden;
    const char* text;
  } cases[] = {{64, "fused over tiles of points"}, {200, "matrix products"}};
  for (const auto& [hidden, text] : cases) {
    const Ref<Layer> layer = newLayer(world(), "columnmlp");
    layer->set("widths", std::vector<Index>{3, hidden, 2});
    layer->setSpace(Space::Device);
    layer->setUp(test::onWorld({1, 3, 7}, "B"));
    EXPECT_NE(layer->describe().find(text), std::string::npos) << layer->describe();
  }
}

// A residual network of five convolutions, whose halos are filled within the process, after two
// applications.
struct Residual {
  Ref<Layer> net = test::residual(world());
  Layout input = test::onWorld({4, 1, 8, 8}, "B");
  Ref<DTensor> x, y;

  Residual() {
    net->setDataType(TENON_FLOAT64);
    net->setSpace(Space::Device);
    net->setTraining(false);
    net->setUp(input);
    test::fillParameters(*net);
    x = makeRef<DTensor>(world(), input, TENON_FLOAT64, Space::Device);
    y = makeRef<DTensor>(world(), net->outputLayout(), TENON_FLOAT64, Space::Device);
    fillConstant(*x, 0.5);
    for (int warming = 0; warming < 2; ++warming)
      net->apply(*x, *y);
  }
};

TEST(DeviceGraphsOfOneProcess, ContainTheirHalos) {
  options().set("-tenon_device_graphs", "true");
  const Residual residual;
  const standin::Calls before = tenonStandinCalls();
  residual.net->apply(*residual.x, *residual.y);
  const standin::Calls after = tenonStandinCalls();
  options().set("-tenon_device_graphs", "false");
  // All of Apply, halos included, is the launch of one graph.
  EXPECT_EQ(after.graphs - before.graphs, 1u);
  EXPECT_EQ(after.kernels - before.kernels, 0u);
  EXPECT_EQ(after.libraries - before.libraries, 0u);
}

// The program captures a call on the stream of the communicator, and launches its graph for other
// values in the same arrays.
TEST(DeviceGraphsOfTheProgram, ContainACall) {
  const Residual residual;
  const auto stream = static_cast<cudaStream_t>(residual.x->context().stream().handle());
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t launched = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  residual.net->apply(*residual.x, *residual.y);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&launched, graph, 0), cudaSuccess);
  fillConstant(*residual.x, 0.25);
  residual.net->apply(*residual.x, *residual.y);
  const std::vector<double> want = test::localCells(*residual.y);
  fillConstant(*residual.y, 0);
  ASSERT_EQ(cudaGraphLaunch(launched, stream), cudaSuccess);
  EXPECT_EQ(test::localCells(*residual.y), want);
  cudaGraphExecDestroy(launched);
  cudaGraphDestroy(graph);
}

INSTANTIATE_TEST_SUITE_P(Networks, DeviceCalls, testing::ValuesIn(cases()), [](const auto& info) {
  std::string name;
  for (const char letter : std::string(info.param.name))
    if (std::isalnum(static_cast<unsigned char>(letter)))
      name += letter;
  return name;
});

} // namespace
} // namespace tenon
