// SPDX-License-Identifier: BSD-2-Clause
// A network whose joints the user makes: skip connections, several inputs, shared layers.
//
// A node names what it reads: number i >= 0 is the output of node i, -1 the graph's first input,
// -2 its second, and so on. Only nodes that are there can be named, so there is no cycle. The last
// node gives the graph's output.
#pragma once

#include "layer/network_layer.hpp"

namespace tenon {

class GraphLayer final : public NetworkLayer {
public:
  explicit GraphLayer(CommPtr comm) : NetworkLayer(std::move(comm), 1) {}
  const char* type() const noexcept override { return "graph"; }

  // 1 by default; before the first node.
  void setInputs(int count);
  // The new node's number.
  int addNode(Ref<Layer> layer, const std::vector<int>& inputs);

private:
  int valueOf(int name) const;
};

} // namespace tenon
