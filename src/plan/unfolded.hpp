// SPDX-License-Identifier: BSD-2-Clause
// A network as one list of the layers that compute, without the containers (sequences, graphs)
// around them. The layers are in the order in which they run, each with its path of names, such as
// "block/conv1" for conv1 in the container block. After the set-up, the nodes of the network's list
// of maps have the same order.
#pragma once

#include "declaration/core/network_file.hpp"
#include "layer/core/layer.hpp"
#include "planner/parallelizations/declared_network.hpp"

namespace tenon {

struct UnfoldedNode {
  Layer* layer;
  std::string path;       // "block/conv1"; for a network of a single layer its name or type
  std::vector<int> reads; // nodes by number; -1, -2, ...: inputs of the network
  // Edges, index maps and links of a mesh: its own and those that its containers will pass on.
  MeshLists lists;
  std::vector<const Layer*> containers = {}; // around the layer, the outermost first
};

std::vector<UnfoldedNode> unfolded(Layer& network);

// The nodes as the description of one graph, whose layers are named by their paths.
LayerDescription describeUnfolded(const std::vector<UnfoldedNode>& nodes);
// The same, including the execution settings that containers will pass on, as
// Layer::inheritSettings() does.
LayerDescription describeResolved(const std::vector<UnfoldedNode>& nodes);
// Adds what the layers have besides their settings: whether they are frozen, by themselves or in a
// frozen container, and the parameters that exist.
void addState(DeclaredNetwork& network, const std::vector<UnfoldedNode>& nodes);

} // namespace tenon
