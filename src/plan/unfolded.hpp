// SPDX-License-Identifier: BSD-2-Clause
// A network as one list of the layers that compute, without the containers (sequences, graphs)
// around them. The layers are in the order in which they run, each with its path of names. After
// the set-up, the nodes of the network's list of maps have the same order.
#pragma once

#include "declaration/core/network_file.hpp"
#include "layer/core/layer.hpp"

namespace tenon {

struct UnfoldedNode {
  Layer* layer;
  std::string path;       // "block/conv1"; for a network of a single layer its name or type
  std::vector<int> reads; // nodes by number; -1, -2, ...: inputs of the network
  MeshLists lists;        // its own lists and those that its containers will pass on
  std::vector<const Layer*> containers = {}; // the outermost first
};

std::vector<UnfoldedNode> unfolded(Layer& network);

// The nodes as a graph of declarations, whose layers are named by their paths.
LayerDescription describeUnfolded(const std::vector<UnfoldedNode>& nodes);
// The same, including the execution settings that containers will pass on, as
// Layer::inheritSettings() does.
LayerDescription describeResolved(const std::vector<UnfoldedNode>& nodes);

} // namespace tenon
