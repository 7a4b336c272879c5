// SPDX-License-Identifier: BSD-2-Clause
// A network as a table of layers and edges, for cost models that need only sizes: see
// share/tenon/networks/tables. A file has exactly these keys:
//
//   format, name, about   "tenon-network-table-1" and texts
//   split_dims            how many leading spatial dimensions may be split
//   layers                name; kind: conv, upconv (its stride is its kernel), fc or add; kernel of
//                         conv and upconv; input, output: spatial extents before pooling;
//                         in_channels, out_channels; weights without biases; reads_input: true
//                         where it reads the network's input; split_space: false where space must
//                         be whole, as always of fc
//   edges                 from, to, elements of a sample that is moved
//
// As declarations, the layers are convolutions and affine layers without biases, and sums.
// Pointwise layers and pooling cost nothing and preserve the distribution, so the data moved have
// the extents that the reader reads. A transposed convolution, whose stride is its kernel, is
// priced as a 1 x 1 convolution with kernel^d times the output channels. An affine layer reads
// features, which include the spatial extents of a preceding convolution.
#pragma once

#include "planner/parallelizations/declared_network.hpp"

#include <string>
#include <vector>

namespace tenon {

struct TableLayer {
  enum class Kind { Conv, Upconv, Affine, Add };
  std::string name;
  Kind kind = Kind::Conv;
  Index kernel = 1;
  std::vector<Index> input, output; // spatial extents
  Index inChannels = 1, outChannels = 1, weights = 0;
  bool readsInput = false, splitSpace = true;

  // Rows of the neighbouring block that a block needs in each direction.
  Index halo() const { return kind == Kind::Conv ? kernel / 2 : 0; }
  // Number of elements of one sample.
  double inputElements() const;
  double outputElements() const;
};

struct TableEdge {
  int from = 0, to = 0;
  Index elements = 0; // per sample
};

struct NetworkTable {
  std::string name, about;
  int splitDims = 1;
  std::vector<TableLayer> layers; // each after the layers that it reads
  std::vector<TableEdge> edges;

  bool isRead(int layer) const;
  // The shape of a sample, channels and then space, from the first layer that reads the network's
  // input.
  std::vector<Index> inputShape() const;
};

// `where` is the name of the file in messages. Throws TENON_ERR_FORMAT with file, byte and key.
NetworkTable parseNetworkTable(const std::string& text, const std::string& where);
// Reads a table by its name in share/tenon/networks/tables, or from a path, which contains a slash
// or ends with .json.
NetworkTable readNetworkTable(const std::string& nameOrPath);

// Returns the network as declarations of layers. Throws TENON_ERR_SUPPORT with the name of a layer
// that no declaration of the library describes.
DeclaredNetwork declareNetwork(const NetworkTable& table, Index batch);

} // namespace tenon
