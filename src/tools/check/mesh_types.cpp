// SPDX-License-Identifier: BSD-2-Clause
// Checks of the types for meshes beyond sparse matrices, and of networks of them, on the graphs of
// graph.hpp and on tiles of a line or ring:
//    gather          with the rows of edges, or of one end alone
//    segmentsum      means and maxima
//    edgeattention   weights by a softmax over the edges of a node
//    rows            the points of a grid as rows, by the definition
//    messagepassing  networks of edges and of nodes (columnmlp) around gather and segmentsum
//    convolution     across the links between tiles, also from a halo that `linkedhalo` has filled
// Output, tangent, and gradients of all ranks equal those of the same layer on one process, which
// lists the whole mesh in its own order. Example: node 5 is row 2 of rank 1, and row 14 of one
// process; both must have the same numbers there. One process is checked by the dot test.
#include "tools/check/graph.hpp"
#include "tools/check/kinds.hpp"
#include "tools/check/layer.hpp"
#include "tools/check/layout_make.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::tools {

namespace {

// A layer with its inputs on all ranks and on one process, and the numbers of this rank's rows: row
// i of an input on this rank is row rows[i] of one process.
struct Sides {
  LayerStep tested, reference;
  std::vector<Indices> inputRows;
  Indices outputRows;
};

// The positions of `numbers` in the list of one process.
Indices rowsOf(const Indices& numbers, const Indices& whole) {
  Indices rows;
  for (const Index number : numbers)
    rows.push_back(std::ranges::find(whole, number) - whole.begin());
  return rows;
}

Index rowSize(const Field& field) {
  Index size = 1;
  for (std::size_t d = 1; d < field.box().size(); ++d)
    size *= field.box()[d].size();
  return size;
}

// Writes the same numbers into the rows of a tensor on the ranks and on one process.
void fillRows(Case& c, Field& tested, Field& reference, const Indices& rows) {
  const Filling numbers{c.draw.number(), Numbers::Fractions};
  const Index size = rowSize(reference);
  const auto at = [&](Index row, Index k) {
    return numbers.at(static_cast<std::uint64_t>(row * size + k));
  };
  Indices all(static_cast<std::size_t>(reference.box()[0].size()));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<Index>(i);
  tested.write(rowsFrom(rows, size, at));
  reference.write(rowsFrom(all, size, at));
}

void compareRows(Case& c, const std::string& what, const Field& tested, const Field& reference,
                 const Indices& rows) {
  const Values expected = reference.read(), got = tested.read();
  const Index size = rowSize(reference);
  c.computed(got);
  c.found(what, difference(got,
                           rowsFrom(rows, size,
                                    [&](Index row, Index k) { return expected[row * size + k]; }),
                           tested.box(), toleranceOf(tested.type()) * scaleOf(expected)));
}

void compareWithOneProcess(Case& c, Sides sides, TenonDataType type) {
  LayerStep &tested = sides.tested, &reference = sides.reference;
  require(TenonLayerSetDataType(tested.layer(), type));
  require(TenonLayerSetDataType(reference.layer(), type));
  require(TenonLayerSetSpace(tested.layer(), c.space));
  require(
      TenonObjectSetText(reinterpret_cast<TenonObject>(reference.layer()), "backend", "reference"));
  if (!isAccepted(c, tested, reference))
    return;
  const TenonInt seed = c.draw.upTo(1 << 20);
  tested.fillParameters(seed);
  reference.fillParameters(seed);
  tested.makeTensors(type, /*mayBeUsers=*/true, c.draw, c.space);
  reference.makeTensors(type, /*mayBeUsers=*/false, c.draw);
  for (std::size_t i = 0; i < tested.x.size(); ++i) {
    fillRows(c, tested.x[i], reference.x[i], sides.inputRows[i]);
    fillRows(c, tested.direction[i], reference.direction[i], sides.inputRows[i]);
  }
  fillRows(c, tested.dy(), reference.dy(), sides.outputRows);
  for (LayerStep* step : {&tested, &reference}) {
    step->apply();
    step->applyTangent();
    step->applyAdjoint();
  }
  dotTest(c, reference, type);
  compareRows(c, "output", tested.y(), reference.y(), sides.outputRows);
  compareRows(c, "tangent", tested.tangent(), reference.tangent(), sides.outputRows);
  for (std::size_t i = 0; i < tested.dx.size(); ++i)
    compareRows(c, fmt::format("gradient by input {}", i), tested.dx[i], reference.dx[i],
                sides.inputRows[i]);
  compareGradients(c, tested, reference);
}

void setText(TenonLayer layer, const char* name, const std::string& text) {
  require(TenonObjectSetText(reinterpret_cast<TenonObject>(layer), name, text.c_str()));
}

void setIntegers(TenonLayer layer, const char* name, const Indices& values) {
  require(TenonObjectSetIntegers(reinterpret_cast<TenonObject>(layer), name,
                                 static_cast<TenonInt>(values.size()), values.data()));
}

Layer layerOf(MPI_Comm comm, const char* type) {
  Layer layer;
  require(TenonLayerCreateType(comm, type, layer.out()));
  return layer;
}

Layer perceptron(MPI_Comm comm, Index inputs, Index outputs) {
  Layer layer = layerOf(comm, "columnmlp");
  setIntegers(layer, "widths", {inputs, 3, outputs});
  setText(layer, "activation", "tanh"); // smooth: a kink could be crossed by rounding
  return layer;
}

// What a layer on a graph is made of, on the ranks or on one process.
struct GraphLayer {
  std::function<Layer(MPI_Comm comm)> make; // its edges have the name ""
  // The columns of the rows of nodes and of edges that it reads, in this order; 0: none.
  Index ofNodes = 0, ofEdges = 0, moreOfEdges = 0;
  bool writesEdges = false; // rows of edges, and not of nodes
};

GraphLayer drawGather(Case& c) {
  const std::string ends = c.draw.of<std::string>({"both", "source", "target"});
  c.text += fmt::format(", gather of {} ends with rows of edges", ends);
  return {.make =
              [=](MPI_Comm comm) {
                Layer layer = layerOf(comm, "gather");
                setText(layer, "ends", ends);
                return layer;
              },
          .ofNodes = c.draw.between(1, 3),
          .ofEdges = c.draw.between(1, 3),
          .writesEdges = true};
}

GraphLayer drawSegments(Case& c, bool isAnywhere) {
  // A maximum needs all edges of a node on one rank; if they can be anywhere, only sums and means
  // are defined.
  const std::string what = isAnywhere ? "mean" : c.draw.of<std::string>({"mean", "max"});
  c.text += fmt::format(", segmentsum of {}", what);
  return {.make =
              [=](MPI_Comm comm) {
                Layer layer = layerOf(comm, "segmentsum");
                setText(layer, "aggregation", what);
                return layer;
              },
          .ofEdges = c.draw.between(1, 4)};
}

GraphLayer drawAttention(Case& c) {
  const Index heads = c.draw.between(1, 3), perHead = c.draw.between(1, 3);
  c.text += fmt::format(", edgeattention of {} heads", heads);
  // It reads a score per head, and the values of all heads.
  return {.make = [](MPI_Comm comm) { return layerOf(comm, "edgeattention"); },
          .ofEdges = heads,
          .moreOfEdges = heads * perHead};
}

GraphLayer drawMessages(Case& c, bool isAnywhere) {
  const Index columns = c.draw.between(1, 3), features = c.draw.between(1, 2),
              messages = c.draw.between(1, 3);
  const std::string what = isAnywhere ? c.draw.of<std::string>({"sum", "mean"})
                                      : c.draw.of<std::string>({"sum", "mean", "max"});
  c.text += fmt::format(", message passing, {} of messages", what);
  return {.make =
              [=](MPI_Comm comm) {
                const Layer ofEdge = perceptron(comm, 2 * columns + features, messages),
                            ofNode = perceptron(comm, columns + messages, columns);
                Layer step;
                require(
                    TenonLayerCreateMessagePassing(ofEdge, ofNode, 2, what.c_str(), step.out()));
                return step;
              },
          .ofNodes = columns,
          .ofEdges = features};
}

void checkOnGraph(Case& c, TenonDataType type) {
  const int kind = c.draw.upTo(3);
  const bool isAnywhere = kind != 2 && c.draw.chance(30); // attention needs all edges of a node
  const Graph graph = drawGraph(c, isAnywhere), whole = onOneProcess(graph);
  c.text += fmt::format(" {} of {} nodes and {} edges{}", typeText(type), graph.ids.size(),
                        graph.edges.size(), isAnywhere ? " anywhere" : "");
  const GraphLayer layer = kind == 0   ? drawGather(c)
                           : kind == 1 ? drawSegments(c, isAnywhere)
                           : kind == 2 ? drawAttention(c)
                                       : drawMessages(c, isAnywhere);
  const Part part(graph, c.rank), all(whole, 0);
  const Lists lists(c.comm, graph, part, isAnywhere), alone(MPI_COMM_SELF, whole, all, isAnywhere);
  const auto sideOf = [&](MPI_Comm comm, const Lists& on) {
    std::vector<Layout> inputs;
    if (layer.ofNodes > 0)
      inputs.push_back(rowsOfNodes(on.nodes, layer.ofNodes));
    for (const Index columns : {layer.ofEdges, layer.moreOfEdges})
      if (columns > 0)
        inputs.push_back(rowsOfEdges(on.edges, columns));
    Layer made = layer.make(comm);
    require(TenonLayerSetEdges(made, "", on.edges));
    return LayerStep(std::move(made), std::move(inputs));
  };
  Sides sides{sideOf(c.comm, lists), sideOf(MPI_COMM_SELF, alone), {}, {}};
  const Indices nodes = rowsOf(part.ownedNodes(), all.nodes), edges = rowsOf(part.edges, all.edges);
  if (layer.ofNodes > 0)
    sides.inputRows.push_back(nodes);
  for (const Index columns : {layer.ofEdges, layer.moreOfEdges})
    if (columns > 0)
      sides.inputRows.push_back(edges);
  sides.outputRows = layer.writesEdges ? edges : nodes;
  compareWithOneProcess(c, std::move(sides), type);
}

// A convolution on the tiles of a line or ring, which the ranks own at random; links join them.
void checkOnTiles(Case& c, TenonDataType type) {
  const Index tiles = c.draw.between(1, 6), extent = c.draw.between(1, 4);
  const Index channels = c.draw.between(1, 2);
  const bool isRing = c.draw.chance(50), readsHalo = c.draw.chance(50);
  Indices own, all;
  for (Index tile = tiles; tile-- > 0;) {
    if (c.draw.chance(20) && !(all.empty() && tile == 0))
      continue; // missing
    if (c.draw.upTo(c.ranks - 1) == c.rank)
      own.push_back(tile);
    all.push_back(tile);
  }
  c.text += fmt::format(" {} of {} tiles of {} elements of a {}{}", typeText(type), all.size(),
                        extent, isRing ? "ring" : "line", readsHalo ? ", linkedhalo" : "");
  const TenonBoundary end = isRing ? TENON_BOUNDARY_PERIODIC : TENON_BOUNDARY_ZERO;
  const auto sideOf = [&](MPI_Comm comm, const Indices& places, Links& links) {
    require(TenonLinksCreateFromTiles(comm, 1, &tiles, &end, nullptr,
                                      static_cast<TenonInt>(places.size()), places.data(),
                                      links.out()));
    const TenonInt shape[] = {0, channels, extent};
    std::vector<Layout> field(1);
    require(TenonLinksGetLayout(links, 3, shape, field[0].out()));
    const TenonInt width = 3;
    Layer conv, chain;
    require(TenonLayerCreateConv(comm, 1, channels, 2, &width, conv.out()));
    setIntegers(conv, "padding", {1});
    setText(conv, "boundary", "linked");
    require(TenonLayerCreateSequential(comm, chain.out()));
    if (readsHalo) {
      const Layer halo = layerOf(comm, "linkedhalo");
      setIntegers(halo, "padding", {1});
      require(TenonLayerSequentialAdd(chain, halo));
    }
    require(TenonLayerSequentialAdd(chain, conv));
    require(TenonLayerSetLinks(chain, links));
    return LayerStep(std::move(chain), std::move(field));
  };
  Links links, alone;
  Sides sides{
      sideOf(c.comm, own, links), sideOf(MPI_COMM_SELF, all, alone), {rowsOf(own, all)}, {}};
  sides.outputRows = sides.inputRows[0];
  compareWithOneProcess(c, std::move(sides), type);
}

// Row p of this rank has the channels of point p of its block. The channels are not split.
void checkRows(Case& c, TenonDataType type) {
  const Indices shape = {c.draw.between(1, 3), c.draw.between(1, 3), c.draw.between(1, 6)};
  const GridSpec grid = drawGrid(c.draw, c.ranks);
  LayoutSpec spec = everywhere(shape, c.ranks);
  do
    spec = drawValues(c.draw, shape, grid);
  while (spec.text().find("S1") != std::string::npos);
  c.text += fmt::format(" {} rows of {}", typeText(type), spec.text());
  const Layout field = makeLayout(c.comm, spec);
  std::vector<Layout> inputs(1);
  inputs[0] = makeLayout(c.comm, spec);
  LayerStep step(layerOf(c.comm, "rows"), std::move(inputs));
  require(TenonLayerSetDataType(step.layer(), type));
  require(TenonLayerSetSpace(step.layer(), c.space));
  require(step.setUp());
  step.makeTensors(type, /*mayBeUsers=*/true, c.draw, c.space);
  step.x[0].write(fill(spec, c.position(grid), {c.draw.number(), Numbers::Fractions}));
  step.direction[0].write(fill(spec, c.position(grid), {c.draw.number(), Numbers::Fractions}));
  step.dy().fillByPosition(
      {c.draw.number() + static_cast<std::uint64_t>(c.rank), Numbers::Fractions});
  step.apply();
  step.applyTangent();
  step.applyAdjoint();
  const Box& box = step.x[0].box();
  const Index samples = box[0].size(), channels = box[1].size(), points = box[2].size();
  // The field of these rows, or back: both are [samples, channels, points].
  const auto fieldOf = [&](const Values& rows) {
    Values cells;
    for (Index n = 0; n < samples; ++n)
      for (Index channel = 0; channel < channels; ++channel)
        for (Index point = 0; point < points; ++point)
          cells.push_back(rows[(n * points + point) * channels + channel]);
    return cells;
  };
  c.found("rows", difference(fieldOf(step.y().read()), step.x[0].read(), box, 0));
  c.found("rows of the tangent",
          difference(fieldOf(step.tangent().read()), step.direction[0].read(), box, 0));
  c.found("field of the cotangent",
          difference(step.dx[0].read(), fieldOf(step.dy().read()), box, 0));
}

} // namespace

void checkMeshTypes(Case& c) {
  const TenonDataType type = drawFloating(c.draw);
  const int kind = c.draw.upTo(9); // 6 of 10 draws are graphs, which have the most variants
  if (kind < 6)
    return checkOnGraph(c, type);
  return kind < 9 ? checkOnTiles(c, type) : checkRows(c, type);
}

} // namespace tenon::tools
