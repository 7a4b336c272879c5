// SPDX-License-Identifier: BSD-2-Clause
// Tests plans of networks that work with lists of a mesh (edges, index maps), or on patches that
// links join. Predicted messages and bytes are those that the log counts, results are those of the
// same network without a plan, and layers without lists can have other parallelizations. Predicted
// memory is compared with the memory that the library holds.
#include "planned_network.hpp"
#include "support/mesh_graph.hpp"
#include "sys/log/log.hpp"
#include "sys/memory/memory.hpp"
#include "sys/options/options.hpp"

#include "../layer/layer_run.hpp"

#include <cstdio>
#include <map>

namespace tenon::test {
namespace {

// A network, and the layouts of its inputs.
struct ListedCase {
  std::function<Ref<Layer>()> make;
  Layouts inputs;
};

Ref<LayerPlan> planOf(const ListedCase& c) {
  const auto plan = makeRef<LayerPlan>(c.make(), c.inputs[0].shape()[0]);
  for (std::size_t i = 0; i < c.inputs.size(); ++i)
    plan->setInput(static_cast<int>(i), c.inputs[i]);
  return plan;
}

std::vector<Ref<DTensor>> tensorsOf(const Layouts& layouts) {
  std::vector<Ref<DTensor>> all;
  for (const Layout& layout : layouts)
    all.push_back(tensor(layout));
  return all;
}

// The results of a step, gathered on all ranks: output, input cotangents and gradients.
struct Results {
  std::vector<double> y, dx, gradients;

  explicit Results(Layer& network) {
    const Layouts inputs = network.inputLayouts();
    std::vector<Ref<DTensor>> x = tensorsOf(inputs), dx;
    std::vector<const DTensor*> given;
    std::vector<DTensor*> wanted;
    for (std::size_t i = 0; i < x.size(); ++i) {
      fillUniform(*x[i], kSeed, 100 + i, -1, 1);
      given.push_back(x[i].get());
      dx.push_back(tensor(inputs[i].dual()));
      wanted.push_back(dx.back().get());
    }
    const Ref<DTensor> out = tensor(network.outputLayout(inputs)),
                       dy = tensor(out->layout().dual());
    fillUniform(*dy, kSeed, /*stream=*/200, -1, 1);
    fillParameters(network);
    network.zeroGradients();
    network.apply(Inputs(given.data(), given.size()), *out);
    network.applyAdjoint(*dy, InputCotangents(wanted.data(), wanted.size()));
    y = gathered(*out);
    for (const Ref<DTensor>& one : dx)
      append(this->dx, gathered(*one));
    for (const Ref<Parameter>& parameter : network.parameters())
      append(gradients, gathered(parameter->direction()));
  }

private:
  static void append(std::vector<double>& all, const std::vector<double>& more) {
    all.insert(all.end(), more.begin(), more.end());
  }
};

using Counts = std::map<std::string, PhaseCost>;

// The messages and bytes of the second step, by layer.
Counts countedInOneStep(Layer& network) {
  const Results first(network);
  const Layouts inputs = network.inputLayouts();
  const std::vector<Ref<DTensor>> x = tensorsOf(inputs);
  std::vector<const DTensor*> given;
  for (const Ref<DTensor>& one : x)
    given.push_back(one.get());
  const Ref<DTensor> y = tensor(network.outputLayout(inputs)), dy = tensor(y->layout().dual());
  std::vector<DTensor*> none(x.size(), nullptr);
  logEnable(true);
  logReset();
  network.apply(Inputs(given.data(), given.size()), *y);
  network.applyAdjoint(*dy, InputCotangents(none.data(), none.size()));
  for (const Ref<Parameter>& parameter : network.parameters())
    parameter->direction();
  logEnable(false);
  Counts counts;
  for (const EventRecord& record : logSnapshot())
    counts[record.event] = {.messages = record.messages, .bytes = record.bytes};
  return counts;
}

void expectPlanned(LayerPlan& plan, const ListedCase& c) {
  plan.setUp();
  Counts counted = countedInOneStep(plan.layer()), predicted;
  const std::vector<LayerCost> costs = plan.costs(world()->rank(), /*inputCotangent=*/false);
  for (std::size_t node = 0; node < costs.size(); ++node)
    predicted[plan.nodes()[node].layer->name()] += sumOf(costs[node]);
  for (const auto& [name, sent] : predicted) {
    // A layer that is fused into the kernel of another has no entry in the log, and sends nothing.
    EXPECT_EQ(counted[name].messages, sent.messages) << name << "\n" << plan.layer().describe();
    EXPECT_EQ(counted[name].bytes, sent.bytes) << name << "\n" << plan.layer().describe();
  }
  const Results got(plan.layer());
  const Ref<Layer> plain = c.make();
  plain->setUp(c.inputs);
  const Results want(*plain);
  ASSERT_NO_FATAL_FAILURE(expectNear(got.y, want.y, 1e-12, "y"));
  ASSERT_NO_FATAL_FAILURE(expectNear(got.dx, want.dx, 1e-12, "dx"));
  ASSERT_NO_FATAL_FAILURE(expectNear(got.gradients, want.gradients, 1e-11, "gradients"));
}

ListedCase meshNetwork(const MeshPart& part) {
  return {[&part] {
            const Ref<Layer> net = readNetwork(world(), TENON_TEST_NETWORKS "/mesh-gnn.json");
            net->setDataType(TENON_FLOAT64);
            net->setList("", "mesh", part.list);
            return net;
          },
          {rowsLayout(part.targets.map->from(), {3}), rowsLayout(part.list->pattern(), {4})}};
}

TEST(ListedPlan, OfTheMeshNetworkPredictsWhatTheLogCounts) {
  for (const bool anywhere : {false, true}) {
    const MeshGraph graph(11, /*twoSets=*/false);
    const MeshPart part(world(), graph, 12, {.anywhere = anywhere});
    const ListedCase c = meshNetwork(part);
    const Ref<LayerPlan> plan = planOf(c);
    ASSERT_NO_FATAL_FAILURE(expectPlanned(*plan, c));
    // Layers with lists have the layouts of their lists.
    EXPECT_EQ(plan->layerNamed("step1.ends").labels, "input:lists");
    for (const LayerPlan::PlannedNode& node : plan->nodes())
      if (const std::string type = node.layer->declaration().type();
          type == "gather" || type == "segmentsum") {
        EXPECT_EQ(node.planned->labels, "input:lists") << node.path;
      }
    double moved = 0;
    for (const LayerCost& cost : plan->costs(world()->rank(), /*inputCotangent=*/false))
      moved += double(cost[static_cast<int>(Phase::ApplyMove)].messages);
    std::vector<double> all(1, moved);
    MPI_Allreduce(MPI_IN_PLACE, all.data(), 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(all[0] > 0, world()->size() > 1);
  }
}

// A network with affine layers on nodes and edges, whose channels can be split; rows are then
// redistributed.
ListedCase wideNetwork(const MeshPart& part) {
  return {[&part] {
            const Ref<Layer> net = newNetwork(world(), "graph");
            net->set("input_count", Index(2));
            const auto node = [&](const Ref<Layer>& layer, const char* name,
                                  const std::vector<int>& reads) {
              layer->setName(name);
              return addGraphNode(*net, layer, reads);
            };
            const int wide = node(newAffine(world(), 3, 8), "wide", {-1});
            const int ends = node(newLayer(world(), "gather"), "ends", {wide, -2});
            // The values of both ends of an edge, 8 each, and the 2 of the edge itself.
            const int edges = node(newAffine(world(), 2 * 8 + 2, 12), "edges", {ends});
            const int sum = node(newLayer(world(), "segmentsum"), "sum", {edges});
            node(newAffine(world(), 12, 4), "last", {sum});
            net->setList("", "", part.list);
            return net;
          },
          {rowsLayout(part.targets.map->from(), {3}), rowsLayout(part.list->pattern(), {2})}};
}

// The number of fused kernels, which work on blocks of edges, and the bytes that they allocate for
// these blocks, which plans do not count.
std::pair<int, Index> blocksOfEdges(const Layer& network) {
  const BoundMaps& maps = network.maps(network.inputLayouts());
  std::pair<int, Index> sum{0, 0};
  for (std::size_t k = 0; k < maps.kernels().size(); ++k)
    if (maps.list().kernels()[k].fused) {
      ++sum.first;
      sum.second += maps.kernels()[k].kernel->bytes();
    }
  return sum;
}

// The bytes that the library holds for a training with Adam, on the rank with the most.
double mostHeld(const ListedCase& c, Layer& network, Index before) {
  const Layout output = network.outputLayout(c.inputs);
  std::vector<Ref<DTensor>> held = tensorsOf({output, output.dual()});
  for (const Layout& input : c.inputs)
    held.push_back(tensor(input));
  for (const Ref<DTensor>& one : held)
    one->allocate();
  Index bytes = bytesAlive() - before - blocksOfEdges(network).second;
  for (const Ref<Parameter>& parameter : network.parameters())
    bytes += 2 * parameter->value().arrayBytes();
  auto most = double(bytes);
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

// With row kernels fused or separate, and with steps overlapped or in order.
TEST(ListedPlan, OfTheMeshNetworkPredictsWhatRunsUnderEachOption) {
  const MeshGraph graph(63, /*twoSets=*/false, /*mostNodes=*/300, /*mostEdges=*/5000);
  const MeshPart part(world(), graph, 12, {.anywhere = true});
  const ListedCase c = meshNetwork(part);
  for (const char* fuses : {"true", "false"})
    for (const char* overlaps : {"true", "false"}) {
      options().set("-tenon_fuse_rows", fuses);
      options().set("-tenon_overlap_steps", overlaps);
      const Index before = bytesAlive();
      const Ref<LayerPlan> plan = planOf(c);
      ASSERT_NO_FATAL_FAILURE(expectPlanned(*plan, c));
      const double held = mostHeld(c, plan->layer(), before),
                   predicted = plan->found().bytes - bytesBesideArrays(plan->nodes().size());
      EXPECT_EQ(blocksOfEdges(plan->layer()).first > 0, fuses == std::string("true"));
      EXPECT_GE(predicted, held) << fuses << overlaps << '\n' << plan->describe();
      EXPECT_LE(predicted, 1.1 * held) << fuses << overlaps << '\n' << plan->describe();
    }
  options().set("-tenon_fuse_rows", "true");
  options().set("-tenon_overlap_steps", "true");
}

TEST(ListedPlan, ChoosesForLayersWithoutLists) {
  const MeshGraph graph(5, /*twoSets=*/false);
  const MeshPart part(world(), graph, 8);
  const ListedCase c = wideNetwork(part);
  ASSERT_NO_FATAL_FAILURE(expectPlanned(*planOf(c), c));
  if (world()->size() == 1)
    return;
  for (const auto& [layer, parallelization] : {std::pair("wide", "input:o"),
                                               {"edges", "input:i"},
                                               {"edges", "input:o"},
                                               {"last", "input:i"}}) {
    const Ref<LayerPlan> plan = planOf(c);
    plan->fix(layer, parallelization);
    ASSERT_NO_FATAL_FAILURE(expectPlanned(*plan, c)) << layer << " " << parallelization;
    EXPECT_EQ(plan->layerNamed(layer).labels, parallelization);
  }
}

// A network from a field of 6 x 8 points to a mesh of 9 nodes and back. The rows of the field and
// the nodes are on different process grids. Node n reads the points 5 n and 5 n + 17, modulo 48,
// and point p reads node p modulo 9, so that most edges cross ranks.
TEST(ListedPlan, LeadsFromAGridToAMeshAndBack) {
  const int size = world()->size(), across = size % 2 == 0 ? 2 : 1;
  const Layout field({.shape = {1, 3, 6, 8},
                      .grid = Grid::make({size / across, across}),
                      .properties = {Property::shard(2), Property::shard(3)}});
  const Box own = field.boxOfRank(world()->rank());
  std::vector<Index> points, nodes;
  for (Index y = own[2].begin; y < own[2].end; ++y)
    for (Index x = own[3].begin; x < own[3].end; ++x)
      points.push_back(8 * y + x);
  for (Index n = 0; n < 9; ++n)
    if (n % size == world()->rank())
      nodes.push_back(n);
  const auto ownPoints = static_cast<Index>(points.size()),
             ownNodes = static_cast<Index>(nodes.size());
  ListedEdges there, back;
  const auto placeIn = [](std::vector<Index>& list, Index id) {
    const auto at = std::ranges::find(list, id) - list.begin();
    if (at == static_cast<std::ptrdiff_t>(list.size()))
      list.push_back(id);
    return static_cast<Index>(at);
  };
  for (Index i = 0; i < ownNodes; ++i)
    for (const Index k : {0, 1}) {
      there.target.push_back(i);
      there.source.push_back(placeIn(points, (5 * nodes[i] + 17 * k) % 48));
      there.key.push_back(2 * nodes[i] + k);
    }
  for (Index i = 0; i < ownPoints; ++i) {
    back.target.push_back(i);
    back.source.push_back(placeIn(nodes, points[i] % 9));
    back.key.push_back(points[i]);
  }
  const IndexMapPtr pointMap = makeIndexMapFromIds(*world(), ownPoints, points),
                    nodeMap = makeIndexMapFromIds(*world(), ownNodes, nodes);
  const EdgesPtr toMesh = makeEdges(world(), nodeMap, pointMap, there),
                 toGrid = makeEdges(world(), pointMap, nodeMap, back);
  const ListedCase c{[&] {
                       const Ref<Layer> net = newNetwork(world(), "sequential");
                       add(*net, newLayer(world(), "rows"), "rows");
                       for (const char* name : {"there", "back"}) {
                         const Ref<Layer> matrix = newLayer(world(), "sparsematrix");
                         matrix->setText("edges", name);
                         add(*net, matrix, name);
                         if (name == std::string("there"))
                           add(*net, newAffine(world(), 3, 3), "between");
                       }
                       const Ref<Layer> field2 = newLayer(world(), "rows");
                       field2->setOutputLayout(field);
                       add(*net, field2, "field");
                       net->setList("", "there", toMesh);
                       net->setList("", "back", toGrid);
                       return net;
                     },
                     {field}};
  const Ref<LayerPlan> plan = planOf(c);
  ASSERT_NO_FATAL_FAILURE(expectPlanned(*plan, c));
  for (const char* layer : {"rows", "there", "back", "field"})
    EXPECT_TRUE(plan->layerNamed(layer).labels.ends_with(":lists")) << layer;
}

ListedCase patchNetwork(const PatchLinksPtr& links) {
  return {[links] {
            const Ref<Layer> net = newNetwork(world(), "sequential");
            const auto conv = [&](Index in, Index out, Index stride, const char* name) {
              const Ref<Layer> layer =
                  conv2d(world(), in, out, stride == 1 ? 3 : 2, stride == 1 ? 1 : 0, stride);
              layer->setText("boundary", "linked");
              add(*net, layer, name);
            };
            conv(2, 4, 1, "first");
            add(*net, newPointwise(world(), "tanh"), "tanh");
            conv(4, 4, 2, "down");
            conv(4, 2, 1, "last");
            net->setLinks(links);
            return net;
          },
          {rowsLayout(links->pattern(), {2, 4, 6})}};
}

TEST(ListedPlan, OfPatchesPredictsWhatTheLogCounts) {
  const int size = world()->size();
  std::vector<std::vector<Index>> places(static_cast<std::size_t>(size));
  for (Index place = 0; place < 12; ++place)
    if (place != 5)                                        // land
      places[(place * place + 1) % size].push_back(place); // ranks have different numbers of tiles
  const PatchLinksPtr links =
      linkTiles({3, 4}, places,
                {{Boundary::Symmetric, Boundary::Zero}, {Boundary::Periodic, Boundary::Periodic}});
  const ListedCase c = patchNetwork(links);
  const Ref<LayerPlan> plan = planOf(c);
  ASSERT_NO_FATAL_FAILURE(expectPlanned(*plan, c));
  if (size == 1)
    return;
  for (const auto& [layer, parallelization] :
       {std::pair("first", "input:o"), {"last", "input:i"}}) {
    const Ref<LayerPlan> other = planOf(c);
    other->fix(layer, parallelization);
    ASSERT_NO_FATAL_FAILURE(expectPlanned(*other, c)) << layer << " " << parallelization;
  }
}

TEST(ListedPlan, IsReadForTheSameListsAlone) {
  const MeshGraph graph(5, /*twoSets=*/false), otherGraph(6, /*twoSets=*/false);
  const MeshPart part(world(), graph, 8), other(world(), otherGraph, 8);
  const std::string path = "lists_plan_" + std::to_string(world()->size()) + ".json";
  const Ref<LayerPlan> written = planOf(wideNetwork(part));
  written->setUp();
  written->save(path);
  const ListedCase c = wideNetwork(part);
  const Ref<LayerPlan> read = planOf(c);
  read->load(path);
  ASSERT_NO_FATAL_FAILURE(expectPlanned(*read, c));
  for (std::size_t i = 0; i < read->found().layers.size(); ++i)
    EXPECT_EQ(read->layerAt(i).labels, written->layerAt(i).labels);
  const Ref<LayerPlan> wrong = planOf(wideNetwork(other));
  try {
    wrong->load(path);
    ADD_FAILURE() << "a plan for other lists was read";
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("is for"), std::string::npos) << error.text();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world()->rank() == 0)
    std::remove(path.c_str());
}

TEST(ListedPlan, RefusesWhatItDoesNotKnow) {
  const MeshGraph graph(5, /*twoSets=*/false);
  const MeshPart part(world(), graph, 8);
  const ListedCase c = wideNetwork(part);
  const auto free = makeRef<LayerPlan>(c.make(), c.inputs[0].shape()[0]);
  free->setInput(0, c.inputs[0]);
  free->set("input_shapes", std::string("3;2"));
  expectErrorOnAll(TENON_ERR_STATE, {"input 1 of the network has no layout", "TenonPlanSetInput"},
                   [&] { free->setUp(); });
  const auto bare = newNetwork(world(), "sequential");
  add(*bare, newLayer(world(), "segmentsum"), "sum");
  const auto none = makeRef<LayerPlan>(bare, 4);
  none->set("input_shape", Shape{3});
  expectErrorOnAll(TENON_ERR_SUPPORT, {"layer sum has type \"segmentsum\"", "but has none"},
                   [&] { none->setUp(); });
  const auto halo = newNetwork(world(), "sequential");
  add(*halo, newLayer(world(), "linkedhalo"), "halo");
  halo->setLinks(linkTiles({1, 1}, {{0}}, {{}, {}}));
  const auto refused = makeRef<LayerPlan>(halo, 1);
  refused->set("input_shape", Shape{2, 4, 4});
  expectErrorOnAll(TENON_ERR_SUPPORT, {"layer halo has type \"linkedhalo\"", "leave it out"},
                   [&] { refused->setUp(); });
}

} // namespace
} // namespace tenon::test
