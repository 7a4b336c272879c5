// SPDX-License-Identifier: BSD-2-Clause
#include "layer/graph_layer.hpp"

#include <fmt/format.h>

namespace tenon {

void GraphLayer::setInputs(int count) {
  checkBeforeSetUp("TenonLayerGraphSetInputs()");
  if (!nodes().empty())
    throw Error(
        TENON_ERR_STATE,
        fmt::format(
            "{} already has nodes; call TenonLayerGraphSetInputs() before TenonLayerGraphAddNode()",
            title()));
  if (count < 1)
    throw Error(TENON_ERR_ARG,
                fmt::format("the number of inputs of {} is {}; it must be >= 1", title(), count));
  setInputCount(count);
}

int GraphLayer::valueOf(int name) const {
  const int there = static_cast<int>(nodes().size());
  if (name < -inputCount() || name >= there)
    throw Error(TENON_ERR_ARG, fmt::format("{} has no node or input {}; its nodes are numbered 0, "
                                           "1, ... (now {}) and its inputs -1, -2, ... (now {})",
                                           title(), name, there, inputCount()));
  return name < 0 ? -1 - name : inputCount() + name;
}

int GraphLayer::addNode(Ref<Layer> layer, const std::vector<int>& inputs) {
  if (inputs.empty())
    throw Error(
        TENON_ERR_ARG,
        fmt::format("a node of {} has no inputs; pass at least one node or input", title()));
  std::vector<int> reads;
  for (int name : inputs)
    reads.push_back(valueOf(name));
  append(std::move(layer), std::move(reads));
  return static_cast<int>(nodes().size()) - 1;
}

} // namespace tenon
