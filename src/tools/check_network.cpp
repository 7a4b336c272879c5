// SPDX-License-Identifier: BSD-2-Clause
// A small network whose layers choose their signatures by themselves, so that whatever lies between
// them is moved: same convolution, average pooling, tanh, flatten, affine.
#include "tools/check_layer.hpp"
#include "tools/check_window.hpp"

namespace tenon::tools {

namespace {

constexpr Index kChannels = 3, kClasses = 4;

// One of the network's layers, added to it and let go.
void add(TenonLayer network, Layer layer) {
  require(TenonLayerSequentialAdd(network, layer));
}

Layer makeNetwork(MPI_Comm comm, const Indices& input) {
  const Indices kernel = {3, 3}, same = {1, 1}, half = {2, 2};
  Layer network, conv, pool, function, flatten, affine;
  require(TenonLayerCreateSequential(comm, network.out()));
  require(TenonLayerCreateConv(comm, 2, input[1], kChannels, kernel.data(), conv.out()));
  require(TenonLayerSetPadding(conv, same.data(), nullptr));
  add(network, std::move(conv));
  require(
      TenonLayerCreatePooling(comm, TENON_POOLING_AVERAGE_INCLUDE_PAD, 2, half.data(), pool.out()));
  add(network, std::move(pool));
  require(TenonLayerCreatePointwise(comm, "tanh", function.out()));
  add(network, std::move(function));
  require(TenonLayerCreateFlatten(comm, flatten.out()));
  add(network, std::move(flatten));
  const Index features = kChannels * (input[2] / 2) * (input[3] / 2);
  require(TenonLayerCreateAffine(comm, features, kClasses, affine.out()));
  add(network, std::move(affine));
  return network;
}

} // namespace

void checkNetwork(Case& c) {
  const Indices input = {c.draw.between(1, 4), c.draw.between(1, 3), c.draw.between(2, 7),
                         c.draw.between(2, 7)};
  checkLayer(
      c, {.inputs = {input},
          .make = [=](const Case& at,
                      bool alone) { return makeNetwork(alone ? MPI_COMM_SELF : at.comm, input); },
          // What all of its layers have, and so what the container may pass on.
          .letters = {}});
}

} // namespace tenon::tools
