// SPDX-License-Identifier: BSD-2-Clause
#include "layer/network_setup.hpp"

#include "layer/traffic_text.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

void checkAllRead(const Layer& layer) {
  std::vector<bool> read(static_cast<std::size_t>(layer.lastValue()) + 1, false);
  read[layer.lastValue()] = true;
  for (const Layer::Node& node : layer.nodes())
    for (int value : node.reads)
      read[value] = true;
  const int inputs = layer.inputCount();
  for (int value = 0; value < static_cast<int>(read.size()); ++value)
    if (!read[value])
      throw Error(TENON_ERR_STATE,
                  fmt::format("{} {} of {} is not used; every input and every node except the last "
                              "must be read by a node",
                              value < inputs ? "input" : "node",
                              value < inputs ? value : value - inputs, layer.title()));
}

BoundMaps mapsOf(const Layer& layer, const Layouts& layouts) {
  checkAllRead(layer);
  BoundMaps maps(layer);
  std::vector<ValueId> values;
  for (int i = 0; i < layer.inputCount(); ++i)
    values.push_back(maps.list().input(fmt::format("x{}", i), layouts[i]));
  for (const Layer::Node& node : layer.nodes()) {
    Layouts inputs;
    std::vector<ValueId> reads;
    for (int value : node.reads) {
      inputs.push_back(layouts[value]);
      reads.push_back(values[value]);
    }
    const int value = static_cast<int>(values.size());
    values.push_back(
        value == layer.lastValue()
            ? maps.list().output("y", layouts[value])
            : maps.list().value(fmt::format("v{}", value - layer.inputCount()), layouts[value]));
    maps.join(node.layer->maps(inputs), reads, values.back());
  }
  return maps;
}

std::string networkFacts(const Setup& setup) {
  const Mesh& mesh = setup.output().mesh();
  std::string text = fmt::format("  process grid {}\n", mesh.describe());
  for (const Layout& input : setup.inputs())
    text += viewLine("input", input, mesh);
  return text + viewLine("output", setup.output(), mesh);
}

} // namespace

std::unique_ptr<Setup> makeNetworkSetup(const Layer& layer, const Layouts& values) {
  return std::make_unique<Setup>(mapsOf(layer, values), "", networkFacts);
}

} // namespace tenon
