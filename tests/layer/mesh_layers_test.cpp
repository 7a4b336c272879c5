// SPDX-License-Identifier: BSD-2-Clause
// Single layers on meshes: gathers, segment sums, sparse matrices, attention, index maps. The
// expected values are sums over all edges of the whole graph, which every rank computes here
// (WholeRows). The last tests check errors in lists of edges, and which rows a map communicates.
#include "mesh_linear_cases.hpp"
#include "support/draws.hpp"

#include <cmath>
#include <map>

namespace tenon {
namespace {

using test::expectErrorOnAll;
using test::MeshGraph;
using test::MeshPart;
using test::world;
using test::mesh::expectLinear;
using test::mesh::layoutOf;
using test::mesh::LinearCase;
using test::mesh::linearCases;
using test::mesh::MeshStep;
using test::mesh::RowsOf;
using test::mesh::valueOf;
using test::mesh::WholeRows;

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

} // namespace
} // namespace tenon
