// SPDX-License-Identifier: BSD-2-Clause
#include "layer/graph_layer.hpp"

#include <fmt/format.h>

namespace tenon {

void GraphLayer::setInputs(int count) {
  checkBeforeSetUp("SetInputs");
  if (!nodes().empty())
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has nodes already; say how many inputs it has before", title()));
  if (count < 1)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} cannot have {} inputs; it needs at least one", title(), count));
  setInputCount(count);
}

int GraphLayer::valueOf(int name) const {
  const int there = static_cast<int>(nodes().size());
  if (name < -inputCount() || name >= there)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} has no node or input {}; it has {} nodes, counted from 0, and {} "
                            "inputs, counted -1, -2, ...",
                            title(), name, there, inputCount()));
  return name < 0 ? -1 - name : inputCount() + name;
}

int GraphLayer::addNode(Ref<Layer> layer, const std::vector<int>& inputs) {
  if (inputs.empty())
    throw Error(TENON_ERR_ARG, fmt::format("a node of {} reads nothing; name at least one node or "
                                           "input",
                                           title()));
  std::vector<int> reads;
  for (int name : inputs)
    reads.push_back(valueOf(name));
  append(std::move(layer), std::move(reads));
  return static_cast<int>(nodes().size()) - 1;
}

} // namespace tenon
