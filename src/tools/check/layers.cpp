// SPDX-License-Identifier: BSD-2-Clause
// The layers that `tenon check` draws (kinds.hpp). Each layer type of the library has examples
// (TenonLayerGetExampleTensor() etc.) with valid settings and shapes, so a new type is checked
// without an edit here. The exceptions are types that need more than settings, such as lists of a
// mesh (mesh.cpp, mesh_types.cpp).
#include "tools/check/kinds.hpp"
#include "tools/check/layer.hpp"
#include "tools/check/layout_make.hpp"

#include <tenon/ext/layer.h>

#include <map>
#include <set>

namespace tenon::tools {

namespace {

// A random example of a type: settings and shapes that belong together, which the library derives
// from the seed.
struct LayerExample {
  std::string type;
  TenonInt seed;
  int inputs = 0;       // how many inputs the layer has; make() sets it
  TenonInt classes = 0; // of the target of a loss, or 0 if it has real numbers; make() sets it

  Layer make(MPI_Comm comm) {
    Layer layer;
    require(TenonLayerCreateType(comm, type.c_str(), layer.out()));
    require(TenonLayerSetExample(layer, seed, &inputs, &classes));
    return layer;
  }

  // The shape of an input, or of the target, whose number follows those of the inputs.
  Indices shape(TenonLayer layer, int tensor) const {
    int ndim = 0;
    require(TenonLayerGetExampleTensor(layer, seed, tensor, 0, nullptr, &ndim, nullptr, nullptr));
    Indices shape(ndim);
    require(TenonLayerGetExampleTensor(layer, seed, tensor, ndim, shape.data(), nullptr, nullptr,
                                       nullptr));
    return shape;
  }
  // The range of the numbers of the inputs, which is the same for all inputs.
  struct Range {
    double low = 0, high = 0;
  };
  Range range(TenonLayer layer) const {
    Range range;
    require(
        TenonLayerGetExampleTensor(layer, seed, 0, 0, nullptr, nullptr, &range.low, &range.high));
    return range;
  }
};

Layer functionOf(MPI_Comm comm, const char* type) {
  Layer layer;
  require(TenonLayerCreateType(comm, type, layer.out()));
  return layer;
}

// The layer after a map of all numbers into its range, since an input can be a sum of
// contributions: scale(tanh(x)).
Layer afterMapInto(LayerExample::Range range, MPI_Comm comm, const Layer& layer) {
  Layer chain;
  require(TenonLayerCreateSequential(comm, chain.out()));
  const Layer bound = functionOf(comm, "tanh"), scale = functionOf(comm, "scale");
  require(TenonObjectSetReal(scale.object(), "factor", (range.high - range.low) / 2));
  require(TenonObjectSetReal(scale.object(), "shift", (range.high + range.low) / 2));
  require(TenonLayerSequentialAdd(chain, bound));
  require(TenonLayerSequentialAdd(chain, scale));
  require(TenonLayerSequentialAdd(chain, layer));
  return chain;
}

// Makes an input empty, or an extent 0 or 1, in some cases. The settings may not allow this: all
// ranks must then return the error that one process returns.
void changeExtents(Draw& draw, std::vector<Indices>& inputs) {
  if (draw.chance(10))
    for (Indices& shape : inputs)
      shape[0] = 0;
  else if (draw.chance(10)) {
    Indices& shape = inputs[draw.upTo(static_cast<int>(inputs.size()) - 1)];
    shape[draw.upTo(static_cast<int>(shape.size()) - 1)] = draw.upTo(1);
  }
}

// Draws the target of a loss: numbers of classes, or real numbers.
void drawTarget(Draw& draw, TenonInt classes, LayerCase& plan) {
  if (classes == 0)
    plan.targetType = drawFloating(draw);
  else if (draw.chance(30))
    plan.targetType = TENON_INT32;
  const Filling numbers{draw.number(), Numbers::Fractions};
  for (Index i = 0; i < elementsOf(plan.targetShape); ++i)
    plan.target.push_back(classes > 0 ? draw.upTo(static_cast<int>(classes) - 1)
                                      : numbers.at(static_cast<std::uint64_t>(i)));
}

void checkExample(Case& c, const std::string& type) {
  LayerExample example{type, c.draw.upTo(1 << 30)};
  // A layer on this process provides the shapes; the layers under test use the same seed.
  const Layer layer = example.make(MPI_COMM_SELF);
  LayerCase plan{.inputs = {}, .make = [=](MPI_Comm comm, const GridSpec*) mutable {
                   return example.make(comm);
                 }};
  for (int i = 0; i < example.inputs; ++i)
    plan.inputs.push_back(example.shape(layer, i));
  // The values that checkLayer() fills in are in [-1, 1), or from 1/2 on, in each contribution. An
  // example of another range gets a map into it, and then chooses its signature, since the labels
  // are those of the chain.
  const LayerExample::Range range = example.range(layer);
  plan.isPositive = range.low > 0 && range.low <= 0.5;
  if (range.low != -1 && !plan.isPositive) {
    plan.isSigned = false;
    plan.make = [=](MPI_Comm comm, const GridSpec*) mutable {
      return afterMapInto(range, comm, example.make(comm));
    };
  }
  plan.targetShape = example.shape(layer, example.inputs);
  if (plan.targetShape.empty())
    changeExtents(c.draw, plan.inputs);
  else
    drawTarget(c.draw, example.classes, plan);
  checkLayer(c, plan);
}

// A layer that changes the layout of a tensor. Its target layout is drawn here: it is set by a
// call, and is not among the settings that an example draws.
void checkRepartitionLayer(Case& c) {
  const Indices shape = drawShape(c.draw, 1, 3, 6);
  const LayoutSpec to = drawLayout(c.draw, shape, drawGrid(c.draw, c.ranks));
  c.text += " to " + to.text();
  checkLayer(c, {.inputs = {shape},
                 .make =
                     [=](MPI_Comm comm, const GridSpec* grid) {
                       Layer layer;
                       require(TenonLayerCreateType(comm, "repartition", layer.out()));
                       require(TenonLayerSetOutputLayout(
                           layer, makeLayout(comm, grid ? to : everywhere(shape, 1))));
                       return layer;
                     },
                 .isSigned = false});
}

// A small network of a convolution that preserves the extents, average pooling, tanh, flatten and
// an affine layer. Their signatures differ, so the values between them are redistributed. As a
// graph it also has a skip connection around the tanh: two layers read one value, whose cotangents
// are summed.
constexpr Index kChannels = 3, kClasses = 4;

struct Node {
  Layer layer;
  std::vector<int> reads; // the nodes whose outputs it reads, or -1 for the input of the network
  bool isFlat = false;    // its input has shape (batch, features), not (batch, channels, h, w)
};

// The layers in the order of computation; the numbers are indices of nodes, -1 is the input:
//    -1 -> 0 conv -> 1 pool -> 2 tanh ------> 3 add -> 4 flatten -> 5 affine    isGraph
//                       +---------------------^
//    -1 -> 0 conv -> 1 pool -> 2 tanh -> 3 flatten -> 4 affine                  otherwise
std::vector<Node> makeNodes(MPI_Comm comm, const Indices& input, bool isGraph) {
  const Indices kernel = {3, 3}, padding = {1, 1}, half = {2, 2};
  const Index features = kChannels * (input[2] / 2) * (input[3] / 2);
  std::vector<Node> nodes;
  const auto add = [&](std::vector<int> reads, bool isFlat = false) {
    nodes.push_back({Layer(), std::move(reads), isFlat});
    return nodes.back().layer.out();
  };
  require(TenonLayerCreateConv(comm, 2, input[1], kChannels, kernel.data(), add({-1})));
  require(TenonLayerSetPadding(nodes[0].layer, padding.data(), nullptr));
  require(TenonLayerCreateType(comm, "averagepooling", add({0})));
  const TenonObject pool = nodes[1].layer.object();
  require(TenonObjectSetIntegers(pool, "kernel", 2, half.data()));
  require(TenonObjectSetBool(pool, "include_padding", TENON_TRUE));
  require(TenonLayerCreateType(comm, "tanh", add({1})));
  if (isGraph)
    require(TenonLayerCreateType(comm, "add", add({1, 2})));
  const int last = static_cast<int>(nodes.size()) - 1;
  require(TenonLayerCreateType(comm, "flatten", add({last})));
  require(TenonLayerCreateAffine(comm, features, kClasses, add({last + 1}, /*isFlat=*/true)));
  return nodes;
}

// Sets the signature of some layers; the others choose theirs.
void drawNodeSignature(Case& c, const Node& node, const Indices& input, int axes) {
  const std::string signature =
      c.draw.chance(40)
          ? drawSignature(c.draw, node.layer, node.isFlat ? Indices{1, 1} : input, axes)
          : "";
  require(TenonLayerSetSignature(node.layer, signature.c_str()));
  c.text += " " + (signature.empty() ? "any" : signature);
}

void checkNetwork(Case& c, bool isGraph) {
  const Indices input = {c.draw.between(1, 4), c.draw.between(1, 3), c.draw.between(2, 7),
                         c.draw.between(2, 7)};
  const auto make = [&c, input, isGraph](MPI_Comm comm, const GridSpec* grid) {
    Layer network;
    require(isGraph ? TenonLayerCreateGraph(comm, network.out())
                    : TenonLayerCreateSequential(comm, network.out()));
    for (const Node& node : makeNodes(comm, input, isGraph)) {
      if (grid)
        drawNodeSignature(c, node, input, grid->axes());
      require(isGraph
                  ? TenonLayerGraphAddNode(network, node.layer, static_cast<int>(node.reads.size()),
                                           node.reads.data(), nullptr)
                  : TenonLayerSequentialAdd(network, node.layer));
    }
    return network;
  };
  checkLayer(c, {.inputs = {input}, .make = make, .isSigned = false});
}

void checkSequential(Case& c) {
  checkNetwork(c, /*isGraph=*/false);
}

void checkGraph(Case& c) {
  checkNetwork(c, /*isGraph=*/true);
}

} // namespace

std::vector<CaseKind> layerKinds() {
  const std::map<std::string, std::function<void(Case&)>> own = {
      {"repartition", checkRepartitionLayer},
      {"sequential", checkSequential},
      {"graph", checkGraph},
  };
  // These types need lists, which checkMesh() and checkMeshTypes() draw, or number rows by blocks,
  // which other grids do not.
  const std::set<std::string> ofMeshes = {
      "edgeattention", "gather", "indexmap", "linkedhalo", "rows", "segmentsum", "sparsematrix"};
  std::vector<CaseKind> kinds;
  for (const std::string& type : wordsOf(textFrom(TenonLayerGetTypes), ',')) {
    if (ofMeshes.contains(type))
      continue;
    const auto found = own.find(type);
    kinds.push_back({type,
                     found != own.end() ? found->second : [=](Case& c) { checkExample(c, type); },
                     type == "conv" ? 8 : 1}); // by far the most settings
  }
  return kinds;
}

} // namespace tenon::tools
