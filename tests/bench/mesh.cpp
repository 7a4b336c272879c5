// SPDX-License-Identifier: BSD-2-Clause
// Times layers on a mesh, a triangulated torus with 6 edges to each node, whose nodes are
// distributed in strips or at random, with rows of float64. The benchmark exchange times updates of
// its ghosts. Parts of the benchmark:
//
//   gather, sum   rows of nodes to edges, and rows of edges to nodes, compared with a copy of the
//                 bytes, indices included, that they must read and write; arrays are larger than
//                 all caches, as in STREAM
//   step          message passing, forward and with its adjoint, compared with its two networks on
//                 as many rows
//   steps         four such steps, in which the values of the edges are passed on
//   tiles         a convolution on the tiles of a box that links connect, compared with the box
//                 split in bands
//
//   mpiexec -n 2 tests/bench/mesh
//   mpiexec -n 2 tests/bench/mesh 11 rows step     only these parts, 11 rounds instead of 31
#include "bench/handles.hpp"
#include "bench/race.hpp"
#include "bench/torus.hpp"

#include <tenon/edges.h>
#include <tenon/index_map.h>
#include <tenon/links.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tenon::bench {
namespace {

constexpr Target kRows{1 / 0.7}, kStep{1.3};

int rounds = kRepetitions;

Race raceOf(MPI_Comm comm, const std::string& work, int calls = 1) {
  return Race(comm, work, calls, rounds);
}

using Values = std::vector<double>;

struct Mesh {
  tools::IndexMap nodes;
  tools::Edges edges;

  Mesh(MPI_Comm comm, const Torus& torus) {
    require(TenonIndexMapCreateFromIds(comm, torus.owned, torus.listed(), torus.ids.data(),
                                       nodes.out()));
    require(TenonEdgesCreate(nodes, nodes, torus.edges(), torus.target.data(), torus.source.data(),
                             torus.keys.data(), nullptr, edges.out()));
  }
  std::pair<LayoutHandle, LayoutHandle> layouts(TenonInt columns) const {
    const TenonInt shape[] = {0, columns};
    std::pair<LayoutHandle, LayoutHandle> both;
    require(TenonIndexMapGetLayouts(nodes, 2, shape, both.first.out(), both.second.out()));
    return both;
  }
  LayoutHandle ofEdges(TenonInt columns) const {
    const TenonInt shape[] = {0, columns};
    LayoutHandle layout;
    require(TenonEdgesGetLayout(edges, 2, shape, layout.out()));
    return layout;
  }
};

// A layer that is set up, with its tensors.
struct Step {
  LayerHandle layer;
  std::vector<TensorHandle> x, dx;
  TensorHandle y, dy;

  void setUp(const std::vector<TenonLayout>& inputs) {
    const int count = static_cast<int>(inputs.size());
    require(TenonLayerSetDataType(layer, TENON_FLOAT64));
    require(TenonLayerSetUpMany(layer, count, inputs.data()));
    for (int i = 0; i < count; ++i) {
      require(TenonDTensorCreate(inputs[i], TENON_FLOAT64, x.emplace_back().out()));
      require(TenonDTensorFillNormal(x.back(), /*seed=*/1, /*stream=*/0, 0, 1));
      require(TenonLayerCreateInputCotangent(layer, i, dx.emplace_back().out()));
    }
    require(TenonLayerCreateOutput(layer, 0, y.out()));
    require(TenonLayerCreateOutputCotangent(layer, 0, dy.out()));
    require(TenonDTensorFillNormal(dy, /*seed=*/2, /*stream=*/0, 0, 1));
  }
  void apply() {
    std::vector<TenonDTensor> inputs(x.begin(), x.end());
    const TenonDTensor output = y;
    require(TenonLayerApplyMany(layer, static_cast<int>(inputs.size()), inputs.data(), 1, &output));
  }
  void forward() {
    require(TenonLayerSetTraining(layer, TENON_FALSE));
    apply();
  }
  void both() {
    require(TenonLayerSetTraining(layer, TENON_TRUE));
    apply();
    std::vector<TenonDTensor> outputs(dx.begin(), dx.end());
    const TenonDTensor cotangent = dy;
    require(TenonLayerApplyAdjointMany(layer, 1, &cotangent, static_cast<int>(outputs.size()),
                                       outputs.data()));
  }
};

void measureRows(MPI_Comm comm, const Torus& torus, const Mesh& mesh, TenonInt columns) {
  const auto [plain, ghosted] = mesh.layouts(columns);
  const LayoutHandle edges = mesh.ofEdges(columns);
  Step gather, sum;
  require(TenonLayerCreateType(comm, "gather", gather.layer.out()));
  require(TenonObjectSetText(TenonObject(TenonLayer(gather.layer)), "ends", "target"));
  require(TenonLayerCreateType(comm, "segmentsum", sum.layer.out()));
  for (const LayerHandle* layer : {&gather.layer, &sum.layer})
    require(TenonLayerSetEdges(*layer, "", mesh.edges));
  gather.setUp({plain});
  sum.setUp({edges});
  // The bytes of the rows of all nodes and edges, and of an index for each edge; a sum also reads
  // where the edges of each node begin. A copy reads and writes, so it has half as many bytes.
  const std::size_t gathered =
                        std::size_t((torus.edges() + torus.owned) * columns + torus.edges()) / 2,
                    summed = gathered + std::size_t(torus.owned) / 2;
  Values from(summed, 1), to(summed, 2);
  const auto copyOf = [&](std::size_t count) {
    return [&, count] { std::memcpy(to.data(), from.data(), count * sizeof(double)); };
  };
  Race race = raceOf(comm, fmt::format("rows {} x {}", torus.name(), columns), 5);
  race.add("gather", [&] { gather.forward(); });
  race.add("copy for gather", copyOf(gathered));
  race.add("sum", [&] { sum.forward(); });
  race.add("copy for sum", copyOf(summed));
  race.time();
  const auto target = columns >= 8 ? std::optional(kRows) : std::nullopt;
  race.print("gather", "library", "copy for gather", target);
  race.print("sum", "library", "copy for sum", target);
}

LayerHandle network(MPI_Comm comm, const std::vector<TenonInt>& widths) {
  LayerHandle layer;
  require(TenonLayerCreateType(comm, "columnmlp", layer.out()));
  require(TenonObjectSetIntegers(TenonObject(TenonLayer(layer)), "widths",
                                 static_cast<TenonInt>(widths.size()), widths.data()));
  return layer;
}

void measureStep(MPI_Comm comm, const Torus& torus, const Mesh& mesh, TenonInt c) {
  const auto [plain, ghosted] = mesh.layouts(c);
  const auto joined = mesh.layouts(2 * c);
  const LayoutHandle ends = mesh.ofEdges(2 * c);
  Step step, edge, node;
  const LayerHandle f = network(comm, {2 * c, 16, c}), g = network(comm, {2 * c, 16, c});
  require(TenonLayerCreateMessagePassing(f, g, 1, "sum", step.layer.out()));
  require(TenonLayerSetEdges(step.layer, "", mesh.edges));
  step.setUp({plain});
  edge.layer = network(comm, {2 * c, 16, c});
  edge.setUp({ends});
  node.layer = network(comm, {2 * c, 16, c});
  node.setUp({joined.first});
  for (const bool adjoint : {false, true}) {
    Race race = raceOf(
        comm, fmt::format("step {} x {}{}", torus.name(), c, adjoint ? ", with adjoint" : ""));
    race.add("step", [&] { adjoint ? step.both() : step.forward(); });
    race.add("networks", [&] {
      adjoint ? edge.both() : edge.forward();
      adjoint ? node.both() : node.forward();
    });
    race.time();
    race.print("step", "library", "networks", kStep);
  }
}

constexpr int kSteps = 4; // of message passing in one network

// A step of message passing: edges e <- e + f(x at both ends, e), then nodes y = x + g(x, sum of
// e). The values of the edges are passed on to the next step.
LayerHandle carrying(MPI_Comm comm, TenonInt c) {
  LayerHandle graph;
  const auto set = [](const LayerHandle& layer, const char* name, TenonInt value) {
    require(TenonObjectSetIntegers(TenonObject(TenonLayer(layer)), name, 1, &value));
  };
  require(TenonLayerCreateGraph(comm, graph.out()));
  set(graph, "input_count", 2);
  const auto add = [&](const LayerHandle& layer, const std::vector<int>& reads) {
    int node = 0;
    require(
        TenonLayerGraphAddNode(graph, layer, static_cast<int>(reads.size()), reads.data(), &node));
    return node;
  };
  const auto typed = [&](const char* type) {
    LayerHandle layer;
    require(TenonLayerCreateType(comm, type, layer.out()));
    return layer;
  };
  int x = -1, e = -2;
  for (int step = 0; step < kSteps; ++step) {
    e = add(typed("add"), {e, add(network(comm, {3 * c, 16, c}), {add(typed("gather"), {x, e})})});
    const LayerHandle beside = typed("concatenate");
    set(beside, "dim", 1);
    const int joined = add(beside, {x, add(typed("segmentsum"), {e})});
    x = add(typed("add"), {x, add(network(comm, {2 * c, 16, c}), {joined})});
  }
  return graph;
}

void measureSteps(MPI_Comm comm, const Torus& torus, const Mesh& mesh, TenonInt c) {
  const LayoutHandle plain = mesh.layouts(c).first, joined = mesh.layouts(2 * c).first;
  Step steps, edge, node;
  steps.layer = carrying(comm, c);
  require(TenonLayerSetEdges(steps.layer, "", mesh.edges));
  steps.setUp({plain, mesh.ofEdges(c)});
  edge.layer = network(comm, {3 * c, 16, c});
  edge.setUp({mesh.ofEdges(3 * c)});
  node.layer = network(comm, {2 * c, 16, c});
  node.setUp({joined});
  for (const bool adjoint : {false, true}) {
    Race race = raceOf(comm, fmt::format("{} steps {} x {}{}", kSteps, torus.name(), c,
                                         adjoint ? ", with adjoint" : ""));
    race.add("steps", [&] { adjoint ? steps.both() : steps.forward(); });
    race.add("networks", [&] {
      for (int step = 0; step < kSteps; ++step)
        for (Step* one : {&edge, &node})
          adjoint ? one->both() : one->forward();
    });
    race.time();
    race.print("steps", "library", "networks", kStep);
  }
}

LayerHandle convolution(MPI_Comm comm, TenonInt channels, TenonBoundary mode) {
  LayerHandle layer;
  const TenonInt kernel[2] = {3, 3}, padding[2] = {1, 1};
  const TenonBoundary modes[2] = {mode, mode};
  require(TenonLayerCreateType(comm, "conv", layer.out()));
  for (const char* name : {"in_channels", "out_channels"})
    require(TenonObjectSetIntegers(TenonObject(TenonLayer(layer)), name, 1, &channels));
  require(TenonObjectSetIntegers(TenonObject(TenonLayer(layer)), "kernel", 2, kernel));
  require(TenonObjectSetIntegers(TenonObject(TenonLayer(layer)), "padding", 2, padding));
  require(TenonLayerSetBoundary(layer, modes, nullptr));
  return layer;
}

// A periodic box of square tiles. The rows of tiles are distributed to the ranks in bands or in
// turns.
void measureTiles(MPI_Comm comm, TenonInt tiles, TenonInt extent, TenonInt channels,
                  bool scattered) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::vector<TenonInt> places;
  for (TenonInt place = 0; place < tiles * tiles; ++place)
    if ((scattered ? place % ranks : place / tiles * ranks / tiles) == rank)
      places.push_back(place);
  const TenonInt grid[2] = {tiles, tiles}, ofTiles[4] = {0, channels, extent, extent},
                 ofBox[4] = {1, channels, tiles * extent, tiles * extent};
  const TenonBoundary periodic[2] = {TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC};
  tools::Links links;
  require(TenonLinksCreateFromTiles(comm, 2, grid, periodic, nullptr,
                                    static_cast<TenonInt>(places.size()), places.data(),
                                    links.out()));
  LayoutHandle field, bands;
  PartitionHandle partition;
  require(TenonLinksGetLayout(links, 4, ofTiles, field.out()));
  require(TenonPartitionCreate(comm, 1, &ranks, partition.out()));
  require(TenonLayoutCreateSharded(partition, 4, ofBox, "S2", bands.out()));
  Step onTiles, onBox;
  onTiles.layer = convolution(comm, channels, TENON_BOUNDARY_LINKED);
  require(TenonLayerSetLinks(onTiles.layer, links));
  onBox.layer = convolution(comm, channels, TENON_BOUNDARY_PERIODIC);
  onTiles.setUp({field});
  onBox.setUp({bands});
  for (const bool adjoint : {false, true}) {
    Race race =
        raceOf(comm,
               fmt::format("tiles {} of {}x{} x {}, {}{}", tiles * tiles, extent, extent, channels,
                           scattered ? "scattered" : "bands", adjoint ? ", with adjoint" : ""),
               3);
    race.add("tiles", [&] { adjoint ? onTiles.both() : onTiles.forward(); });
    race.add("box", [&] { adjoint ? onBox.both() : onBox.forward(); });
    race.time();
    race.print("tiles", "library", "box");
  }
}

// The torus whose rows of edges have about so many bytes on each rank, within the limit of its
// lists.
int extentFor(MPI_Comm comm, TenonInt columns) {
  constexpr double kBytes = 160e6;
  constexpr int kMax = 800; // rows and columns, by the limit of the lists
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  return std::min(
      kMax, static_cast<int>(std::sqrt(kBytes * ranks / (6.0 * sizeof(double) * double(columns)))));
}

void run(const Selection& selected) {
  rounds = selected.rounds;
  const MPI_Comm comm = MPI_COMM_WORLD;
  printHead(comm, rounds);
  if (selected.has("rows"))
    for (const TenonInt columns : {1, 8, 32}) {
      const Torus large(comm, extentFor(comm, columns), false);
      measureRows(comm, large, Mesh(comm, large), columns);
    }
  for (const bool scattered : {false, true}) {
    const Torus torus(comm, 200, scattered);
    const Mesh mesh(comm, torus);
    for (const TenonInt columns : {8, 32}) {
      if (selected.has("step"))
        measureStep(comm, torus, mesh, columns);
      if (selected.has("steps"))
        measureSteps(comm, torus, mesh, columns);
    }
  }
  if (selected.has("tiles"))
    for (const bool scattered : {false, true})
      for (const TenonInt extent : {8, 32})
        measureTiles(comm, 256 / extent, extent, 8, scattered);
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  using namespace tenon::bench;
  return benchmarkMain(argc, argv, [selected = Selection::of(argc, argv)] { run(selected); });
}
