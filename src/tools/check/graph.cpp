// SPDX-License-Identifier: BSD-2-Clause
// Draws random graphs, and hands the lists of a rank to the library as index maps and edges. The order
// of a list and gaps between keys must not matter to the library: nodes are listed in descending
// order, and keys descend by 3. Example: of the nodes 0 to 4, a rank that owns 1 and 3 lists 3, 1 and
// then the ghosts to which its edges refer.
#include "tools/check/graph.hpp"

#include <algorithm>

namespace tenon::tools {

Graph drawGraph(Case& c, bool isAnywhere) {
  Graph graph;
  // A rank can own nothing.
  for (int n = c.draw.between(1, 20); n > 0; --n) {
    graph.ids.push_back(static_cast<Index>(c.draw.number()));
    graph.owners.push_back(c.draw.upTo(c.ranks - 1));
  }
  const int last = static_cast<int>(graph.ids.size()) - 1;
  for (int e = c.draw.upTo(40); e > 0; --e) {
    Edge edge{c.draw.upTo(last), c.draw.upTo(last), 0, double(c.draw.between(-3, 3))};
    edge.holder = isAnywhere ? c.draw.upTo(c.ranks - 1) : graph.owners[edge.target];
    graph.edges.push_back(edge);
  }
  return graph;
}

Graph onOneProcess(Graph graph) {
  std::ranges::fill(graph.owners, 0);
  for (Edge& edge : graph.edges)
    edge.holder = 0;
  return graph;
}

Part::Part(const Graph& graph, int rank) {
  const Index count = static_cast<Index>(graph.ids.size());
  // In descending order: the order of a list must not matter to the library.
  for (Index n = count; n-- > 0;)
    if (graph.owners[n] == rank)
      nodes.push_back(n);
  owned = static_cast<Index>(nodes.size());
  for (Index e = 0; e < static_cast<Index>(graph.edges.size()); ++e)
    if (graph.edges[e].holder == rank) {
      edges.push_back(e);
      positionOf(graph.edges[e].source);
      positionOf(graph.edges[e].target);
    }
}

Index Part::positionOf(Index node) {
  const auto at = std::ranges::find(nodes, node) - nodes.begin();
  if (at == static_cast<std::ptrdiff_t>(nodes.size()))
    nodes.push_back(node);
  return at;
}

Lists::Lists(MPI_Comm comm, const Graph& graph, Part part, bool isAnywhere) {
  Indices ids, target, source, keys;
  std::vector<double> weights;
  for (const Index n : part.nodes)
    ids.push_back(graph.ids[n]);
  for (const Index e : part.edges) {
    target.push_back(part.positionOf(graph.edges[e].target));
    source.push_back(part.positionOf(graph.edges[e].source));
    // Keys, in whose order sums are taken, only have to differ; these descend with gaps.
    keys.push_back(1000 - 3 * e);
    weights.push_back(graph.edges[e].weight);
  }
  const auto count = static_cast<TenonInt>(part.edges.size());
  require(TenonIndexMapCreateFromIds(comm, part.owned, static_cast<TenonInt>(ids.size()),
                                     ids.data(), nodes.out()));
  require(TenonIndexMapCreateSorted(nodes, sorted.out()));
  require(isAnywhere ? TenonEdgesCreateShared(nodes, nodes, count, target.data(), source.data(),
                                              keys.data(), nullptr, weights.data(), edges.out())
                     : TenonEdgesCreate(nodes, nodes, count, target.data(), source.data(),
                                        keys.data(), weights.data(), edges.out()));
}

Layout rowsOfNodes(TenonIndexMap map, TenonInt columns) {
  const TenonInt shape[] = {0, columns};
  Layout plain, ghosted;
  require(TenonIndexMapGetLayouts(map, 2, shape, plain.out(), ghosted.out()));
  return plain;
}

Layout rowsOfEdges(TenonEdges edges, TenonInt columns) {
  const TenonInt shape[] = {0, columns};
  Layout layout;
  require(TenonEdgesGetLayout(edges, 2, shape, layout.out()));
  return layout;
}

Values rowsFrom(const Indices& rows, Index columns, const std::function<double(Index, Index)>& at) {
  Values values;
  for (const Index row : rows)
    for (Index k = 0; k < columns; ++k)
      values.push_back(at(row, k));
  return values;
}

} // namespace tenon::tools
