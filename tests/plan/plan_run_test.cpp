// SPDX-License-Identifier: BSD-2-Clause
// Tests networks that are set up by their plans. The reference is the training of the same network
// on one process without a plan: losses must agree within rounding, for plans that the search
// finds, for forced parallelizations, from and to the layout of a solver's field, with several
// inputs, and on other grids. The last tests check errors, after which the network is as before.
#include "planned_network.hpp"

#include "layer/networks/network_file.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "sys/expect_error.hpp"
#include "sys/options/options.hpp"

namespace tenon::test {
namespace {

// The compiled network of the last set-up.
const CompiledNetwork& compiled(const Layer& network) {
  return network.setup(network.inputLayouts()).network();
}

class PlannedNetwork : public testing::TestWithParam<NetworkCase> {};

void expectSameLosses(LayerPlan& plan, const NetworkCase& c) {
  plan.setUp();
  const std::vector<double> want = trainedAlone(c),
                            got = trained(plan.layer(), world(), plan.inputLayout());
  if (got.empty()) { // a rank without a copy of the loss
    EXPECT_NE(world()->rank(), plan.layer().outputLayout().grid().rank(0));
    return;
  }
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t step = 0; step < want.size(); ++step)
    ASSERT_NEAR(got[step], want[step], 1e-10) << "step " << step << "\n" << plan.layer().describe();
  EXPECT_LT(want.back(), want.front());
}

TEST_P(PlannedNetwork, TrainsLikeOneProcess) {
  expectSameLosses(*planOf(GetParam(), world()), GetParam());
}

// Whether the layer can have this parallelization. Pooling can leave processes without an element,
// and a layer can have fewer channels than processes.
bool canHave(const Ref<LayerPlan>& plan, const std::string& layer,
             const std::string& parallelization) {
  plan->fix(layer, parallelization);
  try {
    plan->search();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TENON_ERR_OPTION) << error.text();
    return false;
  }
  return true;
}

// Parallelizations of space and of channels are fixed, although they are not the fastest: the first
// layer, whose name is first, C1 or conv1, splits rows and columns, and the others channels, except
// sums.
TEST_P(PlannedNetwork, TrainsWithForcedParallelizations) {
  const NetworkCase& c = GetParam();
  const Ref<LayerPlan> probe = planOf(c, world());
  if (world()->size() == 1)
    GTEST_SKIP() << "needs two ranks";
  for (const char* channels : {"o", "i"}) {
    const Ref<LayerPlan> plan = planOf(c, world());
    const std::string parallelization = forcedParallelization(channels);
    int number = 0, split = 0;
    for (const PlannedLayer& layer : probe->search().layers)
      if (layer.name.find("sum") == std::string::npos && layer.name != "first" &&
          layer.name != "C1" && layer.name != "conv1") {
        if (!canHave(planOf(c, world()), layer.name, parallelization))
          continue;
        plan->fix(layer.name, parallelization);
        ++split;
      } else if (number++ == 0) {
        plan->fix(layer.name, forcedParallelization("hw"));
      }
    EXPECT_GT(split, 0);
    ASSERT_NO_FATAL_FAILURE(expectSameLosses(*plan, c));
  }
}

// With outputs where the windows are, two processes have 6 and 10 outputs; in balance 8 and 8.
TEST(LayerPlan, TrainsWithBalancedOutputs) {
  if (world()->size() == 1)
    GTEST_SKIP() << "needs two ranks";
  const Ref<LayerPlan> plan = planAhead();
  ASSERT_NO_FATAL_FAILURE(expectSameLosses(*plan, aheadCase()));
  EXPECT_TRUE(plan->layerNamed("first").isBalanced);
  const Layout output = compiled(plan->layer()).nodes().front().form->output;
  for (int part = 0; part < output.parts(2); ++part)
    EXPECT_EQ(output.owned(2, part).size(), 16 / output.parts(2)) << output.describe();
}

// The planner counts the scratch memory of kernels on tensors and of those on arrays, which an
// instance norm by area has both.
TEST(LayerPlan, RunsInstanceNormsByArea) {
  for (const char* area : {"none", "gauss"}) {
    const NetworkCase c = {
        "normalised", {4, 1, 8, 8}, [area](const CommPtr& comm) {
          const Ref<Layer> network = newNetwork(comm, "sequential"),
                           norm = newLayer(comm, "instancenorm");
          norm->set("channels", Index(4));
          norm->setText("area", area);
          add(*network, newConv(comm, 1, 4, {{.kernel = 3}, {.kernel = 3}}), "first");
          add(*network, norm, "norm");
          add(*network, newLayer(comm, "flatten"), "flatten");
          add(*network, newAffine(comm, 4 * 36, 10), "last");
          return network;
        }};
    const Ref<LayerPlan> plan = planOf(c, world());
    ASSERT_NO_FATAL_FAILURE(expectSameLosses(*plan, c)) << area;
  }
}

// A plan is separate from the settings: a saved network is the one that was planned.
TEST(LayerPlan, WritesNoSettingsIntoTheNetwork) {
  const NetworkCase c = caseNamed("lenet5");
  const Ref<Layer> network = c.make(world());
  const std::string before = networkText(describeNetwork(*network));
  const auto plan = makeRef<LayerPlan>(network, c.input[0]);
  plan->set("input_shape", Shape(c.input.begin() + 1, c.input.end()));
  plan->setUp();
  EXPECT_EQ(networkText(describeNetwork(*network)), before);
}

// The layouts in which the layers of a network read and write, in order.
std::vector<Layout> layoutsOf(const Layer& network) {
  std::vector<Layout> layouts;
  for (const CompiledNetwork::Node& node : compiled(network).nodes()) {
    layouts.insert(layouts.end(), node.form->uses.begin(), node.form->uses.end());
    layouts.push_back(node.form->output);
  }
  return layouts;
}

// A planned network that becomes a node of another one runs as planned.
TEST(LayerPlan, StaysWithItsNetworkInAnotherOne) {
  const Ref<LayerPlan> plan = planOf(caseNamed("lenet5"), world());
  plan->setUp();
  const std::vector<Layout> planned = layoutsOf(plan->layer());
  const Ref<Layer> outer = newNetwork(world(), "sequential");
  outer->setDataType(plan->layer().dataType());
  add(*outer, Ref<Layer>::share(&plan->layer()), "planned");
  add(*outer, newPointwise(world(), "tanh"), "tanh");
  outer->setUp(plan->inputLayout());
  std::vector<Layout> layouts = layoutsOf(*outer);
  ASSERT_GT(layouts.size(), planned.size());
  layouts.erase(layouts.begin() + std::ssize(planned), layouts.end()); // those of "tanh"
  EXPECT_EQ(layouts, planned);
}

// Set-up of a plan leaves the modes of the network as they are, also those of layers that were
// added to a network in inference.
TEST(LayerPlan, LeavesModesAsTheyAre) {
  for (const char* objective : {"training", "inference"}) {
    const Ref<Layer> network = newNetwork(world(), "sequential"),
                     dropout = newDropout(world(), 0.5);
    network->setTraining(false);
    add(*network, newAffine(world(), 5, 3), "affine");
    add(*network, dropout, "dropout");
    const auto plan = makeRef<LayerPlan>(network, 8);
    plan->set("input_shape", Shape{5});
    plan->set("objective", std::string(objective));
    plan->setUp();
    EXPECT_FALSE(dropout->isTraining()) << objective;
    EXPECT_FALSE(network->isRecording()) << objective;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, PlannedNetwork, testing::ValuesIn(networkCases()),
                         [](const auto& info) { return info.param.name; });

// The input has the layout of a solver's field, and so has the output of the first plan, whose
// layers the search chooses. In the second plan every other layer is distributed like the field.
TEST_P(PlannedNetwork, TrainsFromAnUnevenField) {
  const NetworkCase& c = GetParam();
  const auto pinned = [&](bool output) {
    const Ref<LayerPlan> plan = planOf(c, world());
    plan->setInput(unevenField(c.input));
    if (output)
      plan->setOutput(unevenField(outputShapeOf(c)));
    return plan;
  };
  const Ref<LayerPlan> free = pinned(true), turns = pinned(false);
  ASSERT_NO_FATAL_FAILURE(expectSameLosses(*free, c));
  EXPECT_EQ(free->inputLayout(), unevenField(c.input));
  EXPECT_EQ(free->layer().outputLayout(), unevenField(outputShapeOf(c)));
  int stay = 0, turn = 0;
  const std::vector<PlannedLayer> layers = pinned(false)->search().layers;
  for (const PlannedLayer& layer : layers)
    if (const std::string parallelization = parallelizationOfField(c, layer.name);
        turn++ % 2 == 0 && !parallelization.empty() &&
        canHave(pinned(false), layer.name, parallelization)) {
      turns->fix(layer.name, parallelization);
      ++stay;
    }
  EXPECT_GT(stay, 0);
  ASSERT_NO_FATAL_FAILURE(expectSameLosses(*turns, c));
}

// The overlap of communication across layers does not change a bit of the losses.
TEST(LayerPlan, ComputesTheSameWithStepsInOrder) {
  for (const NetworkCase& c : networkCases()) {
    const auto losses = [&] {
      const Ref<LayerPlan> plan = planOf(c, world());
      plan->setUp();
      return trained(plan->layer(), world(), plan->inputLayout(), 3);
    };
    const std::vector<double> moved = losses();
    options().set("-tenon_overlap_steps", "false");
    const std::vector<double> inOrder = losses();
    options().set("-tenon_overlap_steps", "true");
    EXPECT_EQ(moved, inOrder) << c.name;
  }
}

// A single convolution is fastest in the layout of the field, so only its halo is communicated: a
// row of 64 elements to each neighbour.
TEST(LayerPlan, StaysInTheLayoutOfTheField) {
  const int size = world()->size();
  const Ref<Layer> conv = conv2d(world(), 1, 1, 3, 1);
  conv->setName("conv");
  conv->setDataType(TENON_FLOAT64);
  const Layout rows({.shape = {1, 1, 64, 64},
                     .grid = Grid::make({size, 1}),
                     .properties = parseProperties("S2,S3")});
  const auto plan = makeRef<LayerPlan>(conv, 1);
  plan->setInput(rows);
  plan->setOutput(rows);
  plan->setUp();
  EXPECT_EQ(plan->layerNamed("conv").labels, size > 1 ? "input:h" : "input:all")
      << plan->describe();
  EXPECT_EQ(&plan->layer(), conv.get()) << "the plan has added a repartition";
  const std::vector<LayerCost> costs = plan->costs(world()->rank(), /*inputCotangent=*/false);
  const int neighbours = (world()->rank() > 0) + (world()->rank() + 1 < size);
  const PhaseCost& apply = costs.front()[static_cast<int>(Phase::ApplyMove)];
  EXPECT_EQ(apply.messages, neighbours);
  EXPECT_EQ(apply.bytes, neighbours * 64 * 8);
}

// Layers with windows of one element keep the layout of the field, although its blocks are uneven
// and some are empty, and nothing is communicated.
TEST(LayerPlan, DoesNotRedistributeWithoutAGain) {
  const Ref<Layer> network = newNetwork(world(), "sequential");
  for (const char* name : {"one", "two", "three"})
    add(*network, conv2d(world(), 2, 2, 1, 0), name);
  const Layout field = unevenField({1, 2, 8, 8});
  const auto plan = makeRef<LayerPlan>(network, 1);
  plan->set("flop_rate", 1e15);
  plan->setInput(field);
  plan->setOutput(field);
  plan->setUp();
  for (const char* name : {"one", "two", "three"})
    EXPECT_EQ(plan->layerNamed(name).labels, parallelizationOnUneven("h", "w")) << plan->describe();
  for (const LayerCost& cost : plan->costs(world()->rank(), /*inputCotangent=*/true))
    EXPECT_EQ(cost[static_cast<int>(Phase::ApplyMove)].messages +
                  cost[static_cast<int>(Phase::AdjointMove)].messages,
              0);
}

// y = conv(tanh(conv x) * mask), with a mask [n,1,y,x].
Ref<Layer> masked(const CommPtr& comm) {
  const Ref<Layer> network = newLayer(comm, "graph");
  network->set("input_names", std::string("x,mask"));
  const std::pair<const char*, Ref<Layer>> layers[] = {{"first", conv2d(comm, 2, 4, 3, 1)},
                                                       {"tanh", newPointwise(comm, "tanh")},
                                                       {"product", newLayer(comm, "multiply")},
                                                       {"last", conv2d(comm, 4, 1, 3, 1)}};
  int node = -1;
  for (const auto& [name, layer] : layers) {
    layer->setName(name);
    node = addGraphNode(*network, layer,
                        name == std::string("product") ? std::vector{node, -2} : std::vector{node});
  }
  network->setDataType(TENON_FLOAT64);
  return network;
}

// All elements of a tensor, on every rank.
std::vector<double> everywhere(const DTensor& x) {
  const Layout all({.shape = x.layout().shape(),
                    .grid = Grid::make({x.comm()->size()}),
                    .properties = {Property::broadcast()}});
  DTensor copy(x.comm(), all, TENON_FLOAT64);
  makeConversion(x.comm(), x.layout(), all, TENON_FLOAT64)->apply(x, copy);
  const double* values = static_cast<const DTensor&>(copy).data<double>();
  return {values, values + copy.localElements()};
}

// The output and the cotangents of both inputs.
std::vector<std::vector<double>> valuesOf(Layer& network, const CommPtr& comm) {
  std::vector<Ref<DTensor>> x, dx;
  std::vector<const DTensor*> read;
  std::vector<DTensor*> written;
  for (const Layout& input : network.inputLayouts()) {
    x.push_back(makeRef<DTensor>(comm, input, TENON_FLOAT64));
    dx.push_back(makeRef<DTensor>(comm, input.dual(), TENON_FLOAT64));
    fillUniform(*x.back(), kTrainingSeed, x.size(), -1, 1);
    read.push_back(x.back().get());
    written.push_back(dx.back().get());
  }
  DTensor y(comm, network.outputLayout(), TENON_FLOAT64),
      dy(comm, network.outputLayout().dual(), TENON_FLOAT64);
  fillUniform(dy, kTrainingSeed, /*stream=*/9, -1, 1);
  network.apply(Inputs(read), y);
  network.applyAdjoint(dy, InputCotangents(written));
  return {everywhere(y), everywhere(*dx[0]), everywhere(*dx[1])};
}

// Plans of a network with two inputs: without fixed layouts, with fixed inputs, and also with a
// fixed output. The reference runs on one process.
TEST(LayerPlan, TakesSeveralInputs) {
  const Shape field = {2, 2, 12, 12}, mask = {2, 1, 12, 12};
  const CommPtr self = Communicator::of(MPI_COMM_SELF);
  const Ref<Layer> alone = masked(self);
  const auto whole = [](const Shape& shape) {
    return Layout({.shape = shape, .grid = Grid::make({1}), .properties = {Property::broadcast()}});
  };
  alone->setUp(Layouts{whole(field), whole(mask)});
  alone->initialize(kTrainingSeed, 0);
  const auto want = valuesOf(*alone, self);
  for (int pins = 0; pins < 3; ++pins) {
    const Ref<Layer> network = masked(world());
    const auto plan = makeRef<LayerPlan>(network, 2);
    if (pins == 0) {
      plan->set("input_shapes", std::string("2,12,12;1,12,12"));
    } else {
      plan->setInput(0, unevenField(field));
      plan->setInput(1, unevenField(mask));
    }
    if (pins == 2)
      plan->setOutput(unevenField(mask));
    plan->setUp();
    if (pins > 0) {
      EXPECT_EQ(plan->inputLayouts(), (Layouts{unevenField(field), unevenField(mask)}));
    }
    Layer& runs = plan->layer();
    if (pins == 2) {
      EXPECT_EQ(runs.outputLayout(), unevenField(mask));
    }
    network->initialize(kTrainingSeed, 0);
    const auto got = valuesOf(runs, world());
    for (std::size_t k = 0; k < want.size(); ++k)
      for (std::size_t i = 0; i < want[k].size(); ++i)
        ASSERT_NEAR(got[k][i], want[k][i], 1e-12) << pins << "\n" << plan->describe();
  }
  const auto plan = makeRef<LayerPlan>(masked(world()), 2);
  expectError(TENON_ERR_ARG, {"input index 2", "2 inputs"},
              [&] { plan->setInput(2, unevenField(mask)); });
  plan->setInput(0, unevenField(field));
  expectError(TENON_ERR_SHAPE, {"2 inputs", "input_shapes"}, [&] { plan->search(); });
  expectError(TENON_ERR_ARG, {"input_shapes", "2,x"},
              [&] { plan->set("input_shapes", std::string("2,x")); });
}

// Plans that leave processes idle, and plans on a grid with reversed axes.
TEST(LayerPlan, TrainsOnOtherGrids) {
  const int size = world()->size();
  const NetworkCase c = caseNamed("residual");
  const Ref<LayerPlan> fewer = planOf(c, world()), inner = planOf(c, world());
  if (size > 1)
    fewer->set("processes", Index(size - 1));
  fewer->set("fewer_processes", true);
  fewer->set("link_latency", 1.0); // of a second, so one process is the fastest
  ASSERT_NO_FATAL_FAILURE(expectSameLosses(*fewer, c));
  EXPECT_EQ(fewer->found().grid->size(), 1);
  inner->set("placement", "space");
  if (size == 8)
    inner->fix("first", "n,o,h");
  ASSERT_NO_FATAL_FAILURE(expectSameLosses(*inner, c));
  EXPECT_TRUE(inner->found().spaceOutermost);
}

TEST(LayerPlan, RefusesAContainerThatRecomputes) {
  const Ref<Layer> network = newNetwork(world(), "sequential"),
                   encoder = newNetwork(world(), "sequential");
  add(*encoder, newAffine(world(), 5, 3), "affine");
  add(*network, encoder, "encoder");
  encoder->set("recompute", true);
  const auto plan = makeRef<LayerPlan>(network, 8);
  plan->set("input_shape", Shape{5});
  expectError(TENON_ERR_SUPPORT, {"encoder", "recompute to false"}, [&] { plan->setUp(); });
}

TEST(LayerPlan, RefusesAContainerWithoutLayers) {
  for (const char* type : {"sequential", "graph"}) {
    const Ref<Layer> network = newNetwork(world(), type);
    const auto plan = makeRef<LayerPlan>(network, 8);
    plan->set("input_shape", Shape{5});
    expectError(TENON_ERR_STATE, {"has no layers"}, [&] { plan->search(); });
    expectError(TENON_ERR_STATE, {"has no layers"}, [&] { plan->setUp(); });
  }
  const Ref<Layer> network = newNetwork(world(), "sequential"),
                   empty = newNetwork(world(), "sequential");
  add(*network, newAffine(world(), 5, 3), "affine");
  add(*network, empty, "empty");
  const auto plan = makeRef<LayerPlan>(network, 8);
  plan->set("input_shape", Shape{5});
  expectError(TENON_ERR_STATE, {"layer \"empty\" has no layers"}, [&] { plan->setUp(); });
}

TEST(LayerPlan, LeavesTheNetworkAsItWasWhereItFails) {
  const NetworkCase c = caseNamed("lenet5");
  const Ref<Layer> network = c.make(world());
  const std::string before = network->agreedText();
  const auto plan = makeRef<LayerPlan>(network, c.input[0]);
  plan->set("input_shape", Shape{1, 28, 28});
  plan->set("processes", Index(world()->size()));
  plan->fix("C5", "h");
  expectError(TENON_ERR_OPTION, {"C5", "'h'"}, [&] { plan->setUp(); });
  EXPECT_EQ(network->agreedText(), before);
  expectError(TENON_ERR_STATE, {"not set up"}, [&] { plan->layer(); });
  const auto again = makeRef<LayerPlan>(network, c.input[0]);
  again->set("input_shape", Shape{1, 28, 28});
  again->setUp();
  expectError(TENON_ERR_STATE, {"after"}, [&] { makeRef<LayerPlan>(network, 8); });
}

TEST(LayerPlan, RefusesWhatCannotRun) {
  const NetworkCase c = caseNamed("lenet5");
  const Ref<LayerPlan> many = planOf(c, world());
  many->set("processes", Index(world()->size() + 1));
  expectError(TENON_ERR_STATE, {"processes", "communicator"}, [&] { many->setUp(); });
  const Ref<LayerPlan> small = planOf(c, world());
  small->set("memory_limit", Index(1000));
  expectError(TENON_ERR_MEMORY_LIMIT, {"1000 B", "C5", "Nothing was found to fit"},
              [&] { small->setUp(); });
  const Ref<LayerPlan> shapeless = makeRef<LayerPlan>(c.make(world()), 8);
  expectError(TENON_ERR_STATE, {"shape"}, [&] { shapeless->setUp(); });
}

} // namespace
} // namespace tenon::test
