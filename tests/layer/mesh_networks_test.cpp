// SPDX-License-Identifier: BSD-2-Clause
// Networks on meshes. The independent values are those of the same network on one process
// (MPI_COMM_SELF), with bitwise equal outputs, and of message passing written as loops
// (Perceptron). Further tests: networks from files, lists that containers hand down, and views.
#include "layer/derivatives/derivative_check.hpp"
#include "layer/networks/network_file.hpp"
#include "mesh_networks.hpp"
#include "support/draws.hpp"

namespace tenon {
namespace {

using test::expectErrorOnAll;
using test::MeshGraph;
using test::MeshPart;
using test::world;
using test::mesh::attending;
using test::mesh::carrying;
using test::mesh::expectRows;
using test::mesh::fusedIn;
using test::mesh::layoutOf;
using test::mesh::MeshStep;
using test::mesh::mlp;
using test::mesh::NetworkRun;
using test::mesh::ownRows;
using test::mesh::processor;
using test::mesh::RowsOf;
using test::mesh::WholeRows;

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

} // namespace
} // namespace tenon
