// SPDX-License-Identifier: BSD-2-Clause
// Divides a network into sections, which are run one after the other (sections.hpp). A network is a
// list of nodes, each a layer that reads inputs of the network or results of earlier nodes. A
// section is a network of its own: what it reads from outside becomes its inputs, and the result of
// a node becomes an output if it is an output of the whole network or if a later section reads it.
//
// Two ways to number are in use. In `reads` of a node, n >= 0 is the result of node n and -1 - i is
// input i. Values count from 0: inputs first, then one per node. Example with 2 inputs, 4 nodes and
// sections [0, 2), [2, 4): if node 3 reads node 1, then value 2 + 1 = 3 is in `gives` of the first
// section and in `reads` of the second, where it is input 0, so node 1 of that section reads -1.
#include "import/lowering/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tenon {

namespace {

constexpr int kMaxInputs = 64; // inputs that a layer of type "graph" can have

// Returns the number of inputs of a network.
int inputsOf(const ImportedNetwork& network) {
  for (const auto& [name, value] : network.graph.settings)
    if (name == "input_count")
      return static_cast<int>(std::get<Index>(value));
  return 1;
}

// Converts a name in `reads`, -1 - i for input i and n for node n, to the number of the value.
int valueOf(int name, int inputs) {
  return name < 0 ? -1 - name : inputs + name;
}

// Returns, for each value, the last node that reads it; -1 if none does, and the number of nodes
// for outputs of the network.
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

// Returns the node that owns the parameters of a node's layer.
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
  // Elements of the parameters in the current section; a shared layer counts once.
  Index sectionElements = 0;
  for (int n = 0; n < nodes; ++n) {
    const int owner = ownerOf(network, n);
    const Index layerElements = elementsOf[static_cast<std::size_t>(owner)];
    const auto isReadLater = [&](int reader) { return reader >= n; };
    // A new section begins at node n, if the old one would become too large, and if few enough
    // values are read across the boundary.
    if (sectionElements > 0 && !owners.contains(owner) &&
        sectionElements + layerElements > mostElements &&
        std::count_if(last.begin(), last.begin() + inputs + n, isReadLater) <= kMaxInputs) {
      starts.push_back(n);
      owners.clear();
      sectionElements = 0;
    }
    if (owners.insert(owner).second)
      sectionElements += layerElements;
  }
  starts.push_back(nodes);
  return starts;
}

NetworkSection makeSection(const ImportedNetwork& network, int first, int end) {
  const int inputs = inputsOf(network);
  const std::vector<int> last = lastReaders(network);
  NetworkSection section;
  LayerDescription& graph = section.network.graph;
  graph.type = "graph";
  // First node in this section of each layer, by the node that owns its parameters.
  std::map<int, int> firstNodes;
  for (int n = first; n < end; ++n) {
    LayerDescription::Node& node = graph.nodes.emplace_back();
    const auto [firstNode, isNew] = firstNodes.emplace(ownerOf(network, n), n - first);
    if (isNew)
      node.layer = network.layer(n);
    else
      node.sameAs = firstNode->second;
    for (const int name : network.graph.nodes[static_cast<std::size_t>(n)].reads) {
      const int value = valueOf(name, inputs);
      if (value >= inputs + first) {
        node.reads.push_back(value - inputs - first);
        continue;
      }
      const auto position = std::find(section.reads.begin(), section.reads.end(), value);
      node.reads.push_back(-1 - static_cast<int>(position - section.reads.begin()));
      if (position == section.reads.end())
        section.reads.push_back(value);
    }
    // The value is read after this section, or is an output of the network.
    if (last[static_cast<std::size_t>(inputs + n)] >= end) {
      section.gives.push_back(inputs + n);
      section.network.outputs.push_back({fmt::format("v{}", n), n - first});
    }
  }
  graph.settings.emplace_back("input_count", static_cast<Index>(section.reads.size()));
  for (const ImportedNetwork::Parameter& parameter : network.parameters)
    if (const auto firstNode = firstNodes.find(parameter.node); firstNode != firstNodes.end())
      section.network.parameters.push_back({firstNode->second, parameter.name, parameter.value});
  return section;
}

} // namespace tenon
