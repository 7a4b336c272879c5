// SPDX-License-Identifier: BSD-2-Clause
// Random graphs for the checks of layers on meshes, defined in mesh.cpp. Nodes have random ids and
// owners. A directed edge is listed by the rank that owns its target, or ("anywhere") by any rank.
// Every rank draws the same graph, and knows the lists of all ranks.
#pragma once

#include "tools/check/case.hpp"
#include "tools/handles.hpp"

namespace tenon::tools {

struct Edge {
  Index target, source; // nodes
  int holder;           // the rank that lists it
  double weight;
};

struct Graph {
  Indices ids; // of the nodes
  std::vector<int> owners;
  std::vector<Edge> edges;
};

// At most 20 nodes and 40 edges.
Graph drawGraph(Case& c, bool isAnywhere);
// The same graph on one process.
Graph onOneProcess(Graph graph);

// The lists of one rank: numbers of nodes, first the owned ones and then ghosts (nodes of other
// ranks that its edges refer to), and numbers of edges. Numbers are indices into the vectors of
// Graph.
struct Part {
  Indices nodes, edges;
  Index owned = 0; // how many of `nodes` this rank owns

  Part(const Graph& graph, int rank);
  // The position of a node in the list; a node that is not yet listed is appended as a ghost.
  Index positionOf(Index node);
  Indices ownedNodes() const { return {nodes.begin(), nodes.begin() + owned}; }
};

// The lists of this rank as the library's objects: `nodes` as they are owned, with ghosts;
// `sorted` redistributes the same nodes evenly in the order of their ids.
struct Lists {
  IndexMap nodes, sorted;
  Edges edges;

  Lists(MPI_Comm comm, const Graph& graph, Part part, bool isAnywhere);
};

// The layout of one row of `columns` numbers per owned node, without ghosts, or per edge.
Layout rowsOfNodes(TenonIndexMap map, TenonInt columns);
Layout rowsOfEdges(TenonEdges edges, TenonInt columns);
// The numbers at(row, column) of some rows, row by row.
Values rowsFrom(const Indices& rows, Index columns, const std::function<double(Index, Index)>& at);

} // namespace tenon::tools
