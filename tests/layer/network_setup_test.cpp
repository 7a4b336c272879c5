// SPDX-License-Identifier: BSD-2-Clause
// The set-up of networks as a whole: layers that are several nodes, inside and outside containers
// that recompute, and layers of a network that are also applied by themselves. The reference is the
// same network without recomputation, or the definition.
#include "layer/layer_run.hpp"
#include "layer/networks/model.hpp"
#include "layer/networks/network.hpp"
#include "layer/types/shell.hpp"
#include "sys/options/options.hpp"

namespace tenon::test {
namespace {

Ref<Layer> sequence(const std::vector<Ref<Layer>>& layers, bool recomputes = false) {
  Ref<Layer> network = newLayer(world(), "sequential");
  network->set("recompute", recomputes);
  for (const Ref<Layer>& layer : layers)
    appendLayer(*network, layer);
  return network;
}

Ref<Layer> square() {
  return newAffine(world(), 4, 4);
}

Ref<Layer> window() {
  return newConv(world(), 2, 2, std::vector<Window>(2, {.kernel = 3, .padLow = 1, .padHigh = 1}));
}

Ref<Layer> toColumns() {
  const Ref<Layer> repartition = newLayer(world(), "repartition");
  repartition->setOutputLayout(onWorld({8, 4}, "S1"));
  return repartition;
}

Layout rows() {
  return onWorld({8, 4}, "S0");
}

// The output of a network and the cotangent of its input.
std::pair<std::vector<double>, std::vector<double>> evaluated(Layer& network) {
  if (!network.isSetUp()) {
    network.setDataType(TENON_FLOAT64);
    network.setUp(rows());
  }
  network.initialize(3, 0);
  const Layout output = network.outputLayout();
  const Ref<DTensor> x = tensor(rows()), y = tensor(output), dy = tensor(output.dual()),
                     dx = tensor(rows().dual());
  fillValid(*x, 1);
  fillValid(*dy, 2);
  network.apply(*x, *y);
  network.applyAdjoint(*dy, dx.get());
  return {gathered(*y), gathered(*dx)};
}

void expectEqualTo(Layer& network, Layer& reference) {
  const auto [y, dx] = evaluated(network);
  const auto [yOfReference, dxOfReference] = evaluated(reference);
  expectNear(y, yOfReference, 1e-12, "y");
  expectNear(dx, dxOfReference, 1e-12, "dx");
}

// The layer is used with rows inside, and with columns outside: its parameters are stored for the
// first use, and converted for the second.
TEST(NetworkSetUp, OfALayerInsideAndOutsideOfRecomputation) {
  const Ref<Layer> within = square(), plain = square();
  expectEqualTo(*sequence({sequence({within}, /*recomputes=*/true), toColumns(), within}),
                *sequence({sequence({plain}), toColumns(), plain}));
}

TEST(NetworkSetUp, OfASegmentForTwoLayouts) {
  const Ref<Layer> segment = sequence({square()}, /*recomputes=*/true),
                   plain = sequence({square()});
  expectEqualTo(*sequence({segment, toColumns(), segment}), *sequence({plain, toColumns(), plain}));
}

// A layer takes over the stack depth of the container in which it comes first: two evaluations in
// the second container need no more, since each has its own list.
TEST(NetworkSetUp, OfALayerInTwoContainers) {
  const Ref<Layer> layer = square(), network = sequence({layer, sequence({layer, layer})});
  network->setDataType(TENON_FLOAT64);
  EXPECT_NO_THROW(network->setUp(rows()));
}

// A shell whose output has another shape than its input, which only its function knows.
TEST(NetworkSetUp, OfAShellThatChangesTheShape) {
  const Ref<Layer> shell = newLayer(world(), "shell");
  shellOf(*shell).functions().setUp = [](const Layout& x) {
    return Layout({.shape = {x.shape()[0], 6}, .grid = x.gridPtr(), .properties = x.properties()});
  };
  shellOf(*shell).setLabels("S0,B");
  shellOf(*shell).functions().apply = [](const DTensor&, DTensor& y) { fillConstant(y, 1); };
  const Ref<Layer> network =
      sequence({shell, newAffine(world(), 6, 4), sequence({square()}, /*recomputes=*/true)});
  network->setDataType(TENON_FLOAT64);
  EXPECT_NO_THROW(network->setUp(rows()));
}

// A shell for two layouts, each of which needs a workspace of its own size.
TEST(NetworkSetUp, OfAShellWithWorkspaces) {
  const Ref<Layer> shell = newLayer(world(), "shell");
  const int rank = world()->rank();
  shellOf(*shell).functions().setUp = [&](const Layout& x) {
    shellOf(*shell).setWorkspace(8 * elements(x.boxOfRank(rank)));
    return x;
  };
  shellOf(*shell).functions().apply = [](const DTensor& x, DTensor& y) { copyLocal(x, y); };
  const Ref<Layer> network = sequence({shell, newAffine(world(), 64, 2), shell});
  network->setDataType(TENON_FLOAT64);
  const Layout input = onWorld({8, 64}, "S0");
  network->setUp(input);
  std::vector<Index> bytes;
  for (const KernelEntry& kernel : network->maps(Layouts{input}).list().kernels())
    if (kernel.name == "shell")
      bytes.push_back(kernel.workspace.bytesOfRank(rank));
  const Index ownRows = input.boxOfRank(rank)[0].size();
  EXPECT_EQ(bytes, (std::vector<Index>{8 * 64 * ownRows, 8 * 2 * ownRows}));
}

// One imported model reads two images: its layers are those of the first.
TEST(NetworkSetUp, OfAModelThatIsTwoNodes) {
  const Ref<Layer> model = makeModel(world()), graph = newLayer(world(), "graph");
  model->set("path", std::string(TENON_TEST_DATA "/import/with_test.pt2"));
  model->set("model_test", std::string("off"));
  graph->set("input_count", Index(2));
  graph->set("output_names", std::string("a=0,b=1"));
  addGraphNode(*graph, model, {-1});
  addGraphNode(*graph, model, {-2});
  graph->setDataType(TENON_FLOAT64);
  EXPECT_NO_THROW(graph->setUp({onWorld({2, 3, 12, 16}, "B"), onWorld({2, 3, 13, 10}, "B")}));
}

// Modes that the user sets after the set-up stay when a layer within is first applied by itself.
TEST(AppliedByItself, ChangesNoModes) {
  const Ref<Layer> layer = square(), dropout = newDropout(world(), 0.5),
                   inner = sequence({layer, dropout}), network = sequence({inner, square()});
  network->setDataType(TENON_FLOAT64);
  network->setUp(rows());
  inner->setFrozen(true);
  layer->setFrozen(false);
  inner->setTraining(false);
  dropout->setTraining(true);
  const Ref<DTensor> x = tensor(rows()), y = tensor(inner->outputLayout());
  fillValid(*x, 1);
  inner->apply(*x, *y);
  EXPECT_FALSE(layer->isFrozen());
  EXPECT_TRUE(dropout->isTraining());
}

TEST(AppliedByItself, LeavesTheLastSetUpTheLast) {
  const Ref<Layer> layer = square(), inner = sequence({layer}),
                   network = sequence({inner, square()});
  network->setDataType(TENON_FLOAT64);
  const Layout larger = onWorld({16, 4}, "S0");
  network->setUp(rows());
  network->setUp(larger);
  const Ref<DTensor> x = tensor(rows()), y = tensor(inner->outputLayout(rows()));
  fillValid(*x, 1);
  inner->apply(*x, *y);
  EXPECT_EQ(inner->outputLayout(), larger);
  EXPECT_EQ(layer->inputLayout(), larger);
}

// Its gradients are those of the layer in a network of its own.
TEST(AppliedByItself, HasTheDerivativesOfItsOwn) {
  const Ref<Layer> inner = sequence({square(), newPointwise(world(), "tanh")}),
                   network = sequence({inner, square()});
  network->setDataType(TENON_FLOAT64);
  network->setUp(rows());
  const Ref<Layer> alone = sequence({square(), newPointwise(world(), "tanh")});
  expectEqualTo(*inner, *alone);
}

// y = x by a shell whose set-up function fails on the last rank while `fails` is set.
Ref<Layer> failingShell(const std::shared_ptr<bool>& fails) {
  Ref<Layer> shell = newLayer(world(), "shell");
  shellOf(*shell).functions().setUp = [fails](const Layout& x) {
    if (*fails && world()->rank() == world()->size() - 1)
      throw Error(TENON_ERR_MEMORY, "no room here");
    return x;
  };
  shellOf(*shell).functions().apply = [](const DTensor& x, DTensor& y) { copyLocal(x, y); };
  return shell;
}

// It fails on one rank, when it gets passes of its own: no rank has them afterwards, and all can
// try again.
TEST(AppliedByItself, IsAsBeforeAfterAFailure) {
  for (const bool bySetUp : {true, false}) {
    const auto fails = std::make_shared<bool>(false);
    const Ref<Layer> shell = failingShell(fails), inner = sequence({shell}),
                     network = sequence({inner, square()});
    network->setDataType(TENON_FLOAT64);
    network->setUp(rows());
    for (const Ref<Layer>& layer : {shell, inner}) {
      const Ref<DTensor> x = tensor(rows()), y = tensor(rows());
      fillValid(*x, 1);
      *fails = true;
      expectErrorOnAll(TENON_ERR_MEMORY, {"no room here"},
                       [&] { bySetUp ? layer->setUp(rows()) : layer->apply(*x, *y); });
      *fails = false;
      layer->setUp(rows());
      layer->apply(*x, *y);
      EXPECT_EQ(gathered(*y), gathered(*x));
    }
  }
}

// A function can apply another layer of the network that runs it.
TEST(AppliedByItself, InAFunctionOfAnotherLayer) {
  const Ref<Layer> layer = square(), shell = newLayer(world(), "shell"),
                   network = sequence({layer, shell});
  shellOf(*shell).functions().apply = [&](const DTensor& x, DTensor& y) { layer->apply(x, y); };
  network->setDataType(TENON_FLOAT64);
  network->setUp(rows());
  network->setTraining(false);
  network->initialize(3, 0);
  const Ref<Layer> reference = square();
  const Ref<Layer> twice = sequence({reference, reference});
  twice->setDataType(TENON_FLOAT64);
  twice->setUp(rows());
  twice->setTraining(false);
  twice->initialize(3, 0);
  const Ref<DTensor> x = tensor(rows()), y = tensor(rows()), want = tensor(rows());
  fillValid(*x, 1);
  network->apply(*x, *y);
  twice->apply(*x, *want);
  expectNear(gathered(*y), gathered(*want), 1e-12, "y");
}

// The form is that of the network, whatever options say afterwards.
TEST(AppliedByItself, RunsAfterOptionsHaveChanged) {
  const Ref<Layer> first = window(), network = sequence({first, window()});
  network->setDataType(TENON_FLOAT64);
  const Layout input = onWorld({1, 2, 16, 16}, "S2");
  network->setUp(input);
  options().set("-tenon_machine_latency", "1");
  const Ref<DTensor> x = tensor(input), y = tensor(first->outputLayout(input));
  fillValid(*x, 1);
  EXPECT_NO_THROW(first->apply(*x, *y));
  options().set("-tenon_machine_latency", "1e-6");
}

// The second layer reads a halo that the first has computed. By itself it reads one that the caller
// has filled.
TEST(AppliedByItself, ReadsAFilledHaloInsteadOfAComputedOne) {
  const Ref<Layer> second = window(), network = sequence({window(), second});
  second->setText("halo", "compute");
  network->setDataType(TENON_FLOAT64);
  network->setUp(onWorld({1, 2, 16, 16}, "S2"));
  const Layout input = second->inputLayout();
  const Ref<DTensor> x = tensor(input), y = tensor(second->outputLayout(input));
  fillConstant(*x, 1);
  EXPECT_NO_THROW(second->apply(*x, *y));
}

} // namespace
} // namespace tenon::test
