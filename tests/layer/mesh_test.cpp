// SPDX-License-Identifier: BSD-2-Clause
// Layers on meshes. A tensor [rows, channels] has a row per node or per edge of a graph; a random
// graph (MeshGraph) is distributed over the ranks (MeshPart). Independent values:
//
//   single layers   gathers, segment sums, sparse matrices, attention: sums over all edges of the
//                   whole graph, which every rank computes here (WholeRows)
//   networks        the same network on one process (MPI_COMM_SELF), with bitwise equal outputs,
//                   and message passing written as loops (Perceptron)
//   fused kernels   the same network without fusion
//   rows            fields on grids as rows; interpolation from a grid to a mesh and back by dense
//                   matrices
//
// Further tests: the checks detect errors in lists, views, error messages, and the C interface.
#include "capi/expect_code.hpp"
#include "layer/derivatives/derivative_check.hpp"
#include "layer/networks/network_file.hpp"
#include "layer_run.hpp"
#include "support/draws.hpp"
#include "support/finds_a_fault.hpp"
#include "support/mesh_graph.hpp"
#include "sys/options/options.hpp"

#include <tenon/edges.h>
#include <tenon/index_map.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <set>

namespace tenon {
namespace {

using test::expectErrorOnAll;
using test::LayoutDraw;
using test::MeshGraph;
using test::MeshNodes;
using test::MeshPart;
using test::world;

enum class RowsOf { Targets, Sources, Edges };

// The numbers of the rows that this rank owns, and their layout.
std::vector<int> ownRows(const MeshPart& part, RowsOf of) {
  if (of == RowsOf::Edges)
    return part.edges;
  const MeshNodes& nodes = of == RowsOf::Targets ? part.targets : part.sources;
  return {nodes.listed.begin(), nodes.listed.begin() + nodes.owned};
}
Layout layoutOf(const MeshPart& part, RowsOf of, const Shape& trailing) {
  return rowsLayout(of == RowsOf::Edges     ? part.list->pattern()
                    : of == RowsOf::Targets ? part.targets.map->from()
                                            : part.sources.map->from(),
                    trailing);
}
std::size_t countOf(const MeshGraph& graph, RowsOf of) {
  return of == RowsOf::Edges     ? graph.edges.size()
         : of == RowsOf::Targets ? graph.targets.size()
                                 : graph.sources.size();
}

// A small integer for each row and column.
double valueOf(int kind, int row, Index column) {
  std::mt19937 engine(static_cast<unsigned>(7919 * kind + 131 * row + column));
  return double(engine() % 15) - 7;
}

// The values of all rows of the graph's targets, sources or edges, known on every rank. give()
// copies this rank's rows to a tensor, and expect() compares this rank's rows of a tensor with
// them. The values are small integers for kind >= 0, and zeros for kind = -1.
struct WholeRows {
  RowsOf of;
  Index columns;
  std::vector<double> values;

  WholeRows(const MeshGraph& graph, RowsOf rows, Index count, int kind)
      : of(rows), columns(count), values(countOf(graph, rows) * std::size_t(count), 0) {
    for (std::size_t i = 0; kind >= 0 && i < values.size(); ++i)
      values[i] = valueOf(kind, static_cast<int>(i / count), static_cast<Index>(i) % count);
  }
  double& at(int row, Index column) { return values[std::size_t(row * columns + column)]; }
  double at(int row, Index column) const { return values[std::size_t(row * columns + column)]; }

  void give(const MeshPart& part, DTensor& x) const {
    const std::vector<int> rows = ownRows(part, of);
    visitFloating(x.dataType(), [&]<class T>(T) {
      T* to = x.mutableData<T>();
      for (int row : rows)
        for (Index c = 0; c < columns; ++c)
          *to++ = static_cast<T>(at(row, c));
    });
  }
  // With a tolerance relative to 1 + |value|; 0 is exact.
  void expect(const MeshPart& part, const DTensor& x, double tolerance,
              const std::string& what) const {
    expect(part, test::localCells(x), tolerance, what);
  }
  void expect(const MeshPart& part, const std::vector<double>& got, double tolerance,
              const std::string& what) const {
    const std::vector<int> rows = ownRows(part, of);
    ASSERT_EQ(got.size(), rows.size() * std::size_t(columns)) << what;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double want = at(rows[i / columns], static_cast<Index>(i) % columns);
      ASSERT_LE(std::abs(got[i] - want), tolerance * (1 + std::abs(want)))
          << what << ", row " << rows[i / columns];
    }
  }
};

// One term of a linear layer: y[row, begin + c] += weight * x[from, c] for all columns c of x,
// which is the input of this number.
struct Term {
  int row;         // of y
  Index begin = 0; // column of y
  int input = 0, from;
  double weight = 1;
};

// A linear layer with its definition as a list of terms.
struct LinearCase {
  std::string type;
  std::vector<std::pair<const char*, SettingValue>> settings;
  std::vector<std::pair<RowsOf, Index>> inputs; // rows of each input, and number of its columns
  RowsOf output;
  Index columns;
  std::vector<Term> terms;
};

// All linear layers of meshes on a graph, with their terms. A gather joins the rows of the target,
// the source and the edge itself, in this order; if the graph has one set of nodes, target and
// source are rows of the same input.
std::vector<LinearCase> linearCases(const MeshGraph& graph, bool weighted) {
  const bool two = graph.hasTwoSets();
  const auto weight = [&](const test::MeshEdge& edge) { return weighted ? edge.weight : 1; };
  std::vector<LinearCase> cases;
  const auto add = [&](const char* type, std::vector<std::pair<const char*, SettingValue>> settings,
                       std::vector<std::pair<RowsOf, Index>> inputs, RowsOf output, Index columns,
                       auto&& visit) {
    LinearCase c{.type = type,
                 .settings = std::move(settings),
                 .inputs = std::move(inputs),
                 .output = output,
                 .columns = columns,
                 .terms = {}};
    for (int e = 0; e < static_cast<int>(graph.edges.size()); ++e)
      visit(e, graph.edges[e], c.terms);
    cases.push_back(std::move(c));
  };
  using Terms = std::vector<Term>;
  using Edge = test::MeshEdge;
  add("gather", {{"ends", std::string("source")}}, {{RowsOf::Sources, 3}}, RowsOf::Edges, 3,
      [](int e, const Edge& edge, Terms& terms) {
        terms.push_back({.row = e, .from = edge.source});
      });
  add("gather", {{"ends", std::string("target")}}, {{RowsOf::Targets, 2}, {RowsOf::Edges, 5}},
      RowsOf::Edges, 7, [](int e, const Edge& edge, Terms& terms) {
        terms.push_back({.row = e, .from = edge.target});
        terms.push_back({.row = e, .begin = 2, .input = 1, .from = e});
      });
  std::vector<std::pair<RowsOf, Index>> nodes{{RowsOf::Targets, 3}};
  const Index further = two ? 2 : 3;
  if (two)
    nodes.emplace_back(RowsOf::Sources, further);
  const auto both = [=](int e, const Edge& edge, Terms& terms) {
    terms.push_back({.row = e, .from = edge.target});
    terms.push_back({.row = e, .begin = 3, .input = two ? 1 : 0, .from = edge.source});
  };
  add("gather", {}, nodes, RowsOf::Edges, 3 + further, both);
  nodes.emplace_back(RowsOf::Edges, 4);
  add("gather", {}, nodes, RowsOf::Edges, 7 + further, [=](int e, const Edge& edge, Terms& terms) {
    both(e, edge, terms);
    terms.push_back({.row = e, .begin = 3 + further, .input = two ? 2 : 1, .from = e});
  });
  add("segmentsum", {}, {{RowsOf::Edges, 3}}, RowsOf::Targets, 3,
      [=](int e, const Edge& edge, Terms& terms) {
        terms.push_back({.row = edge.target, .from = e, .weight = weight(edge)});
      });
  add("segmentsum", {{"at", std::string("source")}}, {{RowsOf::Edges, 2}}, RowsOf::Sources, 2,
      [=](int e, const Edge& edge, Terms& terms) {
        terms.push_back({.row = edge.source, .from = e, .weight = weight(edge)});
      });
  add("sparsematrix", {}, {{RowsOf::Sources, 20}}, RowsOf::Targets, 20,
      [=](int, const Edge& edge, Terms& terms) {
        terms.push_back({.row = edge.target, .from = edge.source, .weight = weight(edge)});
      });
  return cases;
}

// A layer set up for inputs with these columns, and its tensors.
struct MeshStep {
  Ref<Layer> layer;
  std::vector<Ref<DTensor>> x, dx;
  Ref<DTensor> y, dy;

  MeshStep(Ref<Layer> given, const MeshPart& part,
           const std::vector<std::pair<RowsOf, Index>>& inputs, TenonDataType type)
      : layer(std::move(given)) {
    if (!layer->isSetUp()) {
      layer->setDataType(type);
      layer->setList("", "", part.list);
    }
    Layouts layouts;
    for (const auto& [of, columns] : inputs)
      layouts.push_back(layoutOf(part, of, {columns}));
    layer->setUp(layouts);
    const auto tensor = [&](const Layout& layout) {
      return makeRef<DTensor>(layer->comm(), layout, type);
    };
    for (const Layout& layout : layouts) {
      x.push_back(tensor(layout));
      dx.push_back(tensor(layout.dual()));
    }
    y = tensor(layer->outputLayout(layouts));
    dy = tensor(y->layout().dual());
  }
  void apply() { layer->apply(reading(x), *y); }
  void tangent() { layer->applyTangent(reading(x), *y); }
  void adjoint() {
    std::vector<DTensor*> to;
    for (const auto& t : dx)
      to.push_back(t.get());
    layer->applyAdjoint(*dy, to);
  }

private:
  std::vector<const DTensor*> reading_;
  std::span<const DTensor* const> reading(const std::vector<Ref<DTensor>>& tensors) {
    reading_.clear();
    for (const auto& t : tensors)
      reading_.push_back(t.get());
    return reading_;
  }
};

// Compares forward, tangent and adjoint of a linear layer with the sums over its terms, exactly.
void expectLinear(const LinearCase& c, const MeshGraph& graph, const MeshPart& part,
                  TenonDataType type, const std::string& what) {
  const Ref<Layer> layer = test::newLayer(world(), c.type);
  for (const auto& [name, value] : c.settings)
    layer->set(name, value);
  MeshStep step(layer, part, c.inputs, type);
  std::vector<WholeRows> x, dx;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    x.emplace_back(graph, c.inputs[i].first, c.inputs[i].second, static_cast<int>(i));
    dx.emplace_back(graph, c.inputs[i].first, c.inputs[i].second, -1);
  }
  WholeRows y(graph, c.output, c.columns, -1), dy(graph, c.output, c.columns, 9);
  for (const Term& term : c.terms)
    for (Index k = 0; k < c.inputs[term.input].second; ++k) {
      y.at(term.row, term.begin + k) += term.weight * x[term.input].at(term.from, k);
      dx[term.input].at(term.from, k) += term.weight * dy.at(term.row, term.begin + k);
    }
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i].give(part, *step.x[i]);
  dy.give(part, *step.dy);
  step.apply();
  const std::vector<double> forward = test::localCells(*step.y);
  fillConstant(*step.y, 77);
  step.tangent();
  step.adjoint();
  ASSERT_NO_FATAL_FAILURE(y.expect(part, forward, 0, what + " forward"));
  ASSERT_NO_FATAL_FAILURE(y.expect(part, *step.y, 0, what + " tangent"));
  for (std::size_t i = 0; i < dx.size(); ++i)
    ASSERT_NO_FATAL_FAILURE(dx[i].expect(part, *step.dx[i], 0, what + " adjoint"));
}

TEST(MeshLayers, AreTheirDefinitions) {
  for (unsigned seed = 0, end = test::draws(24); seed < end; ++seed) {
    const MeshGraph graph(seed, seed % 2);
    const bool weighted = seed % 3 == 1;
    const MeshPart part(world(), graph, seed, {.weighted = weighted, .keyed = seed % 4 != 3});
    for (const LinearCase& c : linearCases(graph, weighted))
      ASSERT_NO_FATAL_FAILURE(expectLinear(c, graph, part,
                                           seed % 5 == 4 ? TENON_FLOAT32 : TENON_FLOAT64,
                                           c.type + ", graph " + std::to_string(seed)));
  }
}

// a = sum over the edges of a node of (weight / sum of weights) m.
TEST(MeshLayers, TakeMeansByTheirWeights) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    MeshGraph graph(seed, seed % 2);
    for (test::MeshEdge& edge : graph.edges)
      edge.weight = std::abs(edge.weight);
    const bool weighted = seed % 3 == 1;
    const MeshPart part(world(), graph, seed, {.weighted = weighted});
    const Ref<Layer> layer = test::newLayer(world(), "segmentsum");
    layer->setText("aggregation", "mean");
    MeshStep step(layer, part, {{RowsOf::Edges, 3}}, TENON_FLOAT64);
    const WholeRows m(graph, RowsOf::Edges, 3, 0), da(graph, RowsOf::Targets, 3, 9);
    WholeRows a(graph, RowsOf::Targets, 3, -1), dm(graph, RowsOf::Edges, 3, -1);
    std::vector<double> totals(graph.targets.size(), 0);
    const auto weight = [&](std::size_t e) { return weighted ? graph.edges[e].weight : 1; };
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      totals[graph.edges[e].target] += weight(e);
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      for (Index c = 0; c < 3; ++c) {
        const int target = graph.edges[e].target, edge = static_cast<int>(e);
        a.at(target, c) += weight(e) / totals[target] * m.at(edge, c);
        dm.at(edge, c) = weight(e) / totals[target] * da.at(target, c);
      }
    m.give(part, *step.x[0]);
    da.give(part, *step.dy);
    step.apply();
    ASSERT_NO_FATAL_FAILURE(a.expect(part, *step.y, 1e-14, "mean"));
    step.adjoint();
    ASSERT_NO_FATAL_FAILURE(dm.expect(part, *step.dx[0], 1e-14, "adjoint of a mean"));
  }
}

// 0.1 + 0.2 + 0.3 depends on the order of the additions. Weights must be added in the order of the
// edges' keys, which makes the mean and its adjoint bitwise the same for any order of the list.
TEST(MeshLayers, AddTheWeightsOfAMeanByTheirKeys) {
  constexpr std::size_t kOrders[][3] = {{0, 1, 2}, {1, 2, 0}, {2, 1, 0}};
  constexpr Index kKeys[] = {1, 2, 3};
  constexpr double kWeights[] = {0.1, 0.2, 0.3}, kMessages[] = {1, 2, 4};
  std::vector<double> first;
  for (const auto& order : kOrders) {
    const CommPtr alone = Communicator::of(MPI_COMM_SELF);
    const IndexMapPtr nodes = makeIndexMapFromIds(*alone, 1, {0});
    // Three edges from the only node to itself.
    ListedEdges listed{.target = {0, 0, 0}, .source = {0, 0, 0}, .key = {}, .weights = {}};
    for (const std::size_t e : order) {
      listed.key.push_back(kKeys[e]);
      listed.weights.push_back(kWeights[e]);
    }
    const EdgesPtr edges = makeEdges(alone, nodes, nodes, listed);
    const Ref<Layer> layer = test::newLayer(alone, "segmentsum");
    layer->setText("aggregation", "mean");
    layer->setList("", "", edges);
    const Layout rows = rowsLayout(edges->pattern(), {1});
    layer->setDataType(TENON_FLOAT64);
    layer->setUp(rows);
    const Layout sums = layer->outputLayout(rows);
    DTensor m(alone, rows, TENON_FLOAT64), a(alone, sums, TENON_FLOAT64);
    DTensor da(alone, sums.dual(), TENON_FLOAT64), dm(alone, rows.dual(), TENON_FLOAT64);
    for (std::size_t i = 0; i < 3; ++i)
      m.mutableData<double>()[i] = kMessages[order[i]];
    layer->apply(m, a);
    fillConstant(da, 1);
    layer->applyAdjoint(da, &dm);
    std::vector<double> found{a.data<double>()[0], 0, 0, 0};
    for (std::size_t i = 0; i < 3; ++i)
      found[1 + order[i]] = dm.data<double>()[i];
    if (first.empty())
      first = found;
    EXPECT_EQ(found, first);
  }
  EXPECT_EQ(first[0], (0.1 / (0.1 + 0.2 + 0.3)) * 1 + (0.2 / (0.1 + 0.2 + 0.3)) * 2 +
                          (0.3 / (0.1 + 0.2 + 0.3)) * 4);
}

// Values are small integers, so maxima are often attained by several edges: the edge with the
// smallest key then counts, and receives the cotangent.
TEST(MeshLayers, TakeMaximaAndGiveCotangentsToTheirWinners) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    const MeshGraph graph(seed, seed % 2);
    const bool weighted = seed % 3 == 1;
    const MeshPart part(world(), graph, seed, {.weighted = weighted});
    const Ref<Layer> layer = test::newLayer(world(), "segmentsum");
    layer->setText("aggregation", "max");
    MeshStep step(layer, part, {{RowsOf::Edges, 5}}, TENON_FLOAT64);
    const WholeRows m(graph, RowsOf::Edges, 5, 0), da(graph, RowsOf::Targets, 5, 9);
    WholeRows a(graph, RowsOf::Targets, 5, -1), dm(graph, RowsOf::Edges, 5, -1);
    for (int target = 0; target < static_cast<int>(graph.targets.size()); ++target)
      for (Index c = 0; c < 5; ++c) {
        int winner = -1;
        const auto weight = [&](int e) { return weighted ? graph.edges[e].weight : 1; };
        const auto rank = [&](int e) {
          return std::pair(-weight(e) * m.at(e, c), graph.edges[e].key);
        };
        for (int e = 0; e < static_cast<int>(graph.edges.size()); ++e)
          if (graph.edges[e].target == target && (winner < 0 || rank(e) < rank(winner)))
            winner = e;
        if (winner < 0)
          continue;
        a.at(target, c) = weight(winner) * m.at(winner, c);
        dm.at(winner, c) = weight(winner) * da.at(target, c);
      }
    m.give(part, *step.x[0]);
    da.give(part, *step.dy);
    step.apply();
    ASSERT_NO_FATAL_FAILURE(a.expect(part, *step.y, 0, "maximum"));
    step.tangent(); // the direction is m itself, in which the derivative of a maximum is its value
    ASSERT_NO_FATAL_FAILURE(a.expect(part, *step.y, 0, "tangent of a maximum"));
    step.adjoint();
    ASSERT_NO_FATAL_FAILURE(dm.expect(part, *step.dx[0], 0, "adjoint of a maximum"));
    // In inference no workspace stores the winners.
    layer->setTraining(false);
    step.apply();
    ASSERT_NO_FATAL_FAILURE(a.expect(part, *step.y, 0, "maximum in inference"));
  }
}

// Attention against the softmax over each node's edges, written out with its derivatives.
TEST(MeshLayers, AttendToTheEdgesOfANode) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    const MeshGraph graph(seed, seed % 2);
    const MeshPart part(world(), graph, seed);
    const Index heads = 1 + seed % 3, each = 4, columns = heads * each;
    const Ref<Layer> layer = test::newLayer(world(), "edgeattention");
    MeshStep step(layer, part, {{RowsOf::Edges, heads}, {RowsOf::Edges, columns}}, TENON_FLOAT64);
    const WholeRows s(graph, RowsOf::Edges, heads, 0), v(graph, RowsOf::Edges, columns, 1),
        dy(graph, RowsOf::Targets, columns, 9);
    WholeRows y(graph, RowsOf::Targets, columns, -1), ds(graph, RowsOf::Edges, heads, -1),
        dv(graph, RowsOf::Edges, columns, -1);
    const int edges = static_cast<int>(graph.edges.size());
    for (int target = 0; target < static_cast<int>(graph.targets.size()); ++target)
      for (Index h = 0; h < heads; ++h) {
        double sum = 0, mean = 0;
        std::map<int, double> a, g; // of each edge: its weight, and the weight's cotangent
        for (int e = 0; e < edges; ++e)
          if (graph.edges[e].target == target)
            sum += a[e] = std::exp(s.at(e, h));
        for (auto& [e, weight] : a) {
          weight /= sum;
          for (Index c = h * each; c < (h + 1) * each; ++c) {
            y.at(target, c) += weight * v.at(e, c);
            dv.at(e, c) = weight * dy.at(target, c);
            g[e] += v.at(e, c) * dy.at(target, c);
          }
          mean += weight * g[e];
        }
        for (const auto& [e, weight] : a)
          ds.at(e, h) = weight * (g[e] - mean);
      }
    s.give(part, *step.x[0]);
    v.give(part, *step.x[1]);
    dy.give(part, *step.dy);
    step.apply();
    ASSERT_NO_FATAL_FAILURE(y.expect(part, *step.y, 1e-13, "attention"));
    step.adjoint();
    ASSERT_NO_FATAL_FAILURE(ds.expect(part, *step.dx[0], 1e-13, "adjoint of scores"));
    ASSERT_NO_FATAL_FAILURE(dv.expect(part, *step.dx[1], 1e-13, "adjoint of values"));
  }
}

// Edges can be on any rank, and some are on two ranks, each with a share of the edge's weight. Sums
// and cotangents over all ranks must be those of the whole graph.
TEST(MeshLayers, TakeSharesOfEdgesThatSeveralRanksHave) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    MeshGraph graph(seed, seed % 2);
    for (test::MeshEdge& edge : graph.edges)
      edge.weight = std::abs(edge.weight);
    const bool weighted = seed % 3 == 1, mean = seed % 2 == 0;
    const MeshPart part(world(), graph, seed, {.weighted = weighted, .anywhere = true});
    auto net = test::newLayer(world(), "sequential");
    const auto gather = test::newLayer(world(), "gather"),
               sum = test::newLayer(world(), "segmentsum");
    gather->setText("ends", "source");
    sum->setText("aggregation", mean ? "mean" : "sum");
    appendLayer(*net, gather);
    appendLayer(*net, sum);
    MeshStep step(net, part, {{RowsOf::Sources, 3}}, TENON_FLOAT64);
    const WholeRows x(graph, RowsOf::Sources, 3, 0), dy(graph, RowsOf::Targets, 3, 9);
    WholeRows y(graph, RowsOf::Targets, 3, -1), dx(graph, RowsOf::Sources, 3, -1);
    std::vector<double> totals(graph.targets.size(), 0);
    const auto weight = [&](const test::MeshEdge& edge) { return weighted ? edge.weight : 1; };
    for (const test::MeshEdge& edge : graph.edges)
      totals[edge.target] += weight(edge);
    for (const test::MeshEdge& edge : graph.edges)
      for (Index c = 0; c < 3; ++c) {
        const double w = mean ? weight(edge) / totals[edge.target] : weight(edge);
        y.at(edge.target, c) += w * x.at(edge.source, c);
        dx.at(edge.source, c) += w * dy.at(edge.target, c);
      }
    x.give(part, *step.x[0]);
    dy.give(part, *step.dy);
    step.apply();
    ASSERT_NO_FATAL_FAILURE(y.expect(part, *step.y, 1e-14, "shared edges"));
    step.adjoint();
    ASSERT_NO_FATAL_FAILURE(dx.expect(part, *step.dx[0], 1e-14, "adjoint of shared edges"));
  }
}

TEST(MeshLayers, NameSharesThatDoNotAddUp) {
  const CommPtr comm = world();
  const int rank = comm->rank(), size = comm->size();
  const std::vector<Index> ids = rank == 0 ? std::vector<Index>{4, 9} : std::vector<Index>{9, 4};
  const Index owned = rank == 0 ? 2 : 0;
  const IndexMapPtr nodes = makeIndexMapFromIds(*comm, owned, ids);
  const auto make = [&](std::vector<Index> key, std::vector<double> shares) {
    const std::vector<Index> ends(key.size(), 0);
    return makeSharedEdges(comm, nodes, nodes,
                           {.target = ends, .source = ends, .key = std::move(key), .weights = {}},
                           std::move(shares));
  };
  EXPECT_EQ(make({17}, {})->weights(), std::vector<double>{1.0 / size});
  EXPECT_EQ(make({17}, {rank == 0 ? 1.0 : 0.0})->weights().size(), 1U);
  expectErrorOnAll(TENON_ERR_ARG, {"the shares of the edge with key 17 add up to", "expected 1"},
                   [&] { make({17}, {0.75}); });
  expectErrorOnAll(TENON_ERR_ARG, {"rank 0 lists two edges with key 3"}, [&] {
    make(rank == 0 ? std::vector<Index>{3, 3} : std::vector<Index>{}, {});
  });
  if (size > 1)
    expectErrorOnAll(TENON_ERR_ARG, {"some of ranks", "pass shares on all ranks"}, [&] {
      make({17}, rank == 0 ? std::vector<double>{1} : std::vector<double>{});
    });
}

// --- Networks

Ref<Layer> mlp(const CommPtr& comm, std::vector<Index> widths) {
  const auto layer = test::newLayer(comm, "columnmlp");
  layer->set("widths", std::move(widths));
  return layer;
}

// Message passing: y = psi(x, aggregate of phi(x at the target, x at the source, f)), repeated
// `steps` times. c and f are the numbers of channels of nodes and edges.
Ref<Layer> processor(const CommPtr& comm, const std::string& aggregation, Index c, Index f,
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
void fillReals(const MeshPart& part, RowsOf of, std::uint64_t stream, DTensor& x) {
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
void expectRows(const std::map<int, std::vector<double>>& got,
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

TEST(MeshNetworks, GiveTheSameBitsOnAnyPartition) {
  const CommPtr self = Communicator::of(MPI_COMM_SELF);
  for (unsigned seed = 0; seed < 9; ++seed) {
    const MeshGraph graph(seed, /*twoSets=*/false);
    const std::string aggregation = seed % 3 == 0 ? "sum" : seed % 3 == 1 ? "mean" : "max";
    const MeshPart many(world(), graph, seed), alone(self, graph, 100 + seed);
    const Ref<Layer> net = processor(world(), aggregation, 3, 2, 2);
    net->set("recompute", seed % 2 == 1);
    const NetworkRun got(many, net), want(alone, processor(self, aggregation, 3, 2, 2));
    const std::string what = aggregation + ", graph " + std::to_string(seed);
    ASSERT_NO_FATAL_FAILURE(expectRows(got.y, want.y, 0, what));
    ASSERT_NO_FATAL_FAILURE(expectRows(got.dx, want.dx, 1e-13, what + ", dx"));
    ASSERT_NO_FATAL_FAILURE(expectRows(got.df, want.df, 1e-13, what + ", df"));
    ASSERT_NO_FATAL_FAILURE(
        test::expectNear(got.gradients, want.gradients, 1e-12, what + ", gradients"));
  }
}

// A perceptron of two layers with its adjoint, written as loops: the reference for one step of
// message passing.
struct Perceptron {
  Index in, hidden, out;
  std::vector<double> w1, b1, w2, b2, dw1, db1, dw2, db2; // weights [out, in]

  Perceptron(const Layer& layer, Index i, Index h, Index o) : in(i), hidden(h), out(o) {
    const auto& p = layer.ownParameters();
    w1 = test::localCells(p[0]->value());
    b1 = test::localCells(p[1]->value());
    w2 = test::localCells(p[2]->value());
    b2 = test::localCells(p[3]->value());
    dw1.assign(w1.size(), 0);
    db1.assign(b1.size(), 0);
    dw2.assign(w2.size(), 0);
    db2.assign(b2.size(), 0);
  }
  std::vector<double> hiddenOf(const std::vector<double>& x) const {
    std::vector<double> h = b1;
    for (Index o = 0; o < hidden; ++o) {
      for (Index i = 0; i < in; ++i)
        h[o] += w1[o * in + i] * x[i];
      h[o] = std::tanh(h[o]);
    }
    return h;
  }
  std::vector<double> forward(const std::vector<double>& x) const {
    const std::vector<double> h = hiddenOf(x);
    std::vector<double> y = b2;
    for (Index o = 0; o < out; ++o)
      for (Index i = 0; i < hidden; ++i)
        y[o] += w2[o * hidden + i] * h[i];
    return y;
  }
  std::vector<double> backward(const std::vector<double>& x, const std::vector<double>& dy) {
    const std::vector<double> h = hiddenOf(x);
    std::vector<double> dh(h.size(), 0), dx(x.size(), 0);
    for (Index o = 0; o < out; ++o) {
      db2[o] += dy[o];
      for (Index i = 0; i < hidden; ++i) {
        dw2[o * hidden + i] += dy[o] * h[i];
        dh[i] += w2[o * hidden + i] * dy[o];
      }
    }
    for (Index o = 0; o < hidden; ++o) {
      const double d = dh[o] * (1 - h[o] * h[o]);
      db1[o] += d;
      for (Index i = 0; i < in; ++i) {
        dw1[o * in + i] += d * x[i];
        dx[i] += w1[o * in + i] * d;
      }
    }
    return dx;
  }
  void addGradients(std::vector<double>& all) const {
    for (const auto* part : {&dw1, &db1, &dw2, &db2})
      all.insert(all.end(), part->begin(), part->end());
  }
};

TEST(MeshNetworks, AreMessagePassingWrittenAsLoops) {
  const Index c = 3, f = 2, m = 5;
  const MeshGraph graph(44, /*twoSets=*/false); // of 23 nodes and 88 edges
  const MeshPart part(world(), graph, 44);
  const Ref<Layer> layer = processor(world(), "sum", c, f, 1);
  const NetworkRun got(part, layer);
  Perceptron phi(*layer->nodes()[1].layer, 2 * c + f, 6, m),
      psi(*layer->nodes()[4].layer, c + m, 7, c);
  const auto draw = [](std::uint64_t stream, int row, Index columns) {
    std::vector<double> values;
    for (Index k = 0; k < columns; ++k)
      values.push_back(2 * uniformAt(3, stream, static_cast<std::uint64_t>(row * columns + k)) - 1);
    return values;
  };
  const auto append = [](std::vector<double> to, const std::vector<double>& more) {
    to.insert(to.end(), more.begin(), more.end());
    return to;
  };
  const int nodes = static_cast<int>(graph.targets.size()),
            edges = static_cast<int>(graph.edges.size());
  const auto inputOf = [&](int e) {
    return append(append(draw(1, graph.edges[e].target, c), draw(1, graph.edges[e].source, c)),
                  draw(2, e, f));
  };
  std::vector<std::vector<double>> a(nodes, std::vector<double>(m, 0)), da(nodes);
  for (int e = 0; e < edges; ++e) {
    const std::vector<double> message = phi.forward(inputOf(e));
    for (Index k = 0; k < m; ++k)
      a[graph.edges[e].target][k] += message[k];
  }
  std::map<int, std::vector<double>> y, dx, df;
  for (int n = 0; n < nodes; ++n) {
    const std::vector<double> joined = append(draw(1, n, c), a[n]);
    y[n] = psi.forward(joined);
    const std::vector<double> back = psi.backward(joined, draw(3, n, c));
    dx[n] = {back.begin(), back.begin() + c};
    da[n] = {back.begin() + c, back.end()};
  }
  for (int e = 0; e < edges; ++e) {
    const std::vector<double> back = phi.backward(inputOf(e), da[graph.edges[e].target]);
    for (Index k = 0; k < c; ++k) {
      dx[graph.edges[e].target][k] += back[k];
      dx[graph.edges[e].source][k] += back[c + k];
    }
    df[e] = {back.begin() + 2 * c, back.end()};
  }
  std::vector<double> gradients;
  phi.addGradients(gradients);
  psi.addGradients(gradients);
  expectRows(got.y, y, 1e-12, "y");
  expectRows(got.dx, dx, 1e-12, "dx");
  expectRows(got.df, df, 1e-12, "df");
  test::expectNear(got.gradients, gradients, 1e-12, "gradients");
}

// The same with edges on any rank: sums have another order, and results differ by rounding. The
// cotangent of an edge that two ranks have is the sum of their contributions.
TEST(MeshNetworks, AreTheSameWithEdgesAnywhere) {
  const CommPtr self = Communicator::of(MPI_COMM_SELF);
  for (unsigned seed = 0; seed < 4; ++seed) {
    const MeshGraph graph(seed, /*twoSets=*/false);
    const MeshPart many(world(), graph, seed, {.anywhere = true}), alone(self, graph, 100 + seed);
    const NetworkRun got(many, processor(world(), "sum", 3, 2, 2)),
        want(alone, processor(self, "sum", 3, 2, 2));
    ASSERT_NO_FATAL_FAILURE(expectRows(got.y, want.y, 1e-13, "y"));
    ASSERT_NO_FATAL_FAILURE(expectRows(got.dx, want.dx, 1e-13, "dx"));
    ASSERT_NO_FATAL_FAILURE(test::expectNear(got.gradients, want.gradients, 1e-12, "gradients"));
    for (const auto& [edge, values] : want.df) {
      std::vector<double> sum(values.size(), 0);
      if (const auto ownPart = got.df.find(edge); ownPart != got.df.end())
        sum = ownPart->second;
      MPI_Allreduce(MPI_IN_PLACE, sum.data(), static_cast<int>(sum.size()), MPI_DOUBLE, MPI_SUM,
                    MPI_COMM_WORLD);
      ASSERT_NO_FATAL_FAILURE(test::expectNear(sum, values, 1e-13, "df"));
    }
  }
}

// Two steps of message passing in which edges have a state: e <- phi(x at both ends, e), or e plus
// that if `adds`; x <- psi(x, aggregate of e). If `nests`, the operations on edges are a network
// within the network.
Ref<Layer> carrying(const CommPtr& comm, const std::string& aggregation, bool adds,
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
Ref<Layer> attending(const CommPtr& comm) {
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
Ref<Layer> repeated(const CommPtr& comm, const std::string& aggregation) {
  auto graph = test::newLayer(comm, "graph");
  graph->set("input_count", Index(2));
  const Ref<Layer> step = processor(comm, aggregation, 3, 2, 1);
  addGraphNode(*graph, step, {addGraphNode(*graph, step, {-1, -2}), -2});
  return graph;
}

// The number of fused kernels, by the text of the view.
int fusedIn(const Layer& net, const std::string& said = "over blocks of up to") {
  const std::string text = net.describe();
  int count = 0;
  for (auto at = text.find(said); at != std::string::npos; at = text.find(said, at + 1))
    ++count;
  return count;
}

// The fused kernel over blocks of edges has the results of the kernels that it replaces; outputs
// are bitwise equal. The graphs are large enough for several blocks on one rank. Each case has two
// fused kernels.
TEST(MeshNetworks, GiveByBlocksOfEdgesWhatTheirKernelsGive) {
  const auto graphOf = [](unsigned seed) {
    for (;; ++seed)
      if (MeshGraph graph(seed, /*twoSets=*/false, /*mostNodes=*/300, /*mostEdges=*/5000);
          graph.edges.size() > 3500)
        return graph;
  };
  struct Case {
    std::function<Ref<Layer>()> make;
    test::MeshOptions how;
  };
  const Case cases[] = {
      {[] { return processor(world(), "mean", 3, 2, 2); }, {}},
      {[] { return processor(world(), "sum", 3, 2, 2); }, {.weighted = true, .keyed = false}},
      {[] { return processor(world(), "sum", 3, 2, 2); }, {.anywhere = true}},
      {[] { return carrying(world(), "sum", true); }, {.anywhere = true}},
      {[] { return carrying(world(), "max", false); }, {}},
      {[] { return carrying(world(), "sum", true, true); }, {.anywhere = true}},
      {[] { return repeated(world(), "mean"); }, {}},
      {[] { return attending(world()); }, {}},
  };
  unsigned seed = 60;
  for (const auto& [make, how] : cases) {
    const MeshGraph graph = graphOf(++seed);
    const MeshPart part(world(), graph, seed, how);
    const auto run = [&](const char* fuses) {
      options().set("-tenon_fuse_rows", fuses);
      const Ref<Layer> net = make();
      NetworkRun result(part, net);
      options().set("-tenon_fuse_rows", "true");
      EXPECT_EQ(fusedIn(*net), fuses == std::string("true") ? 2 : 0) << net->describe();
      return result;
    };
    const NetworkRun got = run("true"), want = run("false");
    ASSERT_NO_FATAL_FAILURE(expectRows(got.y, want.y, 0, "y"));
    ASSERT_NO_FATAL_FAILURE(expectRows(got.dx, want.dx, 1e-12, "dx"));
    ASSERT_NO_FATAL_FAILURE(expectRows(got.df, want.df, 1e-12, "df"));
    ASSERT_NO_FATAL_FAILURE(test::expectNear(got.gradients, want.gradients, 1e-11, "gradients"));
  }
}

// Layers are fused across the boundaries of containers. The result does not depend on whether a
// container has also run alone before.
TEST(MeshNetworks, FuseAcrossContainers) {
  const MeshGraph graph(11, /*twoSets=*/false);
  const MeshPart part(world(), graph, 12, {.anywhere = true});
  const auto outerOf = [](const Ref<Layer>& network) {
    const Ref<Layer> outer = test::newLayer(world(), "graph");
    outer->set("input_count", Index(2));
    addGraphNode(*outer, network, {-1, -2});
    return outer;
  };
  const Ref<Layer> flat = carrying(world(), "sum", true),
                   nested = carrying(world(), "sum", true, true), outer = outerOf(nested);
  const NetworkRun alone(part, flat), got(part, nested), within(part, outer), again(part, nested),
      want(part, outerOf(carrying(world(), "sum", true, true)));
  EXPECT_EQ(fusedIn(*flat, "network and sums"), 1) << flat->describe();
  EXPECT_EQ(fusedIn(*nested, "network and sums"), 1) << nested->describe();
  for (const auto& [run, same] : {std::pair(&within, &want), std::pair(&again, &got)}) {
    ASSERT_NO_FATAL_FAILURE(expectRows(run->y, same->y, 0, "y"));
    ASSERT_NO_FATAL_FAILURE(expectRows(run->dx, same->dx, 0, "dx"));
    ASSERT_NO_FATAL_FAILURE(expectRows(run->df, same->df, 0, "df"));
  }
}

// Batch normalisation over nodes and edges has the statistics of one process: each node and each
// edge counts once.
TEST(MeshNetworks, HaveTheStatisticsOfOneProcess) {
  const CommPtr self = Communicator::of(MPI_COMM_SELF);
  const auto make = [](const CommPtr& comm) {
    const auto norm = [&](Index channels) {
      const auto layer = test::newLayer(comm, "batchnorm");
      layer->set("channels", channels);
      return layer;
    };
    auto graph = test::newLayer(comm, "graph");
    graph->set("input_count", Index(2));
    const int ends = addGraphNode(*graph, test::newLayer(comm, "gather"), {-1, -2});
    const int message = addGraphNode(*graph, mlp(comm, {8, 6, 5}), {ends});
    const int even = addGraphNode(*graph, norm(5), {message});
    const int sum = addGraphNode(*graph, test::newLayer(comm, "segmentsum"), {even});
    addGraphNode(*graph, norm(5), {sum});
    return graph;
  };
  for (unsigned seed = 0, end = test::draws(4); seed < end; ++seed) {
    const MeshGraph graph(3 + seed, /*twoSets=*/false);
    const MeshPart many(world(), graph, seed), alone(self, graph, 100 + seed);
    const NetworkRun got(many, make(world())), want(alone, make(self));
    ASSERT_NO_FATAL_FAILURE(expectRows(got.y, want.y, 1e-12, "y"));
    ASSERT_NO_FATAL_FAILURE(expectRows(got.dx, want.dx, 1e-12, "dx"));
    ASSERT_NO_FATAL_FAILURE(expectRows(got.df, want.df, 1e-12, "df"));
    ASSERT_NO_FATAL_FAILURE(test::expectNear(got.gradients, want.gradients, 1e-11, "gradients"));
  }
}

// --- The checks above must detect lists with an error

// <A x, y> and <x, A^T y> of the matrix of a graph. A uses the lists of `part`, and A^T those of
// `other`; the pairings are equal if both describe the same matrix.
std::pair<double, double> pairings(const MeshGraph& graph, const MeshPart& part,
                                   const MeshPart& other) {
  const WholeRows x(graph, RowsOf::Targets, 2, 0), y(graph, RowsOf::Targets, 2, 9);
  const std::vector<std::pair<RowsOf, Index>> input{{RowsOf::Targets, 2}};
  MeshStep forward(test::newLayer(world(), "sparsematrix"), part, input, TENON_FLOAT64),
      transposed(test::newLayer(world(), "sparsematrix"), other, input, TENON_FLOAT64);
  x.give(part, *forward.x[0]);
  y.give(part, *forward.dy);
  forward.apply();
  x.give(other, *transposed.x[0]);
  y.give(other, *transposed.dy);
  transposed.apply();
  transposed.adjoint();
  const auto dot = [](const DTensor& a, const DTensor& b) {
    const std::vector<double> left = test::localCells(a), right = test::localCells(b);
    double sum = std::inner_product(left.begin(), left.end(), right.begin(), 0.0);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  };
  return {dot(*forward.y, *forward.dy), dot(*transposed.x[0], *transposed.dx[0])};
}

TEST(MeshFaults, AreFoundByDefinitionsByPairingsAndByOneProcess) {
  using test::findsAFault;
  using test::MeshFault;
  const CommPtr self = Communicator::of(MPI_COMM_SELF);
  const MeshGraph graph(0, /*twoSets=*/false); // of 25 nodes and 102 edges
  const MeshPart right(world(), graph, 3), alone(self, graph, 103);
  const NetworkRun want(alone, processor(self, "sum", 3, 2, 1));
  for (const MeshFault fault :
       {MeshFault::None, MeshFault::GhostMissing, MeshFault::TargetsExchanged, MeshFault::KeysLocal,
        MeshFault::EdgeTwice}) {
    if (fault == MeshFault::GhostMissing && world()->size() == 1)
      continue; // one rank has no ghosts
    SCOPED_TRACE(static_cast<int>(fault));
    const MeshPart part(world(), graph, 3, {.fault = fault});
    // Wrong keys change only the order of sums: the last bits of real numbers, but not of integers.
    const bool isWrong = fault != MeshFault::None,
               isLarge = isWrong && fault != MeshFault::KeysLocal;
    EXPECT_EQ(isLarge, findsAFault([&] {
                expectLinear(linearCases(graph, /*weighted=*/false).back(), graph, part,
                             TENON_FLOAT64, "matrix");
              }));
    const auto [forward, transposed] = pairings(graph, part, right);
    EXPECT_EQ(isLarge, forward != transposed);
    const NetworkRun got(part, processor(world(), "sum", 3, 2, 1));
    EXPECT_EQ(isWrong, findsAFault([&] { expectRows(got.y, want.y, 0, "y"); }));
    EXPECT_EQ(isLarge, findsAFault([&] { expectRows(got.y, want.y, 1e-13, "y"); }));
    EXPECT_EQ(isLarge, findsAFault([&] { expectRows(got.dx, want.dx, 1e-13, "dx"); }));
    EXPECT_EQ(isLarge, findsAFault([&] {
                test::expectNear(got.gradients, want.gradients, 1e-12, "gradients");
              }));
  }
}

// A network from a file: bitwise the same outputs on any partition, and the number of parameters of
// the file's description.
TEST(MeshNetworks, ComeFromAFile) {
  const CommPtr self = Communicator::of(MPI_COMM_SELF);
  const MeshGraph graph(11, /*twoSets=*/false);
  const MeshPart many(world(), graph, 11), alone(self, graph, 12);
  const auto run = [&](const CommPtr& comm, const MeshPart& part) {
    const Ref<Layer> net = readNetwork(comm, TENON_TEST_NETWORKS "/mesh-gnn.json");
    net->setList("", "mesh", part.list);
    NetworkRun result(part, net, 3, 4);
    EXPECT_EQ(fusedIn(*net), 4) << net->describe();
    return result;
  };
  const NetworkRun got = run(world(), many), want = run(self, alone);
  EXPECT_EQ(want.gradients.size(), 32'739U);
  ASSERT_NO_FATAL_FAILURE(expectRows(got.y, want.y, 0, "y"));
  ASSERT_NO_FATAL_FAILURE(expectRows(got.dx, want.dx, 1e-12, "dx"));
  ASSERT_NO_FATAL_FAILURE(expectRows(got.df, want.df, 1e-12, "df"));
  ASSERT_NO_FATAL_FAILURE(test::expectNear(got.gradients, want.gradients, 1e-12, "gradients"));
}

TEST(MeshNetworks, AttendAlikeOnAnyPartition) {
  const CommPtr self = Communicator::of(MPI_COMM_SELF);
  for (unsigned seed = 0; seed < 4; ++seed) {
    const MeshGraph graph(seed, /*twoSets=*/false);
    const MeshPart many(world(), graph, seed), alone(self, graph, 100 + seed);
    const NetworkRun got(many, attending(world())), want(alone, attending(self));
    ASSERT_NO_FATAL_FAILURE(expectRows(got.y, want.y, 0, "y"));
    ASSERT_NO_FATAL_FAILURE(expectRows(got.dx, want.dx, 1e-13, "dx"));
    ASSERT_NO_FATAL_FAILURE(expectRows(got.df, want.df, 1e-13, "df"));
    ASSERT_NO_FATAL_FAILURE(test::expectNear(got.gradients, want.gradients, 1e-12, "gradients"));
  }
}

// The dot test and the Taylor test of a network.
void expectDerivatives(Layer& net) {
  test::fillParameters(net);
  const LayerAdjointResult pairing = checkLayerAdjoint(net, nullptr, 3);
  EXPECT_LE(pairing.relativeError, 1e-14);
  const LayerTaylorResult taylor = checkLayerTaylor(net, nullptr, 4);
  EXPECT_GE(taylor.order, 1.9);
}

TEST(MeshNetworks, HaveTheDerivativesOfTheirJacobian) {
  const MeshGraph graph(5, /*twoSets=*/false);
  const MeshPart part(world(), graph, 5);
  auto net = test::newLayer(world(), "graph");
  const int ends = addGraphNode(*net, test::newLayer(world(), "gather"), {-1});
  const int message = addGraphNode(*net, mlp(world(), {6, 5, 3}), {ends});
  const int sum = addGraphNode(*net, test::newLayer(world(), "segmentsum"), {message});
  addGraphNode(*net, test::newLayer(world(), "add"), {-1, sum});
  MeshStep step(net, part, {{RowsOf::Targets, 3}}, TENON_FLOAT64);
  expectDerivatives(*net);
  const Ref<Layer> carried = carrying(world(), "mean", true);
  MeshStep further(carried, part, {{RowsOf::Targets, 3}, {RowsOf::Edges, 2}}, TENON_FLOAT64);
  expectDerivatives(*carried);
}

// A container passes its lists to the layers in it that have no list of that name.
TEST(MeshNetworks, FindTheirEdgesByName) {
  const MeshGraph first(6, /*twoSets=*/false), second(7, true);
  const MeshPart own(world(), first, 6), other(world(), second, 7);
  auto inner = test::newLayer(world(), "sequential");
  const auto gather = test::newLayer(world(), "gather"),
             sum = test::newLayer(world(), "segmentsum");
  for (const auto& layer : {gather, sum})
    layer->setText("edges", "mesh");
  gather->setText("ends", "source");
  appendLayer(*inner, gather);
  appendLayer(*inner, sum);
  auto outer = test::newLayer(world(), "sequential");
  appendLayer(*outer, inner);
  outer->setDataType(TENON_FLOAT64);
  const Layout input = layoutOf(own, RowsOf::Targets, {2});
  expectErrorOnAll(TENON_ERR_STATE,
                   {"has no edges \"mesh\"", "TenonLayerSetEdges() of it or of a network"},
                   [&] { outer->setUp(input); });
  // Lists that a failed set-up has passed to layers are removed again.
  outer->setList("", "mesh", other.list);
  expectErrorOnAll(TENON_ERR_LAYOUT, {"its nodes are"}, [&] { outer->setUp(input); });
  outer->setList("", "mesh", own.list);
  test::Step step(outer, input);
  const auto direct = test::newLayer(world(), "sparsematrix");
  direct->setList("", "", own.list);
  test::Step matrix(direct, input);
  const WholeRows x(first, RowsOf::Targets, 2, 0);
  x.give(own, *step.x);
  x.give(own, *matrix.x);
  step.apply();
  matrix.apply();
  EXPECT_EQ(test::localCells(*step.y), test::localCells(*matrix.y));
  const std::string text = outer->describe();
  EXPECT_NE(text.find("sources of " + std::to_string(first.edges.size()) + " edges from"),
            text.npos)
      << text;
}

// The text of the view has the edges, and the index map by which rows are communicated.
TEST(MeshNetworks, SayWhatTravels) {
  const MeshGraph graph(5, /*twoSets=*/false);
  const MeshPart part(world(), graph, 5);
  const auto gather = test::newLayer(world(), "gather");
  gather->setList("", "", part.list);
  gather->setUp(layoutOf(part, RowsOf::Targets, {3}));
  const std::string text = gather->describe();
  const bool travels = !part.list->end(EdgeEnd::Source).isOwned;
  for (const std::string& words :
       {std::string("both ends of ") + part.list->describe(), std::string("rows of nodes"),
        travels ? "index map: " + part.targets.map->from().describe() : std::string("output")})
    EXPECT_NE(text.find(words), text.npos) << words << " is missing in: " << text;
}

TEST(MeshLayers, RefuseListsThatDoNotMatch) {
  const MeshGraph graph(8, /*twoSets=*/true);
  const MeshPart part(world(), graph, 8);
  const auto refuse = [&](const char* type, const char* setting, const char* value,
                          const Layouts& inputs, TenonErrorCode code,
                          std::initializer_list<const char*> words) {
    const auto layer = test::newLayer(world(), type);
    layer->setList("", "", part.list);
    if (setting)
      layer->setText(setting, value);
    expectErrorOnAll(code, words, [&] { layer->setUp(inputs); });
  };
  const Layout targets = layoutOf(part, RowsOf::Targets, {3}),
               sources = layoutOf(part, RowsOf::Sources, {3}),
               edges = layoutOf(part, RowsOf::Edges, {3});
  refuse("gather", nullptr, nullptr, {targets}, TENON_ERR_ARG,
         {"reads 2 inputs of nodes and possibly one of edges, but has 1"});
  refuse("gather", nullptr, nullptr, {targets, layoutOf(part, RowsOf::Sources, {3, 2})},
         TENON_ERR_SHAPE, {"joins rows along dimension 1"});
  refuse("segmentsum", nullptr, nullptr, {test::onWorld({edges.shape()[0] + 1, 3}, "S0")},
         TENON_ERR_LAYOUT, {"its edges are"});
  refuse("sparsematrix", "signature", "B", {sources}, TENON_ERR_OPTION, {"'B'", "S0"});
  if (world()->size() > 1) {
    refuse("sparsematrix", nullptr, nullptr, {test::onWorld(sources.shape(), "B")},
           TENON_ERR_LAYOUT, {"its columns are", "or add a repartition"});
    if (!part.list->end(EdgeEnd::Source).isOwned) {
      const auto layer = test::newLayer(world(), "segmentsum");
      layer->setList("", "", part.list);
      layer->setText("at", "source");
      layer->setText("aggregation", "mean");
      expectErrorOnAll(TENON_ERR_SUPPORT, {"aggregation \"mean\"", "or use \"sum\""},
                       [&] { layer->setUp(edges); });
    }
  }
  expectErrorOnAll(TENON_ERR_STATE, {"has no index map", "TenonLayerSetIndexMap()"},
                   [&] { test::newLayer(world(), "indexmap")->setUp(targets); });
  try {
    test::newLayer(world(), "tanh")->setList("TenonLayerSetEdges()", "", part.list);
    ADD_FAILURE() << "a function of each element took edges";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TENON_ERR_TYPE);
  }
}

// --- The C interface

class MeshCalls : public test::CApi {};

TEST_F(MeshCalls, NameTheEdgeThatIsWrong) {
  using test::expectCommonCode;
  const TenonInt ownRank = test::worldRank();
  // Rank r owns the node with id 10 + r and has that of the next rank as a ghost.
  const TenonInt ids[] = {10 + ownRank, 10 + (ownRank + 1) % test::worldSize()};
  TenonIndexMap nodes = nullptr;
  TenonEdges edges = nullptr;
  test::expectSuccess(TenonIndexMapCreateFromIds(MPI_COMM_WORLD, 1, 2, ids, &nodes));
  const auto create = [&](TenonInt target, TenonInt source) {
    return TenonEdgesCreate(nodes, nodes, 1, &target, &source, nullptr, nullptr, &edges);
  };
  expectCommonCode(TENON_ERR_ARG, create(0, ownRank == 0 ? 2 : 1),
                   {"source[0] of rank 0 is 2, but its list of nodes has 2", "not ids"});
  expectCommonCode(TENON_ERR_ARG, create(ownRank == 0 ? 1 : 0, 0),
                   {"target[0] of rank 0 is 1, a ghost, since the rank owns 1 node",
                    "on the rank that owns its target"});
  expectCommonCode(TENON_ERR_NULL,
                   TenonEdgesCreate(nodes, nodes, 1, nullptr, nullptr, nullptr, nullptr, &edges),
                   {"target is NULL"});
  const double weight = ownRank == 0 ? std::nan("") : 1;
  const TenonInt node = 0;
  expectCommonCode(TENON_ERR_ARG,
                   TenonEdgesCreate(nodes, nodes, 1, &node, &node, nullptr, &weight, &edges),
                   {"weights[0] of rank 0 is nan", "finite"});
  EXPECT_EQ(edges, nullptr);
  test::expectSuccess(create(0, 1));
  TenonLayout layout = nullptr;
  const TenonInt shape[] = {3, 2}, fields[] = {0, 2};
  expectCommonCode(TENON_ERR_SHAPE, TenonEdgesGetLayout(edges, 2, shape, &layout),
                   {"pass 0 first, for the number of edges"});
  test::expectSuccess(TenonEdgesGetLayout(edges, 2, fields, &layout));
  TenonInt extents[2] = {};
  test::expectSuccess(TenonLayoutGetShape(layout, extents));
  EXPECT_EQ(extents[0], test::worldSize());
  EXPECT_EQ(extents[1], 2);

  TenonLayer tanh = nullptr, step = nullptr;
  test::expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "tanh", &tanh));
  test::expectCode(TENON_ERR_TYPE, TenonLayerSetEdges(tanh, "", edges),
                   {"does not work with lists of a mesh", "gather"});
  test::expectCode(TENON_ERR_NULL, TenonLayerSetIndexMap(tanh, nullptr, nodes), {"name is NULL"});
  expectCommonCode(TENON_ERR_ARG, TenonLayerCreateMessagePassing(tanh, tanh, 4, "sum", &step),
                   {"inputs is 4"});
  expectCommonCode(TENON_ERR_TYPE, TenonLayerCreateMessagePassing(tanh, tanh, 1, "least", &step),
                   {"least", "sum"});
  test::expectSuccess(TenonLayoutDestroy(&layout));
  test::expectSuccess(TenonLayerDestroy(&tanh));
  test::expectSuccess(TenonEdgesDestroy(&edges));
  test::expectSuccess(TenonIndexMapDestroy(&nodes));
}

// --- Index maps as layers, and rows of grids

TEST(MeshLayers, AreIndexMapsAndTheirTransposes) {
  const MeshGraph graph(9, /*twoSets=*/false);
  const MeshPart part(world(), graph, 9);
  const auto fill = test::newLayer(world(), "indexmap"), add = test::newLayer(world(), "indexmap");
  fill->setList("", "", part.targets.map);
  add->setList("", "", part.targets.map);
  add->set("transposed", true);
  const Layout plain = layoutOf(part, RowsOf::Targets, {2});
  test::Step forward(fill, plain);
  const WholeRows x(graph, RowsOf::Targets, 2, 0);
  x.give(part, *forward.x);
  forward.apply();
  const std::vector<double> u = test::localCells(*forward.y);
  ASSERT_EQ(u.size(), 2 * part.targets.listed.size());
  for (std::size_t i = 0; i < u.size(); ++i)
    EXPECT_EQ(u[i], x.at(part.targets.listed[i / 2], static_cast<Index>(i) % 2));
  // The layer with the transposed map is the adjoint of the other one. The arrays are filled
  // directly, with different values on each rank.
  test::Step transposed(add, forward.y->layout().dual());
  for (DTensor* t : {forward.dy.get(), transposed.x.get()}) {
    double* to = t->mutableData<double>();
    for (std::size_t i = 0; i < u.size(); ++i)
      to[i] = valueOf(20 + world()->rank(), static_cast<int>(i), 0);
  }
  forward.adjoint();
  transposed.apply();
  EXPECT_EQ(test::localCells(*forward.dx), test::localCells(*transposed.y));
  x.give(part, *transposed.dy);
  transposed.adjoint();
  EXPECT_EQ(test::localCells(*transposed.dx), u);
}

// Random numbers depend on the global index of an element. Sorted by ids, each node has the same
// row on any partition, and is therefore dropped on every partition or on none.
TEST(MeshNetworks, DropTheSameNodesOnAnyPartition) {
  const MeshGraph graph(3, /*twoSets=*/false);
  const auto run = [&](const CommPtr& comm, unsigned seed) {
    const MeshPart part(comm, graph, seed);
    std::vector<Index> ids;
    for (int n : ownRows(part, RowsOf::Targets))
      ids.push_back(graph.targets[static_cast<std::size_t>(n)]);
    const IndexMapObject nodes(comm, part.targets.map, ids);
    const Ref<Layer> sort = test::newLayer(comm, "indexmap"),
                     back = test::newLayer(comm, "indexmap"),
                     net = test::newLayer(comm, "sequential");
    for (const Ref<Layer>& each : {sort, back})
      each->set("index_map", std::string("sorted"));
    back->set("transposed", true);
    for (const Ref<Layer>& each : {sort, test::newLayer(comm, "dropout"), back})
      appendLayer(*net, each);
    net->setList("", "sorted", makeSortedIndexMap(*comm, nodes));
    net->setDataType(TENON_FLOAT64);
    const Layout layout = layoutOf(part, RowsOf::Targets, {3});
    net->setUp({layout});
    net->initialize(7, 0);
    auto x = makeRef<DTensor>(comm, layout, TENON_FLOAT64),
         y = makeRef<DTensor>(comm, layout, TENON_FLOAT64);
    fillConstant(*x, 1);
    const DTensor* input = x.get();
    net->apply({&input, 1}, *y);
    return std::pair(part, y);
  };
  const auto [many, got] = run(world(), 5);
  const auto [alone, want] = run(Communicator::of(MPI_COMM_SELF), 6);
  WholeRows expected(graph, RowsOf::Targets, 3, -1);
  const std::vector<double> all = test::localCells(*want);
  const std::vector<int> order = ownRows(alone, RowsOf::Targets);
  for (std::size_t i = 0; i < all.size(); ++i)
    expected.at(order[i / 3], static_cast<Index>(i) % 3) = all[i];
  ASSERT_NO_FATAL_FAILURE(expected.expect(many, *got, 0, "dropout"));
  EXPECT_GT(std::ranges::count(all, 0.0), 0);
  EXPECT_GT(std::ranges::count(all, 2.0), 0);
}

TEST(Rows, AreThePointsOfEachBlock) {
  LayoutDraw draw(12);
  for (int i = 0; i < 30; ++i) {
    const Shape shape = draw.chance(50) ? Shape{2, 3, 5, 4} : Shape{1, 4, 9};
    const Layout field = test::drawInput(draw, shape);
    test::Step step(test::newLayer(world(), "rows"), field);
    const std::string what = field.describe();
    test::fillValid(*step.x, 1);
    step.apply();
    // Rows are the points of this rank's block in row-major order, with the channels last.
    const Layout use = step.x->layout().withoutHalos();
    const std::vector<double> y = test::localCells(*step.y);
    const Box box = use.boxOfRank(world()->rank());
    ASSERT_EQ(static_cast<Index>(y.size()), elements(box)) << what;
    if (!field.hasHalos()) {
      const std::vector<double> x = test::localCells(*step.x);
      Index space = 1;
      for (std::size_t d = 2; d < box.size(); ++d)
        space *= box[d].size();
      const Index channels = box[1].size();
      for (std::size_t k = 0; k < x.size(); ++k) {
        const Index s = static_cast<Index>(k) % space, c = static_cast<Index>(k) / space % channels,
                    n = static_cast<Index>(k) / space / channels;
        ASSERT_EQ(y[(n * space + s) * channels + c], x[k]) << what;
      }
    }
    // The layer with an output layout leads back to the field: each is the inverse of the other.
    const auto back = test::newLayer(world(), "rows");
    back->setOutputLayout(use);
    test::Step again(back, step.y->layout());
    copyLocal(*step.y, *again.x);
    again.apply();
    test::expectNear(test::gathered(*again.y), test::gathered(*step.x), 1e-15, what);
    step.layer->clearStack();
    back->clearStack();
    const LayerAdjointResult adjoint = checkLayerAdjoint(*step.layer, nullptr, 5);
    EXPECT_LE(adjoint.relativeError, 1e-14) << what;
    if (!use.holdsPartialSums()) {
      const LayerAdjointResult adjointOfBack = checkLayerAdjoint(*back, nullptr, 6);
      EXPECT_LE(adjointOfBack.relativeError, 1e-14) << what;
    }
  }
}

TEST(Rows, RefuseShapesThatDoNotMatch) {
  const auto layer = test::newLayer(world(), "rows");
  expectErrorOnAll(TENON_ERR_SHAPE, {"makes rows of a field", "[7]"},
                   [&] { layer->setUp(test::onWorld({7}, "S0")); });
  const auto back = test::newLayer(world(), "rows");
  back->setOutputLayout(test::onWorld({1, 3, 6, 2}, "S2"));
  expectErrorOnAll(TENON_ERR_SHAPE, {"of 12 rows", "[12, channels]"}, [&] {
    back->setUp(test::onWorld({11, 3}, "S0"));
  });
  if (world()->size() > 1)
    expectErrorOnAll(TENON_ERR_LAYOUT, {"each rank needs those of its own block"}, [&] {
      back->setUp(test::onWorld({12, 3}, "B"));
    });
}

// A field on a process grid is interpolated to the nodes of a mesh, which have other owners, and
// back by the transposed weights: against dense matrices, exactly.
TEST(Rows, LeadFromAGridToAMeshAndBack) {
  const int size = world()->size(), ownRank = world()->rank();
  const Index ny = 7, nx = 5, channels = 2;
  const GridPtr grid = size % 2 == 0 ? Grid::make({size / 2, 2}) : Grid::make({size, 1});
  const Layout field({.shape = {1, channels, ny, nx},
                      .grid = grid,
                      .properties = {Property::shard(2), Property::shard(3)}});
  const Box box = field.boxOfRank(ownRank);
  std::vector<Index> points;
  for (Index y = box[2].begin; y < box[2].end; ++y)
    for (Index x = box[3].begin; x < box[3].end; ++x)
      points.push_back(y * nx + x);
  const Index ownPoints = static_cast<Index>(points.size());
  // Node n of the mesh takes three points, and gives to three.
  const int nodes = 11;
  const auto pointOf = [&](int node, int k) { return Index(node * 13 + k * 8) % (ny * nx); };
  const auto weightOf = [](int node, int k) { return double(node % 3 + k) - 1.5; };
  std::vector<Index> ids;
  ListedEdges there, back;
  // The position of a value in a list, to which it is appended if it is missing: as a ghost.
  const auto positionIn = [](std::vector<Index>& list, Index value) {
    const auto found = std::ranges::find(list, value);
    if (found == list.end())
      list.push_back(value);
    return static_cast<Index>(std::ranges::find(list, value) - list.begin());
  };
  for (int node = 0; node < nodes; ++node)
    if ((node * 5 + 1) % size == ownRank)
      ids.push_back(Index(node) * 1000003);
  const Index ownNodes = static_cast<Index>(ids.size());
  for (Index i = 0; i < ownNodes; ++i)
    for (int k = 0; k < 3; ++k) {
      const int node = static_cast<int>(ids[i] / 1000003);
      there.target.push_back(i);
      there.source.push_back(positionIn(points, pointOf(node, k)));
      there.key.push_back(3 * node + k);
      there.weights.push_back(weightOf(node, k));
    }
  for (Index i = 0; i < ownPoints; ++i)
    for (int node = 0; node < nodes; ++node)
      for (int k = 0; k < 3; ++k)
        if (pointOf(node, k) == points[i]) {
          back.target.push_back(i);
          back.source.push_back(positionIn(ids, Index(node) * 1000003));
          back.key.push_back(3 * node + k);
          back.weights.push_back(weightOf(node, k));
        }
  const IndexMapPtr pointMap = makeIndexMapFromIds(*world(), ownPoints, points),
                    nodeMap = makeIndexMapFromIds(*world(), ownNodes, ids);
  auto net = test::newLayer(world(), "sequential");
  appendLayer(*net, test::newLayer(world(), "rows"));
  for (const char* name : {"there", "back"}) {
    const auto matrix = test::newLayer(world(), "sparsematrix");
    matrix->setText("edges", name);
    appendLayer(*net, matrix);
  }
  const auto toField = test::newLayer(world(), "rows");
  toField->setOutputLayout(field);
  appendLayer(*net, toField);
  net->setList("", "there", makeEdges(world(), nodeMap, pointMap, there));
  net->setList("", "back", makeEdges(world(), pointMap, nodeMap, back));
  test::Step step(net, field);
  const auto fill = [&](DTensor& t, int kind) {
    fillByIndex(t, [=](Index i) { return valueOf(kind, static_cast<int>(i), 0); });
  };
  fill(*step.x, 1);
  fill(*step.dy, 2);
  step.apply();
  step.adjoint();
  // The expected product with A^T A, which is its own transpose, as loops; A has three entries per
  // node.
  const auto product = [&](int kind) {
    std::vector<double> result(std::size_t(channels * ny * nx), 0);
    for (Index c = 0; c < channels; ++c)
      for (int node = 0; node < nodes; ++node) {
        double value = 0;
        for (int k = 0; k < 3; ++k)
          value += weightOf(node, k) *
                   valueOf(kind, static_cast<int>(c * ny * nx + pointOf(node, k)), 0);
        for (int k = 0; k < 3; ++k)
          result[c * ny * nx + pointOf(node, k)] += weightOf(node, k) * value;
      }
    return result;
  };
  EXPECT_EQ(test::gathered(*step.y), product(1));
  EXPECT_EQ(test::gathered(*step.dx), product(2));
}

} // namespace
} // namespace tenon
