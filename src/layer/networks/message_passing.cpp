// SPDX-License-Identifier: BSD-2-Clause
// Message passing is made of layers that there are. So passes, overlap and files need not know it,
// and a program can make other graphs of the same layers.
#include "layer/networks/message_passing.hpp"

#include "layer/core/layer_types.hpp"
#include "layer/networks/network.hpp"

namespace tenon {

Ref<Layer> messagePassing(const Ref<Layer>& edgeNetwork, const Ref<Layer>& nodeNetwork, int inputs,
                          const std::string& aggregation) {
  const CommPtr& comm = edgeNetwork->comm();
  const auto named = [&](const char* type, const char* name) {
    auto layer = makeLayer(comm, type);
    layer->setName(name);
    return layer;
  };
  auto graph = makeLayer(comm, "graph");
  graph->set("input_count", Index(inputs));
  std::vector<int> all;
  for (int i = 0; i < inputs; ++i)
    all.push_back(-1 - i);
  const int ends = addGraphNode(*graph, named("gather", "ends"), all);
  const int message = addGraphNode(*graph, edgeNetwork, {ends});
  const auto sum = named("segmentsum", "sum");
  sum->setText("aggregation", aggregation);
  const int aggregate = addGraphNode(*graph, sum, {message});
  const auto beside = named("concatenate", "joined");
  beside->set("dim", Index(1));
  const int joined = addGraphNode(*graph, beside, {-1, aggregate});
  addGraphNode(*graph, nodeNetwork, {joined});
  return graph;
}

} // namespace tenon
