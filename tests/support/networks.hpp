// SPDX-License-Identifier: BSD-2-Clause
// Networks to plan and train, in float64.
#pragma once

#include "layer/networks/network_file.hpp"
#include "support/layers.hpp"

namespace tenon::test {

inline void add(Layer& network, const Ref<Layer>& layer, const std::string& name) {
  layer->setName(name);
  appendLayer(network, layer);
}

inline Ref<Layer> newNetwork(const CommPtr& comm, const std::string& type) {
  const Ref<Layer> network = newLayer(comm, type);
  network->setDataType(TENON_FLOAT64);
  return network;
}

// A square window, with the same padding on all sides.
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

// Convolutions of AlexNet's kinds, with few channels: a window of 7 x 7 with a stride of 2, one of
// 5 x 5 after a pooling, and two of 3 x 3 before the affine layers. For images of 34 x 34 pixels:
// these become 16 x 16, 7 x 7 and, after the last pooling, 3 x 3 of 8 channels, the 72 inputs of
// fc5. The numbers of conv2d() are channels in and out, kernel, padding and stride; those of
// maxPooling() are kernel and stride.
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

// Two residual blocks tanh(x + f(x)), each a container, and an affine layer that reads all pixels
// of an image of 8 x 8. A node of a graph reads nodes by their numbers; -1 is the graph's input.
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
  add(*network, newAffine(comm, /*inputs=*/8 * 64, 10), "last"); // 8 channels of 64 pixels
  return network;
}

inline Ref<Layer> conv3d(const CommPtr& comm, Index in, Index out, Index kernel) {
  return newConv(
      comm, in, out,
      std::vector<Window>(3, {.kernel = kernel, .padLow = kernel / 2, .padHigh = kernel / 2}));
}

// A U-Net of fields in three dimensions with two levels: down by pooling, and up by transposed
// convolutions, whose outputs are concatenated with the values of the same level on the way down.
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

} // namespace tenon::test
