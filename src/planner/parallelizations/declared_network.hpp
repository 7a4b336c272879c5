// SPDX-License-Identifier: BSD-2-Clause
// A network as a graph for the cost model OwnModel: the declarations of its layers, the shapes that
// they read, and the moves, which are the tensors that pass from one layer to another.
//
// A plan chooses parallelizations of these layers only: layers with parameters or several inputs,
// and layers that read the network's input. Every other layer, such as a pointwise function, is a
// dependent, which is distributed like the output that it reads. Networks from tables of sizes are
// declared in studies/network_table.hpp.
#pragma once

#include "declaration/core/network_file.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace tenon {

// A layer without a choice: it is distributed like its input.
struct DependentLayer {
  std::shared_ptr<const Declaration> declaration;
  int reads = 0; // 0: reads the layer's output; k: reads the output of its dependent k - 1
  bool frozen = false;
};

// A layer whose parallelization a plan chooses, with its dependents.
struct DeclaredLayer {
  std::string name;
  std::shared_ptr<const Declaration> declaration;
  std::vector<Shape> inputs;
  int splitDims = 0;       // leading spatial dimensions that can be split
  Index maxChannels = 1;   // largest number of parts of the output's channels
  bool readsInput = false; // reads an input of the network, which is available in any layout and
                           // has no cotangent
  std::vector<DependentLayer> dependents = {};
  bool frozen = false; // its parameters are not trained: no gradients, no optimizer state
};

// A tensor that passes from the layer `from` to the layer `to`; -1 is the outside of the network.
struct DeclaredMove {
  int from = 0, to = 0, input = 0; // input of the reader
  Shape shape = {};                // of the data moved; each writer of a concatenation sends a part
  int output = 0;                  // output of the writer: 0, or k for its dependent k - 1
  int source = 0;                  // if from is -1: number of the network's input
};

// A node: a layer if output is 0, else dependent output - 1 of the layer.
struct DeclaredNode {
  int layer = 0, output = 0;
  std::string name = {};
  // The parameters of the layer that exist already, with the layouts in which they are stored.
  std::vector<std::pair<std::string, Layout>> parameters = {};
};

// The layers and moves of a network, and what concerns all of them.
struct DeclaredNetwork {
  std::vector<DeclaredLayer> layers;
  std::vector<DeclaredMove> moves;
  std::vector<DeclaredMove> reads = {}; // moves of the network's inputs, from -1
  DeclaredMove result = {};             // the move of the network's output, to -1
  // In the order in which they run; empty for a table of sizes, whose layers do not run.
  std::vector<DeclaredNode> nodes = {};
  bool hasLists = false;     // lists of a mesh, links of patches, or rows of points
  Index elementBytes = 4;    // the size of an element
  bool savesRounded = false; // saved activations are bfloat16
  Index stackDepth = 1;      // evaluations that wait for their adjoints, each with its saved
                             // activations

  const std::shared_ptr<const Declaration>& declaration(const DeclaredNode& node) const {
    const DeclaredLayer& layer = layers[node.layer];
    return node.output == 0 ? layer.declaration : layer.dependents[node.output - 1].declaration;
  }
  bool frozen(const DeclaredNode& node) const {
    const DeclaredLayer& layer = layers[node.layer];
    return node.output == 0 ? layer.frozen : layer.dependents[node.output - 1].frozen;
  }
  void setFrozen(const DeclaredNode& node, bool frozen) {
    DeclaredLayer& layer = layers[node.layer];
    (node.output == 0 ? layer.frozen : layer.dependents[node.output - 1].frozen) = frozen;
  }
};

// The network of a description; `inputs` are the shapes of its inputs, including the batch. Throws
// TENON_ERR_SUPPORT for layers of user-defined types, for containers within containers, for
// containers that recompute, for several outputs, for a network without layers, and for layers
// without the lists of a mesh that they need; TENON_ERR_SHAPE for a wrong number of inputs; and the
// errors of a layer that does not fit its input.
DeclaredNetwork declareNetwork(const LayerDescription& network, const std::vector<Shape>& inputs);
inline DeclaredNetwork declareNetwork(const LayerDescription& network, const Shape& input) {
  return declareNetwork(network, std::vector<Shape>{input});
}
// Throws TENON_ERR_SUPPORT for a container that recomputes, since neither the time nor the memory
// of this is priced.
[[noreturn]] void refuseRecomputation(const std::string& title);

// The largest number of processes of a plan, and of a layout in a network file. A larger number is
// treated as a mistake.
inline constexpr Index kMaxProcesses = Index(1) << 24;

} // namespace tenon
