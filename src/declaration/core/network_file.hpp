// SPDX-License-Identifier: BSD-2-Clause
// Network files: a layer or network as JSON, with types, names and non-default settings, no
// weights.
//
//   {"format": "tenon-network-1", "dimensions": "z,y,x", "type": "sequential", "name": "net",
//    "layers": [{"type": "conv", "name": "C1", "in_channels": 1, "out_channels": 6,
//                "kernel": [5, 5]},
//               {"type": "tanh"}]}
//
// A node of a graph lists its inputs by number, as in TenonLayerGraphAddNode(): "reads": [-1, 0].
// "same_as": n makes it another use of node n's layer, with the same parameters. "output" is an
// output layout, and "frozen": true excludes the parameters from training. A graph lists the names
// of all its inputs, and its outputs: "inputs": ["x", "mask"], "outputs": ["h", "c=5"].
#pragma once

#include "declaration/core/declaration.hpp"

#include <functional>

namespace tenon {

// A layer or network as read from a file or to be written to one.
struct LayerDescription {
  struct Node;

  std::string type, name;
  std::string prefix;  // of the layer's options on the command line
  bool frozen = false; // applies to contained layers too
  std::vector<std::pair<std::string, SettingValue>> settings; // settings that were set explicitly
  std::optional<Layout> output;
  std::vector<Node> nodes;
  MeshLists lists = {}; // lists that a program has set; not part of a file
};

// A node of a container in a network file.
struct LayerDescription::Node {
  int sameAs = -1;          // the first node with this layer, or -1 if this is the first
  LayerDescription layer{}; // the layer, if sameAs is -1
  std::vector<int> reads{}; // for a graph: node numbers, or -1, -2, ... for its inputs
};

// Makes the declaration of a type that is not in the library but registered by the program; null if
// the type is unknown.
using ForeignTypes = std::function<std::unique_ptr<Declaration>(const std::string& type)>;

// Parses a network file. Throws TENON_ERR_FORMAT with the name `file`, the key and the byte offset.
// A layout in the file must have at most `processes` processes.
LayerDescription parseNetwork(const std::string& text, const std::string& file,
                              const ForeignTypes& foreign, Index processes);
// The text of a network file.
std::string networkText(const LayerDescription& network);

// Finds a network file: a name with a slash or .json is a path; any other name is searched for in
// the share folders. Throws TENON_ERR_FILE, listing the available networks.
std::string findNetworkFile(const std::string& nameOrPath);

} // namespace tenon
