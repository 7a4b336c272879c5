// SPDX-License-Identifier: BSD-2-Clause
// Joins the map lists of a network's nodes (each a short program of operators and kernels on
// numbered values), in order. Each node's inputs are bound to values of the joined list, and its
// output to a new value, so the numbers change: for the nodes y = g(f(x)), where f has a halo
// exchange,
//
//   f   0 -exchange-> 1 -kernel-> 2        joined   0 -exchange-> 1 -kernel-> 2 -kernel-> 3
//   g   0 -kernel-> 1
//
// A node whose output is an output of the network writes the caller's tensor directly. If other
// nodes also read this value, the node writes a tensor of the library instead, which is then copied
// to the caller's, because the adjoint adds the cotangents of several readers in memory of the
// library.
#include "layer/networks/joined_maps.hpp"

#include "layer/core/layer.hpp"

#include <fmt/format.h>

#include <algorithm>

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

// Number of nodes that read a value, plus the number of outputs that it is.
int usesOf(const Layer& layer, const std::vector<int>& outputs, int value) {
  auto uses = std::ranges::count(outputs, value);
  for (const Layer::Node& node : layer.nodes())
    uses += std::ranges::count(node.reads, value);
  return static_cast<int>(uses);
}

// The joined list of a network whose values have these layouts.
BoundMaps mapsOf(const Layer& layer, const Layouts& layouts) {
  const std::vector<int> outputs = layer.outputValues();
  checkAllRead(layer, outputs);
  BoundMaps maps(layer);
  // `values`: from the value numbers of the layer (inputs, then nodes) to those of the joined list.
  std::vector<ValueId> values;
  std::vector<bool> copied; // by output: whether other nodes also read it
  for (int i = 0; i < layer.inputCount(); ++i)
    values.push_back(maps.list().input(fmt::format("x{}", i), layouts[i]));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    maps.list().output(outputs.size() == 1 ? "y" : fmt::format("y{}", i), layouts[outputs[i]]);
    copied.push_back(usesOf(layer, outputs, outputs[i]) > 1);
  }
  for (const Layer::Node& node : layer.nodes()) {
    Layouts inputs;
    std::vector<ValueId> reads;
    for (int value : node.reads) {
      inputs.push_back(layouts[value]);
      reads.push_back(values[value]);
    }
    const int value = static_cast<int>(values.size());
    // The number of the network's output that this value is, or outputs.size() if it is none.
    const auto output =
        static_cast<std::size_t>(std::ranges::find(outputs, value) - outputs.begin());
    values.push_back(
        output < outputs.size() && !copied[output]
            ? maps.list().outputs()[output]
            : maps.list().value(fmt::format("v{}", value - layer.inputCount()), layouts[value]));
    maps.join(node.layer->joinedMaps(inputs, layouts[value]), reads, values.back());
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (copied[i])
      maps.list().copy(values[outputs[i]], maps.list().outputs()[i]);
  return maps;
}

} // namespace

std::unique_ptr<Setup> makeNetworkSetup(const Layer& layer, const Layouts& values) {
  return std::make_unique<Setup>(mapsOf(layer, values), /*signature=*/"");
}

} // namespace tenon
