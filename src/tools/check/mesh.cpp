// SPDX-License-Identifier: BSD-2-Clause
// Checks of the layers that use lists of a mesh, on random graphs of at most 20 nodes and 40 edges:
//    gather        y of an edge: the rows of its target and its source, side by side
//    segmentsum    y of a node: weighted sum of the rows of the edges at it
//    sparsematrix  y of a node: weighted sum of the rows of the nodes from which its edges come
//    indexmap      copies of the rows of ghosts, or the nodes in the order of their ids
//    averagepooling across the links between tiles of a line or ring
// The graphs of graph.hpp are drawn here as well. Each layer is linear: its definition is a sparse
// matrix between rows of its input and rows of its output (struct Matrix). Example: an edge of
// weight 3 from node 5 to node 2 is the term y[2] += 3 x[5] of sparsematrix. Every rank draws the
// same graph, so each computes the whole product, forward and transposed, and compares its own rows
// with those of the layer. The numbers are small integers (and halves), whose sums are exact in any
// order.
// checkMesh() is declared in kinds.hpp.
#include "tools/check/field.hpp"
#include "tools/check/graph.hpp"
#include "tools/check/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

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
    Edge edge{.target = c.draw.upTo(last),
              .source = c.draw.upTo(last),
              .holder = 0,
              .weight = double(c.draw.between(-3, 3))};
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

namespace {

// An entry of the matrix. For all columns k of x: y[row, begin + k] += weight x[from, k]. `begin`
// differs from 0 only for gather, whose rows of y consist of two rows of x.
struct Term {
  Index row, begin, from;
  double weight;
};

// A layer as a matrix: the row numbers of each rank's input and output, and the entries. If an
// input or output contains ghosts, its rows are numbered by list positions, so the ghost of a node
// has another row number than the node itself.
struct Matrix {
  std::vector<Indices> inputs, outputs; // row numbers, by rank
  Index columns, outputColumns;         // length of one row of x, and of y
  std::vector<Term> terms;
};

// A layer to test, and its definition.
struct Plan {
  const char* type;                              // name of the layer type
  Matrix matrix;                                 // what it must compute
  std::function<void(TenonLayer layer)> specify; // sets its lists and settings
  Layout input;
};

// Creates the plans of the layers of one graph.
class Planner {
public:
  Planner(const Graph& graph, const std::vector<Part>& parts, const Lists& lists, Index columns)
      : graph_(graph), parts_(parts), lists_(lists), columns_(columns) {}

  // For each edge e: y[e] = (x[target], x[source]).
  Plan gather() const {
    Plan plan =
        ofEdges("gather", rowsOf(&Part::nodes, /*areOwned=*/true),
                rowsOf(&Part::edges, /*areOwned=*/false), rowsOfNodes(lists_.nodes, columns_));
    plan.matrix.outputColumns = 2 * columns_;
    for (Index e = 0; e < edgeCount(); ++e) {
      plan.matrix.terms.push_back({e, 0, graph_.edges[e].target, 1});
      plan.matrix.terms.push_back({e, columns_, graph_.edges[e].source, 1});
    }
    return plan;
  }
  // For each node: the sum of weight x[e] over the edges e whose target (or source) it is.
  Plan sums(bool atSource) const {
    Plan plan =
        ofEdges("segmentsum", rowsOf(&Part::edges, /*areOwned=*/false),
                rowsOf(&Part::nodes, /*areOwned=*/true), rowsOfEdges(lists_.edges, columns_));
    for (Index e = 0; e < edgeCount(); ++e) {
      const Edge& edge = graph_.edges[e];
      plan.matrix.terms.push_back({atSource ? edge.source : edge.target, 0, e, edge.weight});
    }
    plan.specify = [=, edges = TenonEdges(lists_.edges)](TenonLayer layer) {
      require(TenonLayerSetEdges(layer, "", edges));
      require(TenonObjectSetText(reinterpret_cast<TenonObject>(layer), "at",
                                 atSource ? "source" : "target"));
    };
    return plan;
  }
  // For each node: the sum of weight x[source] over the edges whose target it is.
  Plan sparse() const {
    Plan plan =
        ofEdges("sparsematrix", rowsOf(&Part::nodes, /*areOwned=*/true),
                rowsOf(&Part::nodes, /*areOwned=*/true), rowsOfNodes(lists_.nodes, columns_));
    for (const Edge& edge : graph_.edges)
      plan.matrix.terms.push_back({edge.target, 0, edge.source, edge.weight});
    return plan;
  }
  // The owned nodes of a rank, followed by copies of its ghosts.
  Plan ghosts() const {
    Plan plan = ofMap(lists_.nodes);
    Index row = 0;
    for (const Part& part : parts_) {
      Indices& rows = plan.matrix.outputs.emplace_back();
      for (const Index node : part.nodes) {
        plan.matrix.terms.push_back({row, 0, node, 1});
        rows.push_back(row++);
      }
    }
    return plan;
  }
  // Nodes in the order of their ids, divided evenly.
  Plan sorted() const {
    Plan plan = ofMap(lists_.sorted);
    std::map<Index, Index> nodes;
    for (Index n = 0; n < static_cast<Index>(graph_.ids.size()); ++n)
      nodes[graph_.ids[n]] = n;
    const Index ranks = static_cast<Index>(parts_.size()), count = static_cast<Index>(nodes.size());
    auto next = nodes.begin();
    for (Index rank = 0, row = 0; rank < ranks; ++rank) {
      Indices& rows = plan.matrix.outputs.emplace_back();
      for (Index n = count / ranks + (rank < count % ranks ? 1 : 0); n > 0; --n) {
        plan.matrix.terms.push_back({row, 0, (next++)->second, 1});
        rows.push_back(row++);
      }
    }
    return plan;
  }

private:
  Index edgeCount() const { return static_cast<Index>(graph_.edges.size()); }
  // The numbers in one of the two lists of each rank; of nodes the owned ones alone, if `areOwned`.
  std::vector<Indices> rowsOf(Indices Part::*list, bool areOwned) const {
    std::vector<Indices> rows;
    for (const Part& part : parts_)
      rows.emplace_back((part.*list).begin(),
                        areOwned ? (part.*list).begin() + part.owned : (part.*list).end());
    return rows;
  }
  // A plan without terms of a layer that uses the edges.
  Plan ofEdges(const char* type, std::vector<Indices> inputs, std::vector<Indices> outputs,
               Layout input) const {
    return {.type = type,
            .matrix = {.inputs = std::move(inputs),
                       .outputs = std::move(outputs),
                       .columns = columns_,
                       .outputColumns = columns_,
                       .terms = {}},
            .specify = [edges = TenonEdges(lists_.edges)](
                           TenonLayer layer) { require(TenonLayerSetEdges(layer, "", edges)); },
            .input = std::move(input)};
  }
  // A plan without terms and outputs of the layer that redistributes rows by an index map.
  Plan ofMap(TenonIndexMap map) const {
    return {.type = "indexmap",
            .matrix = {.inputs = rowsOf(&Part::nodes, /*areOwned=*/true),
                       .outputs = {},
                       .columns = columns_,
                       .outputColumns = columns_,
                       .terms = {}},
            .specify = [map](TenonLayer layer) { require(TenonLayerSetIndexMap(layer, "", map)); },
            .input = rowsOfNodes(map, columns_)};
  }

  const Graph& graph_;
  const std::vector<Part>& parts_;
  const Lists& lists_;
  Index columns_;
};

// Means of an element and its predecessor, y[i] = (x[i-1] + x[i]) / 2, on a line or a ring that is
// cut into tiles, some of which are missing. Elements of a missing tile count as 0. Example: 3
// tiles of 2 elements, of which tile 1 is missing:
//      0 1 | . . | 4 5      y[4] = x[4] / 2, and on a ring y[0] = (x[5] + x[0]) / 2
Plan tilesOfLine(Case& c, Links& links) {
  const Index tiles = c.draw.between(1, 6), extent = c.draw.between(1, 4), all = tiles * extent;
  const bool isRing = c.draw.chance(50);
  std::vector<Indices> tilesOfRank(static_cast<std::size_t>(c.ranks)), rows(tilesOfRank.size());
  std::vector<bool> isPresent(static_cast<std::size_t>(all), false);
  for (Index tile = tiles; tile-- > 0;) { // in descending order, as the nodes in Part
    if (c.draw.chance(20))
      continue; // missing
    const int rank = c.draw.upTo(c.ranks - 1);
    tilesOfRank[rank].push_back(tile);
    for (Index i = 0; i < extent; ++i) {
      rows[rank].push_back(tile * extent + i);
      isPresent[tile * extent + i] = true;
    }
  }
  c.text +=
      fmt::format(", {} tiles of {} elements of a {}", tiles, extent, isRing ? "ring" : "line");
  const TenonBoundary end = isRing ? TENON_BOUNDARY_PERIODIC : TENON_BOUNDARY_ZERO;
  const Indices& ownTiles = tilesOfRank[c.rank];
  require(TenonLinksCreateFromTiles(c.comm, 1, &tiles, &end, nullptr,
                                    static_cast<TenonInt>(ownTiles.size()), ownTiles.data(),
                                    links.out()));
  const TenonInt shape[] = {0, 1, extent};
  Layout field;
  require(TenonLinksGetLayout(links, 3, shape, field.out()));
  Plan plan{
      .type = "averagepooling",
      .matrix = {.inputs = rows, .outputs = rows, .columns = 1, .outputColumns = 1, .terms = {}},
      .specify =
          [handle = TenonLinks(links)](TenonLayer layer) {
            const auto object = reinterpret_cast<TenonObject>(layer);
            const std::pair<const char*, TenonInt> numbers[] = {
                {"kernel", 2}, {"stride", 1}, {"padding", 1}, {"padding_high", 0}};
            for (const auto& [name, number] : numbers)
              require(TenonObjectSetIntegers(object, name, 1, &number));
            require(TenonObjectSetText(object, "boundary", "linked"));
            require(TenonLayerSetLinks(layer, handle));
          },
      .input = std::move(field)};
  for (Index row = 0; row < all; ++row) {
    const Index before = isRing ? (row + all - 1) % all : row - 1;
    if (isPresent[row])
      plan.matrix.terms.push_back({row, 0, row, 0.5});
    if (isPresent[row] && before >= 0 && isPresent[before])
      plan.matrix.terms.push_back({row, 0, before, 0.5});
  }
  return plan;
}

// Applies a layer and its adjoint, and compares this rank's rows with the products of the matrix
// and of its transpose. Collective.
void compareWithMatrix(Case& c, const Plan& plan, TenonDataType type) {
  const Matrix& m = plan.matrix;
  Layer layer;
  require(TenonLayerCreateType(c.comm, plan.type, layer.out()));
  plan.specify(layer);
  require(TenonLayerSetDataType(layer, type));
  require(TenonLayerSetSpace(layer, c.space));
  require(TenonLayerSetUp(layer, plan.input));
  DTensor created[3];
  require(TenonLayerCreateOutput(layer, 0, created[0].out()));
  require(TenonLayerCreateOutputCotangent(layer, 0, created[1].out()));
  require(TenonLayerCreateInputCotangent(layer, 0, created[2].out()));
  Field x(plan.input, type, c.draw.chance(40), c.draw, c.space), y(std::move(created[0])),
      dy(std::move(created[1])), dx(std::move(created[2]));

  const auto numbers = [](const Filling& filling, Index columns) {
    return [=](Index row, Index k) {
      return filling.at(static_cast<std::uint64_t>(row * columns + k));
    };
  };
  const auto input = numbers({c.draw.number(), Numbers::Integers}, m.columns),
             cotangent = numbers({c.draw.number(), Numbers::Integers}, m.outputColumns);
  // Both products, by (row, column); entries that are absent are 0.
  std::map<std::pair<Index, Index>, double> output, gradient;
  for (const Term& term : m.terms)
    for (Index k = 0; k < m.columns; ++k) {
      output[{term.row, term.begin + k}] += term.weight * input(term.from, k);
      gradient[{term.from, k}] += term.weight * cotangent(term.row, term.begin + k);
    }
  const auto valuesOf = [](std::map<std::pair<Index, Index>, double>& sums) {
    return [&](Index row, Index k) { return sums[{row, k}]; };
  };
  x.write(rowsFrom(m.inputs[c.rank], m.columns, input));
  dy.write(rowsFrom(m.outputs[c.rank], m.outputColumns, cotangent));
  y.spoil();
  dx.spoil();
  require(TenonLayerApply(layer, x, y));
  require(TenonLayerApplyAdjoint(layer, dy, dx));
  c.computed(y.read());
  c.computed(dx.read());
  c.found("forward",
          difference(y.read(), rowsFrom(m.outputs[c.rank], m.outputColumns, valuesOf(output)),
                     y.box(), 0));
  c.found("adjoint",
          difference(dx.read(), rowsFrom(m.inputs[c.rank], m.columns, valuesOf(gradient)), dx.box(),
                     0));
  c.found("forward", x.isGuardIntact() ? "" : ": elements around the box changed");
}

} // namespace

void checkMesh(Case& c) {
  const TenonDataType type = drawFloating(c.draw);
  const bool isAnywhere = c.draw.chance(30);
  const Graph graph = drawGraph(c, isAnywhere);
  const Index columns = c.draw.between(1, 4);
  std::vector<Part> parts;
  for (int rank = 0; rank < c.ranks; ++rank)
    parts.emplace_back(graph, rank);
  c.text +=
      fmt::format(" {} of {} nodes and {} edges{}, {} columns", typeText(type), graph.ids.size(),
                  graph.edges.size(), isAnywhere ? " anywhere" : "", columns);
  const Lists lists(c.comm, graph, parts[c.rank], isAnywhere);
  const Planner planner(graph, parts, lists, columns);
  switch (c.draw.upTo(5)) {
  case 0:
    c.text += ", gather";
    return compareWithMatrix(c, planner.gather(), type);
  case 1:
    c.text += ", segmentsum";
    return compareWithMatrix(c, planner.sums(c.draw.chance(40)), type);
  case 2:
    c.text += ", sparsematrix";
    return compareWithMatrix(c, planner.sparse(), type);
  case 3:
    c.text += ", ghosts";
    return compareWithMatrix(c, planner.ghosts(), type);
  case 4:
    c.text += ", order of ids";
    return compareWithMatrix(c, planner.sorted(), type);
  default:
    Links links;
    return compareWithMatrix(c, tilesOfLine(c, links), type);
  }
}

} // namespace tenon::tools
