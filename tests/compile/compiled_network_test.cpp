// SPDX-License-Identifier: BSD-2-Clause
// Compiling a network: layouts, storage of parameters, shared objects and shared halos follow from
// the layers, the layouts of the inputs and the choices alone. Expected values come from the
// definitions (layouts are given, halos are counted by hand).
#include "compile/program/compiled_network.hpp"
#include "declaration/core/types.hpp"

#include <gtest/gtest.h>

namespace tenon::test {
namespace {

// A tensor of a batch of 4 whose dimension `dim` is split over 2 ranks.
Layout splitOver2(Shape shape, int dim) {
  return Layout(
      {.shape = std::move(shape), .grid = Grid::make({2}), .properties = {Property::shard(dim)}});
}

using NamedSettings = std::vector<std::pair<std::string, SettingValue>>;

std::shared_ptr<Declaration> declared(const char* type, const NamedSettings& settings = {}) {
  std::shared_ptr<Declaration> layer = makeDeclaration(type);
  for (const auto& [name, value] : settings)
    layer->set(name, value);
  return layer;
}

std::shared_ptr<Declaration> affine(Index inputs, Index outputs) {
  return declared("affine", {{"inputs", inputs}, {"outputs", outputs}});
}

// A convolution with one channel and a window of 3, which keeps the extent.
std::shared_ptr<Declaration> window3() {
  return declared("conv", {{"in_channels", Index(1)},
                           {"out_channels", Index(1)},
                           {"kernel", Shape{3}},
                           {"padding", Shape{1}}});
}

// A chain in which each layer reads the one before it.
Network chain(const std::vector<std::shared_ptr<Declaration>>& layers) {
  Network network;
  for (const auto& layer : layers)
    network.nodes.push_back({.type = layer, .reads = {static_cast<int>(network.nodes.size())}});
  network.outputs = {static_cast<int>(layers.size())};
  return network;
}

CompiledNetwork compiled(Network network, const Layout& input) {
  return {std::move(network), {input}, Target()};
}

TEST(CompiledNetwork, StoresNewParametersAsTheyAreUsed) {
  const CompiledNetwork network = compiled(chain({affine(6, 4)}), splitOver2({4, 6}, 0));
  const CompiledNetwork::Node& node = network.nodes().front();
  ASSERT_EQ(node.storage.size(), 2U);
  EXPECT_EQ(node.storage.front(), node.form->parameters.front().use);
}

// A layer that is set up for other inputs already has its parameters: they stay where they are, and
// the list converts them.
TEST(CompiledNetwork, LeavesParametersThatExistWhereTheyAre) {
  const Layout elsewhere = splitOver2({4, 6}, 1);
  Network declaredNetwork = chain({affine(6, 4)});
  declaredNetwork.nodes.front().parameters = {{"weight", elsewhere}};
  const CompiledNetwork network = compiled(std::move(declaredNetwork), splitOver2({4, 6}, 0));
  EXPECT_EQ(network.nodes().front().storage.front(), elsewhere);
  EXPECT_EQ(network.list().sources().front().storage, elsewhere);
}

// Twice the same layer for inputs of the same layout: one set of objects, at the first node.
TEST(CompiledNetwork, MakesTheObjectsOfARepeatedLayerOnce) {
  const auto layer = affine(6, 6);
  const CompiledNetwork network = compiled(chain({layer, layer}), splitOver2({4, 6}, 0));
  EXPECT_EQ(network.nodes()[0].sameAs, -1);
  EXPECT_EQ(network.nodes()[1].sameAs, 0);
  EXPECT_EQ(network.list().kernels().size(), 1U);
}

// For inputs of two layouts the layer has two forms, and the parameters of the first.
TEST(CompiledNetwork, StoresTheParametersOfARepeatedLayerOnce) {
  const auto layer = affine(6, 6);
  Network declaredNetwork = chain({layer, layer});
  declaredNetwork.inputs = 2;
  declaredNetwork.nodes[0].reads = {0};
  declaredNetwork.nodes[1].reads = {1};
  declaredNetwork.outputs = {2, 3};
  const CompiledNetwork network(std::move(declaredNetwork),
                                {splitOver2({4, 6}, 1), splitOver2({4, 6}, 0)}, Target());
  EXPECT_EQ(network.nodes()[1].sameAs, -1);
  EXPECT_EQ(network.list().kernels().size(), 2U);
  EXPECT_EQ(network.nodes()[1].storage, network.nodes()[0].storage);
  EXPECT_NE(network.nodes()[1].form->parameters.front().use,
            network.nodes()[0].form->parameters.front().use);
}

// Two windows of 3: within one container whose halo_depth is 2, the first exchanges a halo of 2 and
// computes the halo of 1 of the second.
TEST(CompiledNetwork, SharesHalosWithinAContainer) {
  const Layout input = splitOver2({1, 1, 16}, 2);
  const auto boxesOf = [&](Index depth, const char* secondContainer) {
    Network declaredNetwork = chain({window3(), window3()});
    for (NetworkNode& node : declaredNetwork.nodes) {
      node.container = "a";
      node.haloDepth = depth;
    }
    declaredNetwork.nodes[1].container = secondContainer;
    const CompiledNetwork network = compiled(std::move(declaredNetwork), input);
    return std::pair(network.nodes()[0].form->uses.front().boxOfRank(0)[2],
                     network.values()[1].boxOfRank(0)[2]);
  };
  EXPECT_EQ(boxesOf(2, "a"), std::pair(Interval{0, 10}, Interval{0, 9}));
  EXPECT_EQ(boxesOf(1, "a"), std::pair(Interval{0, 9}, Interval{0, 8}));
  EXPECT_EQ(boxesOf(2, "b"), std::pair(Interval{0, 9}, Interval{0, 8}));
}

TEST(CompiledNetwork, RepartitionsToTheOutputOfTheUser) {
  const Layout rows = splitOver2({4, 6}, 0), columns = splitOver2({4, 6}, 1);
  Network declaredNetwork = chain({declared("relu")});
  declaredNetwork.output = rows;
  EXPECT_EQ(compiled(declaredNetwork, rows).nodes().size(), 1U);
  declaredNetwork.output = columns;
  const CompiledNetwork network = compiled(declaredNetwork, rows);
  EXPECT_EQ(network.nodes().size(), 2U);
  EXPECT_EQ(network.outputs(), Layouts{columns});
}

// A container that recomputes is one kernel around a network of its own.
TEST(CompiledNetwork, RunsASegmentAsOneKernel) {
  const auto container = declared("sequential");
  auto contents = std::make_shared<Network>(chain({affine(6, 4), declared("relu")}));
  Network declaredNetwork = chain({container});
  declaredNetwork.nodes.front().segment = contents;
  const CompiledNetwork network = compiled(std::move(declaredNetwork), splitOver2({4, 6}, 0));
  ASSERT_EQ(network.list().kernels().size(), 1U);
  EXPECT_EQ(network.list().kernels().front().name, "segment");
  EXPECT_EQ(network.outputs(), Layouts{splitOver2({4, 4}, 0)});
  EXPECT_EQ(network.nodes().front().segment->list().kernels().size(), 2U);
}

// Recomputation is asked for many times in a search, and changes nothing.
TEST(CompiledNetwork, IsNotChangedByRecomputation) {
  const CompiledNetwork network =
      compiled(chain({affine(6, 4), declared("tanh"), affine(4, 4)}), splitOver2({4, 6}, 0));
  const Index saved = network.saving().savedBytes(0, 4);
  const MapList recomputing = network.recomputing({true, true, false});
  EXPECT_LT(recomputing.savedBytes(0, 4), saved);
  EXPECT_EQ(network.saving().savedBytes(0, 4), saved);
  EXPECT_EQ(network.list().savedBytes(0, 4), saved);
}

} // namespace
} // namespace tenon::test
