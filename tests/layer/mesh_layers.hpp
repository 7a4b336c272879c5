// SPDX-License-Identifier: BSD-2-Clause
// Small networks on a random mesh, one for each way in which the edges of a node can be combined,
// for tests that run many kinds of layers.
#pragma once

#include "support/layers.hpp"
#include "support/mesh_graph.hpp"

namespace tenon::test {

inline constexpr const char* kWaysOfEdges[] = {"sum", "mean", "max", "attention", "sparsematrix"};

// y = x + a, with three channels per node. For each node, a combines the messages of its edges,
// which a perceptron computes from the rows of both end nodes: by their sum, mean or maximum, or
// weighted by attention. For "sparsematrix", a is the product of x with the sparse matrix of the
// edges.
inline Ref<Layer> addedByEdges(const CommPtr& comm, const std::string& how, const MeshPart& part) {
  const auto mlp = [&](Index out) {
    const auto layer = newLayer(comm, "columnmlp");
    layer->set("widths", std::vector<Index>{6, 5, out});
    return layer;
  };
  auto net = newLayer(comm, "graph");
  int a = -1;
  if (how == "sparsematrix") {
    a = addGraphNode(*net, newLayer(comm, how), {-1});
  } else {
    const int ends = addGraphNode(*net, newLayer(comm, "gather"), {-1});
    const int values = addGraphNode(*net, mlp(3), {ends});
    if (how == "attention") {
      const int scores = addGraphNode(*net, mlp(1), {ends});
      a = addGraphNode(*net, newLayer(comm, "edgeattention"), {scores, values});
    } else {
      const auto sum = newLayer(comm, "segmentsum");
      sum->setText("aggregation", how);
      a = addGraphNode(*net, sum, {values});
    }
  }
  addGraphNode(*net, newLayer(comm, "add"), {-1, a});
  net->setList("", "", part.list);
  return net;
}

} // namespace tenon::test
