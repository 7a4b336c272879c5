// SPDX-License-Identifier: BSD-2-Clause
// A network as declarations of layers, with the shapes of what they read and what moves between them: what
// prices by forms need to know.
//
// Of a table the layers are convolutions and affine layers without biases and sums; pointwise layers and
// pooling are free and keep the distribution, so that what moves has the extents that its reader reads. A
// transposed convolution, whose stride is its kernel, is one of 1 x 1 to that many more channels. What an
// affine layer reads are features, a convolution's space counted among them.
//
// Of a network file the layers are those with parameters or several inputs, and those that read the network's
// input; the others follow what they read.
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
  int reads = 0; // the layer's output; k: that of its follower k - 1
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
  Shape shape = {};                // of what moves: of a concatenation a part
  int output = 0;                  // of the writer, as a follower counts
};

struct DeclaredNetwork {
  std::vector<DeclaredLayer> layers;
  std::vector<DeclaredMove> moves;
  std::vector<DeclaredMove> reads = {}; // of the network's input, from -1
  DeclaredMove result = {};             // the network's output, to -1
  Index cellBytes = 4;                  // of its data type
};

// Throws TENON_ERR_SUPPORT naming a layer that is no such declaration.
DeclaredNetwork declareNetwork(const NetworkTable& table, Index batch);
// `input` with its batch. Throws TENON_ERR_SUPPORT for layers of the user's, for containers within others or that
// recompute, for several inputs and where there are no layers, and what a layer throws that does not fit its input.
DeclaredNetwork declareNetwork(const LayerDescription& network, const Shape& input);
// A container that recomputes: neither the time nor the memory of that is priced.
[[noreturn]] void refuseRecomputation(const std::string& title);

// The networks that a plan can be made for: tables, and network files of layers (declaration/core/network_file.hpp),
// told apart by their format.

// Of a plan, and of a layout in a network file. A word has a letter for every few axes each; more is a mistake.
inline constexpr Index kMostProcesses = Index(1) << 24;

struct NetworkSource {
  std::string name;
  std::optional<NetworkTable> table;
  std::optional<LayerDescription> layers; // one of the two
};

// A name in share/tenon/networks/tables or share/tenon/networks, or a path: a word with a slash or the ending
// .json. Throws TENON_ERR_FILE and TENON_ERR_FORMAT as those that read them do.
NetworkSource readNetworkSource(const std::string& nameOrPath);

} // namespace tenon
