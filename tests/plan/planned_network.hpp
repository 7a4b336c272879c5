// SPDX-License-Identifier: BSD-2-Clause
// Networks to plan, and their training with and without a plan.
#pragma once

#include "dtensor/fill.hpp"
#include "layer/network_file.hpp"
#include "plan/layer_plan.hpp"
#include "support/layers.hpp"
#include "support/world.hpp"
#include "sys/random.hpp"
#include "train/optimizer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace tenon::test {

inline constexpr std::uint64_t kTrainingSeed = 3;
inline constexpr int kTrainingSteps = 10;

struct NetworkCase {
  std::string name;
  Shape input; // of the whole batch
  std::function<Ref<Layer>(const CommPtr&)> make;
};

inline void add(Layer& network, const Ref<Layer>& layer, const std::string& name) {
  layer->setName(name);
  appendLayer(network, layer);
}

inline Ref<Layer> newNetwork(const CommPtr& comm, const std::string& type) {
  const Ref<Layer> network = newLayer(comm, type);
  network->setDataType(TENON_FLOAT64);
  return network;
}

inline Ref<Layer> conv2d(const CommPtr& comm, Index in, Index out, Index kernel, Index padding,
                         Index stride = 1) {
  return newConv(
      comm, in, out,
      std::vector<Window>(
          2, {.kernel = kernel, .stride = stride, .padLow = padding, .padHigh = padding}));
}

inline Ref<Layer> maxPooling(const CommPtr& comm, Index kernel, Index stride) {
  return newPooling(comm, PoolingMode::Max,
                    std::vector<Window>(2, {.kernel = kernel, .stride = stride}));
}

inline Ref<Layer> lenet5(const CommPtr& comm) {
  const Ref<Layer> network = readNetwork(comm, TENON_TEST_NETWORKS "/lenet5.json");
  network->setDataType(TENON_FLOAT64);
  return network;
}

// Convolutions of AlexNet's kinds, with few channels: a wide stride at first, 5 x 5 behind a pooling, and three of
// 3 x 3 before the affine layers.
inline Ref<Layer> smallAlexNet(const CommPtr& comm) {
  const Ref<Layer> network = newNetwork(comm, "sequential");
  add(*network, conv2d(comm, 3, 8, 7, 2, 2), "conv1");
  add(*network, newPointwise(comm, "relu"), "relu1");
  add(*network, maxPooling(comm, 3, 2), "pool1");
  add(*network, conv2d(comm, 8, 12, 5, 2), "conv2");
  add(*network, newPointwise(comm, "relu"), "relu2");
  add(*network, conv2d(comm, 12, 16, 3, 1), "conv3");
  add(*network, newPointwise(comm, "relu"), "relu3");
  add(*network, conv2d(comm, 16, 8, 3, 1), "conv4");
  add(*network, newPointwise(comm, "relu"), "relu4");
  add(*network, maxPooling(comm, 2, 2), "pool4");
  add(*network, newLayer(comm, "flatten"), "flatten");
  add(*network, newAffine(comm, 72, 48), "fc5");
  add(*network, newPointwise(comm, "relu"), "relu5");
  add(*network, newAffine(comm, 48, 10), "fc6");
  return network;
}

// x + f(x) twice, in containers of their own, and then a mean of all pixels by an affine layer.
inline Ref<Layer> residual(const CommPtr& comm) {
  const Ref<Layer> network = newNetwork(comm, "sequential");
  add(*network, conv2d(comm, 1, 8, 3, 1), "first");
  for (const char* name : {"block1", "block2"}) {
    const Ref<Layer> inner = newLayer(comm, "sequential"), block = newLayer(comm, "graph"),
                     sum = newLayer(comm, "add"), tanh = newPointwise(comm, "tanh");
    add(*inner, conv2d(comm, 8, 8, 3, 1), "conv1");
    add(*inner, newPointwise(comm, "tanh"), "tanh");
    add(*inner, conv2d(comm, 8, 8, 3, 1), "conv2");
    inner->setName("inner");
    sum->setName("sum");
    tanh->setName("out");
    addGraphNode(*block, inner, {-1});
    addGraphNode(*block, sum, {-1, 0});
    addGraphNode(*block, tanh, {1});
    add(*network, block, name);
  }
  add(*network, newLayer(comm, "flatten"), "flatten");
  add(*network, newAffine(comm, 8 * 64, 10), "last");
  return network;
}

inline Ref<Layer> conv3d(const CommPtr& comm, Index in, Index out, Index kernel) {
  return newConv(
      comm, in, out,
      std::vector<Window>(3, {.kernel = kernel, .padLow = kernel / 2, .padHigh = kernel / 2}));
}

// A U-Net of fields in three dimensions with two levels: down by pooling, up by transposed convolutions, and what
// is found on the way down beside what comes up.
inline Ref<Layer> unet3d(const CommPtr& comm) {
  const Ref<Layer> network = newNetwork(comm, "graph");
  int last = -1;
  const auto node = [&](const Ref<Layer>& layer, const std::string& name,
                        std::vector<int> reads = {}) {
    layer->setName(name);
    last = addGraphNode(*network, layer, reads.empty() ? std::vector{last} : reads);
    return last;
  };
  const auto block = [&](Index in, Index out, const std::string& name) {
    node(conv3d(comm, in, out, 3), name);
    return node(newPointwise(comm, "tanh"), name + "_tanh");
  };
  const auto down = [&](const std::string& name) {
    node(newPooling(comm, PoolingMode::AverageIncludePad,
                    std::vector<Window>(3, {.kernel = 2, .stride = 2})),
         name);
  };
  const auto up = [&](Index in, Index out, int beside, const std::string& name) {
    const Ref<Layer> layer = newLayer(comm, "transposedconv");
    layer->set("in_channels", in);
    layer->set("out_channels", out);
    layer->set("kernel", std::vector<Index>(3, 2));
    layer->set("stride", std::vector<Index>(3, 2));
    node(layer, name);
    node(newConcatenate(comm, 1), name + "_beside", {beside, last});
  };
  const int fine = block(1, 2, "down1");
  down("pool1");
  const int middle = block(2, 4, "down2");
  down("pool2");
  block(4, 8, "bottom");
  up(8, 4, middle, "up2");
  block(8, 4, "join2");
  up(4, 2, fine, "up1");
  block(4, 2, "join1");
  node(conv3d(comm, 2, 1, 1), "field");
  return network;
}

inline std::vector<NetworkCase> networkCases() {
  return {{"lenet5", {8, 1, 28, 28}, lenet5},
          {"small_alexnet", {8, 3, 34, 34}, smallAlexNet},
          {"residual", {8, 1, 8, 8}, residual},
          {"unet3d", {2, 1, 16, 16, 16}, unet3d}};
}

// A solver's blocks of the last two dimensions, wider and wider, on a grid that lists the ranks from the last one
// on. With an output that is a field too, that may lie alike.
inline Layout unevenField(const Shape& shape) {
  const int size = world()->size(), columns = size > 2 ? 2 : 1, rows = size / columns;
  const int rank = static_cast<int>(shape.size());
  std::vector<int> ranks(size);
  std::iota(ranks.rbegin(), ranks.rend(), 0);
  const auto cutsOf = [](Index extent, Index parts) {
    std::vector<Index> cuts;
    for (Index part = 0; part <= parts; ++part)
      cuts.push_back(extent * part * (part + 1) / (parts * (parts + 1)));
    return cuts;
  };
  LayoutSpec spec{.shape = shape,
                  .mesh = Mesh::make({rows, columns}, ranks),
                  .properties = {Property::shard(rank - 2), Property::shard(rank - 1)}};
  spec.cuts.resize(rank);
  spec.cuts[rank - 2] = cutsOf(shape[rank - 2], rows);
  spec.cuts[rank - 1] = cutsOf(shape[rank - 1], columns);
  return Layout(std::move(spec));
}

inline Shape outputShapeOf(const NetworkCase& c) {
  return c.name == "unet3d" ? c.input : Shape{c.input[0], 10};
}

// The word of a layer that lies where an uneven field does; "" of one whose input has no space.
inline std::string wordOfField(const NetworkCase& c, const std::string& layer) {
  for (const char* flat : {"last", "fc5", "fc6", "F6", "Output"})
    if (layer == flat)
      return "";
  const bool isJoint = layer.find("sum") != std::string::npos || layer.ends_with("_beside");
  const Index rank = static_cast<Index>(c.input.size());
  return isJoint ? fmt::format("input:S{},S{}", rank - 2, rank - 1) : "input:h,w";
}

// A word for the processes of the world, 2, 4 or 8, with one label for two of the grid's axes, or for its one: of the
// third the batch is split.
inline std::string forcedWord(const std::string& label) {
  const int size = world()->size();
  const std::string run = size == 2 ? label.substr(0, 1) : label + (label == "hw" ? "2-" : "2");
  return size == 8 ? "n," + run : run;
}

// Losses of the first steps with Adam, of a network that is set up.
inline std::vector<double> trained(Layer& network, const CommPtr& comm, const Layout& input,
                                   int steps = kTrainingSteps) {
  // What stands around it has no part in the values that a network has without a plan.
  const bool isWrapped =
      !network.nodes().empty() && network.nodes().back().layer->name() == "plan_output";
  (isWrapped ? *network.nodes().front().layer : network).initialize(kTrainingSeed, 0);
  const Layout output = network.outputLayout(input);
  const bool isField = output.rank() > 2;
  const Ref<Layer> loss = newLayer(comm, isField ? "meansquarederror" : "crossentropy");
  loss->setDataType(TENON_FLOAT64);
  loss->setUp(output);
  const Layout labels({.shape = isField ? output.shape() : Shape{input.shape()[0]},
                       .mesh = output.meshPtr(),
                       .properties = Properties(output.mesh().axes(), Property::broadcast())});
  DTensor x(comm, input, TENON_FLOAT64), y(comm, output, TENON_FLOAT64),
      dy(comm, output.dual(), TENON_FLOAT64),
      value(comm, loss->outputLayout(output), TENON_FLOAT64),
      seed(comm, loss->outputLayout(output).dual(), TENON_FLOAT64);
  const Ref<DTensor> target = makeRef<DTensor>(comm, labels, isField ? TENON_FLOAT64 : TENON_INT64);
  loss->setTarget(target);
  // 1 once, whatever the copies.
  const bool first = comm->rank() == output.mesh().rank(0);
  fillConstant(seed, first ? 1 : 0);
  const Ref<Optimizer> optimizer = makeOptimizer("adam", Ref<Layer>::share(&network));
  optimizer->setLearningRate(0.01);
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const std::uint64_t batch = step % 2;
    fillUniform(x, kTrainingSeed, 100 + batch, 0, 1);
    fillByIndex(*target, [&](Index n) {
      const double drawn = uniformAt(kTrainingSeed, 200 + batch, n);
      return isField ? drawn : std::floor(10 * drawn);
    });
    network.apply(x, y);
    loss->apply(y, value);
    const DTensor& read = value;
    if (read.localCells() > 0)
      losses.push_back(read.data<double>()[0]);
    loss->applyAdjoint(seed, &dy);
    network.applyAdjoint(dy, nullptr);
    optimizer->step();
  }
  return losses;
}

// On one process, by itself.
inline std::vector<double> trainedAlone(const NetworkCase& c) {
  const CommPtr self = Communicator::of(MPI_COMM_SELF);
  const Ref<Layer> network = c.make(self);
  const Layout input(
      {.shape = c.input, .mesh = Mesh::make({1}), .properties = {Property::broadcast()}});
  network->setUp(input);
  return trained(*network, self, input);
}

inline Ref<LayerPlan> planOf(const NetworkCase& c, const CommPtr& comm) {
  const auto plan = makeRef<LayerPlan>(c.make(comm), c.input[0]);
  plan->setInputShape(Shape(c.input.begin() + 1, c.input.end()));
  return plan;
}

} // namespace tenon::test
