// SPDX-License-Identifier: BSD-2-Clause
// A network as declarations of layers, with the shapes of what they read and of what moves between
// them: what prices by forms need to know.
//
// In a table the layers are convolutions and affine layers without biases, and sums. Pointwise
// layers and pooling are free and keep the distribution, so that what moves has the extents that
// its reader reads. A transposed convolution, whose stride is its kernel, is priced as a
// convolution of 1 x 1 to that many more channels. An affine layer reads features, among which the
// space of a convolution is counted.
//
// In a network file the layers are those with parameters or several inputs, and those that read the
// network's input; the others follow what they read.
#pragma once

#include "declaration/core/network_file.hpp"
#include "planner/papers/network_table.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace tenon {

// A layer without a choice of its own, which lies as what it reads does.
struct Follower {
  std::shared_ptr<const Declaration> declaration;
  int reads = 0; // 0: the layer's output; k: the output of its follower k - 1
};

struct DeclaredLayer {
  std::string name;
  std::shared_ptr<const Declaration> declaration;
  std::vector<Shape> inputs;
  int splitDims = 0;       // leading spatial dimensions that may be split
  Index mostChannels = 1;  // parts that the output's channels can have
  bool readsInput = false; // the network's input, which is where it is wanted and has no cotangent
  std::vector<Follower> followers = {};
};

struct DeclaredMove {
  int from = 0, to = 0, input = 0; // the reader's input
  Shape shape = {};                // of what moves; a concatenation gets a part from each writer
  int output = 0;                  // the writer's: 0, or k for its follower k - 1
};

struct DeclaredNetwork {
  std::vector<DeclaredLayer> layers;
  std::vector<DeclaredMove> moves;
  std::vector<DeclaredMove> reads = {}; // moves of the network's input, from -1
  DeclaredMove result = {};             // the move of the network's output, to -1
  Index elementBytes = 4;               // the size of an element
};

// The network of a table. Throws TENON_ERR_SUPPORT naming a layer that no declaration of the
// library describes.
DeclaredNetwork declareNetwork(const NetworkTable& table, Index batch);
// The network of a file; `input` is the shape of its input, with the batch. Throws
// TENON_ERR_SUPPORT for layers of user types, for containers within others, for containers that
// recompute, for several inputs and where there are no layers; and whatever a layer throws that
// does not fit its input.
DeclaredNetwork declareNetwork(const LayerDescription& network, const Shape& input);
// Throws TENON_ERR_SUPPORT for a container that recomputes: neither the time nor the memory of that
// is priced.
[[noreturn]] void refuseRecomputation(const std::string& title);

// The networks that a plan can be made for: tables, and network files of layers
// (declaration/core/network_file.hpp), told apart by their format.

// The most processes of a plan, and of a layout in a network file. More than this is taken for a
// mistake.
inline constexpr Index kMostProcesses = Index(1) << 24;

struct NetworkSource {
  std::string name;
  std::optional<NetworkTable> table;
  std::optional<LayerDescription> layers; // one of the two
};

// Reads a network by its name in share/tenon/networks/tables or share/tenon/networks, or from a
// path, which is a word with a slash or the ending .json. Throws TENON_ERR_FILE and
// TENON_ERR_FORMAT as those that read them do.
NetworkSource readNetworkSource(const std::string& nameOrPath);

} // namespace tenon
