// SPDX-License-Identifier: BSD-2-Clause
// Networks on meshes under test: message passing, with states on edges, with attention. NetworkRun
// runs a network and its adjoint, and stores the results by the numbers of nodes and edges, which
// are the same for every partition.
#pragma once

#include "mesh_rows.hpp"

#include <cstring>
#include <map>

namespace tenon::test::mesh {

inline Ref<Layer> mlp(const CommPtr& comm, std::vector<Index> widths) {
  const auto layer = test::newLayer(comm, "columnmlp");
  layer->set("widths", std::move(widths));
  return layer;
}

// Message passing: y = psi(x, aggregate of phi(x at the target, x at the source, f)), repeated
// `steps` times. c and f are the numbers of channels of nodes and edges.
inline Ref<Layer> processor(const CommPtr& comm, const std::string& aggregation, Index c, Index f,
                            int steps) {
  auto graph = test::newLayer(comm, "graph");
  graph->set("input_count", Index(2));
  int x = -1;
  for (int step = 0; step < steps; ++step) {
    const int ends = addGraphNode(*graph, test::newLayer(comm, "gather"), {x, -2});
    const int message = addGraphNode(*graph, mlp(comm, {2 * c + f, 6, 5}), {ends});
    const auto sum = test::newLayer(comm, "segmentsum");
    sum->setText("aggregation", aggregation);
    const int a = addGraphNode(*graph, sum, {message});
    const int both = addGraphNode(*graph, test::newConcatenate(comm, 1), {x, a});
    x = addGraphNode(*graph, mlp(comm, {c + 5, 7, c}), {both});
  }
  return graph;
}

// Sets random real numbers that depend on row and column only, so they are the same on any
// partition.
inline void fillReals(const MeshPart& part, RowsOf of, std::uint64_t stream, DTensor& x) {
  const Index columns = x.layout().shape()[1];
  double* to = x.mutableData<double>();
  for (int row : ownRows(part, of))
    for (Index c = 0; c < columns; ++c)
      *to++ = 2 * uniformAt(3, stream, static_cast<std::uint64_t>(row * columns + c)) - 1;
}

// Runs a network and its adjoint, and stores the results by the number of the node or edge.
struct NetworkRun {
  std::map<int, std::vector<double>> y, dx, df; // by node or edge
  std::vector<double> gradients;

  NetworkRun(const MeshPart& part, const Ref<Layer>& layer, Index nodes = 3, Index edges = 2) {
    MeshStep step(layer, part, {{RowsOf::Targets, nodes}, {RowsOf::Edges, edges}}, TENON_FLOAT64);
    test::fillParameters(*layer);
    fillReals(part, RowsOf::Targets, 1, *step.x[0]);
    fillReals(part, RowsOf::Edges, 2, *step.x[1]);
    fillReals(part, RowsOf::Targets, 3, *step.dy);
    layer->zeroGradients();
    step.apply();
    step.adjoint();
    take(part, RowsOf::Targets, *step.y, y);
    take(part, RowsOf::Targets, *step.dx[0], dx);
    take(part, RowsOf::Edges, *step.dx[1], df);
    for (const auto& p : layer->parameters()) {
      const std::vector<double> direction = test::localCells(p->direction());
      gradients.insert(gradients.end(), direction.begin(), direction.end());
    }
  }

private:
  static void take(const MeshPart& part, RowsOf of, const DTensor& x,
                   std::map<int, std::vector<double>>& rows) {
    const std::vector<double> all = test::localCells(x);
    const auto columns = static_cast<std::ptrdiff_t>(x.layout().shape()[1]);
    auto from = all.begin();
    for (int row : ownRows(part, of)) {
      rows[row] = {from, from + columns};
      from += columns;
    }
  }
};

// Compares the rows that this rank has; with a tolerance of 0, bit by bit.
inline void expectRows(const std::map<int, std::vector<double>>& got,
                       const std::map<int, std::vector<double>>& want, double tolerance,
                       const std::string& what) {
  for (const auto& [row, values] : got) {
    const std::vector<double>& all = want.at(row);
    if (tolerance == 0) {
      ASSERT_EQ(std::memcmp(values.data(), all.data(), all.size() * sizeof(double)), 0)
          << what << ", row " << row;
    }
    ASSERT_NO_FATAL_FAILURE(test::expectNear(values, all, tolerance, what));
  }
}

// Two steps of message passing in which edges have a state: e <- phi(x at both ends, e), or e plus
// that if `adds`; x <- psi(x, aggregate of e). If `nests`, the operations on edges are a network
// within the network.
inline Ref<Layer> carrying(const CommPtr& comm, const std::string& aggregation, bool adds,
                           bool nests = false) {
  constexpr Index kNodes = 3, kEdges = 2;
  auto graph = test::newLayer(comm, "graph");
  graph->set("input_count", Index(2));
  int x = -1, e = -2;
  for (int step = 0; step < 2; ++step) {
    const auto edges = nests ? test::newLayer(comm, "graph") : graph;
    edges->set("input_count", Index(2));
    const int from = nests ? -1 : x, on = nests ? -2 : e;
    const int ends = addGraphNode(*edges, test::newLayer(comm, "gather"), {from, on});
    const int message = addGraphNode(*edges, mlp(comm, {2 * kNodes + kEdges, 6, kEdges}), {ends});
    const int carried =
        adds ? addGraphNode(*edges, test::newLayer(comm, "add"), {on, message}) : message;
    e = nests ? addGraphNode(*graph, edges, {x, e}) : carried;
    const auto sum = test::newLayer(comm, "segmentsum");
    sum->setText("aggregation", aggregation);
    const int a = addGraphNode(*graph, sum, {e});
    const int both = addGraphNode(*graph, test::newConcatenate(comm, 1), {x, a});
    x = addGraphNode(*graph, mlp(comm, {kNodes + kEdges, 7, kNodes}), {both});
  }
  return graph;
}

// Attention of two heads; the scores and the values of edges are computed by two networks.
inline Ref<Layer> attending(const CommPtr& comm) {
  auto graph = test::newLayer(comm, "graph");
  graph->set("input_count", Index(2));
  const int ends = addGraphNode(*graph, test::newLayer(comm, "gather"), {-1, -2});
  const int scores = addGraphNode(*graph, mlp(comm, {8, 5, 2}), {ends}),
            values = addGraphNode(*graph, mlp(comm, {8, 6, 6}), {ends});
  const int y = addGraphNode(*graph, test::newLayer(comm, "edgeattention"), {scores, values});
  const int both = addGraphNode(*graph, test::newConcatenate(comm, 1), {-1, y});
  addGraphNode(*graph, mlp(comm, {9, 3}), {both});
  return graph;
}

// The same step (one layer with its parameters) as two nodes.
inline Ref<Layer> repeated(const CommPtr& comm, const std::string& aggregation) {
  auto graph = test::newLayer(comm, "graph");
  graph->set("input_count", Index(2));
  const Ref<Layer> step = processor(comm, aggregation, 3, 2, 1);
  addGraphNode(*graph, step, {addGraphNode(*graph, step, {-1, -2}), -2});
  return graph;
}

// The number of fused kernels, by the text of the view.
inline int fusedIn(const Layer& net, const std::string& said = "over blocks of up to") {
  const std::string text = net.describe();
  int count = 0;
  for (auto at = text.find(said); at != std::string::npos; at = text.find(said, at + 1))
    ++count;
  return count;
}

} // namespace tenon::test::mesh
