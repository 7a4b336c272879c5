// SPDX-License-Identifier: BSD-2-Clause
// A network as declarations of layers, with the shapes of what they read and of what moves between
// them: what prices by forms need to know.
//
// The layers are those with parameters or several inputs, and those that read the network's input;
// the others follow what they read. Tables of sizes are declared in papers/network_table.hpp.
#pragma once

#include "declaration/core/network_file.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace tenon {

// A layer without a choice of its own, which lies as what it reads does.
struct DependentLayer {
  std::shared_ptr<const Declaration> declaration;
  int reads = 0; // 0: the layer's output; k: the output of its dependent k - 1
};

struct DeclaredLayer {
  std::string name;
  std::shared_ptr<const Declaration> declaration;
  std::vector<Shape> inputs;
  int splitDims = 0;       // leading spatial dimensions that may be split
  Index mostChannels = 1;  // parts that the output's channels can have
  bool readsInput = false; // one of the network's, which is where it is wanted and has no cotangent
  std::vector<DependentLayer> dependents = {};
};

struct DeclaredMove {
  int from = 0, to = 0, input = 0; // the reader's input
  Shape shape = {};                // of what moves; a concatenation gets a part from each writer
  int output = 0;                  // the writer's: 0, or k for its dependent k - 1
  int source = 0;                  // from -1: the number of the network's input
};

// A node: a layer, of output 0, or its dependent output - 1.
struct DeclaredNode {
  int layer = 0, output = 0;
  std::string name = {};
};

struct DeclaredNetwork {
  std::vector<DeclaredLayer> layers;
  std::vector<DeclaredMove> moves;
  std::vector<DeclaredMove> reads = {}; // moves of the network's inputs, from -1
  DeclaredMove result = {};             // the move of the network's output, to -1
  // In the order in which they run; none of a table of sizes, whose layers do not run.
  std::vector<DeclaredNode> nodes = {};
  bool hasLists = false;     // of a mesh, links of patches, or rows of points
  Index elementBytes = 4;    // the size of an element
  bool savesRounded = false; // what adjoints read is kept in bfloat16
  Index stackDepth = 1;      // evaluations that wait for their adjoints, each with what it keeps
};

// The network of a description; `inputs` are the shapes of its inputs, with the batch. Throws
// TENON_ERR_SUPPORT for layers of user types, for containers within others, for containers that
// recompute, for several outputs, where there are no layers, and for layers that work with lists of
// a mesh and have none; TENON_ERR_SHAPE for another number of inputs; and whatever a layer throws
// that does not fit its input.
DeclaredNetwork declareNetwork(const LayerDescription& network, const std::vector<Shape>& inputs);
inline DeclaredNetwork declareNetwork(const LayerDescription& network, const Shape& input) {
  return declareNetwork(network, std::vector<Shape>{input});
}
// Throws TENON_ERR_SUPPORT for a container that recomputes: neither the time nor the memory of that
// is priced.
[[noreturn]] void refuseRecomputation(const std::string& title);

// The most processes of a plan, and of a layout in a network file. More than this is taken for a
// mistake.
inline constexpr Index kMaxProcesses = Index(1) << 24;

} // namespace tenon
