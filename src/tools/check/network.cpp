// SPDX-License-Identifier: BSD-2-Clause
// A small network of a convolution that preserves the extents, average pooling, tanh, flatten and
// an affine layer. Their signatures differ, so the values between them are redistributed. As a
// graph it also has a skip connection around the tanh: two layers read one value, whose cotangents
// are summed. checkSequential() and checkGraph() are declared in kinds.hpp.
#include "tools/check/kinds.hpp"
#include "tools/check/layer.hpp"

namespace tenon::tools {

namespace {

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
  require(TenonLayerCreateAffine(comm, features, kClasses, add({last + 1}, true)));
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

} // namespace

void checkSequential(Case& c) {
  checkNetwork(c, false);
}

void checkGraph(Case& c) {
  checkNetwork(c, true);
}

} // namespace tenon::tools
