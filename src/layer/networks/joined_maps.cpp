// SPDX-License-Identifier: BSD-2-Clause
// Makes the set-up of a network from the set-ups of its nodes: their map lists (each a short program
// of operators and kernels) are joined in the order of the nodes (compile/program/joined_maps.hpp).
#include "layer/networks/joined_maps.hpp"

#include "layer/core/layer.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// Throws if a value is never read. The cause is most likely a wrong number in the inputs of another
// node.
void checkAllRead(const Layer& layer, const std::vector<int>& outputs) {
  std::vector<bool> read(static_cast<std::size_t>(layer.lastValue()) + 1, false);
  for (int value : outputs)
    read[value] = true;
  for (const Layer::Node& node : layer.nodes())
    for (int value : node.reads)
      read[value] = true;
  const int inputs = layer.inputCount();
  for (int value = 0; value < static_cast<int>(read.size()); ++value)
    if (!read[value])
      throw Error(
          TENON_ERR_STATE,
          fmt::format("{} {} of {} is not used; every input and every node except {} must "
                      "be read by a node",
                      value < inputs ? "input" : "node", value < inputs ? value : value - inputs,
                      layer.title(),
                      layer.declaration().networkOutputs().empty() ? "the last" : "its outputs"));
}

} // namespace

std::unique_ptr<Setup> makeNetworkSetup(const Layer& layer, const Layouts& values) {
  const std::vector<int> outputs = layer.outputValues();
  checkAllRead(layer, outputs);
  std::vector<BoundNode> nodes;
  for (const Layer::Node& node : layer.nodes()) {
    Layouts inputs;
    for (int value : node.reads)
      inputs.push_back(values[value]);
    const Layout& output = values[layer.inputCount() + nodes.size()];
    nodes.push_back({&node.layer->nodeMaps(inputs, output), node.reads});
  }
  return std::make_unique<Setup>(BoundMaps(layer, nodes, values, outputs), /*signature=*/"");
}

} // namespace tenon
