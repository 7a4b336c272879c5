// SPDX-License-Identifier: BSD-2-Clause
// Divides a network into sections. What a node gives leaves its section if it is an output of the
// network or a later section reads it, however many sections lie between.
#include "import/lowering/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tenon {

namespace {

constexpr int kMaxInputs = 64; // of a graph

int inputsOf(const ImportedNetwork& network) {
  for (const auto& [name, value] : network.graph.settings)
    if (name == "input_count")
      return static_cast<int>(std::get<Index>(value));
  return 1;
}

int valueOf(int name, int inputs) {
  return name < 0 ? -1 - name : inputs + name;
}

// The node that reads each value last, or their number for outputs of the network.
std::vector<int> lastReaders(const ImportedNetwork& network) {
  const int inputs = inputsOf(network), nodes = static_cast<int>(network.graph.nodes.size());
  std::vector<int> last(static_cast<std::size_t>(inputs + nodes), -1);
  for (int n = 0; n < nodes; ++n)
    for (const int name : network.graph.nodes[static_cast<std::size_t>(n)].reads)
      last[static_cast<std::size_t>(valueOf(name, inputs))] = n;
  for (const int value : outputValues(network))
    last[static_cast<std::size_t>(value)] = nodes;
  return last;
}

// The node that has the layer's parameters.
int ownerOf(const ImportedNetwork& network, int node) {
  const int first = network.graph.nodes[static_cast<std::size_t>(node)].sameAs;
  return first < 0 ? node : first;
}

} // namespace

std::vector<int> outputValues(const ImportedNetwork& network) {
  const int inputs = inputsOf(network), nodes = static_cast<int>(network.graph.nodes.size());
  if (network.outputs.empty())
    return {inputs + nodes - 1};
  std::vector<int> values;
  for (const NetworkOutput& output : network.outputs)
    values.push_back(inputs + output.node);
  return values;
}

std::vector<int> sectionStarts(const ImportedNetwork& network, Index mostElements) {
  const int inputs = inputsOf(network), nodes = static_cast<int>(network.graph.nodes.size());
  std::vector<Index> elementsOf(static_cast<std::size_t>(nodes), 0);
  for (const ImportedNetwork::Parameter& parameter : network.parameters)
    elementsOf[static_cast<std::size_t>(parameter.node)] += elements(parameter.value.shape());
  const std::vector<int> last = lastReaders(network);
  std::vector<int> starts = {0};
  std::set<int> owners;
  Index held = 0;
  for (int n = 0; n < nodes; ++n) {
    const int owner = ownerOf(network, n);
    const Index its = elementsOf[static_cast<std::size_t>(owner)];
    const auto isRead = [&](int reader) { return reader >= n; };
    if (held > 0 && !owners.contains(owner) && held + its > mostElements &&
        std::count_if(last.begin(), last.begin() + inputs + n, isRead) <= kMaxInputs) {
      starts.push_back(n);
      owners.clear();
      held = 0;
    }
    if (owners.insert(owner).second)
      held += its;
  }
  starts.push_back(nodes);
  return starts;
}

NetworkSection makeSection(const ImportedNetwork& network, int first, int end) {
  const int inputs = inputsOf(network);
  const std::vector<int> last = lastReaders(network);
  NetworkSection made;
  LayerDescription& graph = made.network.graph;
  graph.type = "graph";
  std::map<int, int> firstHere; // of the nodes of a layer, by the node that has its parameters
  for (int n = first; n < end; ++n) {
    LayerDescription::Node& node = graph.nodes.emplace_back();
    const auto [at, isNew] = firstHere.emplace(ownerOf(network, n), n - first);
    if (isNew)
      node.layer = network.layer(n);
    else
      node.sameAs = at->second;
    for (const int name : network.graph.nodes[static_cast<std::size_t>(n)].reads) {
      const int value = valueOf(name, inputs);
      if (value >= inputs + first) {
        node.reads.push_back(value - inputs - first);
        continue;
      }
      const auto known = std::find(made.reads.begin(), made.reads.end(), value);
      node.reads.push_back(-1 - static_cast<int>(known - made.reads.begin()));
      if (known == made.reads.end())
        made.reads.push_back(value);
    }
    if (last[static_cast<std::size_t>(inputs + n)] >= end) {
      made.gives.push_back(inputs + n);
      made.network.outputs.push_back({fmt::format("v{}", n), n - first});
    }
  }
  graph.settings.emplace_back("input_count", static_cast<Index>(made.reads.size()));
  for (const ImportedNetwork::Parameter& parameter : network.parameters)
    if (const auto at = firstHere.find(parameter.node); at != firstHere.end())
      made.network.parameters.push_back({at->second, parameter.name, parameter.value});
  return made;
}

} // namespace tenon
