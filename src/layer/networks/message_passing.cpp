// SPDX-License-Identifier: BSD-2-Clause
// Message passing as a graph of existing layers (formulas in message_passing.hpp):
//
//   x, s, f -> gather "ends" -> edge network -> segmentsum "sum" -> concatenate "joined" -> node
//   x -------------------------------------------------------------^                       network
//
// The gather makes one row [x of the target, s of the source, f] per edge, and the segment sum adds
// the results of the edge network at the target nodes. Derivatives, overlap of communication and
// network files need no extra code, because each node is a layer, and programs can make other
// graphs of the same layers.
#include "layer/networks/message_passing.hpp"

#include "layer/core/layer_types.hpp"
#include "layer/networks/network.hpp"

namespace tenon {

Ref<Layer> messagePassing(const Ref<Layer>& edgeNetwork, const Ref<Layer>& nodeNetwork, int inputs,
                          const std::string& aggregation) {
  const CommPtr& comm = edgeNetwork->comm();
  const auto makeNamed = [&](const char* type, const char* name) {
    auto layer = makeLayer(comm, type);
    layer->setName(name);
    return layer;
  };
  auto graph = makeLayer(comm, "graph");
  graph->set("input_count", Index(inputs));
  // addGraphNode() refers to the inputs of the graph as -1, -2, ..., and to its nodes as 0, 1, ...
  constexpr int kFirstInput = -1; // x
  std::vector<int> graphInputs;
  for (int i = 0; i < inputs; ++i)
    graphInputs.push_back(kFirstInput - i);
  const int ends = addGraphNode(*graph, makeNamed("gather", "ends"), graphInputs);
  const int message = addGraphNode(*graph, edgeNetwork, {ends});
  const auto sum = makeNamed("segmentsum", "sum");
  sum->setText("aggregation", aggregation);
  const int aggregate = addGraphNode(*graph, sum, {message});
  const auto concatenation = makeNamed("concatenate", "joined");
  concatenation->set("dim", Index(1));
  const int joined = addGraphNode(*graph, concatenation, {kFirstInput, aggregate});
  addGraphNode(*graph, nodeNetwork, {joined});
  return graph;
}

} // namespace tenon
