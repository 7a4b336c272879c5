// SPDX-License-Identifier: BSD-2-Clause
// A layer or network as JSON: types, names and settings that were set, no weights.
//
//   {"format": "tenon-network-1", "dimensions": "z,y,x", "type": "sequential", "name": "net",
//    "layers": [{"type": "conv", "name": "C1", "in_channels": 1, "out_channels": 6,
//                "kernel": [5, 5]},
//               {"type": "tanh"}]}
//
// A layer of a graph names what it reads by number, as TenonLayerGraphAddNode() does ("reads": [-1,
// 0]); "same_as": n is node n's layer once more, with its parameters. "output" is an output layout,
// and "frozen": true keeps the parameters as they are. A graph lists the names of its inputs, which
// are as many, and its outputs: "inputs": ["x", "mask"], "outputs": ["h", "c=5"].
#pragma once

#include "declaration/core/declaration.hpp"

#include <functional>

namespace tenon {

struct LayerDescription {
  struct Node;

  std::string type, name, prefix;
  bool frozen = false;                                        // with the layers in it
  std::vector<std::pair<std::string, SettingValue>> settings; // those that were set
  std::optional<Layout> output;
  std::vector<Node> nodes;
  MeshLists lists = {}; // that a program has handed over; no part of a file
};

struct LayerDescription::Node {
  int sameAs = -1;          // the first node of the layer, or -1: this is it
  LayerDescription layer{}; // where this is it
  std::vector<int> reads{}; // of a graph: nodes, or -1, -2, ... for its inputs
};

// Makes a declaration of a type that the library does not know; null if nobody does.
using ForeignTypes = std::function<std::unique_ptr<Declaration>(const std::string& type)>;

// Throws TENON_ERR_FORMAT naming `file`, the key and the byte. A layout in the file must lie on at
// most `processes` processes.
LayerDescription parseNetwork(const std::string& text, const std::string& file,
                              const ForeignTypes& foreign, Index processes);
std::string networkText(const LayerDescription& network);

// Finds the file of a network: a name with a slash or .json is a path, another name is one of the
// share folders. Throws TENON_ERR_FILE naming the networks that there are.
std::string findNetworkFile(const std::string& nameOrPath);

} // namespace tenon
