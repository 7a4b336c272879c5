// SPDX-License-Identifier: BSD-2-Clause
// Checks of the layers that use lists of a mesh (index maps, edges, links), on random graphs. Nodes
// have random ids and owners; directed edges are listed by the rank of their target or by any rank.
// Each layer is linear: its definition is a sparse matrix between rows of its input and output.
// Every rank draws the same graph, so each computes the whole matrix, multiplies, and compares its
// own rows. The numbers are small integers, whose sums are exact.
#include "tools/check/field.hpp"
#include "tools/check/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tenon::tools {

namespace {

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

// The lists of one rank: numbers of nodes, first the owned ones and then ghosts (nodes of other
// ranks that its edges refer to), and numbers of edges.
struct Part {
  Indices nodes, edges;
  Index owned = 0;

  Part(const Graph& graph, int rank) {
    const Index count = static_cast<Index>(graph.ids.size());
    for (Index n = count; n-- > 0;) // in descending order of their numbers
      if (graph.owners[n] == rank)
        nodes.push_back(n);
    owned = static_cast<Index>(nodes.size());
    for (Index e = 0; e < static_cast<Index>(graph.edges.size()); ++e)
      if (graph.edges[e].holder == rank) {
        edges.push_back(e);
        placeOf(graph.edges[e].source);
        placeOf(graph.edges[e].target);
      }
  }
  // The position of a node in the list; a node that is not yet listed is appended as a ghost.
  Index placeOf(Index node) {
    const auto at = std::ranges::find(nodes, node) - nodes.begin();
    if (at == static_cast<std::ptrdiff_t>(nodes.size()))
      nodes.push_back(node);
    return at;
  }
};

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

// The lists of this rank as the library's objects. `sorted` distributes the nodes in the order of
// their ids.
struct Lists {
  IndexMap nodes, sorted;
  Edges edges;

  Lists(Case& c, const Graph& graph, Part part, bool isAnywhere) {
    Indices ids, target, source, keys;
    std::vector<double> weights;
    for (const Index n : part.nodes)
      ids.push_back(graph.ids[n]);
    for (const Index e : part.edges) {
      target.push_back(part.placeOf(graph.edges[e].target));
      source.push_back(part.placeOf(graph.edges[e].source));
      keys.push_back(1000 - 3 * e);
      weights.push_back(graph.edges[e].weight);
    }
    const auto count = static_cast<TenonInt>(part.edges.size());
    require(TenonIndexMapCreateFromIds(c.comm, part.owned, static_cast<TenonInt>(ids.size()),
                                       ids.data(), nodes.out()));
    require(TenonIndexMapCreateSorted(nodes, sorted.out()));
    require(isAnywhere ? TenonEdgesCreateShared(nodes, nodes, count, target.data(), source.data(),
                                                keys.data(), nullptr, weights.data(), edges.out())
                       : TenonEdgesCreate(nodes, nodes, count, target.data(), source.data(),
                                          keys.data(), weights.data(), edges.out()));
  }
};

// An entry of the matrix. For all columns k: y[row, begin + k] += weight x[from, k].
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
  const char* type;
  Matrix matrix;
  std::function<void(TenonLayer layer)> specify;
  Layout input;
};

Layout plainOf(TenonIndexMap map, TenonInt columns) {
  const TenonInt shape[] = {0, columns};
  Layout plain, ghosted;
  require(TenonIndexMapGetLayouts(map, 2, shape, plain.out(), ghosted.out()));
  return plain;
}

class Planner {
public:
  Planner(const Graph& graph, const std::vector<Part>& parts, const Lists& lists, Index columns)
      : graph_(graph), parts_(parts), lists_(lists), columns_(columns) {}

  Plan gather() const {
    Plan plan = ofEdges("gather", rowsOf(&Part::nodes, true), rowsOf(&Part::edges, false),
                        plainOf(lists_.nodes, columns_));
    plan.matrix.outputColumns = 2 * columns_;
    for (Index e = 0; e < edgeCount(); ++e) {
      plan.matrix.terms.push_back({e, 0, graph_.edges[e].target, 1});
      plan.matrix.terms.push_back({e, columns_, graph_.edges[e].source, 1});
    }
    return plan;
  }
  Plan sums(bool atSource) const {
    const TenonInt shape[] = {0, columns_};
    Layout onEdges;
    require(TenonEdgesGetLayout(lists_.edges, 2, shape, onEdges.out()));
    Plan plan = ofEdges("segmentsum", rowsOf(&Part::edges, false), rowsOf(&Part::nodes, true),
                        std::move(onEdges));
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
  Plan sparse() const {
    Plan plan = ofEdges("sparsematrix", rowsOf(&Part::nodes, true), rowsOf(&Part::nodes, true),
                        plainOf(lists_.nodes, columns_));
    for (const Edge& edge : graph_.edges)
      plan.matrix.terms.push_back({edge.target, 0, edge.source, edge.weight});
    return plan;
  }
  // The owned nodes of a rank, followed by copies of its ghosts.
  Plan ghosts() const {
    Plan plan = ofMap(lists_.nodes);
    Index place = 0;
    for (const Part& part : parts_) {
      Indices& rows = plan.matrix.outputs.emplace_back();
      for (const Index node : part.nodes) {
        plan.matrix.terms.push_back({place, 0, node, 1});
        rows.push_back(place++);
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
    for (Index rank = 0, place = 0; rank < ranks; ++rank) {
      Indices& rows = plan.matrix.outputs.emplace_back();
      for (Index n = count / ranks + (rank < count % ranks ? 1 : 0); n > 0; --n) {
        plan.matrix.terms.push_back({place, 0, (next++)->second, 1});
        rows.push_back(place++);
      }
    }
    return plan;
  }

private:
  Index edgeCount() const { return static_cast<Index>(graph_.edges.size()); }
  std::vector<Indices> rowsOf(Indices Part::*list, bool areOwned) const {
    std::vector<Indices> rows;
    for (const Part& part : parts_)
      rows.emplace_back((part.*list).begin(),
                        areOwned ? (part.*list).begin() + part.owned : (part.*list).end());
    return rows;
  }
  Plan ofEdges(const char* type, std::vector<Indices> inputs, std::vector<Indices> outputs,
               Layout input) const {
    return {type,
            {std::move(inputs), std::move(outputs), columns_, columns_, {}},
            [edges = TenonEdges(lists_.edges)](TenonLayer layer) {
              require(TenonLayerSetEdges(layer, "", edges));
            },
            std::move(input)};
  }
  Plan ofMap(TenonIndexMap map) const {
    return {"indexmap",
            {rowsOf(&Part::nodes, true), {}, columns_, columns_, {}},
            [map](TenonLayer layer) { require(TenonLayerSetIndexMap(layer, "", map)); },
            plainOf(map, columns_)};
  }

  const Graph& graph_;
  const std::vector<Part>& parts_;
  const Lists& lists_;
  Index columns_;
};

// Means of an element and its predecessor, on a line or a ring that is cut into tiles, some of
// which are missing.
Plan tilesOfLine(Case& c, Links& links) {
  const Index tiles = c.draw.between(1, 6), extent = c.draw.between(1, 4), all = tiles * extent;
  const bool isRing = c.draw.chance(50);
  std::vector<Indices> places(static_cast<std::size_t>(c.ranks)), rows(places.size());
  std::vector<bool> isThere(static_cast<std::size_t>(all), false);
  for (Index tile = tiles; tile-- > 0;) { // in descending order of the positions
    if (c.draw.chance(20))
      continue;
    const int rank = c.draw.upTo(c.ranks - 1);
    places[rank].push_back(tile);
    for (Index i = 0; i < extent; ++i) {
      rows[rank].push_back(tile * extent + i);
      isThere[tile * extent + i] = true;
    }
  }
  c.text +=
      fmt::format(", {} tiles of {} elements of a {}", tiles, extent, isRing ? "ring" : "line");
  const TenonBoundary end = isRing ? TENON_BOUNDARY_PERIODIC : TENON_BOUNDARY_ZERO;
  const Indices& ownTiles = places[c.rank];
  require(TenonLinksCreateFromTiles(c.comm, 1, &tiles, &end, nullptr,
                                    static_cast<TenonInt>(ownTiles.size()), ownTiles.data(),
                                    links.out()));
  const TenonInt shape[] = {0, 1, extent};
  Layout field;
  require(TenonLinksGetLayout(links, 3, shape, field.out()));
  Plan plan{"averagepooling",
            {rows, rows, 1, 1, {}},
            [handle = TenonLinks(links)](TenonLayer layer) {
              const auto object = reinterpret_cast<TenonObject>(layer);
              const std::pair<const char*, TenonInt> numbers[] = {
                  {"kernel", 2}, {"stride", 1}, {"padding", 1}, {"padding_high", 0}};
              for (const auto& [name, number] : numbers)
                require(TenonObjectSetIntegers(object, name, 1, &number));
              require(TenonObjectSetText(object, "boundary", "linked"));
              require(TenonLayerSetLinks(layer, handle));
            },
            std::move(field)};
  for (Index row = 0; row < all; ++row) {
    const Index before = isRing ? (row + all - 1) % all : row - 1;
    if (isThere[row])
      plan.matrix.terms.push_back({row, 0, row, 0.5});
    if (isThere[row] && before >= 0 && isThere[before])
      plan.matrix.terms.push_back({row, 0, before, 0.5});
  }
  return plan;
}

Values rowsFrom(const Indices& rows, Index columns, const std::function<double(Index, Index)>& at) {
  Values values;
  for (const Index row : rows)
    for (Index k = 0; k < columns; ++k)
      values.push_back(at(row, k));
  return values;
}

void compare(Case& c, const Plan& plan, TenonDataType type) {
  const Matrix& m = plan.matrix;
  Layer layer;
  require(TenonLayerCreateType(c.comm, plan.type, layer.out()));
  plan.specify(layer);
  require(TenonLayerSetDataType(layer, type));
  require(TenonLayerSetSpace(layer, c.space));
  require(TenonLayerSetUp(layer, plan.input));
  DTensor tensors[3];
  require(TenonLayerCreateOutput(layer, 0, tensors[0].out()));
  require(TenonLayerCreateOutputCotangent(layer, 0, tensors[1].out()));
  require(TenonLayerCreateInputCotangent(layer, 0, tensors[2].out()));
  Field x(plan.input, type, c.draw.chance(40), c.draw, c.space), y(std::move(tensors[0])),
      dy(std::move(tensors[1])), dx(std::move(tensors[2]));

  const auto numbers = [](const Filling& filling, Index columns) {
    return [=](Index row, Index k) {
      return filling.at(static_cast<std::uint64_t>(row * columns + k));
    };
  };
  const auto input = numbers({c.draw.number(), Numbers::Integers}, m.columns),
             cotangent = numbers({c.draw.number(), Numbers::Integers}, m.outputColumns);
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
  const Lists lists(c, graph, parts[c.rank], isAnywhere);
  const Planner planner(graph, parts, lists, columns);
  switch (c.draw.upTo(5)) {
  case 0:
    c.text += ", gather";
    return compare(c, planner.gather(), type);
  case 1:
    c.text += ", segmentsum";
    return compare(c, planner.sums(c.draw.chance(40)), type);
  case 2:
    c.text += ", sparsematrix";
    return compare(c, planner.sparse(), type);
  case 3:
    c.text += ", ghosts";
    return compare(c, planner.ghosts(), type);
  case 4:
    c.text += ", order of ids";
    return compare(c, planner.sorted(), type);
  default:
    Links links;
    return compare(c, tilesOfLine(c, links), type);
  }
}

} // namespace tenon::tools
