// SPDX-License-Identifier: BSD-2-Clause
// A network as the compiler reads it: the layers that compute, in the order in which they run,
// without the containers (sequences, graphs) around them. The settings that containers hand down
// are already in the settings of the layers (inheritance.hpp). A network "net" of a convolution and
// a residual block becomes
//
//   net                                     node   container   reads
//     conv1                                 0                  0       (the input of the network)
//     block: conv2, sum = conv2 + input     1      block       1       (the output of conv1)
//                                           2      block       1, 2
//
// Values (tensors) are numbered from 0: the inputs of the network, then the output of each node.
#pragma once

#include "compile/network/assignment.hpp"
#include "declaration/core/halo_sharing.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon {

struct Network;

// A layer that computes. Values are given by their numbers (above).
struct NetworkNode {
  std::shared_ptr<const Declaration> type;
  std::vector<int> reads;  // the values that the layer reads
  NodeChoice choice = {};  // what a plan decided for the layer
  bool recomputes = false; // the adjoint computes the output again (setting recompute)
  HaloFrom halo = HaloFrom::Auto;
  std::string container = {}; // its name: layers share a halo only within one container
  Index haloDepth = 1;        // layers that share one halo exchange (container's halo_depth)
  // The parameters of the layer that exist already, with the layouts in which they are stored.
  std::vector<std::pair<std::string, Layout>> parameters = {};
  // For a container that recomputes its activations as a whole: the network in it, which is
  // compiled separately and runs as one kernel. Null for other layers.
  std::shared_ptr<const Network> segment = nullptr;
};

// A network in which containers have been replaced by the layers that compute; see above.
struct Network {
  std::vector<NetworkNode> nodes;
  int inputs = 1;           // number of inputs
  std::vector<int> outputs; // the values that are outputs of the network
  Index elementBytes = 4;
  bool savesRounded = false; // values that derivatives read are saved in bfloat16
  // The layout that the user requires for the only output, which is converted to it. None: the
  // layout that follows from the last layer.
  std::optional<Layout> output = {};
};

} // namespace tenon
