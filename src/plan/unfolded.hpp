// SPDX-License-Identifier: BSD-2-Clause
// A network of layers without its containers: the layers that compute, in the order in which they
// run, each with the path of names that leads to it. The maps of a network that is set up have
// their nodes in this order.
#pragma once

#include "declaration/core/network_file.hpp"
#include "layer/core/layer.hpp"

namespace tenon {

struct UnfoldedNode {
  Layer* layer;
  std::string path;       // "block/conv1"; for a network that is one layer its name or type
  std::vector<int> reads; // nodes by number; -1, -2, ...: the network's inputs
  MeshLists lists;        // its own and those that its containers will hand on
  std::vector<const Layer*> containers = {}; // the outermost first
};

std::vector<UnfoldedNode> unfolded(Layer& network);

// The nodes as a graph of declarations, whose layers have their paths for names.
LayerDescription describeUnfolded(const std::vector<UnfoldedNode>& nodes);
// The same with the settings of how they run that containers will hand on, as
// Layer::inheritSettings() does.
LayerDescription describeResolved(const std::vector<UnfoldedNode>& nodes);

} // namespace tenon
